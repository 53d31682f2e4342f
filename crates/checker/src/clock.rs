//! Time in a program with many time lines. A stream's time is the engine's position in it, so an epoch of a stream is the
//! engine's mark; a host thread's time is a count of our own. An index that is used again goes on counting, which orders a new
//! stream or thread after the one that had its index before: true, since that one has ended, and it never raises an alarm.

use std::sync::Arc;

use smallvec::SmallVec;
use toprope_engine::queue::Mark;

/// Bits of a time.
const TIME: u32 = 46;
const HOST: u64 = 1 << 63;

/// One moment of one time line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Epoch(u64);

impl Epoch {
    /// A task of a stream.
    pub fn task(mark: Mark) -> Epoch {
        Epoch(mark.0 & !HOST)
    }

    /// A moment of a host thread.
    pub fn host(slot: usize, time: u64) -> Epoch {
        Epoch(HOST | (slot as u64) << TIME | time)
    }

    /// Whether it is a moment of a host thread.
    pub fn is_host(self) -> bool {
        self.0 & HOST != 0
    }

    /// The engine's index of the stream, or the thread's slot.
    pub fn line(self) -> usize {
        ((self.0 & !HOST) >> TIME) as usize
    }

    /// The time in its line.
    pub fn time(self) -> u64 {
        self.0 & ((1 << TIME) - 1)
    }
}

/// The engine's index of a mark's stream.
pub fn line_of(mark: Mark) -> usize {
    Epoch::task(mark).line()
}

/// For each time line, the last moment that lies before. Small programs have theirs in one piece of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    streams: SmallVec<[u64; 6]>,
    hosts: SmallVec<[u64; 2]>,
}

#[inline]
fn at(times: &[u64], line: usize) -> u64 {
    times.get(line).copied().unwrap_or(0)
}

#[inline]
fn raise<const N: usize>(times: &mut SmallVec<[u64; N]>, line: usize, time: u64) -> bool
where
    [u64; N]: smallvec::Array<Item = u64>,
{
    if at(times, line) >= time {
        return false;
    }
    if times.len() <= line {
        times.resize(line + 1, 0);
    }
    if let Some(now) = times.get_mut(line) {
        *now = time;
    }
    true
}

impl Clock {
    /// Whether a moment lies before.
    #[inline]
    pub fn covers(&self, epoch: Epoch) -> bool {
        let times: &[u64] = if epoch.is_host() { &self.hosts } else { &self.streams };
        at(times, epoch.line()) >= epoch.time()
    }

    /// Puts a moment, and all before it in its line, before. Whether that is new.
    #[inline]
    pub fn add(&mut self, epoch: Epoch) -> bool {
        if epoch.is_host() {
            raise(&mut self.hosts, epoch.line(), epoch.time())
        } else {
            raise(&mut self.streams, epoch.line(), epoch.time())
        }
    }

    /// The last task of a stream that lies before; 0 if there is none.
    pub fn of_stream(&self, line: usize) -> u64 {
        at(&self.streams, line)
    }

    fn within(&self, other: &Clock) -> bool {
        self.within_but(other, usize::MAX)
    }

    /// Whether another one has all that this one has, whatever that is of one stream.
    pub fn within_but(&self, other: &Clock, stream: usize) -> bool {
        let times = |(line, time): (usize, &u64)| *time <= at(&other.streams, line) || line == stream;
        self.streams.iter().enumerate().all(times)
            && self.hosts.iter().enumerate().all(|(line, time)| *time <= at(&other.hosts, line))
    }
}

/// Puts everything before `other` before `clock` too. Whether that is new.
pub fn join(clock: &mut Arc<Clock>, other: &Arc<Clock>) -> bool {
    if Arc::ptr_eq(clock, other) || other.within(clock) {
        return false;
    }
    if clock.within(other) {
        *clock = Arc::clone(other);
        return true;
    }
    merge(clock, other)
}

/// As [`join`], without making the two one: for a clock that is about to change.
pub fn merge(clock: &mut Arc<Clock>, other: &Clock) -> bool {
    if other.within(clock) {
        return false;
    }
    let own = Arc::make_mut(clock);
    for (line, time) in other.streams.iter().enumerate() {
        raise(&mut own.streams, line, *time);
    }
    for (line, time) in other.hosts.iter().enumerate() {
        raise(&mut own.hosts, line, *time);
    }
    true
}

/// As [`Clock::add`], for a shared clock.
pub fn add(clock: &mut Arc<Clock>, epoch: Epoch) -> bool {
    !clock.covers(epoch) && Arc::make_mut(clock).add(epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_keep_their_parts() {
        let task = Epoch::task(Mark(5 << TIME | 77));
        assert_eq!((task.is_host(), task.line(), task.time()), (false, 5, 77));
        let host = Epoch::host(3, 9);
        assert_eq!((host.is_host(), host.line(), host.time()), (true, 3, 9));
    }

    #[test]
    fn a_join_covers_both_sides() {
        let mut a = Arc::new(Clock::default());
        assert!(add(&mut a, Epoch::host(0, 4)));
        let mut b = Arc::new(Clock::default());
        assert!(add(&mut b, Epoch::task(Mark(2 << TIME | 6))));
        assert!(!a.covers(Epoch::task(Mark(2 << TIME | 6))));
        assert!(join(&mut a, &b));
        assert!(a.covers(Epoch::task(Mark(2 << TIME | 6))) && a.covers(Epoch::host(0, 4)));
        assert!(!a.covers(Epoch::task(Mark(2 << TIME | 7))) && !a.covers(Epoch::host(1, 1)));
        assert!(!join(&mut a, &b) && !b.covers(Epoch::host(0, 4)));
        assert_eq!(a.of_stream(2), 6);
    }
}
