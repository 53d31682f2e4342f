//! Who is who, for reports: streams and threads by a number that is never used twice.

use toprope_runtime::observer::Home;

use crate::shadow::Access;

/// A stream or a thread.
#[derive(Clone, Debug)]
pub enum Name {
    /// A host thread: the system's number, and what pthread_self answers.
    Thread(i32, u64),
    /// A stream.
    Stream {
        /// Its handle.
        handle: u64,
        /// What it is.
        home: Home,
    },
}

/// All that ever were.
#[derive(Debug, Default)]
pub struct Names(Vec<Name>);

impl Names {
    /// A new name for the calling thread.
    pub fn thread(&mut self) -> u32 {
        // SAFETY: asks for numbers.
        self.add(unsafe { Name::Thread(libc::gettid(), libc::pthread_self() as u64) })
    }

    /// A new stream.
    pub fn stream(&mut self, handle: u64, home: Home) -> u32 {
        self.add(Name::Stream { handle, home })
    }

    fn add(&mut self, name: Name) -> u32 {
        self.0.push(name);
        (self.0.len() - 1) as u32
    }

    /// The system's number of the thread that has, or had last, this answer of pthread_self.
    pub fn known(&self, name: u64) -> Option<i32> {
        self.0.iter().rev().find_map(|known| match known {
            Name::Thread(id, other) if *other == name => Some(*id),
            _ => None,
        })
    }

    /// In words.
    pub fn of(&self, who: u32) -> String {
        match self.0.get(who as usize) {
            Some(Name::Thread(id, _)) => format!("thread {id}"),
            Some(Name::Stream { handle, home }) => {
                let kind = if home.default { "default stream" } else { "stream" };
                format!("{kind} {} ({handle:#x}) of device {}", home.id, home.device)
            }
            None => "an unknown thread".to_owned(),
        }
    }

    /// What an access did.
    pub fn access(&self, access: &Access, wrote: bool, start: usize, len: usize) -> String {
        let verb = if wrote { "writes" } else { "reads" };
        format!("{} on {} {verb} {len} bytes at {start:#x}", api(access.api), self.of(access.who))
    }
}

/// A function's name.
pub fn api(api: u16) -> &'static str {
    toprope_runtime::generated::api::FUNCTIONS.get(usize::from(api)).map_or("a call", |f| f.name)
}
