//! Host memory whose owner is gone: a language module has given its address out and saw the last reference to the object go. What
//! it is used for later is not known, so only two things are looked at: copies that are pending then, and this thread's next call,
//! if the module holds the memory until that has its arguments.

use toprope_runtime::observer::Range;

use super::{Call, Model};
use crate::here::Here;
use crate::rule::buffer_gone::{self, Use};

/// Ranges that are kept for the next call.
const MOST: usize = 1024;

fn meet(a: &Range, b: &Range) -> bool {
    a.start < b.start.saturating_add(b.len) && b.start < a.start.saturating_add(a.len)
}

impl Model {
    /// The owner of this memory is gone; `next`: the thread's next call may still name it.
    pub fn abandoned(&mut self, here: &mut Here, range: Range, next: bool) {
        if next && here.gone.len() < MOST {
            here.gone.push(range);
        }
        let call = self.call(here);
        let mut uses: Vec<Use> = Vec::new();
        for pending in self.pending().filter(|pending| meet(&pending.range, &range)) {
            let (api, site, who) = (pending.api, pending.site, pending.who);
            uses.push(Use { api, site, who, range: pending.range, writes: pending.writes });
        }
        for stream in self.streams.iter().flatten() {
            for op in stream.kept_tasks() {
                let (api, site, who) = (op.api, op.site, stream.who);
                let reads = op.reads.iter().map(|range| (range, false));
                let all = reads.chain(op.writes.iter().map(|range| (range, true)));
                let met = all.filter(|(touched, _)| meet(touched, &range));
                uses.extend(met.map(|(range, writes)| Use { api, site, who, range: *range, writes }));
            }
        }
        for one in &uses {
            let finding = buffer_gone::pending(&self.names, one, &range, &call);
            self.out.push(finding);
        }
    }

    /// A call, or a task that it adds, touches memory: perhaps some whose owner was seen to be gone when the call began.
    pub(super) fn uses_gone(&mut self, here: &Here, call: &Call, reads: &[Range], writes: &[Range]) {
        if here.gone.is_empty() {
            return;
        }
        let Some(api) = call.api else { return };
        let (site, who) = (call.site, call.who);
        let all = reads.iter().map(|range| (range, false)).chain(writes.iter().map(|range| (range, true)));
        let found = all.filter_map(|(touched, writes)| {
            let gone = here.gone.iter().find(|gone| meet(touched, gone))?;
            Some(buffer_gone::named(&self.names, &Use { api, site, who, range: *touched, writes }, gone))
        });
        self.out.extend(found);
    }
}
