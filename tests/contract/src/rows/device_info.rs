//! Chapter 04: what devices are, and the settings of a device. Values come from spec/products.csv.

use super::prelude::*;
use crate::kit::text as c_text;
use crate::target::Target;

/// Ids that no device has.
const OUTSIDE: [i32; 2] = [4, -1];

pub fn rows(r: &mut Rows) {
    utilization(r);
    info(r);
    names(r);
    saturation(r);
    overflow(r);
    atomics(r);
    limits(r);
}

fn rates(id: i32) -> aclrtUtilizationInfo {
    let mut info = aclrtUtilizationInfo {
        cubeUtilization: -7,
        vectorUtilization: -7,
        aicpuUtilization: -7,
        memoryUtilization: -7,
        utilizationExtend: null_mut(),
    };
    ok!(aclrtGetDeviceUtilizationRate(id, &mut info));
    info
}

fn utilization(r: &mut Rows) {
    r.row("aclrtGetDeviceUtilizationRate#01", |_| acl!(aclrtGetDeviceUtilizationRate(0, null_mut())));
    r.row("aclrtGetDeviceUtilizationRate#02", |_| {
        let mut info = rates(0);
        info.utilizationExtend = (&raw mut info).cast();
        acl!(aclrtGetDeviceUtilizationRate(0, &mut info))
    });
    let unknown = |_: &Test<'_>| {
        for id in OUTSIDE {
            let info = rates(id);
            assert_eq!((info.cubeUtilization, info.vectorUtilization, info.aicpuUtilization), (-1, -1, -1));
        }
    };
    r.decided("aclrtGetDeviceUtilizationRate#03", unknown);
    r.row("aclrtGetDeviceUtilizationRate#04", unknown);
    r.row("aclrtGetDeviceUtilizationRate#05", |t| {
        let info = rates(0);
        let some = 0..=100;
        assert!(some.contains(&info.cubeUtilization) && some.contains(&info.aicpuUtilization));
        match t.number("vector_core_num") {
            0 => assert_eq!(info.vectorUtilization, -1),
            _ => assert!(some.contains(&info.vectorUtilization)),
        }
    });
    r.row("aclrtGetDeviceUtilizationRate#06", |_| assert_eq!(rates(0).memoryUtilization, -1));
    r.hardware(
        "aclrtGetDeviceUtilizationRate#07",
        "promises nothing: profiling makes the values meaningless",
    );
    r.hardware(
        "aclrtGetDeviceUtilizationRate#08",
        "promises nothing: virtual instances make the values meaningless",
    );
    r.row("aclrtQueryDeviceStatus#01", |_| acl!(aclrtQueryDeviceStatus(0, null_mut())));
    let outside = |_: &Test<'_>| OUTSIDE.map(|id| acl!(aclrtQueryDeviceStatus(id, &mut 0)));
    r.decided("aclrtQueryDeviceStatus#02", outside);
    r.row("aclrtQueryDeviceStatus#03", outside);
    r.row("aclrtQueryDeviceStatus#04", |_| {
        assert_eq!((ACL_RT_DEVICE_STATUS_NORMAL, ACL_RT_DEVICE_STATUS_ABNORMAL), (0, 1));
        assert_eq!(get!(9, aclrtQueryDeviceStatus(0)), ACL_RT_DEVICE_STATUS_NORMAL);
    });
}

fn attribute(attr: aclrtDevAttr) -> i64 {
    get!(-7, aclrtGetDeviceInfo(0, attr))
}

/// SIMT attributes in the order of products.csv, without the local memory of a vector core.
const SIMT: [aclrtDevAttr; 10] = [
    ACL_DEV_ATTR_WARP_SIZE,
    ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE,
    ACL_DEV_ATTR_MAX_GRID_DIM_X,
    ACL_DEV_ATTR_MAX_GRID_DIM_Y,
    ACL_DEV_ATTR_MAX_GRID_DIM_Z,
    ACL_DEV_ATTR_MAX_BLOCK_PER_GRID,
    ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_X,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_Y,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_Z,
];

fn info(r: &mut Rows) {
    r.row("aclrtGetDeviceInfo#01", |_| acl!(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, null_mut())));
    let outside = |_: &Test<'_>| {
        [4, u32::MAX].map(|id| acl!(aclrtGetDeviceInfo(id, ACL_DEV_ATTR_AICORE_CORE_NUM, &mut 0)))
    };
    r.decided("aclrtGetDeviceInfo#02", outside);
    r.row("aclrtGetDeviceInfo#03", outside);
    r.row("aclrtGetDeviceInfo#04", |_| {
        [0, 2, 213, 602, u32::MAX].map(|attr| acl!(aclrtGetDeviceInfo(0, attr, &mut 0)))
    });
    r.row("aclrtGetDeviceInfo#05", |t| {
        for (attr, value) in SIMT.iter().zip(t.target.product.list("simt")) {
            assert_eq!(attribute(*attr).to_string(), value, "attribute {attr}");
        }
        assert!(attribute(ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE) > 0);
    });
    r.row("aclrtGetDeviceInfo#06", |_| {
        assert!((202..=212).all(|attr| attribute(attr) == 0));
    });
    let connect = [ACL_DEV_ATTR_HD_CONNECT_TYPE, ACL_DEV_ATTR_DEVICE_FORM_FACTOR];
    r.decided("aclrtGetDeviceInfo#07", move |_| {
        connect.map(|attr| acl!(aclrtGetDeviceInfo(0, attr, &mut 0)))
    });
    r.row("aclrtGetDeviceInfo#08", |t| {
        let place =
            |column, names: &[&str]| names.iter().position(|name| t.target.product.get(column) == *name);
        let connect = place("hd_connect_type", &["PCIE", "HCCS", "UB"]);
        assert_eq!(Some(attribute(ACL_DEV_ATTR_HD_CONNECT_TYPE) as usize), connect);
        let form = place("form_factor", &["POD", "A_K", "A_X", "PCIE_CARD"]);
        assert_eq!(Some(attribute(ACL_DEV_ATTR_DEVICE_FORM_FACTOR) as usize), form);
    });
    r.decided("aclrtGetDeviceInfo#09", |_| {
        acl!(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUST_OP_PRIVILEGE, &mut 0))
    });
    r.row("aclrtGetDeviceInfo#10", |_| assert_eq!(attribute(ACL_DEV_ATTR_IS_VIRTUAL), 0));
    r.row("aclrtGetDeviceInfo#11", |t| {
        assert_eq!(attribute(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE) as u64, t.number("device_memory_bytes"));
    });
    for (id, arch) in [
        ("aclrtGetDeviceInfo#12", 3510),
        ("aclrtGetDeviceInfo#13", 2201),
        ("aclrtGetDeviceInfo#14", 3002),
        ("aclrtGetDeviceInfo#15", 2002),
        ("aclrtGetDeviceInfo#16", 1001),
    ] {
        r.row(id, move |_| assert_eq!(attribute(ACL_DEV_ATTR_NPU_ARCH), arch))
            .except("200-300-500", "no document gives its architecture");
    }
    let range = |_: &Test<'_>| {
        let (mut least, mut greatest) = (-1, -1);
        ok!(aclrtDeviceGetStreamPriorityRange(&mut least, &mut greatest));
        assert_eq!((least, greatest), (7, 0));
    };
    r.row("aclrtDeviceGetStreamPriorityRange#01", |_| {
        let (mut least, mut greatest) = (-1, -1);
        ok!(aclrtDeviceGetStreamPriorityRange(null_mut(), null_mut()));
        ok!(aclrtDeviceGetStreamPriorityRange(&mut least, null_mut()));
        ok!(aclrtDeviceGetStreamPriorityRange(null_mut(), &mut greatest));
        assert_eq!((least, greatest), (7, 0));
    });
    r.row("aclrtDeviceGetStreamPriorityRange#02", range);
    let feature = ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV;
    r.row("aclrtGetDeviceCapability#01", move |_| acl!(aclrtGetDeviceCapability(0, feature, null_mut())));
    let outside = move |_: &Test<'_>| OUTSIDE.map(|id| acl!(aclrtGetDeviceCapability(id, feature, &mut 0)));
    r.decided("aclrtGetDeviceCapability#02", outside);
    r.row("aclrtGetDeviceCapability#03", outside);
    let known = |_: &Test<'_>| {
        for feature in [1, 21] {
            let value = get!(-1, aclrtGetDeviceCapability(0, feature));
            assert!([ACL_DEV_FEATURE_SUPPORT, ACL_DEV_FEATURE_NOT_SUPPORT].contains(&value));
        }
        assert_eq!((ACL_DEV_FEATURE_SUPPORT, ACL_DEV_FEATURE_NOT_SUPPORT), (1, 0));
    };
    r.row("aclrtGetDeviceCapability#04", known);
    r.row("aclrtGetDeviceCapability#06", known);
    r.row("aclrtGetDeviceCapability#05", |_| {
        [0, 2, u32::MAX].map(|feature| acl!(aclrtGetDeviceCapability(0, feature, &mut 0)))
    });
    r.row("aclrtGetDevicesTopo#01", |_| acl!(aclrtGetDevicesTopo(0, 1, null_mut())));
    r.decided("aclrtGetDevicesTopo#02", |_| {
        [(0, 4), (4, 0), (u32::MAX, 0)].map(|(one, two)| acl!(aclrtGetDevicesTopo(one, two, &mut 0)))
    })
    .ep();
    r.row("aclrtGetDevicesTopo#03", |t| {
        let value = match t.target.product.get("topology") {
            "HCCS" => 0x01,
            "PIX" => 0x02,
            "PHB" => 0x08,
            "SYS" => 0x10,
            "SIO" => 0x20,
            "HCCS_SW" => 0x40,
            other => panic!("no such link: {other}"),
        };
        assert_eq!(get!(0, aclrtGetDevicesTopo(0, 1)), value);
    })
    .ep();
    r.row("aclrtGetDevicesTopo#04", |_| {
        assert_eq!(get!(0, aclrtGetDevicesTopo(2, 2)), ACL_RT_DEVS_TOPOLOGY_HCCS);
    })
    .ep();
    r.row("aclrtGetDevicesTopo#05", |_| acl!(aclrtGetDevicesTopo(0, 1, &mut 0))).only(Target::rc);
}

/// A bus id.
fn bus(id: i32) -> String {
    let mut text = [b'?' as std::ffi::c_char; 16];
    ok!(aclrtDeviceGetPCIBusId(id, text.as_mut_ptr(), 16));
    c_text(text.as_ptr()).unwrap_or_default()
}

fn names(r: &mut Rows) {
    let soc = || c_text(acl!(aclrtGetSocName()));
    let known = move |t: &Test<'_>| {
        let name = soc().unwrap_or_default();
        assert!(t.target.product.list("soc_names").any(|soc| soc == name), "{name}");
    };
    r.row("aclrtGetSocName#01", known);
    r.row("aclrtGetSocName#02", move |t| {
        known(t);
        ok!(aclrtSetDevice(1));
        known(t);
    });
    let stays = move |_: &Test<'_>| {
        let first = acl!(aclrtGetSocName());
        let name = soc();
        ok!(aclrtResetDevice(0));
        assert_eq!(acl!(aclrtGetSocName()), first);
        assert_eq!(bare(|| acl!(aclrtGetSocName())), first);
        assert_eq!(soc(), name);
    };
    r.row("aclrtGetSocName#03", stays);
    r.row("aclrtGetSocName#06", stays);
    r.hardware(
        "aclrtGetSocName#05",
        "a driver that cannot say its chip version; here the name is always known",
    );
    r.row("aclrtDeviceGetUuid#01", |_| acl!(aclrtDeviceGetUuid(0, null_mut())));
    r.row("aclrtDeviceGetUuid#02", |_| {
        let mut uuid = aclrtUuid { bytes: [0; 16] };
        OUTSIDE.map(|id| acl!(aclrtDeviceGetUuid(id, &mut uuid)))
    });
    r.row("aclrtDeviceGetUuid#03", |_| {
        assert_eq!(size_of::<aclrtUuid>(), 16);
        let uuid = |id| get!(aclrtUuid { bytes: [0; 16] }, aclrtDeviceGetUuid(id)).bytes;
        assert_ne!(uuid(0), uuid(1));
        assert_eq!(uuid(1), uuid(1));
        assert_ne!(uuid(0), [0; 16]);
    });
    r.row("aclrtDeviceGetPCIBusId#01", |_| acl!(aclrtDeviceGetPCIBusId(0, null_mut(), 16)));
    let short = |_: &Test<'_>| {
        let mut text = [0; 16];
        let codes = [12, 0, -1].map(|len| acl!(aclrtDeviceGetPCIBusId(0, text.as_mut_ptr(), len)));
        assert_eq!(text, [0; 16]);
        codes
    };
    r.decided("aclrtDeviceGetPCIBusId#02", short);
    r.row("aclrtDeviceGetPCIBusId#03", short);
    r.row("aclrtDeviceGetPCIBusId#04", |_| {
        let mut text = [0; 16];
        OUTSIDE.map(|id| acl!(aclrtDeviceGetPCIBusId(id, text.as_mut_ptr(), 16)))
    });
    r.row("aclrtDeviceGetPCIBusId#05", |_| {
        let mut text = [0; 16];
        code!(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetPCIBusId(-1, null_mut(), 0));
        code!(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceGetPCIBusId(-1, text.as_mut_ptr(), 0));
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceGetPCIBusId(4, text.as_mut_ptr(), 0));
        code!(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceGetPCIBusId(4, text.as_mut_ptr(), 13));
    });
    let form = |_: &Test<'_>| {
        for id in 0..4 {
            let text = bus(id);
            let shape: String = text
                .chars()
                .map(|c| if c.is_ascii_digit() || ('a'..='f').contains(&c) { 'x' } else { c })
                .collect();
            assert_eq!(shape, "xxxx:xx:xx.x", "{text}");
        }
    };
    r.row("aclrtDeviceGetPCIBusId#06", form);
    r.hardware("aclrtDeviceGetPCIBusId#07", "every device of this runtime is attached by PCIe");
    r.row("aclrtDeviceGetPCIBusId#08", move |t| {
        form(t);
        assert_ne!(bus(0), bus(1));
    });
    r.row("aclrtDeviceGetByPCIBusId#01", |_| acl!(aclrtDeviceGetByPCIBusId(null(), &mut 0)));
    r.row("aclrtDeviceGetByPCIBusId#02", |_| {
        acl!(aclrtDeviceGetByPCIBusId(c"0000:01:00.0".as_ptr(), null_mut()))
    });
    r.row("aclrtDeviceGetByPCIBusId#03", |_| {
        [c"", c"0000:ee:00.0", c"nonsense"].map(|text| acl!(aclrtDeviceGetByPCIBusId(text.as_ptr(), &mut 0)))
    });
    r.row("aclrtDeviceGetByPCIBusId#04", |_| {
        for id in 0..4 {
            let (exact, spaced) = (c(&bus(id)), c(&format!("{} ", bus(id))));
            assert_eq!(get!(-1, aclrtDeviceGetByPCIBusId(exact.as_ptr())), id);
            code!(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceGetByPCIBusId(spaced.as_ptr(), &mut 0));
            let upper = bus(id).to_uppercase();
            if upper != bus(id) {
                code!(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceGetByPCIBusId(c(&upper).as_ptr(), &mut 0));
            }
        }
    });
    r.row("aclrtDeviceGetByPCIBusId#05", |_| {
        for id in 0..2 {
            let text = c(&bus(id));
            assert_eq!(get!(-1, aclrtDeviceGetByPCIBusId(text.as_ptr())), id);
            ok!(aclrtSetDevice(id));
        }
    })
    .env("ASCEND_RT_VISIBLE_DEVICES", "1,3");
    r.hardware("aclrtDeviceGetByPCIBusId#06", "every device of this runtime is attached by PCIe");
    r.row("aclrtDeviceGetBareTgid#01", |_| acl!(aclrtDeviceGetBareTgid(null_mut())));
    r.row("aclrtDeviceGetBareTgid#02", |_| {
        assert_eq!(get!(-1, aclrtDeviceGetBareTgid()), std::process::id() as i32);
    });
}

fn saturation(r: &mut Rows) {
    let mode = || get!(9, aclrtGetDeviceSatMode());
    r.row("aclrtSetDeviceSatMode#01", |_| {
        [ACL_RT_OVERFLOW_MODE_UNDEF, 3, u32::MAX].map(|mode| acl!(aclrtSetDeviceSatMode(mode)))
    });
    r.hardware(
        "aclrtSetDeviceSatMode#02",
        "no computation of this runtime saturates, so no stream has a mode to see",
    );
    let only = |mode: aclrtFloatOverflowMode| {
        move |_: &Test<'_>| {
            ok!(aclrtSetDeviceSatMode(mode));
            acl!(aclrtSetDeviceSatMode(1 - mode))
        }
    };
    r.decided("aclrtSetDeviceSatMode#03", only(ACL_RT_OVERFLOW_MODE_INFNAN));
    r.decided("aclrtSetDeviceSatMode#04", only(ACL_RT_OVERFLOW_MODE_SATURATION));
    r.row("aclrtSetDeviceSatMode#05", move |_| {
        let now = mode();
        ok!(aclrtSetDeviceSatMode(now));
        assert_eq!(mode(), now);
    })
    .alone();
    r.row("aclrtGetDeviceSatMode#01", |_| acl!(aclrtGetDeviceSatMode(null_mut())));
    r.row("aclrtGetDeviceSatMode#02", move |_| assert_eq!(mode(), ACL_RT_OVERFLOW_MODE_INFNAN));
}

fn overflow(r: &mut Rows) {
    r.row("aclrtGetOverflowStatus#01", |_| acl!(aclrtGetOverflowStatus(null_mut(), 64, null_mut())));
    let sizes = |_: &Test<'_>| {
        let memory = device(128);
        [0, 63, 65, 128].map(|size| acl!(aclrtGetOverflowStatus(memory.p(), size, null_mut())))
    };
    r.decided("aclrtGetOverflowStatus#02", sizes);
    r.row("aclrtGetOverflowStatus#03", sizes);
    r.needs("aclrtGetOverflowStatus#04", "aclmdlRICaptureBegin");
    r.needs("aclrtResetOverflowStatus#01", "aclmdlRICaptureBegin");
    r.row("aclrtGetOverflowStatus#05", |_| {
        let memory = device_with(&[9; 64]);
        ok!(aclrtGetOverflowStatus(memory.p(), 64, null_mut()));
        ok!(aclrtSynchronizeStream(null_mut()));
        assert_eq!(memory.get(), [0; 64]);
    });
    r.row("aclrtGetOverflowStatus#06", |_| {
        let memory = device(64);
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        acl!(aclrtGetOverflowStatus(memory.p(), 64, stream.h()))
    });
    r.row("aclrtGetOverflowStatus#07", |_| {
        let memory = device(64);
        bare(|| acl!(aclrtGetOverflowStatus(memory.p(), 64, null_mut())))
    });
    r.row("aclrtGetOverflowStatus#08", |_| {
        let memory = device(64);
        on_no_streams(|s| acl!(aclrtGetOverflowStatus(memory.p(), 64, s)))
    });
    r.row("aclrtGetOverflowStatus#09", |_| {
        let (memory, stream) = (device_with(&[9; 64]), Stream::new());
        let gate = held(stream.h());
        ok!(aclrtGetOverflowStatus(memory.p(), 64, stream.h()));
        assert_eq!(memory.get(), [9; 64], "written before its turn");
        gate.open();
        stream.wait();
        assert_eq!(memory.get(), [0; 64]);
    });
    r.decided("aclrtGetOverflowStatus#10", |_| {
        let (host, small) = (pageable(64), device(64));
        let outside = [host.p(), unmapped(), small.after(64)];
        outside.map(|address| acl!(aclrtGetOverflowStatus(address, 64, null_mut())))
    })
    .ep();
    r.hardware(
        "aclrtGetOverflowStatus#11",
        "no computation of this runtime overflows, so there is no status to share",
    );
    r.row("aclrtResetOverflowStatus#02", |_| on_no_streams(|s| acl!(aclrtResetOverflowStatus(s))));
    r.row("aclrtResetOverflowStatus#03", |_| {
        let stream = Stream::new();
        let gate = held(stream.h());
        ok!(aclrtResetOverflowStatus(stream.h()));
        gate.open();
        stream.wait();
    });
    r.hardware(
        "aclrtResetOverflowStatus#04",
        "no computation of this runtime overflows, so there is no status to clear",
    );
}

fn atomics(r: &mut Rows) {
    const ADD: [aclrtAtomicOperation; 2] = [ACL_RT_ATOMIC_OPERATION_INTEGER_ADD, ACL_RT_ATOMIC_OPERATION_CAS];
    let host = |out: *mut u32, of: *const u32, count, id| {
        acl!(aclrtDeviceGetHostAtomicCapabilities(out, of, count, id))
    };
    let p2p = |out: *mut u32, of: *const u32, count, from, to| {
        acl!(aclrtDeviceGetP2PAtomicCapabilities(out, of, count, from, to))
    };
    r.row("aclrtDeviceGetHostAtomicCapabilities#01", move |_| {
        let mut out = [0; 2];
        [host(null_mut(), ADD.as_ptr(), 2, 0), host(out.as_mut_ptr(), null(), 2, 0)]
    });
    r.row("aclrtDeviceGetHostAtomicCapabilities#02", move |_| host([0; 2].as_mut_ptr(), ADD.as_ptr(), 0, 0));
    let outside = move |_: &Test<'_>| OUTSIDE.map(|id| host([0; 2].as_mut_ptr(), ADD.as_ptr(), 2, id));
    r.decided("aclrtDeviceGetHostAtomicCapabilities#03", outside);
    r.row("aclrtDeviceGetHostAtomicCapabilities#04", outside);
    r.hardware(
        "aclrtDeviceGetHostAtomicCapabilities#05",
        "undefined behaviour: a count that is not that of the arrays",
    );
    r.row("aclrtDeviceGetHostAtomicCapabilities#06", move |_| {
        let all = ACL_RT_ATOMIC_CAPABILITY_VECTOR32X4 * 2 - 1;
        let mut out = [u32::MAX; 2];
        assert_eq!(host(out.as_mut_ptr(), ADD.as_ptr(), 2, 0), 0);
        assert!(out.iter().all(|mask| mask & !all == 0), "{out:?}");
    });
    r.row("aclrtDeviceGetHostAtomicCapabilities#07", move |_| {
        [13, 29, 45, u32::MAX].map(|operation| host([0; 2].as_mut_ptr(), [0, operation].as_ptr(), 2, 0))
    });
    r.row("aclrtDeviceGetP2PAtomicCapabilities#01", move |_| {
        let mut out = [0; 2];
        [p2p(null_mut(), ADD.as_ptr(), 2, 0, 1), p2p(out.as_mut_ptr(), null(), 2, 0, 1)]
    });
    r.row("aclrtDeviceGetP2PAtomicCapabilities#02", move |_| p2p([0; 2].as_mut_ptr(), ADD.as_ptr(), 0, 0, 1));
    r.row("aclrtDeviceGetP2PAtomicCapabilities#03", move |_| p2p([0; 2].as_mut_ptr(), ADD.as_ptr(), 2, 1, 1));
    let source = move |_: &Test<'_>| OUTSIDE.map(|id| p2p([0; 2].as_mut_ptr(), ADD.as_ptr(), 2, id, 1));
    r.decided("aclrtDeviceGetP2PAtomicCapabilities#04", source);
    r.row("aclrtDeviceGetP2PAtomicCapabilities#05", source);
    r.row("aclrtDeviceGetP2PAtomicCapabilities#06", move |_| {
        OUTSIDE.map(|id| p2p([0; 2].as_mut_ptr(), ADD.as_ptr(), 2, 1, id))
    });
    r.row("aclrtDeviceGetP2PAtomicCapabilities#07", move |_| {
        let (mut out, bad) = ([0; 2], [99; 2]);
        let wanted = ACL_ERROR_RT_PARAM_INVALID;
        assert_eq!(p2p(null_mut(), bad.as_ptr(), 0, 9, 9), wanted);
        assert_eq!(p2p(out.as_mut_ptr(), bad.as_ptr(), 0, 9, 9), wanted);
        assert_eq!(p2p(out.as_mut_ptr(), bad.as_ptr(), 2, 9, 9), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!(p2p(out.as_mut_ptr(), bad.as_ptr(), 2, 0, 9), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!(p2p(out.as_mut_ptr(), bad.as_ptr(), 2, 0, 1), wanted);
        assert_eq!(p2p(out.as_mut_ptr(), ADD.as_ptr(), 2, 0, 1), 0);
    });
    r.hardware(
        "aclrtDeviceGetP2PAtomicCapabilities#08",
        "undefined behaviour: a count that is not that of the arrays",
    );
}

const SIMT_STACK: aclrtDeviceLimit = ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE;
const WARP_STACK: aclrtDeviceLimit = ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE;
const SIMD_STACK: aclrtDeviceLimit = ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE;
const SIMD_PRINT: aclrtDeviceLimit = ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE;
const SIMT_PRINT: aclrtDeviceLimit = ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE;

fn limit(kind: aclrtDeviceLimit) -> usize {
    get!(0, aclrtDeviceGetLimit(kind))
}

/// What a limit reads as by default, and after values were set.
fn reads(kind: aclrtDeviceLimit, default: usize, cases: &[(usize, usize)]) {
    assert_eq!(limit(kind), default, "default of {kind}");
    for (set, wanted) in cases {
        ok!(aclrtDeviceSetLimit(kind, *set));
        assert_eq!(limit(kind), *wanted, "{set} set");
    }
}

/// Codes of values outside a range, after both its ends were accepted.
fn range(kind: aclrtDeviceLimit, low: usize, high: usize) -> Vec<i32> {
    ok!(aclrtDeviceSetLimit(kind, low));
    ok!(aclrtDeviceSetLimit(kind, high));
    let before = limit(kind);
    let mut codes = vec![acl!(aclrtDeviceSetLimit(kind, high + 1))];
    if low > 0 {
        codes.push(acl!(aclrtDeviceSetLimit(kind, low - 1)));
    }
    assert_eq!(limit(kind), before, "a refused value changes nothing");
    codes
}

fn limits(r: &mut Rows) {
    r.row("aclrtDeviceSetLimit#01", |_| [5, u32::MAX].map(|kind| acl!(aclrtDeviceSetLimit(kind, 1024))));
    r.row("aclrtDeviceSetLimit#02", |_| {
        [1 << 32, usize::MAX].map(|value| acl!(aclrtDeviceSetLimit(SIMD_STACK, value)))
    });
    let simt = |_: &Test<'_>| {
        [SIMT_STACK, WARP_STACK, SIMT_PRINT].map(|kind| acl!(aclrtDeviceSetLimit(kind, 2 << 20)))
    };
    r.row("aclrtDeviceSetLimit#03", simt).only(|target| target.product.get("simt").is_empty());
    r.row("aclrtDeviceSetLimit#04", simt);
    r.row("aclrtDeviceSetLimit#05", |_| {
        ok!(aclrtDeviceSetLimit(SIMT_STACK, 0));
        let one = acl!(aclrtDeviceSetLimit(WARP_STACK, 0));
        ok!(aclrtDeviceSetLimit(SIMT_STACK, 128));
        ok!(aclrtDeviceSetLimit(WARP_STACK, 0));
        [one, acl!(aclrtDeviceSetLimit(SIMT_STACK, 0))]
    })
    .alone();
    r.row("aclrtDeviceSetLimit#06", |_| {
        reads(SIMT_STACK, 1152 * 32, &[(1, 128 * 32), (128, 128 * 32), (129, 256 * 32)]);
    })
    .alone();
    r.row("aclrtDeviceSetLimit#07", |_| reads(WARP_STACK, 1024, &[(1, 128), (128, 128), (129, 256)])).alone();
    r.row("aclrtDeviceSetLimit#08", |_| {
        const K: usize = 1 << 10;
        reads(SIMD_STACK, 32 * K, &[(1, 32 * K), (32 * K, 32 * K), (32 * K + 1, 48 * K), (48 * K, 48 * K)]);
    })
    .alone();
    let stack = |_: &Test<'_>, most| {
        let codes = [most + 1, u32::MAX as usize].map(|value| acl!(aclrtDeviceSetLimit(SIMD_STACK, value)));
        ok!(aclrtDeviceSetLimit(SIMD_STACK, most));
        assert_eq!(limit(SIMD_STACK), most);
        codes
    };
    r.decided("aclrtDeviceSetLimit#09", move |t| stack(t, 196_608)).alone();
    r.decided("aclrtDeviceSetLimit#10", move |t| stack(t, 131_072)).alone();
    r.row("aclrtDeviceSetLimit#11", |_| {
        reads(SIMD_PRINT, 32_768, &[(1024, 1024), (1025, 1032), (67_108_864, 67_108_864)]);
        let codes = range(SIMD_PRINT, 1024, 67_108_864);
        assert!(codes.iter().all(|code| *code == ACL_ERROR_RT_PARAM_INVALID), "{codes:?}");
    })
    .alone();
    r.row("aclrtDeviceSetLimit#12", |_| {
        reads(SIMT_PRINT, 2_097_152, &[(1_048_576, 1_048_576), (1_048_577, 1_048_584)]);
        let codes = range(SIMT_PRINT, 1_048_576, 67_108_864);
        assert!(codes.iter().all(|code| *code == ACL_ERROR_RT_PARAM_INVALID), "{codes:?}");
    })
    .alone();
    r.row("aclrtDeviceSetLimit#13", |_| {
        ok!(aclInit(null()));
        ok!(aclrtDeviceSetLimit(SIMD_STACK, 49_152));
        ok!(aclrtSetDevice(0));
        ok!(aclrtDeviceSetLimit(SIMD_STACK, 65_536));
        assert_eq!(limit(SIMD_STACK), 65_536);
        ok!(aclrtResetDevice(0));
        ok!(aclrtSetDevice(0));
        assert_eq!(limit(SIMD_STACK), 65_536);
    })
    .alone();
    r.row("aclrtDeviceSetLimit#14", |_| {
        let file = File::new(r#"{"StackSize": {"aicore_stack_size": 49152}}"#);
        ok!(aclrtDeviceSetLimit(SIMD_STACK, 65_536));
        ok!(aclInit(file.path().as_ptr()));
        assert_eq!(limit(SIMD_STACK), 49_152);
        ok!(aclrtDeviceSetLimit(SIMD_STACK, 65_536));
        assert_eq!(limit(SIMD_STACK), 65_536);
    })
    .alone();
    let wide = |_: &Test<'_>| {
        ok!(aclrtSetDevice(0));
        ok!(aclrtDeviceSetLimit(SIMD_STACK, 49_152));
        ok!(aclrtSetDevice(1));
        assert_eq!(limit(SIMD_STACK), 49_152);
        bare(|| assert_eq!(limit(SIMD_STACK), 49_152));
    };
    r.row("aclrtDeviceSetLimit#15", wide).alone();
    r.decided("aclrtDeviceSetLimit#16", |_| acl!(aclrtDeviceSetLimit(SIMD_STACK, 49_152)))
        .env("ASCEND_RT_VISIBLE_DEVICES", "1,2");
    r.row("aclrtDeviceGetLimit#01", |_| acl!(aclrtDeviceGetLimit(SIMD_STACK, null_mut())));
    r.row("aclrtDeviceGetLimit#02", |_| [5, u32::MAX].map(|kind| acl!(aclrtDeviceGetLimit(kind, &mut 0))));
    r.row("aclrtDeviceGetLimit#03", |_| {
        code!(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetLimit(99, null_mut()));
        code!(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetLimit(99, &mut 0));
    });
    r.row("aclrtDeviceGetLimit#04", |_| {
        [SIMT_STACK, WARP_STACK, SIMT_PRINT].map(|kind| acl!(aclrtDeviceGetLimit(kind, &mut 0)))
    });
    r.row("aclrtDeviceGetLimit#05", |_| reads(SIMT_STACK, 1152 * 32, &[(256, 8192), (200, 8192)])).alone();
    r.row("aclrtDeviceGetLimit#06", |_| reads(WARP_STACK, 1024, &[(512, 512), (500, 512)])).alone();
    r.row("aclrtDeviceGetLimit#07", |_| {
        ok!(aclrtDeviceSetLimit(SIMD_STACK, 65_536));
        assert_eq!(limit(SIMD_STACK), 65_536);
    })
    .alone_device();
    r.row("aclrtDeviceGetLimit#08", wide).alone();
}
