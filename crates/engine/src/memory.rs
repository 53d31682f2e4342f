//! Device, pinned and managed memory: arenas at fixed places, blocks with an address table that answers in
//! nanoseconds for any pointer, copies and fills that turn a bad address into an error.
//!
//! # From an address to its block, without a lock
//! 1. `space`: 2^17 words, one for each GiB of address, name the arena. Outside all arenas: the sorted list of registered ranges.
//! 2. `table`: one word for each 2 MiB and for each 64 KiB of the arena leads to a record or a slab.
//! 3. `slab`: a multiplication gives the slot, and with it the record.
//! 4. `record`: seven words behind the block's serial, read as one (`record` has the protocol).
//!
//! Records and slabs are used again but never given back before their space ends, and a record says itself which addresses it
//! is about, so whatever a reader that comes late follows, it ends at a right answer. A block costs 48 bytes of record, and
//! its share of a slab and of the table: about 60 bytes for a block of 2 KiB, 56 and 8 for each 64 KiB for a large one.
//!
//! # What lies where
//! | arena | memory | mirror |
//! | --- | --- | --- |
//! | one for each device | its own sparse memory file; guarded by a protection key if there is one | the same file, unguarded, behind it |
//! | pinned | a sparse memory file | if the layout wants one: the same file, behind it |
//! | managed | a sparse memory file | none |
//! | aliases | none: addresses that stand for registered memory | none |
//!
//! Addresses are reserved without access, at an arena's first block, and opened as far as blocks have come to lie (`region`). No
//! child of a fork inherits any of it. Locks: one for each arena and one for the registered ranges, never two at once.

mod arena;
mod copy;
mod guard;
mod heap;
mod many;
mod record;
mod region;
mod registered;
mod runs;
mod shield;
mod slab;
mod space;
mod sparse;
mod table;

pub use copy::{copy, fill, fill32};
pub use guard::can_guard;
pub(crate) use guard::report_guarded;
pub use many::{Move, Rows, copy_each, copy_rows};
pub(crate) use shield::touched;
pub use shield::{Hook, Shut, Touch};
pub use space::Space;

/// Large blocks are made of these: 64 KiB.
const CHUNK: usize = 64 << 10;

/// The smallest alignment, and the step in which use is counted.
const SMALLEST: usize = 64;

/// Whose memory a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// Memory of a device, from its memory file.
    Device(u16),
    /// Pinned host memory handed out by the runtime.
    Pinned,
    /// Managed memory, reachable from host and devices.
    Managed,
    /// Host memory of the program that it has registered.
    Registered,
    /// The device-side address of registered host memory.
    Alias,
    /// A device variable: the copy that belongs to one device.
    Image(u16),
}

/// An [`Owner`] in one word, for hot paths: kind in the lowest byte, device in bits 16 to 31. (A whole word, so that a structure of
/// words is copied as it was stored.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whose(u64);

impl Whose {
    const DEVICE: u64 = 0;
    const PINNED: u64 = 1;
    const MANAGED: u64 = 2;
    const REGISTERED: u64 = 3;
    const ALIAS: u64 = 4;
    const IMAGE: u64 = 5;

    /// No block's.
    pub const NOBODY: Whose = Whose(0xff);

    /// From a record's word, whose second byte is the page kind.
    #[inline]
    fn of_meta(meta: u64) -> Whose {
        Whose(meta & 0xffff_00ff)
    }

    /// The owner, if there is one.
    #[inline]
    pub fn owner(self) -> Option<Owner> {
        (self != Whose::NOBODY).then(|| self.known())
    }

    #[inline]
    fn known(self) -> Owner {
        let device = (self.0 >> 16) as u16;
        match self.0 & 0xff {
            Whose::DEVICE => Owner::Device(device),
            Whose::PINNED => Owner::Pinned,
            Whose::MANAGED => Owner::Managed,
            Whose::REGISTERED => Owner::Registered,
            Whose::ALIAS => Owner::Alias,
            _ => Owner::Image(device),
        }
    }
}

impl From<Owner> for Whose {
    fn from(owner: Owner) -> Whose {
        let (kind, device) = match owner {
            Owner::Device(device) => (Whose::DEVICE, device),
            Owner::Pinned => (Whose::PINNED, 0),
            Owner::Managed => (Whose::MANAGED, 0),
            Owner::Registered => (Whose::REGISTERED, 0),
            Owner::Alias => (Whose::ALIAS, 0),
            Owner::Image(device) => (Whose::IMAGE, device),
        };
        Whose(kind | u64::from(device) << 16)
    }
}

/// What a copy must know of the live block around an address.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Bytes of the block from the address on.
    pub left: usize,
    /// Whose it is.
    pub whose: Whose,
    /// Distance from the address to the same byte in the mapping that the runtime uses (wrapping).
    pub shift: usize,
}

/// The page kind a block was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Page {
    /// Ordinary pages (4 KiB).
    Normal,
    /// Huge pages (2 MiB).
    Huge,
    /// Giant pages (1 GiB).
    Giant,
}

/// A live block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First address, as handed to the program.
    pub base: usize,
    /// Bytes the program asked for.
    pub size: usize,
    /// Bytes that may be touched: `size` and the padding that the product documents.
    pub usable: usize,
    /// Whose it is.
    pub owner: Owner,
    /// The pages it was asked for.
    pub page: Page,
    /// Never used twice in a process: tells a block from an earlier one at the same address.
    pub serial: u64,
    /// A word of the caller's, given at allocation (flags, module id, alias target).
    pub tag: u64,
}

/// How to lay out a process's memory.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Number of devices.
    pub devices: u16,
    /// Memory of each device, in bytes.
    pub device_bytes: u64,
    /// Most pinned host memory of the process, in bytes.
    pub pinned_bytes: u64,
    /// Whether pinned memory has a second mapping for the runtime, so that host code can be kept off its pages
    /// ([`Space::shut`]).
    pub mirror_pinned: bool,
    /// Whether host code is kept out of device pages where the machine can do so.
    pub guard: bool,
    /// Start of the managed window that the documents name.
    pub managed_base: usize,
    /// Size of the managed window in bytes.
    pub managed_bytes: u64,
}

/// Why a block could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocError {
    /// Not enough free memory of that owner.
    Exhausted {
        /// Bytes asked for, as they count.
        asked: u64,
        /// Bytes that were free.
        free: u64,
    },
    /// The operating system refused the address space, the memory file or access to a part of it.
    Refused(Refusal),
}

/// What the operating system refused, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its error number.
    pub errno: i32,
    /// Bytes of address space that were wanted, the fewest that would have done; 0 when none were.
    pub bytes: u64,
}

impl Refusal {
    fn of(errno: i32) -> Refusal {
        Refusal { errno, bytes: 0 }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let why = std::io::Error::from_raw_os_error(self.errno);
        match self.bytes {
            0 => write!(f, "the system refused: {why}"),
            bytes => write!(f, "the system refused {bytes} bytes of address space: {why}"),
        }
    }
}

/// Why a block could not be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeError {
    /// No live block contains the address.
    Unknown,
    /// The address lies inside this block, not at its start.
    Interior(Block),
}

/// Use of one owner's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes that exist.
    pub total: u64,
    /// Bytes in live blocks.
    pub used: u64,
    /// Most bytes that were ever in live blocks.
    pub peak: u64,
}
