//! Chapters 24 and 25-03: what the platform can do, versions, data buffers, log lines.
#![allow(
    clippy::unwrap_used,
    clippy::undocumented_unsafe_blocks,
    reason = "tests call the C functions with valid arguments, or null"
)]

mod child;

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use ascendcl::buffer::*;
use ascendcl::capability::*;
use ascendcl::version::*;
use ascendcl_sys::*;
use child::{alone, c, message, text_at};

/// aclGetCannAttributeList#01 to #03, aclGetCannAttribute#01 to #03
#[test]
fn attributes_of_the_platform() {
    let (mut list, mut count) = (null(), 0);
    unsafe {
        assert_eq!(aclGetCannAttributeList(null_mut(), &mut count), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclGetCannAttributeList(&mut list, null_mut()), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclGetCannAttributeList(&mut list, &mut count), 0);
        assert_eq!(std::slice::from_raw_parts(list, count), [0, 1, 2]);
        for attr in 0..3 {
            let mut value = 7;
            assert_eq!((aclGetCannAttribute(attr, &mut value), value), (0, 1));
        }
        for attr in [-1, 3, i32::MAX] {
            assert_eq!(aclGetCannAttribute(attr, &mut 0), ACL_ERROR_INVALID_PARAM);
        }
        assert_eq!(aclGetCannAttribute(0, null_mut()), ACL_ERROR_INVALID_PARAM);
    }
}

/// aclGetCannAttribute#03
#[test]
fn attributes_differ_between_products() {
    alone("attributes_differ_between_products", &[("TOPROPE_PRODUCT", "inference")], || {
        let mut value = 7;
        assert_eq!((unsafe { aclGetCannAttribute(ACL_CANN_ATTR_BF16, &mut value) }, value), (0, 0));
    });
}

/// aclGetDeviceCapability#01 to #04, #06
#[test]
fn sizes_of_a_device() {
    let get = |id, info| {
        let mut value = -7;
        (unsafe { aclGetDeviceCapability(id, info, &mut value) }, value)
    };
    assert_eq!((get(0, 0), get(7, 1), get(0, 2)), ((0, 24), (0, 48), (0, 192 << 20)));
    let bad = (ACL_ERROR_INVALID_PARAM, -7);
    assert_eq!((get(8, 0), get(u32::MAX, 0), get(0, 3), get(0, -1)), (bad, bad, bad, bad));
    message();
    get(8, 9);
    assert!(message().contains("aclGetDeviceCapability#02"), "the id comes first");
    assert_eq!(unsafe { aclGetDeviceCapability(0, 0, null_mut()) }, ACL_ERROR_INVALID_PARAM);
}

/// aclplatformGetDeviceInfo#01 to #06
#[test]
fn facts_about_the_chip_as_text() {
    let get = |item, room: u32| {
        let mut text = [b'?' as c_char; 32];
        let code = unsafe { aclplatformGetDeviceInfo(item, text.as_mut_ptr(), room) };
        (code, text)
    };
    for (item, wanted) in [
        (ACL_PLATFORM_AICORE_CNT, "24"),
        (ACL_PLATFORM_CUBE_CORE_CNT, "24"),
        (ACL_PLATFORM_VECTOR_CORE_CNT, "48"),
        (ACL_PLATFORM_AICORE_UB_SIZE, "196608"),
        (ACL_PLATFORM_L2_SIZE, "201326592"),
        (ACL_PLATFORM_MEMORY_SIZE, "68719476736"),
        (ACL_PLATFORM_SOC_VERSION, "Ascend910B1"),
        (ACL_PLATFORM_NPU_ARCH, "2201"),
    ] {
        let (code, text) = get(item, wanted.len() as u32 + 1);
        assert_eq!((code, unsafe { text_at(text.as_ptr()) }), (0, wanted.to_owned()));
        assert_eq!(text[wanted.len() + 1], b'?' as c_char);
        assert_eq!(get(item, wanted.len() as u32), (ACL_ERROR_INVALID_PARAM, [b'?' as c_char; 32]));
    }
    for item in [ACL_PLATFORM_CUBE_FREQ, ACL_PLATFORM_L1_SIZE, ACL_PLATFORM_MEMORY_TYPE, 17, u32::MAX] {
        assert_eq!(get(item, 32).0, ACL_ERROR_INVALID_PARAM);
    }
    assert_eq!(get(0, 0).0, ACL_ERROR_INVALID_PARAM);
    assert_eq!(unsafe { aclplatformGetDeviceInfo(0, null_mut(), 8) }, ACL_ERROR_INVALID_PARAM);
}

/// aclDataTypeSize#01 to #07, for every value of the enum and some outside.
#[test]
fn sizes_of_data_types() {
    let expected: [(usize, &[aclDataType]); 6] = [
        (0, &[ACL_DT_UNDEFINED, ACL_STRING]),
        (
            1,
            &[
                ACL_INT4,
                ACL_UINT1,
                ACL_BOOL,
                ACL_INT8,
                ACL_UINT8,
                ACL_HIFLOAT8,
                ACL_FLOAT8_E5M2,
                ACL_FLOAT8_E4M3FN,
                ACL_FLOAT8_E8M0,
            ],
        ),
        (2, &[ACL_FLOAT16, ACL_BF16, ACL_INT16, ACL_UINT16]),
        (4, &[ACL_FLOAT, ACL_INT32, ACL_UINT32, ACL_COMPLEX32]),
        (
            8,
            &[
                ACL_INT64,
                ACL_UINT64,
                ACL_DOUBLE,
                ACL_COMPLEX64,
                ACL_FLOAT6_E3M2,
                ACL_FLOAT6_E2M3,
                ACL_FLOAT4_E2M1,
                ACL_FLOAT4_E1M2,
                5,
                42,
                -2,
                i32::MAX,
            ],
        ),
        (16, &[ACL_COMPLEX128]),
    ];
    for (size, types) in expected {
        for data_type in types {
            assert_eq!(unsafe { aclDataTypeSize(*data_type) }, size, "{data_type}");
        }
    }
}

/// aclFloat16ToFloat, aclFloatToFloat16: the exhaustive tests are beside the rule.
#[test]
fn half_precision() {
    unsafe {
        assert_eq!(aclFloat16ToFloat(0x3c00), 1.0);
        assert_eq!(aclFloat16ToFloat(0x7c00), 65536.0);
        assert_eq!(aclFloatToFloat16(-2.0), 0xc000);
        assert_eq!(aclFloatToFloat16(f32::INFINITY), 0x7bff);
    }
}

/// aclrtGetVersion#01 to #04
#[test]
fn version_of_the_api() {
    let mut parts = [-1; 3];
    let [major, minor, patch] = &mut parts;
    unsafe {
        assert_eq!(aclrtGetVersion(null_mut(), minor, patch), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtGetVersion(major, null_mut(), patch), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtGetVersion(major, minor, null_mut()), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtGetVersion(major, minor, patch), 0);
    }
    assert_eq!(parts, [1, 17, 0]);
}

fn text_of(package: &str) -> (i32, String) {
    let mut text = [b'?' as c_char; 128];
    let code = unsafe { aclsysGetVersionStr(c(package).into_raw(), text.as_mut_ptr()) };
    (code, if code == 0 { unsafe { text_at(text.as_ptr()) } } else { String::new() })
}

fn number_of(package: &str) -> (i32, i32) {
    let mut number = -1;
    (unsafe { aclsysGetVersionNum(c(package).into_raw(), &mut number) }, number)
}

fn empty() -> aclCANNPackageVersion {
    unsafe { std::mem::zeroed() }
}

/// aclsysGetVersionStr#01 to #04, #07, aclsysGetVersionNum#01 to #06, aclsysGetCANNVersion#01 to #03
#[test]
fn versions_of_packages() {
    let root = std::env::temp_dir().join(format!("toprope-versions-{}", std::process::id()));
    let package = |name: &str, text: &str| {
        let folder = root.join("share/info").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("version.info"), text).unwrap();
    };
    package("runtime", "package_name=runtime\nVersion=8.5.0.alpha002\n");
    package("opp_kernel", "Version=8.5.1\n");
    package("odd", "Version=eight\n");
    package("long", &format!("Version=8.{}\n", "1".repeat(126)));
    package("without", "no version here\n");
    let home = root.to_str().unwrap().to_owned();
    alone("versions_of_packages", &[("ASCEND_HOME_PATH", &home)], || {
        assert_eq!(text_of("runtime"), (0, "8.5.0.alpha002".to_owned()));
        assert_eq!(number_of("runtime"), (0, 80_500_000 - 300 + 2));
        assert_eq!((text_of("opp-kernel").1, number_of("opp_kernel")), ("8.5.1".to_owned(), (0, 80_501_000)));
        assert_eq!(text_of("odd").0, 0);
        assert_eq!(number_of("odd"), (ACL_ERROR_INTERNAL_ERROR, -1));
        assert_eq!(text_of("long").0, ACL_ERROR_INTERNAL_ERROR);
        for bad in ["without", "nothing", "", "../info/runtime", "."] {
            assert_eq!(text_of(bad).0, ACL_ERROR_INVALID_FILE, "{bad}");
            assert_eq!(number_of(bad), (ACL_ERROR_INVALID_FILE, -1), "{bad}");
        }
        let mut version = empty();
        let part = |text: &[c_char]| unsafe { text_at(text.as_ptr()) };
        assert_eq!(unsafe { aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &mut version) }, 0);
        assert_eq!(part(&version.version), "8.5.0.alpha002");
        let parts = [
            part(&version.majorVersion),
            part(&version.minorVersion),
            part(&version.releaseVersion),
            part(&version.patchVersion),
        ];
        assert_eq!(parts, ["8", "5", "0", "alpha002"]);
        assert_eq!(unsafe { aclsysGetCANNVersion(ACL_PKG_NAME_OPP_KERNEL, &mut version) }, 0);
        assert_eq!(
            (part(&version.releaseVersion), part(&version.patchVersion)),
            ("1".to_owned(), "0".to_owned())
        );
        assert_eq!(unsafe { aclsysGetCANNVersion(ACL_PKG_NAME_HCCL, &mut version) }, ACL_ERROR_INVALID_FILE);
        for name in [8, u32::MAX] {
            assert_eq!(unsafe { aclsysGetCANNVersion(name, &mut version) }, ACL_ERROR_INVALID_PARAM);
        }
    });
    let _ = std::fs::remove_dir_all(&root);
    unsafe {
        assert_eq!(aclsysGetVersionStr(c("x").into_raw(), null_mut()), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclsysGetVersionStr(null_mut(), [0; 128].as_mut_ptr()), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclsysGetVersionNum(c("x").into_raw(), null_mut()), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclsysGetVersionNum(null_mut(), &mut 0), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclsysGetCANNVersion(0, null_mut()), ACL_ERROR_INVALID_PARAM);
    }
}

/// aclsysGetVersionStr#03
#[test]
fn without_a_toolkit_there_is_no_version() {
    alone("without_a_toolkit_there_is_no_version", &[("ASCEND_HOME_PATH", "")], || {
        assert_eq!(text_of("runtime").0, ACL_ERROR_INVALID_FILE);
        assert!(message().contains("ASCEND_HOME_PATH is not set"));
    });
}

/// aclCreateDataBuffer#01 to #03, aclUpdateDataBuffer#01, #02, aclDestroyDataBuffer#01, #02, aclGetDataBufferAddr#01, #02,
/// aclGetDataBufferSize#01, #02, aclGetDataBufferSizeV2#01, #02
#[test]
fn data_buffers() {
    unsafe {
        let get = |buffer| {
            (
                aclGetDataBufferAddr(buffer) as usize,
                aclGetDataBufferSizeV2(buffer),
                aclGetDataBufferSize(buffer),
            )
        };
        let empty = aclCreateDataBuffer(null_mut(), 0);
        assert!(!empty.is_null());
        assert_eq!(get(empty), (0, 0, 0));
        let wild = aclCreateDataBuffer(8 as *mut c_void, usize::MAX);
        assert_ne!(empty, wild);
        assert_eq!(get(wild), (8, usize::MAX, u32::MAX));
        assert_eq!(aclUpdateDataBuffer(empty, 16 as *mut c_void, (1 << 32) + 5), 0);
        assert_eq!(get(empty), (16, (1 << 32) + 5, 5));
        assert_eq!(aclDestroyDataBuffer(empty), 0);
        for gone in [empty, null_mut(), 0x1234 as *mut aclDataBuffer, (1u64 << 57) as *mut aclDataBuffer] {
            assert_eq!(get(gone), (0, 0, 0));
            assert_eq!(aclDestroyDataBuffer(gone), ACL_ERROR_INVALID_PARAM);
            assert_eq!(aclUpdateDataBuffer(gone, null_mut(), 0), ACL_ERROR_INVALID_PARAM);
        }
        assert_eq!(get(wild).0, 8);
        assert_eq!(aclDestroyDataBuffer(wild), 0);
    }
    assert!(toprope_runtime::process::runtime().unwrap().buffers.is_empty());
}

/// aclAppLog#01, #02: printf's arguments of both register classes and from the stack, when the environment asks for them.
#[test]
#[cfg(target_arch = "x86_64")]
fn log_lines() {
    type AppLog = unsafe extern "C" fn(aclLogLevel, *const c_char, *const c_char, u32, *const c_char, ...);
    // SAFETY: the function takes its arguments as C declares it.
    let log: AppLog = unsafe { std::mem::transmute(ascendcl::log::aclAppLog as *const c_void) };
    let run = |env: &[(&str, &str)]| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["log_lines", "--exact", "--nocapture"])
            .env("TOPROPE_TEST_LOG", "1")
            .envs(env.iter().copied())
            .output()
            .unwrap();
        assert!(output.status.success());
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        out.lines().filter(|line| line.contains("APP(")).map(str::to_owned).collect::<Vec<_>>()
    };
    if std::env::var_os("TOPROPE_TEST_LOG").is_none() {
        assert!(run(&[]).is_empty(), "nothing is asked for");
        assert!(run(&[("ASCEND_GLOBAL_LOG_LEVEL", "0")]).is_empty());
        let to_stdout = ("ASCEND_SLOG_PRINT_TO_STDOUT", "1");
        assert_eq!(run(&[to_stdout]).len(), 2, "errors only");
        let lines = run(&[to_stdout, ("ASCEND_GLOBAL_LOG_LEVEL", "1")]);
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("[INFO] APP(") && lines[0].ends_with(":[file.c:12]work plain 100%"),
            "{}",
            lines[0]
        );
        let all = "1 two 3.5 4 5 6 7.25 8 9.125 10 11.5 12.5 13.5 14.5 15.5 16.5";
        assert!(lines[1].starts_with("[ERROR]") && lines[1].ends_with(all), "{}", lines[1]);
        assert!(lines[2].ends_with(&"x".repeat(toprope_runtime::log::LONGEST - 1)), "cut");
        return;
    }
    let (func, file) = (c("work"), c("file.c"));
    let (func, file) = (func.as_ptr(), file.as_ptr());
    unsafe {
        log(ACL_INFO, func, file, 12, c("plain 100%%").as_ptr());
        let fmt = c("%d %s %g %d %ld %d %g %d %g %d %g %g %g %g %g %g");
        log(
            ACL_ERROR,
            func,
            file,
            13,
            fmt.as_ptr(),
            1,
            c"two".as_ptr(),
            3.5,
            4,
            5i64,
            6,
            7.25,
            8,
            9.125,
            10,
            11.5,
            12.5,
            13.5,
            14.5,
            15.5,
            16.5,
        );
        log(ACL_ERROR, func, file, 14, c("%s").as_ptr(), c("x".repeat(5000).as_str()).as_ptr());
        log(ACL_ERROR, null(), file, 15, c("%s").as_ptr(), null::<c_char>());
        log(ACL_ERROR, func, null(), 15, c("no file").as_ptr());
        log(ACL_ERROR, func, file, 15, null());
        log(99, func, file, 15, c("no level").as_ptr());
    }
}
