//! Chapter 24: versions.

use super::prelude::*;
use std::ffi::{CStr, c_char};

pub fn rows(r: &mut Rows) {
    api_version(r);
    cann(r);
    texts(r);
    numbers(r);
}

fn api_version(r: &mut Rows) {
    r.row("aclrtGetVersion#01", |_| acl!(aclrtGetVersion(null_mut(), &mut 0, &mut 0))).bare();
    r.row("aclrtGetVersion#02", |_| acl!(aclrtGetVersion(&mut 0, null_mut(), &mut 0))).bare();
    r.row("aclrtGetVersion#03", |_| acl!(aclrtGetVersion(&mut 0, &mut 0, null_mut()))).bare();
    let version = |_: &Test<'_>| {
        let (mut major, mut minor, mut patch) = (-1, -1, -1);
        let code = acl!(aclrtGetVersion(&mut major, &mut minor, &mut patch));
        assert_eq!([major, minor, patch], [1, 17, 0]);
        code
    };
    r.row("aclrtGetVersion#04", version).alone();
    r.row("aclrtGetVersion#05", version).bare();
}

fn cann(r: &mut Rows) {
    r.row("aclsysGetCANNVersion#01", |_| acl!(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, null_mut()))).bare();
    r.row("aclsysGetCANNVersion#02", |_| {
        [ACL_PKG_NAME_DRIVER + 1, 99, u32::MAX].map(|name| acl!(aclsysGetCANNVersion(name, &mut empty())))
    })
    .bare();
    r.row("aclsysGetCANNVersion#03", |_| {
        let unset = acl!(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &mut empty()));
        let tree = Tree::new();
        tree.package("compiler", "package=compiler\n");
        let missing = acl!(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &mut empty()));
        [unset, missing, acl!(aclsysGetCANNVersion(ACL_PKG_NAME_COMPILER, &mut empty()))]
    })
    .alone();
    r.row("aclsysGetCANNVersion#04", |_| {
        let tree = Tree::new();
        tree.package("runtime", "Version=8.5.3.rc2\n");
        let mut version = empty();
        let code = acl!(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &mut version));
        assert_eq!(read(&version.version), "8.5.3.rc2");
        assert_eq!(read(&version.majorVersion), "8");
        assert_eq!(read(&version.minorVersion), "5");
        assert_eq!(read(&version.releaseVersion), "3");
        assert_eq!(read(&version.patchVersion), "rc2");
        code
    })
    .alone();
}

fn empty() -> aclCANNPackageVersion {
    unsafe { std::mem::zeroed() }
}

fn read(chars: &[c_char]) -> String {
    unsafe { CStr::from_ptr(chars.as_ptr()) }.to_string_lossy().into_owned()
}

/// Code and text of a package.
fn version_of(package: &str) -> (i32, String) {
    let mut out = [0x7f; 200];
    let code = acl!(aclsysGetVersionStr(c(package).as_ptr().cast_mut(), out.as_mut_ptr()));
    if code != 0 {
        assert!(out.iter().all(|char| *char == 0x7f), "a refused call writes nothing");
        return (code, String::new());
    }
    // Not a byte behind what the page asks room for.
    assert!(out[ACL_PKG_VERSION_MAX_SIZE as usize..].iter().all(|char| *char == 0x7f));
    (code, read(&out))
}

fn texts(r: &mut Rows) {
    r.row("aclsysGetVersionStr#01", |_| {
        [
            acl!(aclsysGetVersionStr(null_mut(), null_mut())),
            acl!(aclsysGetVersionStr(c("runtime").as_ptr().cast_mut(), null_mut())),
        ]
    })
    .bare();
    r.row("aclsysGetVersionStr#02", |_| acl!(aclsysGetVersionStr(null_mut(), [0; 128].as_mut_ptr()))).bare();
    r.row("aclsysGetVersionStr#03", |_| {
        let unset = version_of("runtime").0;
        let tree = Tree::new();
        tree.package("compiler", "package=compiler\nVersion=\n");
        [
            unset,
            version_of("runtime").0,
            version_of("compiler").0,
            version_of("").0,
            version_of("../info/compiler").0,
        ]
    })
    .alone();
    r.row("aclsysGetVersionStr#04", |_| {
        let tree = Tree::new();
        tree.package("ge-executor", "Version=8.5.0\n");
        tree.package("opp_kernel", "Version=8.5.1\n");
        assert_eq!(version_of("ge_executor"), (0, "8.5.0".to_owned()));
        assert_eq!(version_of("ge-executor"), (0, "8.5.0".to_owned()));
        assert_eq!(version_of("opp-kernel"), (0, "8.5.1".to_owned()));
    })
    .alone();
    r.row("aclsysGetVersionStr#05", |_| {
        let tree = Tree::new();
        tree.package("runtime", "Version=8.5.0\n");
        tree.package("driver", "Version=1.2.3\n");
        tree.package("firmware", "Version=1.2.3\n");
        assert_eq!(version_of("runtime"), (0, "8.5.0".to_owned()));
        // What is below ASCEND_HOME_PATH does not count for these two; the record is that of the machine, most have none.
        for package in ["driver", "firmware"] {
            let (code, text) = version_of(package);
            let record = std::path::Path::new("/etc/ascend_install.info").exists();
            assert!(
                text != "1.2.3" && (record || code == ACL_ERROR_INVALID_FILE),
                "{package}: {code} {text}"
            );
        }
    })
    .alone();
    r.row("aclsysGetVersionStr#06", |_| {
        let tree = Tree::new();
        let longest = format!("8.5.0.{}", "x".repeat(121));
        assert_eq!(longest.len() + 1, ACL_PKG_VERSION_MAX_SIZE as usize);
        tree.package("runtime", &format!("Version={longest}\n"));
        assert_eq!(version_of("runtime"), (0, longest));
    })
    .alone();
    r.row("aclsysGetVersionStr#07", |_| {
        let tree = Tree::new();
        tree.package("runtime", &format!("Version=8.5.0.{}\n", "x".repeat(122)));
        version_of("runtime").0
    })
    .alone();
}

/// Code and number of a package with this version.
fn number(version: &str) -> (i32, i32) {
    let tree = Tree::new();
    tree.package("runtime", &format!("Version={version}\n"));
    number_of("runtime")
}

fn number_of(package: &str) -> (i32, i32) {
    let mut number = -7;
    let code = acl!(aclsysGetVersionNum(c(package).as_ptr().cast_mut(), &mut number));
    assert!(code == 0 || number == -7, "a refused call writes nothing");
    (code, number)
}

fn numbers(r: &mut Rows) {
    r.row("aclsysGetVersionNum#01", |_| {
        [
            acl!(aclsysGetVersionNum(null_mut(), null_mut())),
            acl!(aclsysGetVersionNum(c("runtime").as_ptr().cast_mut(), null_mut())),
        ]
    })
    .bare();
    r.row("aclsysGetVersionNum#02", |_| acl!(aclsysGetVersionNum(null_mut(), &mut 0))).bare();
    r.row("aclsysGetVersionNum#03", |_| {
        let unset = number_of("runtime").0;
        let tree = Tree::new();
        tree.package("compiler", "package=compiler\n");
        [unset, number_of("runtime").0, number_of("compiler").0]
    })
    .alone();
    r.row("aclsysGetVersionNum#04", |_| {
        assert_eq!(number("8.5.0"), (0, 80_500_000));
        assert_eq!(number("8.5.1"), (0, 80_501_000));
        assert_eq!(number("10.20.30"), (0, 102_030_000));
    })
    .alone();
    r.row("aclsysGetVersionNum#05", |_| {
        assert_eq!(number("8.5.0.alpha002"), (0, 80_500_000 - 300 + 2));
        assert_eq!(number("8.5.0.beta1"), (0, 80_500_000 - 200 + 1));
        assert_eq!(number("8.5.0.rc3"), (0, 80_500_000 - 100 + 3));
        assert_eq!(number("8.5.0.RC3"), (0, 80_500_000 - 100 + 3));
    })
    .alone();
    r.row("aclsysGetVersionNum#06", |_| {
        ["8", "8.5", "8.5.x", "8.5.0.gamma1", "8.5.0.rc1x", "99999999999.0.0"]
            .map(|version| number(version).0)
    })
    .alone();
    r.row("aclsysGetVersionNum#07", |_| {
        let stages = ["9.0.0.alpha1", "9.0.0.alpha2", "9.0.0.beta1", "9.0.0.rc1", "9.0.0", "9.0.1.alpha1"];
        let numbers = stages.map(|version| number(version).1);
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    })
    .alone();
}
