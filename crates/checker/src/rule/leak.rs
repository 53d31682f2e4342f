//! Memory and handles that live when the process ends, and whether they lived at the last aclFinalize. Nothing is reported then: owners
//! with static lifetime free what they have after main, and that is no leak.

use std::collections::BTreeMap;

use toprope_engine::memory::Owner;
use toprope_runtime::Api;
use toprope_runtime::handle::Kind;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::{Call, Model};
use crate::site::Site;

/// The rule.
pub static RULE: Rule = Rule {
    id: "leak",
    level: Level::Warning,
    title: "Memory or a handle was never freed or destroyed",
    mend: "free or destroy it before the device is reset and the program ends",
};

/// One finding for each place that made something which still lives.
pub fn at_exit(model: &Model) -> Vec<Finding> {
    let mut groups: BTreeMap<(Site, &'static str, bool), (Call, u64, u64)> = BTreeMap::new();
    let mut note = |what: &'static str, born: &Call, outlives: bool, bytes: u64| {
        let group = groups.entry((born.site, what, outlives)).or_insert((*born, 0, 0));
        group.1 += 1;
        group.2 += bytes;
    };
    for living in model.blocks.iter() {
        let what = match living.block.owner {
            Owner::Device(_) => "device memory",
            Owner::Pinned => "pinned host memory",
            Owner::Managed => "managed memory",
            Owner::Registered => "registration of host memory",
            Owner::Alias | Owner::Image(_) => continue,
        };
        note(what, &living.born, living.outlives, living.block.size as u64);
    }
    for (handle, alive) in &model.objects.alive {
        let what = match alive.kind {
            // A default stream and a default context belong to aclrtSetDevice, whose pairs are a rule of their own.
            Kind::Stream if model.is_default(*handle) => continue,
            Kind::Context if alive.born.api != Some(Api::aclrtCreateContext) => continue,
            Kind::Stream => "stream",
            Kind::Context => "context",
            Kind::Event => "event",
            Kind::Notify => "notify",
            Kind::CntNotify => "counting notify",
            Kind::Label => "label",
            Kind::LabelList => "label list",
            Kind::DataBuffer => "data buffer",
            _ => continue,
        };
        note(what, &alive.born, alive.outlives, 0);
    }
    let finalized = model.objects.pairs.finalized;
    let found = groups.into_iter().map(|((site, what, outlives), (born, number, bytes))| {
        let size = if bytes == 0 { String::new() } else { format!(", {bytes} bytes") };
        let when = if outlives { "lived at aclFinalize and still live at exit" } else { "still live at exit" };
        let text = format!("{number} of {} {when} ({what}{size})", api(&born));
        let finding = Finding::new(&RULE, text).side(format!("made by {}", api(&born)), site);
        match finalized.filter(|_| outlives) {
            Some((api, at)) => finding.side(format!("{} ended the library's use", api.name()), at),
            None => finding,
        }
    });
    found.collect()
}
