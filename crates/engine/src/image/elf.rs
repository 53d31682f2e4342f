//! What can be told of a device binary from its bytes alone, and what is changed in them before they are loaded.

use super::Refused;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSymbol};
use std::ops::Range;

/// The symbol that makes an ELF a device binary. Source: include/toprope/device_image.h.
pub(super) const TABLE: &str = "toprope_device_image";

/// This machine's processor, as ELF numbers it.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { elf::EM_AARCH64 } else { elf::EM_X86_64 };

/// Processors of hosts: an ELF for one of these is not a kernel of an NPU.
const HOSTS: [(u16, &str); 8] = [
    (elf::EM_386, "x86"),
    (elf::EM_X86_64, "x86-64"),
    (elf::EM_ARM, "ARM"),
    (elf::EM_AARCH64, "AArch64"),
    (elf::EM_RISCV, "RISC-V"),
    (elf::EM_PPC64, "POWER"),
    (elf::EM_S390, "S/390"),
    (elf::EM_LOONGARCH, "LoongArch"),
];

const PAGE: u64 = 4096;

/// What the loader needs to know.
pub(super) struct Plan {
    /// The whole pages that hold variables, relative to where the binary is loaded: behind those that are read-only after
    /// loading. None: there are none, or the loader's own tables lie among them.
    pub data: Option<Range<usize>>,
    /// End of the binary's code, relative as well.
    pub code_end: usize,
}

/// Looks at the bytes and takes out of them what would run by itself: a device binary has no constructors and no exit code.
pub(super) fn plan(bytes: &mut [u8]) -> Result<Plan, Refused> {
    let (plan, dynamic) = read(bytes)?;
    if let Some(entries) = bytes.get_mut(dynamic) {
        quieten(entries);
    }
    Ok(plan)
}

/// The plan, and where in the file the dynamic entries are.
fn read(bytes: &[u8]) -> Result<(Plan, Range<usize>), Refused> {
    if !bytes.starts_with(&elf::ELFMAG) {
        return Err(Refused::NotElf);
    }
    // Class, byte order and machine first: they say what an ELF that we cannot read is.
    if bytes.get(4..6) != Some(&[elf::ELFCLASS64, elf::ELFDATA2LSB]) {
        return Err(Refused::Damaged("not a 64-bit little-endian file".to_owned()));
    }
    let damaged = |error: object::Error| Refused::Damaged(error.to_string());
    let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(damaged)?;
    let order = LittleEndian;
    let machine = header.e_machine(order);
    if machine != MACHINE {
        return Err(match HOSTS.iter().find(|host| host.0 == machine) {
            Some((_, name)) => Refused::OtherHost(name),
            None => Refused::Npu(machine),
        });
    }
    match header.e_type(order) {
        elf::ET_DYN => {}
        elf::ET_REL => return Err(Refused::NotLinked),
        _ => return Err(Refused::NoTable),
    }
    let file = ElfFile::<FileHeader64<LittleEndian>>::parse(bytes).map_err(damaged)?;
    let exported = |symbol: &object::read::elf::ElfSymbol64<'_, '_, LittleEndian>| {
        !symbol.is_undefined() && symbol.name() == Ok(TABLE)
    };
    if !file.dynamic_symbols().any(|symbol| exported(&symbol)) {
        return Err(Refused::NoTable);
    }
    let headers = header.program_headers(order, bytes).map_err(damaged)?;
    let (mut data, mut relro, mut dynamic, mut code_end) = (None::<Range<u64>>, 0, None, 0);
    for segment in headers {
        let start = segment.p_vaddr(order);
        let end = start.checked_add(segment.p_memsz(order));
        let end = end.ok_or_else(|| Refused::Damaged("a segment that wraps around".to_owned()))?;
        match segment.p_type(order) {
            elf::PT_LOAD if segment.p_flags(order) & elf::PF_W != 0 => {
                let first = data.map_or(start, |range| range.start.min(start));
                data = Some(first..end);
            }
            elf::PT_LOAD if segment.p_flags(order) & elf::PF_X != 0 => code_end = end.max(code_end),
            elf::PT_GNU_RELRO => relro = end.next_multiple_of(PAGE),
            elf::PT_DYNAMIC => dynamic = Some((start, segment.p_offset(order), segment.p_filesz(order))),
            _ => {}
        }
    }
    let Some((dynamic_at, offset, size)) = dynamic else {
        return Err(Refused::Damaged("no dynamic segment".to_owned()));
    };
    let pages = data.map(|range| range.start.max(relro) / PAGE * PAGE..range.end.next_multiple_of(PAGE));
    let data = pages.filter(|pages| !pages.is_empty() && !pages.contains(&dynamic_at));
    let data = data.map(|pages| pages.start as usize..pages.end as usize);
    let entries = offset as usize..(offset as usize).saturating_add(size as usize);
    Ok((Plan { data, code_end: code_end as usize }, entries))
}

/// Makes the dynamic entries name nothing that runs at loading or unloading.
fn quieten(entries: &mut [u8]) {
    for entry in entries.chunks_exact_mut(16) {
        let (tag, value) = entry.split_at_mut(8);
        let Ok(number) = <[u8; 8]>::try_from(&*tag) else { return };
        match u64::from_le_bytes(number) as u32 {
            elf::DT_NULL => return,
            elf::DT_INIT_ARRAYSZ | elf::DT_FINI_ARRAYSZ | elf::DT_PREINIT_ARRAYSZ => value.fill(0),
            // Of no meaning in a shared object.
            elf::DT_INIT | elf::DT_FINI => tag.copy_from_slice(&u64::from(elf::DT_DEBUG).to_le_bytes()),
            _ => {}
        }
    }
}
