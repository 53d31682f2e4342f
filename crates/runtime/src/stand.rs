//! What stands still, for a checker that looks for waits that never end. Read from the side, while everything else goes on.

use toprope_engine::queue::{Standing, Stream};

use crate::process;

/// How things are at one moment, roughly; what stands, stands.
#[derive(Debug, Default)]
pub struct Look {
    /// Streams that have tasks left.
    pub streams: Vec<Standing>,
    /// Threads, as pthread_self names them, for which callbacks are due (aclrtProcessReport, aclrtProcessHostFunc).
    pub due: Vec<u64>,
    /// Streams and the threads that are subscribed for their reports.
    pub subscribed: Vec<(Stream, u64)>,
}

/// Looks. None if it cannot be told just now.
pub fn look() -> Option<Look> {
    let rt = process::runtime().ok()?;
    let mut due = rt.reports.due();
    due.extend(rt.host_funcs.due());
    let of = |stream: &crate::stream::Stream| Some((stream.queue, stream.reports.thread()?));
    let subscribed = rt.streams.all().iter().filter_map(|stream| of(stream)).collect();
    Some(Look { streams: rt.engine.standing()?, due, subscribed })
}
