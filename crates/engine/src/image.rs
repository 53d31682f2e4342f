//! Device binaries (include/toprope/device_image.h): checked, and loaded once per device, so that each device has a copy of every
//! variable.
//!
//! An instance is the binary's bytes in a memory file of its own, loaded through its /proc path with local visibility; where the
//! system has no memory files or no /proc, in a temporary file that is removed at once. The dynamic linker knows a loaded object by
//! device and inode and by name: a descriptor that were closed, its number used again, would get the first instance a
//! second time. So it stays open for the instance's life. (`dlmopen` gives each instance a C library of its own.)
//!
//! Nothing of a binary runs by itself: its constructors and exit code are taken out of the dynamic entries before it is loaded.
//!
//! The pages of an instance's variables are mapped twice over one memory file, as a device's memory is: in the instance, where a
//! protection key may guard them, and at a second place, for the runtime's own copies.
//!
//! Locks: `LIVE`, and an image's `blank`; both are leaves except that loading, under neither, takes the dynamic linker's.

mod elf;
mod load;

use crate::memory;
use crate::sync::plain::Mutex;
use std::fmt;
use std::ops::Range;

pub use load::Instance;

/// First word of a table, and the newest version that is understood.
const MAGIC: u32 = 0x4944_5054;
const VERSION: u32 = 1;
/// Longest name that is read.
const LONGEST_NAME: usize = 1 << 16;
/// Most kernels, variables, or parameters of one kernel.
const MOST: u32 = 1 << 20;

/// Why bytes are no device binary that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No ELF at all.
    NotElf,
    /// An ELF for a processor that is no host's: its machine number.
    Npu(u16),
    /// An ELF for another host processor.
    OtherHost(&'static str),
    /// An object file.
    NotLinked,
    /// A program or library of this machine.
    NoTable,
    /// Not to be read.
    Damaged(String),
    /// Made for a later version.
    Newer(u32),
    /// The system or its dynamic linker refused it.
    System(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NotElf => f.write_str("not an ELF file"),
            Refused::Npu(machine) => write!(
                f,
                "a binary for a real NPU (ELF machine {machine:#x}); toprope runs device binaries that `toprope c++ \
                 --device-only` makes from the same source"
            ),
            Refused::OtherHost(name) => write!(f, "an ELF file for {name}, not for this machine's processor"),
            Refused::NotLinked => {
                f.write_str("an object file that was not linked; link it with `toprope c++`")
            }
            Refused::NoTable => f.write_str(
                "a program or library of this machine, not a device binary: it has no table of kernels",
            ),
            Refused::Damaged(what) => write!(f, "a damaged device binary: {what}"),
            Refused::Newer(version) => {
                write!(
                    f,
                    "a device binary of version {version}, made by a later toprope (this one knows {VERSION})"
                )
            }
            Refused::System(what) => write!(f, "a device binary that cannot be loaded: {what}"),
        }
    }
}

/// A kernel's entry in the table.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// As the linker knows it.
    pub name: String,
    /// Each parameter's place in the argument block: offset and size in bytes.
    pub params: Vec<(u32, u32)>,
    /// Bytes of the argument block.
    pub arguments: u32,
    /// Which cores it runs on.
    pub core: Core,
    /// Its entry, relative to where the binary is loaded.
    pub entry: usize,
    /// Bytes from its entry to the next kernel's, or to the end of the code.
    pub code: usize,
}

/// Which cores a kernel runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Cube and vector cores together, or one kind that does both.
    Mix,
    /// Cube cores.
    Cube,
    /// Vector cores.
    Vector,
}

/// A variable's entry in the table.
#[derive(Clone, Debug)]
pub struct Variable {
    /// As the linker knows it.
    pub name: String,
    /// Its address, relative to where the binary is loaded.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

/// A device binary.
pub struct Image {
    bytes: Box<[u8]>,
    plan: elf::Plan,
    /// Its kernels.
    pub kernels: Vec<Kernel>,
    /// Its variables.
    pub variables: Vec<Variable>,
    /// The instance that the tables were read from: nobody has touched it, so it serves the first device.
    blank: Mutex<Option<Instance>>,
}

impl Image {
    /// Checks the bytes, and reads the tables from a first instance.
    pub fn new(bytes: &[u8]) -> Result<Image, Refused> {
        let mut bytes = Box::<[u8]>::from(bytes);
        let plan = elf::plan(&mut bytes)?;
        let blank = Instance::load(&bytes, &plan)?;
        let mut kernels = Vec::new();
        let table = Table::read(&blank)?;
        for at in 0..table.kernels as usize {
            kernels.push(kernel(&blank, peek(peek::<usize>(table.kernels_at + at * 8)?)?)?);
        }
        let mut ends: Vec<usize> = kernels.iter().map(|kernel: &Kernel| kernel.entry).collect();
        ends.push(plan.code_end);
        for kernel in &mut kernels {
            let next = ends.iter().filter(|end| **end > kernel.entry).min();
            kernel.code = next.map_or(0, |next| next - kernel.entry);
        }
        let mut variables = Vec::new();
        for at in 0..table.variables as usize {
            let raw: RawVariable = peek(table.variables_at + at * size_of::<RawVariable>())?;
            let offset = blank.offset(raw.address, "a variable")?;
            let size = usize::try_from(raw.size).unwrap_or(usize::MAX);
            variables.push(Variable { name: text(raw.name)?, offset, size });
        }
        Ok(Image { bytes, plan, kernels, variables, blank: Mutex::new(Some(blank)) })
    }

    /// A new instance: every variable has its first value.
    pub fn load(&self) -> Result<Instance, Refused> {
        let blank = self.blank.lock().take();
        match blank {
            Some(blank) => Ok(blank),
            None => Instance::load(&self.bytes, &self.plan),
        }
    }

    /// The place of a kernel of this name in `kernels`.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.name == name)
    }

    /// The place of a variable of this name in `variables`.
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|variable| variable.name == name)
    }

    /// Bytes of the file.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// `struct toprope_image`
#[repr(C)]
#[derive(Clone, Copy)]
struct RawImage {
    magic: u32,
    version: u32,
    kernel_count: u32,
    variable_count: u32,
    kernels: usize,
    variables: usize,
}

/// `struct toprope_kernel`
#[repr(C)]
#[derive(Clone, Copy)]
struct RawKernel {
    name: usize,
    entry: usize,
    params: usize,
    param_count: u32,
    arguments_size: u32,
    core: u32,
    reserved: u32,
}

/// `struct toprope_variable`
#[repr(C)]
#[derive(Clone, Copy)]
struct RawVariable {
    name: usize,
    address: usize,
    size: u64,
}

struct Table {
    kernels: u32,
    kernels_at: usize,
    variables: u32,
    variables_at: usize,
}

impl Table {
    fn read(instance: &Instance) -> Result<Table, Refused> {
        let at = instance.symbol(elf::TABLE).ok_or(Refused::NoTable)?;
        let raw: RawImage = peek(at)?;
        if raw.magic != MAGIC {
            return Err(Refused::Damaged(format!("its table begins with {:#x}, not {MAGIC:#x}", raw.magic)));
        }
        if raw.version > VERSION {
            return Err(Refused::Newer(raw.version));
        }
        if raw.version == 0 || raw.kernel_count > MOST || raw.variable_count > MOST {
            return Err(Refused::Damaged("its table is not one".to_owned()));
        }
        Ok(Table {
            kernels: raw.kernel_count,
            kernels_at: raw.kernels,
            variables: raw.variable_count,
            variables_at: raw.variables,
        })
    }
}

fn kernel(instance: &Instance, raw: RawKernel) -> Result<Kernel, Refused> {
    let name = text(raw.name)?;
    if raw.param_count > MOST {
        return Err(Refused::Damaged(format!("kernel {name} has {} parameters", raw.param_count)));
    }
    let mut params = Vec::new();
    for at in 0..raw.param_count as usize {
        let (offset, size): (u32, u32) = {
            let [offset, size] = peek::<[u32; 2]>(raw.params + at * 8)?;
            (offset, size)
        };
        if offset.checked_add(size).is_none_or(|end| end > raw.arguments_size) {
            return Err(Refused::Damaged(format!(
                "parameter {at} of kernel {name} lies beyond its arguments"
            )));
        }
        params.push((offset, size));
    }
    let core = match raw.core {
        0 => Core::Mix,
        1 => Core::Cube,
        2 => Core::Vector,
        other => return Err(Refused::Damaged(format!("kernel {name} is for cores of kind {other}"))),
    };
    let entry = instance.offset(raw.entry, "a kernel")?;
    Ok(Kernel { name, params, arguments: raw.arguments_size, core, entry, code: 0 })
}

/// Reads from an instance, which may hold any addresses.
fn peek<T: Copy>(at: usize) -> Result<T, Refused> {
    let mut value = std::mem::MaybeUninit::<T>::uninit();
    // SAFETY: the destination is this frame's; a source that is not there is reported.
    let copied = unsafe { memory::copy(value.as_mut_ptr() as usize, at, size_of::<T>()) };
    match copied {
        // SAFETY: written; all types read here are integers.
        Ok(()) => Ok(unsafe { value.assume_init() }),
        Err(_) => Err(Refused::Damaged(format!("its table leads to {at:#x}, where nothing is"))),
    }
}

/// A name.
fn text(at: usize) -> Result<String, Refused> {
    let mut bytes = Vec::new();
    loop {
        match peek::<u8>(at.wrapping_add(bytes.len()))? {
            0 => break,
            _ if bytes.len() >= LONGEST_NAME => return Err(Refused::Damaged("a name has no end".to_owned())),
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| Refused::Damaged("a name is no text".to_owned()))
}

/// Whether `addr` lies in a range.
fn within(range: &Range<usize>, addr: usize) -> bool {
    range.contains(&addr)
}
