//! Versions: chapter 24. The API's own comes from the headers; those of packages stand in the version files of the toolkit tree
//! that `ASCEND_HOME_PATH` names, the vendor's or one that `toprope sdk` made.

use std::path::{Path, PathBuf};

use ascendcl_sys as sys;

use crate::error::Result;
use crate::refuse;

/// Bytes of a version text with its end mark. aclsysGetVersionStr#06
pub const TEXT_BYTES: usize = sys::ACL_PKG_VERSION_MAX_SIZE as usize;
/// Bytes of one part with its end mark.
pub const PART_BYTES: usize = sys::ACL_PKG_VERSION_PARTS_MAX_SIZE as usize;

/// aclrtGetVersion (#04): major, minor, patch.
pub fn of_api() -> [i32; 3] {
    [sys::ACL_MAJOR_VERSION, sys::ACL_MINOR_VERSION, sys::ACL_PATCH_VERSION]
}

/// The folder of a package of aclsysGetCANNVersion, in the tree's words.
fn folder(name: sys::aclCANNPackageName) -> Option<&'static str> {
    Some(match name {
        sys::ACL_PKG_NAME_CANN => "cann",
        sys::ACL_PKG_NAME_RUNTIME => "runtime",
        sys::ACL_PKG_NAME_COMPILER => "compiler",
        sys::ACL_PKG_NAME_HCCL => "hccl",
        sys::ACL_PKG_NAME_TOOLKIT => "toolkit",
        sys::ACL_PKG_NAME_OPP => "opp",
        sys::ACL_PKG_NAME_OPP_KERNEL => "opp_kernel",
        sys::ACL_PKG_NAME_DRIVER => "driver",
        _ => return None,
    })
}

/// aclsysGetCANNVersion: the text, and its parts major, minor, release, patch; the last two are 0 when they are missing
/// (page aclCANNPackageVersion).
pub fn of_cann_package(name: sys::aclCANNPackageName) -> Result<(String, [String; 4])> {
    let Some(package) = folder(name) else {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclsysGetCANNVersion#02",
            "name: {}",
            sys::enums::aclCANNPackageName.show(name)
        );
    };
    let text = text_of(package, ["aclsysGetCANNVersion#03", "ours: version length"])?;
    let mut parts = text.splitn(4, '.').map(str::to_owned);
    let mut part = || match parts.next() {
        Some(part) if part.len() < PART_BYTES => Ok(part),
        Some(part) => refuse!(
            sys::ACL_ERROR_INTERNAL_ERROR,
            "ours: version length",
            "name: part '{part}' of {package}'s version is longer than {} characters",
            PART_BYTES - 1
        ),
        None => Ok("0".to_owned()),
    };
    let parts = [part()?, part()?, part()?, part()?];
    Ok((text, parts))
}

/// aclsysGetVersionStr.
pub fn of_package(name: &[u8]) -> Result<String> {
    text_of(&String::from_utf8_lossy(name), ["aclsysGetVersionStr#03", "aclsysGetVersionStr#07"])
}

/// aclsysGetVersionNum.
pub fn number_of_package(name: &[u8]) -> Result<i32> {
    let name = String::from_utf8_lossy(name);
    let text = text_of(&name, ["aclsysGetVersionNum#03", "ours: version length"])?;
    match number(&text) {
        Some(number) => Ok(number),
        None => refuse!(
            sys::ACL_ERROR_INTERNAL_ERROR,
            "aclsysGetVersionNum#06",
            "pkgName: version '{text}' of {name} is not three numbers with an optional alpha, beta or rc"
        ),
    }
}

/// aclsysGetVersionNum#04, #05: `major.minor.patch`, then `.`, `-` or nothing, then alpha, beta or rc and its number.
fn number(text: &str) -> Option<i32> {
    let mut rest = text;
    let mut sum = 0i32;
    for (place, weight) in [10_000_000, 100_000, 1_000].into_iter().enumerate() {
        if place > 0 {
            rest = rest.strip_prefix('.')?;
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let value: i32 = rest[..digits].parse().ok()?;
        sum = sum.checked_add(value.checked_mul(weight)?)?;
        rest = &rest[digits..];
    }
    if rest.is_empty() {
        return Some(sum);
    }
    let rest = rest.trim_start_matches(['.', '-']).to_ascii_lowercase();
    let (step, tail) = [("alpha", 300), ("beta", 200), ("rc", 100)]
        .into_iter()
        .find_map(|(word, step)| Some((step, rest.strip_prefix(word)?)))?;
    let tail = tail.trim_start_matches(['.', '-']);
    let count: i32 = if tail.is_empty() { 0 } else { tail.parse().ok().filter(|n| *n >= 0)? };
    sum.checked_sub(step)?.checked_add(count)
}

/// The version of a package. Rules: not found; too long.
fn text_of(package: &str, rules: [&'static str; 2]) -> Result<String> {
    let missing = |why: String| refuse!(sys::ACL_ERROR_INVALID_FILE, rules[0], "package '{package}': {why}");
    // A name is one folder, never a way out of the tree.
    if package.is_empty() || package.contains('/') || package.starts_with('.') {
        return missing("no package has such a name".to_owned());
    }
    let candidates = match candidates(package) {
        Ok(candidates) => candidates,
        Err(why) => return missing(why),
    };
    let version = candidates.iter().find_map(|path| version_line(&std::fs::read_to_string(path).ok()?));
    match version {
        None => missing(format!("no file with a version line among {candidates:?}")),
        Some(version) if version.len() >= TEXT_BYTES => refuse!(
            sys::ACL_ERROR_INTERNAL_ERROR,
            rules[1],
            "package '{package}': its version is longer than {} characters",
            TEXT_BYTES - 1
        ),
        Some(version) => Ok(version),
    }
}

/// Where the installation record of driver and firmware stands. aclsysGetVersionStr#05
const RECORD: &str = "/etc/ascend_install.info";

/// Files that may hold a package's version.
fn candidates(package: &str) -> std::result::Result<Vec<PathBuf>, String> {
    if let "driver" | "firmware" = package {
        let record = std::fs::read_to_string(RECORD).map_err(|error| format!("{RECORD}: {error}"))?;
        let key =
            if package == "driver" { "Driver_Install_Path_Param=" } else { "Firmware_Install_Path_Param=" };
        let root = record.lines().find_map(|line| line.trim().strip_prefix(key));
        let root = root.ok_or_else(|| format!("{RECORD} has no {key}"))?;
        return Ok(vec![Path::new(root.trim()).join(package).join("version.info")]);
    }
    let home = std::env::var_os("ASCEND_HOME_PATH").filter(|home| !home.is_empty());
    let home = PathBuf::from(home.ok_or("ASCEND_HOME_PATH is not set")?);
    // aclsysGetVersionStr#04
    let names = [package.to_owned(), package.replace('-', "_"), package.replace('_', "-")];
    let mut files = Vec::new();
    for name in names {
        let file = home.join("share/info").join(&name).join("version.info");
        if !files.contains(&file) {
            files.push(file);
            // Trees before CANN 8.5 keep the packages beside each other.
            files.push(home.join(&name).join("version.info"));
        }
    }
    Ok(files)
}

/// The value of `Version=`, whatever its case.
fn version_line(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (key.trim().eq_ignore_ascii_case("version") && !value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// aclsysGetVersionNum#04, #05, #06
    #[test]
    fn version_numbers() {
        assert_eq!(number("8.5.0"), Some(80_500_000));
        assert_eq!(number("8.5.1"), Some(80_501_000));
        assert_eq!(number("8.5.0.alpha002"), Some(80_500_000 - 300 + 2));
        assert_eq!(number("8.5.0-beta.1"), Some(80_500_000 - 200 + 1));
        assert_eq!(number("8.5.0.RC3"), Some(80_500_000 - 100 + 3));
        for bad in ["", "8", "8.5", "8.5.x", "8.5.0.gamma1", "8.5.0.rc1x", "99999999999.0.0", "8.5.0.rc-1x"] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }

    /// aclsysGetVersionNum#07
    #[test]
    fn stages_are_ordered() {
        let values: Vec<_> = ["9.0.0.alpha1", "9.0.0.beta1", "9.0.0.rc1", "9.0.0"]
            .into_iter()
            .map(|text| number(text).unwrap())
            .collect();
        assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    }

    #[test]
    fn version_lines() {
        assert_eq!(version_line("package=x\nVersion=8.5.0\n").as_deref(), Some("8.5.0"));
        assert_eq!(version_line("version = \"8.5.0\"\r\n").as_deref(), Some("8.5.0"));
        assert_eq!(version_line("version_dir=8\nVersion=\n"), None);
    }
}
