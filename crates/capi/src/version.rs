//! Chapter 24: versions.

use std::ffi::c_char;

use ascendcl_sys::*;
use toprope_runtime::call::call;
use toprope_runtime::{Api, version};

use crate::arg;

/// Answers the version of the API.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetVersion(
    majorVersion: *mut i32,
    minorVersion: *mut i32,
    patchVersion: *mut i32,
) -> aclError {
    call(Api::aclrtGetVersion, |_| {
        let outs = [
            arg::out(majorVersion, "majorVersion", "aclrtGetVersion#01")?,
            arg::out(minorVersion, "minorVersion", "aclrtGetVersion#02")?,
            arg::out(patchVersion, "patchVersion", "aclrtGetVersion#03")?,
        ];
        outs.iter().zip(version::of_api()).try_for_each(|(out, part)| out.set(part))
    })
}

/// Answers the version of a package, whole and in parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclsysGetCANNVersion(
    name: aclCANNPackageName,
    version: *mut aclCANNPackageVersion,
) -> aclError {
    call(Api::aclsysGetCANNVersion, |_| {
        let out = arg::out(version, "version", "aclsysGetCANNVersion#01")?;
        let (text, parts) = version::of_cann_package(name)?;
        out.set(aclCANNPackageVersion {
            version: chars(&text),
            majorVersion: chars(&parts[0]),
            minorVersion: chars(&parts[1]),
            releaseVersion: chars(&parts[2]),
            patchVersion: chars(&parts[3]),
            reserved: [0; 128],
        })
    })
}

/// A text with its end mark in a fixed array; it is known to fit.
fn chars<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    for (char, byte) in chars.iter_mut().zip(text.bytes().take(N - 1)) {
        *char = byte as c_char;
    }
    chars
}

/// Writes the version text of a package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclsysGetVersionStr(pkgName: *mut c_char, versionStr: *mut c_char) -> aclError {
    call(Api::aclsysGetVersionStr, |_| {
        let rule = "aclsysGetVersionStr#01";
        arg::not_null(versionStr, "versionStr", rule)?;
        arg::not_null(pkgName, "pkgName", "aclsysGetVersionStr#02")?;
        let name = arg::text(pkgName, "pkgName", "aclsysGetVersionStr#02")?.unwrap_or_default();
        arg::write_text(versionStr, &version::of_package(&name)?, "versionStr", rule)
    })
}

/// Answers the version of a package as one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclsysGetVersionNum(pkgName: *mut c_char, versionNum: *mut i32) -> aclError {
    call(Api::aclsysGetVersionNum, |_| {
        let out = arg::out(versionNum, "versionNum", "aclsysGetVersionNum#01")?;
        arg::not_null(pkgName, "pkgName", "aclsysGetVersionNum#02")?;
        let name = arg::text(pkgName, "pkgName", "aclsysGetVersionNum#02")?.unwrap_or_default();
        out.set(version::number_of_package(&name)?)
    })
}
