//! Chapter 24: attributes and sizes, data types, half precision, log lines.

use super::prelude::*;
use std::ffi::{CStr, c_char};

pub fn rows(r: &mut Rows) {
    types(r);
    from_half(r);
    to_half(r);
    log(r);
    cann(r);
    device_capability(r);
    platform(r);
    arch(r);
}

fn types(r: &mut Rows) {
    let eight = [ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0];
    for (id, bytes, types) in [
        ("aclDataTypeSize#01", 0, vec![ACL_DT_UNDEFINED, ACL_STRING]),
        (
            "aclDataTypeSize#02",
            1,
            [&[ACL_INT4, ACL_UINT1, ACL_BOOL, ACL_INT8, ACL_UINT8][..], &eight].concat(),
        ),
        ("aclDataTypeSize#03", 2, vec![ACL_FLOAT16, ACL_BF16, ACL_INT16, ACL_UINT16]),
        ("aclDataTypeSize#04", 4, vec![ACL_FLOAT, ACL_INT32, ACL_UINT32, ACL_COMPLEX32]),
        ("aclDataTypeSize#05", 8, vec![ACL_INT64, ACL_UINT64, ACL_DOUBLE, ACL_COMPLEX64]),
        ("aclDataTypeSize#06", 16, vec![ACL_COMPLEX128]),
        (
            "aclDataTypeSize#07",
            8,
            vec![
                ACL_FLOAT6_E3M2,
                ACL_FLOAT6_E2M3,
                ACL_FLOAT4_E2M1,
                ACL_FLOAT4_E1M2,
                5,
                28,
                42,
                -2,
                i32::MAX,
                i32::MIN,
            ],
        ),
    ] {
        r.row(id, move |_| {
            for data_type in &types {
                assert_eq!(acl!(aclDataTypeSize(*data_type)), bytes, "type {data_type}");
            }
        })
        .bare();
    }
}

/// What a half stands for, from its definition; exponent 31 read as any other.
fn meaning(half: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(half >> 10 & 0x1f), f64::from(half & 0x3ff) / 1024.0);
    let magnitude =
        if exponent == 0 { mantissa * 2f64.powi(-14) } else { (1.0 + mantissa) * 2f64.powi(exponent - 15) };
    if half & 0x8000 == 0 { magnitude } else { -magnitude }
}

fn float(half: u16) -> f32 {
    acl!(aclFloat16ToFloat(half))
}

fn half(float: f32) -> u16 {
    acl!(aclFloatToFloat16(float))
}

/// Every half whose exponent is not 31.
fn finite() -> impl Iterator<Item = u16> {
    (0..=u16::MAX).filter(|half| half & 0x7c00 != 0x7c00)
}

fn from_half(r: &mut Rows) {
    let exact = || {
        for half in finite() {
            assert_eq!(f64::from(float(half)).to_bits(), meaning(half).to_bits(), "{half:#x}");
        }
    };
    r.row("aclFloat16ToFloat#01", move |_| exact()).bare();
    for (id, half, wanted) in [
        ("aclFloat16ToFloat#02", 0x7c00, 65536.0),
        ("aclFloat16ToFloat#03", 0xfc00, -65536.0),
        ("aclFloat16ToFloat#04", 0x7e00, 98304.0),
    ] {
        r.row(id, move |_| assert_eq!(float(half), wanted)).bare();
    }
    r.row("aclFloat16ToFloat#05", move |t| {
        let all = || {
            exact();
            assert_eq!([0x7c00, 0xfc00, 0x7e00].map(float), [65536.0, -65536.0, 98304.0]);
        };
        in_each_mode(t, all);
    })
    .alone();
}

/// Before the runtime was initialised, and in each saturation mode that the product has.
fn in_each_mode(t: &Test<'_>, body: impl Fn()) {
    body();
    enter_device(t);
    for (word, mode) in
        [("SATURATION", ACL_RT_OVERFLOW_MODE_SATURATION), ("INFNAN", ACL_RT_OVERFLOW_MODE_INFNAN)]
    {
        if t.supports("aclrtSetDeviceSatMode")
            && t.target.product.list("sat_modes").any(|known| known == word)
        {
            ok!(aclrtSetDeviceSatMode(mode));
        }
        body();
    }
}

fn to_half(r: &mut Rows) {
    let even = || {
        for low in 0..0x7bff_u16 {
            // Exact in f32: the middle has one bit more than a half.
            let middle = ((meaning(low) + meaning(low + 1)) / 2.0) as f32;
            let nearest = if low & 1 == 0 { low } else { low + 1 };
            assert_eq!(half(middle), nearest, "{low:#x}");
            assert_eq!(half(-middle), nearest | 0x8000, "{low:#x}");
            assert_eq!((half(middle.next_down()), half(middle.next_up())), (low, low + 1), "{low:#x}");
        }
        for exact in finite() {
            assert_eq!(half(meaning(exact) as f32), exact);
        }
    };
    let saturates = || {
        let nan = f32::NAN.copysign(1.0);
        for value in [f32::INFINITY, nan, f32::MAX, 65520.0, 65504.1, 1e30] {
            assert_eq!(half(value), 0x7bff, "{value}");
        }
        for value in [f32::NEG_INFINITY, f32::MIN, -65520.0, -1e30] {
            assert_eq!(half(value), 0xfbff, "{value}");
        }
    };
    r.row("aclFloatToFloat16#01", move |_| even()).bare();
    r.row("aclFloatToFloat16#02", |_| {
        let nan = f32::NAN.copysign(1.0);
        for value in [f32::INFINITY, nan, f32::MAX, 65520.0, 65504.1, 1e30] {
            assert_eq!(half(value), 0x7bff, "{value}");
        }
    })
    .bare();
    r.row("aclFloatToFloat16#03", |_| {
        for value in [f32::NEG_INFINITY, f32::MIN, -65520.0, -1e30] {
            assert_eq!(half(value), 0xfbff, "{value}");
        }
    })
    .bare();
    r.row("aclFloatToFloat16#04", |_| {
        for bits in [0xffc0_0000, 0xff80_0001, 0xffff_ffff] {
            assert_eq!(half(f32::from_bits(bits)), 0xfbff, "{bits:#x}");
        }
    })
    .bare();
    r.row("aclFloatToFloat16#05", |_| {
        let tiny = 2f32.powi(-25);
        for value in [tiny, tiny.next_down(), f32::MIN_POSITIVE, f32::from_bits(1), 0.0] {
            assert_eq!((half(value), half(-value)), (0, 0x8000), "{value:e}");
        }
        assert_eq!((half(tiny.next_up()), half(-tiny.next_up())), (1, 0x8001));
    })
    .bare();
    r.row("aclFloatToFloat16#06", move |t| {
        in_each_mode(t, || {
            even();
            saturates();
        })
    })
    .alone();
}

fn log(r: &mut Rows) {
    r.row("aclAppLog#01", |_| {
        let (func, file, format) = (c("func"), c("file"), c("text"));
        let say = |func: *const c_char, file: *const c_char, format: *const c_char| {
            printed(|| acl!(aclAppLog(ACL_ERROR, func, file, 7, format)))
        };
        assert_eq!(say(null(), file.as_ptr(), format.as_ptr()), "");
        assert_eq!(say(func.as_ptr(), null(), format.as_ptr()), "");
        assert_eq!(say(func.as_ptr(), file.as_ptr(), null()), "");
        // With all three there is a line.
        let line = say(func.as_ptr(), file.as_ptr(), format.as_ptr());
        assert!(["func", "file", "7", "text"].iter().all(|part| line.contains(part)), "{line}");
    })
    .env("ASCEND_SLOG_PRINT_TO_STDOUT", "1");
    r.row("aclAppLog#02", |_| {
        let (func, file) = (c("func"), c("file"));
        let say = |level, text: &str| {
            let text = c(text);
            printed(|| {
                acl!(aclAppLog(
                    level,
                    func.as_ptr(),
                    file.as_ptr(),
                    1,
                    c("%s %d").as_ptr(),
                    text.as_ptr(),
                    42_i32
                ))
            })
        };
        // 2: warnings and above.
        assert_eq!([say(ACL_DEBUG, "x"), say(ACL_INFO, "x")], ["", ""]);
        for level in [ACL_WARNING, ACL_ERROR] {
            let line = say(level, "some text");
            assert!(line.contains("some text 42") && line.lines().count() == 1, "{line}");
        }
        let line = say(ACL_ERROR, &"y".repeat(5000));
        let kept = line.matches('y').count();
        assert!((1..5000).contains(&kept) && line.ends_with("y\n"), "{kept} of 5000");
    })
    .env("ASCEND_SLOG_PRINT_TO_STDOUT", "1")
    .env("ASCEND_GLOBAL_LOG_LEVEL", "2");
}

/// The product's attributes by the table.
fn attributes_of(t: &Test<'_>) -> Vec<aclCannAttr> {
    let names = [
        ("INF_NAN", ACL_CANN_ATTR_INF_NAN),
        ("BF16", ACL_CANN_ATTR_BF16),
        ("JIT_COMPILE", ACL_CANN_ATTR_JIT_COMPILE),
    ];
    let has = |name: &str| t.target.product.list("cann_attributes").any(|known| known == name);
    names.into_iter().filter(|(name, _)| has(name)).map(|(_, value)| value).collect()
}

fn list() -> (i32, *const aclCannAttr, usize) {
    let (mut list, mut count) = (null(), 0);
    let code = acl!(aclGetCannAttributeList(&mut list, &mut count));
    (code, list, count)
}

fn cann(r: &mut Rows) {
    r.row("aclGetCannAttributeList#01", |_| acl!(aclGetCannAttributeList(null_mut(), &mut 0)));
    r.row("aclGetCannAttributeList#02", |_| acl!(aclGetCannAttributeList(&mut null(), null_mut())));
    r.row("aclGetCannAttributeList#03", |t| {
        ok!(aclInit(null()));
        let (code, first, count) = list();
        let values = || unsafe { std::slice::from_raw_parts(first, count) }.to_vec();
        assert_eq!(values(), attributes_of(t));
        ok!(aclFinalize());
        assert_eq!(values(), attributes_of(t), "it outlives the runtime's end");
        code
    })
    .alone();
    r.row("aclGetCannAttribute#01", |_| acl!(aclGetCannAttribute(ACL_CANN_ATTR_BF16, null_mut())));
    r.row("aclGetCannAttribute#02", |_| {
        let mut value = -7;
        let codes =
            [-1, 3, i32::MAX, i32::MIN].map(|attribute| acl!(aclGetCannAttribute(attribute, &mut value)));
        assert_eq!(value, -7);
        codes
    });
    r.row("aclGetCannAttribute#03", |t| {
        let known = attributes_of(t);
        for attribute in [ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE] {
            assert_eq!(get!(-7, aclGetCannAttribute(attribute)), i32::from(known.contains(&attribute)));
        }
    });
}

fn device_capability(r: &mut Rows) {
    let cores = ACL_DEVICE_INFO_AI_CORE_NUM;
    r.row("aclGetDeviceCapability#01", move |_| acl!(aclGetDeviceCapability(0, cores, null_mut())));
    r.row("aclGetDeviceCapability#02", move |_| {
        for id in 0..4 {
            ok!(aclGetDeviceCapability(id, cores, &mut 0));
        }
        [4, 5, u32::MAX].map(|id| acl!(aclGetDeviceCapability(id, cores, &mut 0)))
    });
    r.row("aclGetDeviceCapability#03", |_| {
        [-1, 3, i32::MAX, i32::MIN].map(|info| acl!(aclGetDeviceCapability(0, info, &mut 0)))
    });
    r.row("aclGetDeviceCapability#04", |t| {
        let code = acl!(aclGetDeviceCapability(4, 99, &mut 0));
        if t.supports("aclGetRecentErrMsg") {
            let message = message();
            assert!(message.contains("aclGetDeviceCapability#02"), "{message}");
        }
        code
    });
    r.hardware("aclGetDeviceCapability#05", "the platform's data are part of the library");
    r.row("aclGetDeviceCapability#06", |t| {
        for (info, column) in [
            (ACL_DEVICE_INFO_L2_SIZE, "l2_bytes"),
            (ACL_DEVICE_INFO_AI_CORE_NUM, "ai_core_num"),
            (ACL_DEVICE_INFO_VECTOR_CORE_NUM, "vector_core_num"),
        ] {
            let mut value = -7;
            ok!(aclGetDeviceCapability(0, info, &mut value));
            assert_eq!(value as u64, t.number(column), "{column}");
        }
    });
}

fn info(item: aclplatformDevInfo, room: u32) -> (i32, String) {
    let mut value = [0x7f as c_char; 256];
    let code = acl!(aclplatformGetDeviceInfo(item, value.as_mut_ptr(), room));
    if code != 0 {
        assert!(value.iter().all(|char| *char == 0x7f), "a refused call writes nothing");
        return (code, String::new());
    }
    (code, unsafe { CStr::from_ptr(value.as_ptr()) }.to_string_lossy().into_owned())
}

fn platform(r: &mut Rows) {
    r.row("aclplatformGetDeviceInfo#01", |_| {
        [ACL_PLATFORM_MEMORY_TYPE + 1, 99, u32::MAX].map(|item| info(item, 64).0)
    });
    r.row("aclplatformGetDeviceInfo#02", |_| {
        acl!(aclplatformGetDeviceInfo(ACL_PLATFORM_AICORE_CNT, null_mut(), 64))
    });
    r.row("aclplatformGetDeviceInfo#03", |_| info(ACL_PLATFORM_AICORE_CNT, 0).0);
    r.row("aclplatformGetDeviceInfo#04", |_| {
        [ACL_PLATFORM_CUBE_FREQ, ACL_PLATFORM_VEC_FREQ, ACL_PLATFORM_MEMORY_TYPE].map(|item| info(item, 64).0)
    });
    r.decided("aclplatformGetDeviceInfo#05", |t| {
        let cores = t.number("ai_core_num").to_string();
        let enough = cores.len() as u32 + 1;
        assert_eq!(info(ACL_PLATFORM_AICORE_CNT, enough), (0, cores));
        (1..enough).map(|room| info(ACL_PLATFORM_AICORE_CNT, room).0).collect::<Vec<_>>()
    });
    r.row("aclplatformGetDeviceInfo#06", |t| {
        for (item, column) in [
            (ACL_PLATFORM_AICORE_CNT, "ai_core_num"),
            (ACL_PLATFORM_CUBE_CORE_CNT, "ai_core_num"),
            (ACL_PLATFORM_VECTOR_CORE_CNT, "vector_core_num"),
            (ACL_PLATFORM_AICORE_UB_SIZE, "ub_bytes"),
            (ACL_PLATFORM_L2_SIZE, "l2_bytes"),
            (ACL_PLATFORM_MEMORY_SIZE, "device_memory_bytes"),
        ] {
            assert_eq!(info(item, 64), (0, t.number(column).to_string()), "{column}");
        }
        let soc = t.target.product.list("soc_names").next().unwrap_or_default();
        assert_eq!(info(ACL_PLATFORM_SOC_VERSION, 64).1, soc);
        let arch = t.target.product.get("npu_arch");
        let wanted = if arch.is_empty() { ACL_ERROR_INVALID_PARAM } else { 0 };
        assert_eq!(info(ACL_PLATFORM_NPU_ARCH, 64), (wanted, arch.to_owned()));
    });
    r.hardware("aclplatformGetDeviceInfo#07", "the platform's data are part of the library");
}

fn arch(r: &mut Rows) {
    r.row("aclrtCheckArchCompatibility#01", |_| acl!(aclrtCheckArchCompatibility(null(), &mut 0)));
    r.row("aclrtCheckArchCompatibility#02", |_| {
        acl!(aclrtCheckArchCompatibility(c"Ascend910B1".as_ptr(), null_mut()))
    });
    r.row("aclrtCheckArchCompatibility#03", |_| acl!(aclrtCheckArchCompatibility(c"".as_ptr(), &mut 0)));
    r.row("aclrtCheckArchCompatibility#04", |_| {
        let own = acl!(aclrtGetSocName());
        assert_eq!(get!(9, aclrtCheckArchCompatibility(own)), 1);
        assert_eq!(get!(9, aclrtCheckArchCompatibility(c"Ascend000".as_ptr())), 0);
    });
}
