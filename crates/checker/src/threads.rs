//! The threads of the process, as the system sees them: whether one is left that may do something.

use std::fs;

/// Threads that wait for the end of others: each, and that other.
pub type Joins = Vec<(i32, i32)>;

/// Whether every thread but those of the runtime is in `waits` or, directly or through others, waits for the end of one that is.
/// Those that do are returned; None: there is another one, or it cannot be told.
pub fn accounted(waits: &[i32]) -> Option<Joins> {
    let own = toprope_engine::thread::own();
    let mut open = Vec::new();
    for entry in fs::read_dir("/proc/self/task").ok()? {
        let id: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        if !own.contains(&id) && !waits.contains(&id) && !ended(id) {
            open.push(id);
        }
    }
    let mut joins = Joins::new();
    for id in open {
        let other = joined(&fs::read_to_string(format!("/proc/self/task/{id}/syscall")).ok()?)?;
        joins.push((id, other));
    }
    joins.sort_unstable();
    let stuck = |from: i32| {
        let mut at = from;
        for _ in 0..=joins.len() {
            if waits.contains(&at) {
                return true;
            }
            match joins.iter().find(|(id, _)| *id == at) {
                Some((_, other)) => at = *other,
                None => return false,
            }
        }
        // They wait for each other.
        true
    };
    joins.iter().all(|(id, _)| stuck(*id)).then_some(joins)
}

/// Whether a thread has ended: a main thread that left by pthread_exit stays in the list.
fn ended(id: i32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/self/task/{id}/stat")) else { return false };
    // The name before it may hold anything.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('Z' | 'X'))
}

/// The thread whose end a thread waits for, of its line in /proc/…/syscall. pthread_join sleeps on the word that the kernel clears at
/// the end of the other: shared, since the kernel wakes it so; with no time limit; its value is the number of that thread. A
/// lock of that kind held by that thread looks the same, and is as good.
fn joined(line: &str) -> Option<i32> {
    let mut words = line.split_ascii_whitespace();
    let call: i64 = words.next()?.parse().ok()?;
    let mut number = || usize::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (_address, operation, value, limit) = (number()?, number()?, number()?, number()?);
    let operation = i32::try_from(operation).ok()?;
    let command = operation & !libc::FUTEX_CLOCK_REALTIME;
    let waits = command == libc::FUTEX_WAIT || command == libc::FUTEX_WAIT_BITSET;
    let other = i32::try_from(value).ok().filter(|other| *other > 1)?;
    (call == libc::SYS_futex && waits && limit == 0).then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn lines_of_the_system_are_read() {
        assert_eq!(joined("202 0x7f00 0x109 0x3039 0x0 0x0 0xffffffff 0x7ffc 0x7f01\n"), Some(0x3039));
        // A private word; a time limit; another call; a thread that runs.
        assert_eq!(joined("202 0x7f00 0x189 0x3039 0x0 0x0 0xffffffff 0x7ffc 0x7f01\n"), None);
        assert_eq!(joined("202 0x7f00 0x109 0x3039 0x7ffc 0x0 0xffffffff 0x7ffc 0x7f01\n"), None);
        assert_eq!(joined("230 0x1 0x0 0x3039 0x0 0x0 0x0 0x7ffc 0x7f01\n"), None);
        assert_eq!(joined("running\n"), None);
    }

    #[test]
    fn a_thread_that_sleeps_elsewhere_is_not_accounted_for() {
        let (send, receive) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            // SAFETY: asks for a number.
            send.send(unsafe { libc::gettid() }).unwrap();
            let _ = ended.recv();
        });
        let other = receive.recv().unwrap();
        // SAFETY: as above.
        let me = unsafe { libc::gettid() };
        assert_eq!(accounted(&[me]), None);
        assert_eq!(accounted(&[other]), None);
        drop(end);
        thread.join().unwrap();
    }
}
