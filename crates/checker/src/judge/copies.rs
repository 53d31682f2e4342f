//! What is wrong with a copy by itself.

use toprope_engine::memory::Owner;
use toprope_runtime::Api;
use toprope_runtime::observer::Range;

use crate::model::{Call, Model};
use crate::rule;
use crate::traits;

fn is_copy(api: Api) -> bool {
    traits::is(api, traits::COPY)
}

/// A call moved bytes before it returned.
pub fn done_now(model: &mut Model, call: &Call, reads: &[Range], writes: &[Range]) {
    let Some(api) = call.api else { return };
    if model.one_memory {
        return;
    }
    let traits = traits::of(api);
    if traits & (traits::FILL | traits::ASYNC) == traits::FILL {
        let unknown = writes.iter().find(|range| model.around(range.start).is_none());
        let found = unknown.map(|range| rule::unknown_host_memset::finding(call, range));
        model.out.extend(found);
    }
    const LATER: u8 = traits::COPY | traits::ASYNC;
    if traits & LATER == LATER && !writes.is_empty() {
        let unknown = reads.iter().chain(writes).find(|range| model.around(range.start).is_none());
        let found = unknown.map(|range| rule::pageable_sync::finding(call, range));
        model.out.extend(found);
    }
}

/// A task will move bytes.
pub fn queued(model: &mut Model, call: &Call, reads: &[Range], writes: &[Range]) {
    let Some(api) = call.api else { return };
    if model.one_memory || model.generation == 9 || !is_copy(api) {
        return;
    }
    let unknown = reads.iter().chain(writes).find(|range| model.around(range.start).is_none());
    let found = unknown.map(|range| rule::pageable_async::finding(model, call, range));
    model.out.extend(found);
}

/// Either.
pub fn both(model: &mut Model, call: &Call, device: Option<u16>, reads: &[Range], writes: &[Range]) {
    let Some(api) = call.api else { return };
    if is_copy(api) {
        if let ([read], [write]) = (reads, writes)
            && read.start < write.start.saturating_add(write.len)
            && write.start < read.start.saturating_add(read.len)
        {
            let found = rule::overlapping_copy::finding(model, call, read, write);
            model.out.push(found);
        }
        let device_memory = |range: &Range| {
            model
                .around(range.start)
                .is_some_and(|living| matches!(living.block.owner, Owner::Device(_) | Owner::Image(_)))
        };
        if !writes.is_empty() && !writes.iter().any(device_memory) {
            let found = reads.iter().find_map(|range| rule::read_unwritten::look(model, call, range));
            model.out.extend(found);
        }
    }
    if let Some(device) = device
        && model.blocks.have_images()
    {
        let found = reads
            .iter()
            .chain(writes)
            .find_map(|range| rule::symbol_device::look(model, call, device, range));
        model.out.extend(found);
    }
}
