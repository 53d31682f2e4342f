//! What memory must hold: bytes as they are once every task added so far is done, and the accesses that may still be
//! under way.

use crate::clock::{Clock, Epoch};
use std::ops::Range;

/// Whose memory a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// aclrtMalloc on a device.
    Device(usize),
    /// aclrtMallocHost.
    Pinned,
    /// aclrtMemAllocManaged.
    Managed,
    /// The program's own.
    Pageable,
    /// A device variable: its copy on a device.
    Image {
        /// Which variable.
        symbol: usize,
        /// Whose copy.
        device: usize,
    },
}

impl Kind {
    /// Whether host code may touch it.
    pub fn is_host(self) -> bool {
        !matches!(self, Kind::Device(_) | Kind::Image { .. })
    }

    /// The device that owns it.
    pub fn device(self) -> Option<usize> {
        match self {
            Kind::Device(device) | Kind::Image { device, .. } => Some(device),
            _ => None,
        }
    }
}

/// One access of a task that the host has not seen the end of.
#[derive(Clone, Debug)]
pub struct Access {
    /// Bytes of the buffer.
    pub range: Range<usize>,
    /// Whether it writes.
    pub write: bool,
    /// The task.
    pub epoch: Epoch,
    /// What comes before the task.
    pub clock: Clock,
}

/// A piece of memory.
#[derive(Debug)]
pub struct Buffer {
    /// Whose it is.
    pub kind: Kind,
    /// First address.
    pub base: usize,
    /// The bytes, once everything is done.
    pub bytes: Vec<u8>,
    /// Which of them the model knows.
    pub known: Vec<bool>,
    /// Accesses that may be under way.
    pub accesses: Vec<Access>,
    /// Not freed yet.
    pub alive: bool,
    /// Changed since it was compared last.
    pub dirty: bool,
    /// The program has registered it: to copies it is page-locked.
    pub registered: bool,
}

/// Bytes of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index of the buffer.
    pub buffer: usize,
    /// Which bytes.
    pub range: Range<usize>,
}

impl Buffer {
    /// A new one. Device memory is not initialised (aclrtMalloc#15), so nothing of it is known.
    pub fn new(kind: Kind, base: usize, size: usize) -> Buffer {
        let (bytes, known) = (vec![0; size], vec![kind == Kind::Pageable; size]);
        Buffer {
            kind,
            base,
            bytes,
            known,
            accesses: Vec::new(),
            alive: true,
            dirty: false,
            registered: false,
        }
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes from its start within which an access may or may not be refused: padding, whole pages.
    fn reach(&self) -> usize {
        match self.kind {
            // aclrtMemAllocManaged#06
            Kind::Managed => self.size().next_multiple_of(2 << 20),
            _ => self.size() + PADDING,
        }
    }

    /// Tasks that touch these bytes and need not come before something with this clock.
    pub fn races<'a>(
        &'a self,
        range: &'a Range<usize>,
        write: bool,
        clock: &'a Clock,
    ) -> impl Iterator<Item = &'a Access> {
        self.accesses.iter().filter(move |access| {
            let overlap = access.range.start < range.end && range.start < access.range.end;
            overlap && (write || access.write) && !clock.covers(access.epoch)
        })
    }

    /// Forgets accesses that the host has seen the end of.
    pub fn settle(&mut self, host: &Clock) {
        self.accesses.retain(|access| !host.covers(access.epoch));
    }

    /// Whether a task that may be under way writes this byte.
    pub fn in_flight(&self, at: usize) -> bool {
        self.accesses.iter().any(|access| access.write && access.range.contains(&at))
    }

    /// Nobody knows what these bytes hold.
    pub fn forget(&mut self, range: Range<usize>) {
        self.known[range].fill(false);
    }
}

/// Where a range of addresses lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a live buffer, all of it.
    In(Span),
    /// Certainly refused: it leaves its buffer, or wraps around.
    Bad,
    /// Begins where a buffer of this kind was.
    Gone(Kind),
    /// Memory that the runtime does not know and that is not mapped.
    Unmapped,
    /// Not for the model to say: padding, or the program's own memory beyond a buffer.
    Unclear,
}

/// More than any padding behind a block.
pub const PADDING: usize = 96;

/// Addresses where nothing is mapped in any process: the first page, an address that is not canonical, the kernel's half.
pub const UNMAPPED: [usize; 3] = [0x10, 0x00f0_0000_0000_0000, 0xffff_8000_0000_0000];

/// Finds the range `[addr, addr + len)`.
pub fn place(buffers: &[Buffer], addr: usize, len: usize) -> Place {
    for (buffer, found) in buffers.iter().enumerate().filter(|(_, buffer)| buffer.alive) {
        let Some(offset) = addr.checked_sub(found.base).filter(|offset| *offset < found.reach()) else {
            continue;
        };
        if offset < found.size() && len <= found.size() - offset {
            return Place::In(Span { buffer, range: offset..offset + len });
        }
        if found.kind == Kind::Pageable {
            return if addr.checked_add(len).is_none() { Place::Bad } else { Place::Unclear };
        }
        return if offset < found.size() && len > found.reach() - offset {
            Place::Bad
        } else {
            Place::Unclear
        };
    }
    if addr.checked_add(len).is_none() {
        return Place::Bad;
    }
    if UNMAPPED.contains(&addr) {
        return if len < 1 << 20 { Place::Unmapped } else { Place::Unclear };
    }
    let was = |buffer: &Buffer| (buffer.base..buffer.base + buffer.size()).contains(&addr);
    match buffers.iter().find(|buffer| !buffer.alive && was(buffer)) {
        Some(buffer) if buffer.kind != Kind::Pageable => Place::Gone(buffer.kind),
        _ => Place::Unclear,
    }
}
