//! What can be asked of a kernel.

use super::super::prelude::*;

pub fn rows(r: &mut Rows) {
    code(r);
    names(r);
    attributes(r);
    parameters(r);
}

fn each(call: impl Fn(aclrtFuncHandle) -> i32) -> Vec<i32> {
    no_kernels().into_iter().map(call).collect()
}

fn address(kernel: aclrtFuncHandle) -> i32 {
    let (mut cube, mut vector) = (at(1), at(1));
    let code = acl!(aclrtGetFunctionAddr(kernel, &mut cube, &mut vector));
    if code != 0 && !kernel.is_null() {
        assert!(cube.is_null() && vector.is_null(), "null when the lookup fails");
    }
    code
}

fn size(kernel: aclrtFuncHandle) -> i32 {
    acl!(aclrtGetFunctionSize(kernel, &mut 0, &mut 0))
}

/// Whether a kernel has an address for cube and for vector cores.
fn has_code(name: &str) -> [bool; 2] {
    let (mut cube, mut vector) = (null_mut(), null_mut());
    ok!(aclrtGetFunctionAddr(kernel(name), &mut cube, &mut vector));
    [cube, vector].map(|address| !address.is_null())
}

fn code(r: &mut Rows) {
    r.row("aclrtGetFunctionAddr#01", |_| address(null_mut()));
    r.row("aclrtGetFunctionAddr#02", |_| acl!(aclrtGetFunctionAddr(kernel("store"), null_mut(), &mut null_mut())));
    r.row("aclrtGetFunctionAddr#03", |_| acl!(aclrtGetFunctionAddr(kernel("store"), &mut null_mut(), null_mut())));
    r.row("aclrtGetFunctionAddr#04", |_| each(address));
    r.hardware("aclrtGetFunctionAddr#05", "AI CPU kernels are not built");
    r.row("aclrtGetFunctionAddr#06", |_| {
        assert_eq!(has_code("vector"), [false, true]);
        assert_eq!(has_code("cube"), [true, false]);
    });
    r.row("aclrtGetFunctionAddr#07", |_| {
        assert!(each(address).iter().all(|code| *code == ACL_ERROR_RT_INVALID_HANDLE));
    });
    r.row("aclrtGetFunctionAddr#08", |_| assert_eq!(has_code("store"), [true, true]));
    r.row("aclrtGetFunctionSize#01", |_| size(null_mut()));
    r.row("aclrtGetFunctionSize#02", |_| acl!(aclrtGetFunctionSize(kernel("store"), null_mut(), &mut 0)));
    r.row("aclrtGetFunctionSize#03", |_| acl!(aclrtGetFunctionSize(kernel("store"), &mut 0, null_mut())));
    r.hardware("aclrtGetFunctionSize#04", "products without the function are the gate's, *#06");
    r.row("aclrtGetFunctionSize#05", |_| each(size));
    r.hardware("aclrtGetFunctionSize#06", "AI CPU kernels are not built");
    r.row("aclrtGetFunctionSize#07", |_| {
        for (name, expected) in [("store", [true, true]), ("cube", [true, false]), ("vector", [false, true])] {
            let (mut cube, mut vector) = (usize::MAX, usize::MAX);
            ok!(aclrtGetFunctionSize(kernel(name), &mut cube, &mut vector));
            assert_eq!([cube, vector].map(|bytes| bytes != 0), expected, "{name}");
            assert!(cube < BINARY.len() && vector < BINARY.len());
        }
    });
}

fn names(r: &mut Rows) {
    fn name(kernel: aclrtFuncHandle) -> i32 {
        acl!(aclrtGetFunctionName(kernel, 64, [0; 64].as_mut_ptr()))
    }
    r.row("aclrtGetFunctionName#01", |_| acl!(aclrtGetFunctionName(kernel("store"), 64, null_mut())));
    r.row("aclrtGetFunctionName#02", |_| name(null_mut()));
    r.row("aclrtGetFunctionName#03", |_| each(name));
    r.row("aclrtGetFunctionName#04", |_| {
        let kernel = kernel("store");
        ok!(aclrtGetFunctionName(kernel, 6, [0; 6].as_mut_ptr()));
        [0, 1, 5].map(|room| acl!(aclrtGetFunctionName(kernel, room, [0; 6].as_mut_ptr())))
    });
    r.row("aclrtGetFunctionName#05", |_| {
        let mut bytes = [0x7f; 9];
        ok!(aclrtGetFunctionName(kernel("store"), 9, bytes.as_mut_ptr()));
        assert_eq!(bytes.map(|byte| byte as u8), *b"store\0\x7f\x7f\x7f");
    });
}

const TYPE: u32 = ACL_FUNC_ATTR_KERNEL_TYPE;
const RATIO: u32 = ACL_FUNC_ATTR_KERNEL_RATIO;

fn attributes(r: &mut Rows) {
    let ask = |kernel, attribute| acl!(aclrtGetFunctionAttribute(kernel, attribute, &mut 0));
    let value = |name, attribute| get!(-1i64, aclrtGetFunctionAttribute(kernel(name), attribute));
    r.row("aclrtGetFunctionAttribute#01", move |_| ask(null_mut(), TYPE));
    r.row("aclrtGetFunctionAttribute#02", |_| acl!(aclrtGetFunctionAttribute(kernel("store"), TYPE, null_mut())));
    r.row("aclrtGetFunctionAttribute#03", move |_| each(|kernel| ask(kernel, TYPE)));
    r.row("aclrtGetFunctionAttribute#04", move |_| {
        assert_eq!(value("cube", TYPE), i64::from(ACL_KERNEL_TYPE_CUBE));
        assert_eq!(value("vector", TYPE), i64::from(ACL_KERNEL_TYPE_VECTOR));
        [0, 4, u32::MAX].map(|attribute| ask(kernel("store"), attribute))
    });
    r.row("aclrtGetFunctionAttribute#05", move |_| ask(kernel("store"), RATIO))
        .only(|target| !target.product.has("kernel_ratio"));
    r.hardware("aclrtGetFunctionAttribute#06", "AI CPU kernels are not built");
    r.hardware("aclrtGetFunctionAttribute#07", "the table of every device binary says the type");
    r.row("aclrtGetFunctionAttribute#08", move |t| {
        let (cubes, vectors) = (t.number("ai_core_num"), t.number("vector_core_num"));
        let both = if vectors > cubes { (1 << 16) | (vectors / cubes) } else { 1 << 16 };
        assert_eq!(value("store", RATIO), both as i64);
        assert_eq!((value("cube", RATIO), value("vector", RATIO)), (1 << 16, 1));
    })
    .only(|target| target.product.has("kernel_ratio"));
    r.decided("aclrtGetFunctionAttribute#09", move |_| ask(kernel("store"), RATIO));
    r.row("aclrtGetFunctionAttribute#10", move |_| {
        assert_eq!(value("store", ACL_FUNC_ATTR_KERNEL_SCHED_MODE), 0);
    });
}

fn parameters(r: &mut Rows) {
    r.row("aclrtFunctionGetBinary#01", |_| acl!(aclrtFunctionGetBinary(null_mut(), &mut null_mut())));
    r.row("aclrtFunctionGetBinary#02", |_| acl!(aclrtFunctionGetBinary(kernel("store"), null_mut())));
    r.row("aclrtFunctionGetBinary#03", |_| each(|kernel| acl!(aclrtFunctionGetBinary(kernel, &mut null_mut()))));
    r.row("aclrtFunctionGetBinary#04", |_| {
        let binary = Binary::new();
        let function = binary.function("store");
        assert_eq!(get!(null_mut(), aclrtFunctionGetBinary(function)), binary.h());
        // One reference, so one call unloads it.
        ok!(aclrtBinaryUnLoad(binary.h()));
        code!(ACL_ERROR_RT_INVALID_HANDLE, aclrtBinaryUnLoad(binary.h()));
    });
    let count = |kernel: aclrtFuncHandle| acl!(aclrtFunctionGetParamCount(kernel, &mut 0));
    r.row("aclrtFunctionGetParamCount#01", move |_| count(null_mut()));
    r.row("aclrtFunctionGetParamCount#02", |_| acl!(aclrtFunctionGetParamCount(kernel("store"), null_mut())));
    r.row("aclrtFunctionGetParamCount#03", move |_| {
        assert_eq!(get!(9, aclrtFunctionGetParamCount(kernel("sum"))), 5);
        assert_eq!(get!(9, aclrtFunctionGetParamCount(kernel("nothing"))), 0);
        assert_eq!(get!(9, aclrtFunctionGetParamCount(stub(registered(), "store"))), 2);
        each(count)
    });
    r.hardware("aclrtFunctionGetParamCount#04", "AI CPU kernels are not built");
    r.hardware("aclrtFunctionGetParamCount#05", "every device binary has parameter information");
    let info = |kernel: aclrtFuncHandle, index| acl!(aclrtFunctionGetParamInfo(kernel, index, &mut 0, &mut 0));
    r.row("aclrtFunctionGetParamInfo#01", move |_| info(null_mut(), 0));
    r.row("aclrtFunctionGetParamInfo#02", |_| {
        acl!(aclrtFunctionGetParamInfo(kernel("store"), 0, null_mut(), null_mut()))
    });
    r.row("aclrtFunctionGetParamInfo#03", |_| {
        let (kernel, mut offset, mut size) = (kernel("store"), 0, 0);
        ok!(aclrtFunctionGetParamInfo(kernel, 1, &mut offset, null_mut()));
        ok!(aclrtFunctionGetParamInfo(kernel, 1, null_mut(), &mut size));
        assert_eq!((offset, size), (8, 4));
    });
    r.row("aclrtFunctionGetParamInfo#04", move |_| {
        [info(kernel("store"), 2), info(kernel("nothing"), 0), info(kernel("store"), usize::MAX)]
    });
    r.row("aclrtFunctionGetParamInfo#05", move |_| each(|kernel| info(kernel, 0)));
    r.hardware("aclrtFunctionGetParamInfo#06", "AI CPU kernels are not built");
    r.hardware("aclrtFunctionGetParamInfo#07", "every device binary has parameter information");
    r.row("aclrtFunctionGetParamInfo#08", |_| {
        let kernel = kernel("sum");
        for (index, expected) in [(0, 8), (8, 1), (12, 2), (16, 4), (24, 8)].into_iter().enumerate() {
            let (mut offset, mut size) = (usize::MAX, usize::MAX);
            ok!(aclrtFunctionGetParamInfo(kernel, index, &mut offset, &mut size));
            assert_eq!((offset, size), expected);
        }
    });
    let dynamic =
        |kernel, flags| acl!(aclrtFunctionGetAvailDynUbufPerBlock(kernel, flags, &mut usize::MAX.clone()));
    r.row("aclrtFunctionGetAvailDynUbufPerBlock#01", move |_| dynamic(null_mut(), 0));
    r.row("aclrtFunctionGetAvailDynUbufPerBlock#02", |_| {
        acl!(aclrtFunctionGetAvailDynUbufPerBlock(kernel("store"), 0, null_mut()))
    });
    r.row("aclrtFunctionGetAvailDynUbufPerBlock#03", move |_| [1, u32::MAX].map(|f| dynamic(kernel("store"), f)));
    r.row("aclrtFunctionGetAvailDynUbufPerBlock#04", move |_| each(|kernel| dynamic(kernel, 0)));
    r.row("aclrtFunctionGetAvailDynUbufPerBlock#05", |_| {
        assert_eq!(get!(9, aclrtFunctionGetAvailDynUbufPerBlock(kernel("store"), 0)), 0);
    });
    r.hardware("aclrtFunctionGetAvailDynUbufPerBlock#06", "there are no SIMT kernels");
    r.hardware("aclrtFunctionGetAvailDynUbufPerBlock#07", "there are no SIMT kernels, whose buffer would be told");
}
