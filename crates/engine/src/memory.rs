//! Device, pinned and managed memory: arenas at fixed places, blocks with an address table that answers in
//! nanoseconds for any pointer, copies and fills that turn a bad address into an error.

use crate::fault::Fault;

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
    /// Not enough free memory of that owner: (asked, free).
    Exhausted { asked: u64, free: u64 },
    /// The operating system refused the address space or the memory file: errno.
    Refused(i32),
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

/// All memory of the process.
pub struct Space {
    _todo: (),
}

#[allow(unused_variables)]
impl Space {
    /// Reserves the arenas. Nothing is touched until it is used; the managed window is reserved at its first block.
    pub fn new(layout: Layout) -> Result<Space, AllocError> {
        todo!()
    }
    /// A block of `size` bytes (and `usable - size` bytes of padding), aligned to `align` (a power of two).
    pub fn alloc(
        &self,
        owner: Owner,
        size: usize,
        usable: usize,
        align: usize,
        page: Page,
        tag: u64,
    ) -> Result<Block, AllocError> {
        todo!()
    }
    /// Frees the block that starts at `addr`.
    pub fn free(&self, addr: usize) -> Result<Block, FreeError> {
        todo!()
    }
    /// Frees every block of `owner`; returns how many there were.
    pub fn free_all(&self, owner: Owner) -> usize {
        todo!()
    }
    /// The live block that contains `addr`.
    #[inline]
    pub fn find(&self, addr: usize) -> Option<Block> {
        todo!()
    }
    /// Whose arena `addr` lies in (live block or not): a compare. None outside all arenas.
    #[inline]
    pub fn arena(&self, addr: usize) -> Option<Owner> {
        todo!()
    }
    /// Use of an owner's memory.
    pub fn usage(&self, owner: Owner) -> Usage {
        todo!()
    }
    /// Live blocks of an owner, oldest first.
    pub fn blocks(&self, owner: Owner) -> Vec<Block> {
        todo!()
    }
    /// Notes that the program registered `[addr, addr + size)` of its own memory; refuses an overlap, naming the earlier one.
    pub fn register(&self, addr: usize, size: usize, tag: u64) -> Result<Block, Block> {
        todo!()
    }
    /// Forgets a registration that starts at `addr`.
    pub fn unregister(&self, addr: usize) -> Result<Block, FreeError> {
        todo!()
    }
    /// Where the runtime itself reads and writes the bytes at `addr`: the unguarded mapping for device memory, the target for an
    /// alias, `addr` itself for all else.
    #[inline]
    pub fn inner(&self, addr: usize) -> usize {
        todo!()
    }
    /// Whether host code really is kept out of device pages.
    pub fn guarded(&self) -> bool {
        todo!()
    }
}

/// Copies `len` bytes between inner addresses; overlapping ranges behave like memmove. No system call, no allocation.
///
/// # Safety
/// The ranges may be unmapped or protected (that is reported), but must not be memory that Rust code holds references to.
pub unsafe fn copy(dst: usize, src: usize, len: usize) -> Result<(), Fault> {
    let _ = (dst, src, len);
    todo!()
}

/// Sets `len` bytes at an inner address.
///
/// # Safety
/// As [`copy`].
pub unsafe fn fill(dst: usize, byte: u8, len: usize) -> Result<(), Fault> {
    let _ = (dst, byte, len);
    todo!()
}

/// Sets `count` 32-bit words at an inner address.
///
/// # Safety
/// As [`copy`].
pub unsafe fn fill32(dst: usize, word: u32, count: usize) -> Result<(), Fault> {
    let _ = (dst, word, count);
    todo!()
}
