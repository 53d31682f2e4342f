//! Argument lists.

use super::super::prelude::*;

pub fn rows(r: &mut Rows) {
    making(r);
    sizes(r);
    appending(r);
    holders(r);
    updating(r);
}

fn init(kernel: aclrtFuncHandle) -> aclrtArgsHandle {
    get!(null_mut(), aclrtKernelArgsInit(kernel))
}

/// An empty list for a kernel.
fn list(name: &str) -> aclrtArgsHandle {
    init(kernel(name))
}

fn append(list: aclrtArgsHandle, bytes: &[u8]) -> i32 {
    let mut param = at(1);
    let code = acl!(aclrtKernelArgsAppend(list, bytes.as_ptr().cast_mut().cast(), bytes.len(), &mut param));
    assert_eq!(code == 0, param != at(1), "the answer is written if and only if there is one");
    code
}

fn param(list: aclrtArgsHandle, bytes: &[u8]) -> aclrtParamHandle {
    get!(null_mut(), aclrtKernelArgsAppend(list, bytes.as_ptr().cast_mut().cast(), bytes.len()))
}

fn holder(list: aclrtArgsHandle) -> aclrtParamHandle {
    get!(null_mut(), aclrtKernelArgsAppendPlaceHolder(list))
}

fn hold(list: aclrtArgsHandle) -> i32 {
    acl!(aclrtKernelArgsAppendPlaceHolder(list, &mut null_mut()))
}

fn buffer(list: aclrtArgsHandle, param: aclrtParamHandle, bytes: usize) -> i32 {
    acl!(aclrtKernelArgsGetPlaceHolderBuffer(list, param, bytes, &mut null_mut()))
}

fn finalized(list: aclrtArgsHandle) -> aclrtArgsHandle {
    ok!(aclrtKernelArgsFinalize(list));
    list
}

/// Everything that is no argument list.
fn no_lists() -> Vec<aclrtArgsHandle> {
    // The list of a thread ends with it.
    let store = kernel("store");
    let stale = bare(|| init(store));
    vec![stale, stale_kernel(), invented(), BINARY.as_ptr().cast_mut().cast()]
}

fn each(call: impl Fn(aclrtArgsHandle) -> i32) -> Vec<i32> {
    no_lists().into_iter().map(call).collect()
}

/// A list in the program's memory, with room for `bytes`.
struct User {
    handle: Vec<u64>,
    memory: Vec<u64>,
}

impl User {
    fn new(kernel: aclrtFuncHandle, bytes: usize) -> User {
        let handle = vec![0; get!(0, aclrtKernelArgsGetHandleMemSize(kernel)).div_ceil(8)];
        let mut user = User { handle, memory: vec![0; bytes.div_ceil(8)] };
        let memory = user.memory.as_mut_ptr().cast();
        ok!(aclrtKernelArgsInitByUserMem(kernel, user.h(), memory, bytes));
        user
    }

    fn h(&mut self) -> aclrtArgsHandle {
        self.handle.as_mut_ptr().cast()
    }
}

fn making(r: &mut Rows) {
    r.row("aclrtKernelArgsInit#01", |_| acl!(aclrtKernelArgsInit(null_mut(), &mut null_mut())));
    r.row("aclrtKernelArgsInit#02", |_| acl!(aclrtKernelArgsInit(kernel("store"), null_mut())));
    r.row("aclrtKernelArgsInit#03", |_| {
        no_kernels()
            .into_iter()
            .map(|kernel| acl!(aclrtKernelArgsInit(kernel, &mut null_mut())))
            .collect::<Vec<_>>()
    });
    r.row("aclrtKernelArgsInit#04", |_| {
        let many = list("store");
        assert!((0..128).all(|_| append(many, &[1; 8]) == 0));
        assert_eq!(append(many, &[1; 8]), ACL_ERROR_RT_PARAM_INVALID);
        let large = list("store");
        ok!(aclrtKernelArgsAppend(large, vec![0u8; 65536].as_mut_ptr().cast(), 65536, &mut null_mut()));
        assert_eq!(append(large, &[1]), ACL_ERROR_RT_PARAM_INVALID);
    });
    r.row("aclrtKernelArgsInit#05", |_| {
        let first = list("store");
        let old = param(first, &[1; 8]);
        assert_eq!(list("add"), first);
        // What was in it is lost.
        let mut value = [2u8; 8];
        code!(
            ACL_ERROR_RT_INVALID_HANDLE,
            aclrtKernelArgsParaUpdate(first, old, value.as_mut_ptr().cast(), 8)
        );
        let store = kernel("store");
        assert_ne!(bare(|| init(store)), first);
    });
    let user = |kernel: aclrtFuncHandle, handle: bool, memory: bool, bytes: usize| {
        let (mut space, mut values) = ([0u64; 64], [0u64; 64]);
        let handle = if handle { space.as_mut_ptr().cast() } else { null_mut() };
        let memory = if memory { values.as_mut_ptr().cast() } else { null_mut() };
        acl!(aclrtKernelArgsInitByUserMem(kernel, handle, memory, bytes))
    };
    r.row("aclrtKernelArgsInitByUserMem#01", move |_| user(null_mut(), true, true, 8));
    r.row("aclrtKernelArgsInitByUserMem#02", move |_| user(kernel("store"), false, true, 8));
    r.row("aclrtKernelArgsInitByUserMem#03", move |_| user(kernel("store"), true, false, 8));
    r.row("aclrtKernelArgsInitByUserMem#04", move |_| user(kernel("store"), true, true, 0));
    r.row("aclrtKernelArgsInitByUserMem#05", move |_| {
        no_kernels().into_iter().map(|kernel| user(kernel, true, true, 8)).collect::<Vec<_>>()
    });
    r.row("aclrtKernelArgsInitByUserMem#06", |_| {
        let store = kernel("store");
        let (mut user, to, stream) = (User::new(store, 16), device(4), Stream::new());
        param(user.h(), &(to.p() as u64).to_le_bytes());
        param(user.h(), &77i32.to_le_bytes());
        assert_eq!(user.memory, [to.p() as u64, 77], "the values are in the program's memory");
        let list = finalized(user.h());
        ok!(aclrtLaunchKernelWithConfig(store, 1, stream.h(), null_mut(), list, null_mut()));
        drop(user);
        stream.wait();
        assert_eq!(to.get(), 77i32.to_le_bytes());
    });
    r.row("aclrtKernelArgsInitByUserMem#07", |_| {
        let mut user = User::new(kernel("store"), 256);
        assert_eq!([append(user.h(), &[1; 8]), append(user.h(), &[1; 4])], [0; 2]);
        assert_eq!(append(user.h(), &[1]), ACL_ERROR_RT_PARAM_INVALID);
    });
}

fn sizes(r: &mut Rows) {
    let size = |kernel| acl!(aclrtKernelArgsGetMemSize(kernel, 16, &mut 0));
    let values = |name, bytes| get!(0, aclrtKernelArgsGetMemSize(kernel(name), bytes));
    r.row("aclrtKernelArgsGetMemSize#01", move |_| size(null_mut()));
    r.row("aclrtKernelArgsGetMemSize#02", |_| acl!(aclrtKernelArgsGetMemSize(kernel("store"), 16, null_mut())));
    r.row("aclrtKernelArgsGetMemSize#03", move |_| no_kernels().into_iter().map(size).collect::<Vec<_>>());
    r.row("aclrtKernelArgsGetMemSize#04", move |_| {
        // Two values of 8 and 4 bytes, each rounded up.
        let mut user = User::new(kernel("store"), values("store", 16));
        [append(user.h(), &[1; 8]), append(user.h(), &[1; 4])]
    });
    r.row("aclrtKernelArgsGetMemSize#05", move |_| {
        assert_eq!((values("store", 16), values("sum", 40), values("nothing", 8)), (96, 144, 72));
    });
    r.row("aclrtKernelArgsGetMemSize#06", move |_| assert_eq!(values("nothing", 0), 64));
    let handle = |kernel| acl!(aclrtKernelArgsGetHandleMemSize(kernel, &mut 0));
    r.row("aclrtKernelArgsGetHandleMemSize#01", move |_| handle(null_mut()));
    r.row("aclrtKernelArgsGetHandleMemSize#02", |_| {
        acl!(aclrtKernelArgsGetHandleMemSize(kernel("store"), null_mut()))
    });
    r.row("aclrtKernelArgsGetHandleMemSize#03", move |_| {
        no_kernels().into_iter().map(handle).collect::<Vec<_>>()
    });
    r.row("aclrtKernelArgsGetHandleMemSize#04", |_| {
        let [none, two, five] =
            ["nothing", "store", "sum"].map(|name| get!(0, aclrtKernelArgsGetHandleMemSize(kernel(name))));
        assert!(none < two && two < five);
    });
}

fn appending(r: &mut Rows) {
    let append_raw = |list, value: *mut c_void, size, param| acl!(aclrtKernelArgsAppend(list, value, size, param));
    let mut_value = || Box::leak(Box::new(5u64)) as *mut u64 as *mut c_void;
    r.row("aclrtKernelArgsAppend#01", |_| append(null_mut(), &[1]));
    r.row("aclrtKernelArgsAppend#02", move |_| append_raw(list("store"), null_mut(), 8, &mut null_mut()));
    r.row("aclrtKernelArgsAppend#03", |_| append(list("store"), &[]));
    r.row("aclrtKernelArgsAppend#04", move |_| append_raw(list("store"), mut_value(), 8, null_mut()));
    r.row("aclrtKernelArgsAppend#05", move |_| {
        let list = list("store");
        let said = |code: i32| (code, message());
        let cases = [
            ("argsHandle", said(append_raw(null_mut(), null_mut(), 0, null_mut()))),
            ("param", said(append_raw(list, null_mut(), 0, null_mut()))),
            ("paramSize", said(append_raw(list, mut_value(), 0, null_mut()))),
            ("paramHandle", said(append_raw(list, mut_value(), 8, null_mut()))),
        ];
        let codes: Vec<i32> = cases.iter().map(|(_, (code, _))| *code).collect();
        for (name, (_, text)) in cases {
            assert!(text.is_empty() || text.contains(&format!("{name}: ")), "{name}: {text}");
        }
        codes
    });
    r.row("aclrtKernelArgsAppend#06", |_| each(|list| append(list, &[1; 8])));
    r.row("aclrtKernelArgsAppend#07", |_| {
        let list = list("store");
        param(list, &[1; 8]);
        append(finalized(list), &[1; 4])
    });
    r.row("aclrtKernelArgsAppend#08", |_| {
        let list = list("copy");
        ok!(aclrtKernelArgsGetPlaceHolderBuffer(list, holder(list), 8, &mut null_mut()));
        append(list, &[1; 4])
    });
    r.row("aclrtKernelArgsAppend#09", |_| {
        let list = list("store");
        assert!((0..128).all(|_| append(list, &[1]) == 0));
        append(list, &[1])
    });
    r.row("aclrtKernelArgsAppend#10", |_| {
        let mut user = User::new(kernel("store"), 16);
        [append(list("store"), &[0; 65537]), append(user.h(), &[0; 17])]
    });
    r.row("aclrtKernelArgsAppend#11", |_| {
        let store = kernel("store");
        let (mut user, to, stream) = (User::new(kernel("sum"), 64), device(4), Stream::new());
        for bytes in [1, 2, 4, 8] {
            param(user.h(), &vec![0xff; bytes]);
        }
        assert_eq!(user.memory[..4], [0xff, 0xffff, 0xffff_ffff, u64::MAX]);
        let list = init(store);
        param(list, &(to.p() as u64).to_le_bytes());
        let mut value = [9, 0, 0, 0u8];
        param(list, &value);
        value.fill(0xee);
        ok!(aclrtLaunchKernelWithConfig(store, 1, stream.h(), null_mut(), finalized(list), null_mut()));
        stream.wait();
        assert_eq!(to.get(), [9, 0, 0, 0]);
    });
}

fn holders(r: &mut Rows) {
    r.row("aclrtKernelArgsAppendPlaceHolder#01", |_| hold(null_mut()));
    r.row("aclrtKernelArgsAppendPlaceHolder#02", |_| {
        acl!(aclrtKernelArgsAppendPlaceHolder(list("copy"), null_mut()))
    });
    r.row("aclrtKernelArgsAppendPlaceHolder#03", |_| each(hold));
    r.row("aclrtKernelArgsAppendPlaceHolder#04", |_| hold(finalized(list("copy"))));
    r.row("aclrtKernelArgsAppendPlaceHolder#05", |_| {
        let list = list("copy");
        ok!(aclrtKernelArgsGetPlaceHolderBuffer(list, holder(list), 8, &mut null_mut()));
        hold(list)
    });
    r.row("aclrtKernelArgsAppendPlaceHolder#06", |_| {
        let (mut full, mut small) = (User::new(kernel("blocks"), 64), User::new(kernel("store"), 7));
        holder(full.h());
        [hold(full.h()), hold(small.h())]
    });
    r.row("aclrtKernelArgsAppendPlaceHolder#07", |_| copies(16));
    let stage = || {
        let list = list("copy");
        (list, param(list, &[0; 8]), holder(list))
    };
    r.row("aclrtKernelArgsGetPlaceHolderBuffer#01", move |_| buffer(null_mut(), stage().2, 8));
    r.row("aclrtKernelArgsGetPlaceHolderBuffer#02", move |_| buffer(stage().0, null_mut(), 8));
    r.row("aclrtKernelArgsGetPlaceHolderBuffer#03", move |_| {
        let (list, _, holder) = stage();
        buffer(list, holder, 0)
    });
    r.row("aclrtKernelArgsGetPlaceHolderBuffer#04", move |_| {
        let (list, _, holder) = stage();
        acl!(aclrtKernelArgsGetPlaceHolderBuffer(list, holder, 8, null_mut()))
    });
    r.row("aclrtKernelArgsGetPlaceHolderBuffer#05", move |_| {
        let (_, _, old) = stage();
        let (list, _, holder) = stage();
        let mut codes = each(|list| buffer(list, holder, 8));
        codes.extend([old, list, invented()].map(|param| buffer(list, param, 8)));
        codes
    });
    r.row("aclrtKernelArgsGetPlaceHolderBuffer#06", move |_| {
        let (list, param, _) = stage();
        buffer(list, param, 8)
    });
    r.row("aclrtKernelArgsGetPlaceHolderBuffer#07", move |_| {
        let (list, _, holder) = stage();
        buffer(finalized(list), holder, 8)
    });
    r.row("aclrtKernelArgsGetPlaceHolderBuffer#08", move |_| {
        let mut user = User::new(kernel("copy"), 24);
        let small = holder(user.h());
        assert_eq!(buffer(user.h(), small, 16), 0);
        let mut user = User::new(kernel("copy"), 24);
        let small = holder(user.h());
        let (list, _, holder) = stage();
        [buffer(list, holder, 65536), buffer(user.h(), small, 17)]
    });
    r.row("aclrtKernelArgsGetPlaceHolderBuffer#09", |_| copies(1000));
}

/// The kernel copies what the program has put into a place holder's buffer.
fn copies(bytes: usize) {
    let copy = kernel("copy");
    let (to, stream, list) = (device(bytes), Stream::new(), init(copy));
    param(list, &(to.p() as u64).to_le_bytes());
    let holder = holder(list);
    param(list, &(bytes as u32).to_le_bytes());
    let data = get!(null_mut(), aclrtKernelArgsGetPlaceHolderBuffer(list, holder, bytes));
    let data = unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), bytes) };
    data.copy_from_slice(&pattern(bytes, 3));
    ok!(aclrtLaunchKernelWithConfig(copy, 1, stream.h(), null_mut(), finalized(list), null_mut()));
    // The launch has its own.
    data.fill(0);
    stream.wait();
    assert_eq!(to.get(), pattern(bytes, 3));
}

fn updating(r: &mut Rows) {
    let update = |list, param, bytes: &[u8]| {
        acl!(aclrtKernelArgsParaUpdate(list, param, bytes.as_ptr().cast_mut().cast(), bytes.len()))
    };
    let stage = || {
        let list = list("store");
        (list, param(list, &[0; 8]))
    };
    r.row("aclrtKernelArgsParaUpdate#01", move |_| update(null_mut(), stage().1, &[1; 8]));
    r.row("aclrtKernelArgsParaUpdate#02", move |_| update(stage().0, null_mut(), &[1; 8]));
    r.row("aclrtKernelArgsParaUpdate#03", move |_| {
        let (list, param) = stage();
        acl!(aclrtKernelArgsParaUpdate(list, param, null_mut(), 8))
    });
    r.row("aclrtKernelArgsParaUpdate#04", move |_| {
        let (list, param) = stage();
        update(list, param, &[])
    });
    r.row("aclrtKernelArgsParaUpdate#05", move |_| {
        let (_, old) = stage();
        let (list, param) = stage();
        let mut codes = each(|list| update(list, param, &[1; 8]));
        codes.extend([old, list, invented()].map(|param| update(list, param, &[1; 8])));
        codes
    });
    r.row("aclrtKernelArgsParaUpdate#06", move |_| {
        let list = list("copy");
        update(list, holder(list), &[1; 8])
    });
    r.row("aclrtKernelArgsParaUpdate#07", move |_| {
        let (list, param) = stage();
        [update(list, param, &[1; 7]), update(list, param, &[1; 9])]
    });
    r.row("aclrtKernelArgsParaUpdate#08", move |_| {
        let store = kernel("store");
        let (list, to, stream) = (init(store), device(4), Stream::new());
        let launch = || acl!(aclrtLaunchKernelWithConfig(store, 1, stream.h(), null_mut(), list, null_mut()));
        param(list, &(to.p() as u64).to_le_bytes());
        let value = param(list, &[1, 0, 0, 0]);
        assert_eq!(update(list, value, &[2, 0, 0, 0]), 0);
        finalized(list);
        assert_eq!(update(list, value, &[3, 0, 0, 0]), 0);
        assert_eq!(launch(), ACL_ERROR_RT_PARAM_INVALID);
        finalized(list);
        assert_eq!(launch(), 0);
        stream.wait();
        assert_eq!(to.get(), [3, 0, 0, 0]);
    });
    r.row("aclrtKernelArgsFinalize#01", |_| acl!(aclrtKernelArgsFinalize(null_mut())));
    r.row("aclrtKernelArgsFinalize#02", |_| each(|list| acl!(aclrtKernelArgsFinalize(list))));
    r.row("aclrtKernelArgsFinalize#03", |_| {
        let list = list("store");
        bare(|| acl!(aclrtKernelArgsFinalize(list)))
    });
    r.row("aclrtKernelArgsFinalize#04", |_| {
        let list = list("store");
        [acl!(aclrtKernelArgsFinalize(list)), acl!(aclrtKernelArgsFinalize(list))]
    });
    r.hardware("aclrtKernelArgsFinalize#05", "no device binary of toprope has kernels that need such an address");
}
