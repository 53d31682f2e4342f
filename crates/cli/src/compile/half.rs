//! Device halves in objects and archives: a section that holds, for each object that went into the file, its number, the length, and the
//! relocatable device object.

use std::fs;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};

use super::asm;

const MAGIC: &[u8; 8] = b"TPDEVOBJ";

/// A device half.
#[derive(Debug, PartialEq, Eq)]
pub struct Half {
    /// Number of the object that it belongs to.
    pub object: u64,
    /// A relocatable object.
    pub bytes: Vec<u8>,
    /// The file that it was found in.
    pub origin: PathBuf,
}

/// What the section of one object holds.
pub fn pack(object: u64, bytes: &[u8]) -> Vec<u8> {
    let mut packed = MAGIC.to_vec();
    packed.extend_from_slice(&object.to_le_bytes());
    packed.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    packed.extend_from_slice(bytes);
    packed.resize(packed.len().next_multiple_of(8), 0);
    packed
}

fn unpack(mut section: &[u8], origin: &Path) -> Result<Vec<Half>, String> {
    let damaged = || format!("{}: its device half is damaged", origin.display());
    let mut halves = Vec::new();
    while !section.is_empty() {
        let (head, rest) = section.split_at_checked(24).ok_or_else(damaged)?;
        let number =
            |at: usize| head.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        let (Some(object), Some(length)) = (number(8), number(16)) else { return Err(damaged()) };
        let length = usize::try_from(length).map_err(|_| damaged())?;
        let whole = length.checked_next_multiple_of(8).ok_or_else(damaged)?;
        if !head.starts_with(MAGIC) || whole > rest.len() {
            return Err(damaged());
        }
        halves.push(Half { object, bytes: rest[..length].to_vec(), origin: origin.to_owned() });
        section = &rest[whole..];
    }
    Ok(halves)
}

/// The device halves of an object.
fn of_object(bytes: &[u8], origin: &Path) -> Result<Vec<Half>, String> {
    // Other files are the linker's to judge.
    let Ok(file) = object::File::parse(bytes) else { return Ok(Vec::new()) };
    match file.section_by_name(asm::DEVICE) {
        Some(section) => {
            let data = section.data().map_err(|e| format!("{}: {e}", origin.display()))?;
            unpack(data, origin)
        }
        None => Ok(Vec::new()),
    }
}

/// The device halves in a file, and whether it is an archive.
pub fn of_file(path: &Path) -> Result<(Vec<Half>, bool), String> {
    let Ok(bytes) = fs::read(path) else { return Ok((Vec::new(), false)) };
    if bytes.starts_with(b"\x7fELF") {
        return Ok((of_object(&bytes, path)?, false));
    }
    let Ok(archive) = ArchiveFile::parse(bytes.as_slice()) else { return Ok((Vec::new(), false)) };
    let mut halves = Vec::new();
    for member in archive.members() {
        let member = member.map_err(|e| format!("{}: {e}", path.display()))?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        if archive.is_thin() {
            let file = path.parent().unwrap_or(Path::new("")).join(&name);
            halves.extend(of_file(&file)?.0);
        } else if let Ok(data) = member.data(bytes.as_slice()) {
            // A copy, since members stand at even addresses only.
            let copy = data.to_vec();
            halves.extend(of_object(&copy, &path.with_file_name(format!("{}({name})", name_of(path))))?);
        }
    }
    Ok((halves, true))
}

/// The numbers of the objects that a linked file consists of.
pub fn objects_in(path: &Path) -> Result<Vec<u64>, String> {
    let say = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let bytes = fs::read(path).map_err(|e| say(&e))?;
    let file = object::File::parse(bytes.as_slice()).map_err(|e| say(&e))?;
    let Some(section) = file.section_by_name(asm::OBJECTS) else { return Ok(Vec::new()) };
    let data = section.data().map_err(|e| say(&e))?;
    Ok(data.chunks_exact(8).filter_map(|word| word.try_into().ok()).map(u64::from_le_bytes).collect())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_a_linker_joined_come_apart_again() {
        let mut joined = pack(1, b"first");
        joined.extend(pack(2, b""));
        joined.extend(pack(3, b"12345678"));
        let halves = unpack(&joined, Path::new("x.o")).unwrap();
        let found: Vec<_> = halves.iter().map(|half| (half.object, half.bytes.as_slice())).collect();
        assert_eq!(found, [(1, b"first".as_slice()), (2, b""), (3, b"12345678")]);
        for cut in 1..joined.len() {
            if unpack(&joined[..cut], Path::new("x.o")).is_ok() {
                assert!([pack(1, b"first").len(), pack(1, b"first").len() + 24].contains(&cut), "{cut}");
            }
        }
        let mut wild = joined;
        wild[16..24].fill(0xff);
        assert!(unpack(&wild, Path::new("x.o")).is_err());
    }
}
