//! Chapter 14: binaries and what is in them. Argument lists are in `args`, launches in `launch`.

use super::prelude::*;

mod args;
mod attribute;
mod launch;

pub fn rows(r: &mut Rows) {
    files(r);
    data(r);
    descriptions(r);
    unloading(r);
    functions(r);
    globals(r);
    exceptions(r);
    cpu(r);
    symbols(r);
    attribute::rows(r);
    args::rows(r);
    launch::rows(r);
}

/// The binary in a file, removed at the end.
struct Written(std::path::PathBuf);

impl Written {
    fn new(bytes: &[u8]) -> Written {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("toprope-contract-{}-{number}.o", std::process::id()));
        assert!(std::fs::write(&path, bytes).is_ok(), "{}", path.display());
        Written(path)
    }

    fn path(&self) -> std::ffi::CString {
        c(&self.0.to_string_lossy())
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn option(kind: u32, word: u32) -> aclrtBinaryLoadOption {
    aclrtBinaryLoadOption { r#type: kind, value: aclrtBinaryLoadOptionValue { rsv: [word, 0, 0, 0] } }
}

/// Loads and unloads.
fn from_file(bytes: &[u8], options: *mut aclrtBinaryLoadOptions) -> i32 {
    let (file, mut handle) = (Written::new(bytes), at(1));
    let code = acl!(aclrtBinaryLoadFromFile(file.path().as_ptr(), options, &mut handle));
    loaded(code, handle)
}

fn from_data(bytes: &[u8], options: *const aclrtBinaryLoadOptions) -> i32 {
    let mut handle = at(1);
    let code = acl!(aclrtBinaryLoadFromData(bytes.as_ptr().cast(), bytes.len(), options, &mut handle));
    loaded(code, handle)
}

fn loaded(code: i32, handle: aclrtBinHandle) -> i32 {
    assert_eq!(code == 0, handle != at(1), "the answer is written if and only if there is one");
    if code == 0 {
        ok!(aclrtBinaryUnLoad(handle));
    }
    code
}

/// With one option.
fn with(kind: u32, word: u32, load: impl Fn(*mut aclrtBinaryLoadOptions) -> i32) -> i32 {
    let mut option = option(kind, word);
    let mut options = aclrtBinaryLoadOptions { options: &mut option, numOpt: 1 };
    load(&mut options)
}

fn no_options() -> aclrtBinaryLoadOptions {
    aclrtBinaryLoadOptions { options: null_mut(), numOpt: 1 }
}

/// Some product may have no way to a binary of its own.
const LOAD: &str = "aclrtBinaryLoadFromData";
const LAZY: u32 = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD;
const MAGIC: u32 = ACL_RT_BINARY_LOAD_OPT_MAGIC;
const CPU: u32 = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;

/// Bytes that are no device binary.
fn wrong_bytes() -> Vec<Vec<u8>> {
    let mut npu = BINARY.to_vec();
    npu[18..20].copy_from_slice(&[0x29, 0x10]);
    let program = std::fs::read("/proc/self/exe").unwrap_or_default();
    vec![b"text".to_vec(), BINARY[..64].to_vec(), npu, program]
}

fn files(r: &mut Rows) {
    let file = |options| from_file(BINARY, options);
    r.row("aclrtBinaryLoadFromFile#01", |_| acl!(aclrtBinaryLoadFromFile(null(), null_mut(), &mut null_mut())));
    r.row("aclrtBinaryLoadFromFile#02", |_| {
        let file = Written::new(BINARY);
        acl!(aclrtBinaryLoadFromFile(file.path().as_ptr(), null_mut(), null_mut()))
    });
    r.row("aclrtBinaryLoadFromFile#03", |_| from_file(BINARY, null_mut()));
    r.row("aclrtBinaryLoadFromFile#04", |_| from_file(BINARY, &mut no_options()));
    r.row("aclrtBinaryLoadFromFile#05", |_| {
        ["/nowhere/at/all.o", "", "/"].map(|path| {
            acl!(aclrtBinaryLoadFromFile(c(path).as_ptr(), null_mut(), &mut null_mut()))
        })
    });
    r.row("aclrtBinaryLoadFromFile#06", |_| {
        wrong_bytes().iter().map(|bytes| from_file(bytes, null_mut())).collect::<Vec<_>>()
    });
    r.row("aclrtBinaryLoadFromFile#07", move |_| [2, u32::MAX].map(|word| with(LAZY, word, file)));
    r.row("aclrtBinaryLoadFromFile#08", move |_| with(MAGIC, ACL_RT_BINARY_MAGIC_ELF_AICORE, file));
    r.row("aclrtBinaryLoadFromFile#09", move |_| [2, 3, u32::MAX].map(|word| with(CPU, word, file)));
    r.row("aclrtBinaryLoadFromFile#10", move |_| [0, 4, u32::MAX].map(|kind| with(kind, 0, file)));
    r.hardware("aclrtBinaryLoadFromFile#11", "the .json file is for AI CPU kernels, which are not built");
    r.row("aclrtBinaryLoadFromFile#12", move |_| {
        let file = Written::new(BINARY);
        let mut option = option(LAZY, 1);
        for lazy in [false, true] {
            let mut options = aclrtBinaryLoadOptions { options: &mut option, numOpt: lazy.into() };
            let binary = get!(null_mut(), aclrtBinaryLoadFromFile(file.path().as_ptr(), &mut options));
            assert_eq!(dev_address(binary).is_null(), lazy);
            ok!(aclrtBinaryUnLoad(binary));
        }
    });
    r.hardware("aclrtBinaryLoadFromFile#13", "the modes are for AI CPU kernels, which are not built");
    r.decided("aclrtBinaryLoadFromFile#14", |_| from_file(BINARY, null_mut()));
    r.row("aclrtBinaryLoadFromFile#15", |_| {
        let file = Written::new(BINARY);
        let binary = get!(null_mut(), aclrtBinaryLoadFromFile(file.path().as_ptr(), null_mut()));
        acl!(aclrtBinaryUnLoad(binary))
    });
}

fn dev_address(binary: aclrtBinHandle) -> *mut c_void {
    let (mut start, mut bytes) = (at(1), 0);
    ok!(aclrtBinaryGetDevAddress(binary, &mut start, &mut bytes));
    assert_eq!(bytes, BINARY.len());
    start
}

fn data(r: &mut Rows) {
    let data = |options: *mut aclrtBinaryLoadOptions| from_data(BINARY, options);
    r.row("aclrtBinaryLoadFromData#01", |_| acl!(aclrtBinaryLoadFromData(null(), 9, null(), &mut null_mut())));
    r.row("aclrtBinaryLoadFromData#02", |_| {
        acl!(aclrtBinaryLoadFromData(BINARY.as_ptr().cast(), BINARY.len(), null(), null_mut()))
    });
    r.row("aclrtBinaryLoadFromData#03", |_| {
        acl!(aclrtBinaryLoadFromData(BINARY.as_ptr().cast(), 0, null(), &mut null_mut()))
    });
    r.row("aclrtBinaryLoadFromData#04", |_| from_data(BINARY, &no_options()));
    r.row("aclrtBinaryLoadFromData#05", |_| {
        wrong_bytes().iter().map(|bytes| from_data(bytes, null())).collect::<Vec<_>>()
    });
    r.row("aclrtBinaryLoadFromData#06", move |_| {
        for magic in [
            ACL_RT_BINARY_MAGIC_ELF_AICORE,
            ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE,
            ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE,
        ] {
            assert_eq!(with(MAGIC, magic, data), 0);
        }
        [0, 1, u32::MAX].map(|magic| with(MAGIC, magic, data))
    });
    r.row("aclrtBinaryLoadFromData#07", move |_| [0, 1, 3].map(|word| with(CPU, word, data)));
    r.row("aclrtBinaryLoadFromData#08", move |_| [2, u32::MAX].map(|word| with(LAZY, word, data)));
    r.row("aclrtBinaryLoadFromData#09", move |_| [0, 4, u32::MAX].map(|kind| with(kind, 0, data)));
    r.row("aclrtBinaryLoadFromData#10", |_| {
        let bytes = pageable_with(BINARY);
        let binary = get!(null_mut(), aclrtBinaryLoadFromData(bytes.p(), bytes.len(), null()));
        // They need not stay.
        bytes.put(&vec![0; bytes.len()]);
        get!(null_mut(), aclrtBinaryGetFunction(binary, c"store".as_ptr()));
        acl!(aclrtBinaryUnLoad(binary))
    });
    r.hardware("aclrtBinaryLoadFromData#11", "AI CPU kernels are not built");
    r.decided("aclrtBinaryLoadFromData#12", |t| {
        let (binary, args) = (Binary::new(), device(64));
        let function = binary.function("nothing");
        on_device(t, 1, || {
            let stream = Stream::new();
            let here = device(64);
            let launch = || acl!(aclrtLaunchKernel(function, 1, here.p(), 8, stream.h()));
            let code = launch();
            assert_eq!(binary.function("nothing"), function);
            same("looked up again", launch(), 0);
            stream.wait();
            drop(args);
            code
        })
    });
}

fn descriptions(r: &mut Rows) {
    let describe = || acl!(aclrtCreateBinary(BINARY.as_ptr().cast(), BINARY.len()));
    r.row("aclrtCreateBinary#01", |_| assert!(acl!(aclrtCreateBinary(null(), 8)).is_null()));
    r.row("aclrtCreateBinary#02", |_| {
        let binary = acl!(aclrtCreateBinary(BINARY.as_ptr().cast(), 0));
        assert!(!binary.is_null());
        acl!(aclrtDestroyBinary(binary))
    });
    r.row("aclrtCreateBinary#03", |_| {
        let bytes = pageable_with(&vec![0; BINARY.len()]);
        let binary = acl!(aclrtCreateBinary(bytes.p(), bytes.len()));
        // What counts is there when it is loaded.
        bytes.put(BINARY);
        let handle = get!(null_mut(), aclrtBinaryLoad(binary));
        ok!(aclrtBinaryUnLoad(handle));
        acl!(aclrtDestroyBinary(binary))
    });
    let loads = move |_: &Test<'_>| {
        let binary = describe();
        let handle = get!(null_mut(), aclrtBinaryLoad(binary));
        ok!(aclrtDestroyBinary(binary));
        acl!(aclrtBinaryUnLoad(handle))
    };
    r.decided("aclrtCreateBinary#04", loads).ep();
    r.decided("aclrtCreateBinary#05", loads);
    r.row("aclrtDestroyBinary#01", |_| acl!(aclrtDestroyBinary(null_mut())));
    r.row("aclrtDestroyBinary#02", |_| {
        let bytes = pageable_with(BINARY);
        let code = acl!(aclrtDestroyBinary(acl!(aclrtCreateBinary(bytes.p(), bytes.len()))));
        assert_eq!(bytes.get(), BINARY);
        code
    });
    r.row("aclrtDestroyBinary#03", move |_| {
        let binary = describe();
        let handle = get!(null_mut(), aclrtBinaryLoad(binary));
        ok!(aclrtDestroyBinary(binary));
        let code = acl!(aclrtBinaryGetFunction(handle, c"store".as_ptr(), &mut null_mut()));
        ok!(aclrtBinaryUnLoad(handle));
        code
    });
    let load = |binary| acl!(aclrtBinaryLoad(binary, &mut null_mut()));
    r.row("aclrtBinaryLoad#01", move |_| load(null_mut()));
    r.row("aclrtBinaryLoad#02", move |_| acl!(aclrtBinaryLoad(describe(), null_mut())));
    r.row("aclrtBinaryLoad#03", move |_| load(acl!(aclrtCreateBinary(BINARY.as_ptr().cast(), 0))));
    r.hardware("aclrtBinaryLoad#04", "no product that has the function lacks this form");
    r.row("aclrtBinaryLoad#05", move |_| load(describe())).bare();
    r.row("aclrtBinaryLoad#06", move |_| {
        let handle = get!(null_mut(), aclrtBinaryLoad(describe()));
        assert!(!dev_address(handle).is_null());
        acl!(aclrtBinaryUnLoad(handle))
    });
}

fn unloading(r: &mut Rows) {
    r.row("aclrtBinaryUnLoad#01", |_| acl!(aclrtBinaryUnLoad(null_mut())));
    r.row("aclrtBinaryUnLoad#02", |_| {
        no_binaries().into_iter().map(|handle| acl!(aclrtBinaryUnLoad(handle))).collect::<Vec<_>>()
    });
    r.row("aclrtBinaryUnLoad#03", |_| {
        let binary = acl!(aclrtCreateBinary(BINARY.as_ptr().cast(), BINARY.len()));
        let handle = get!(null_mut(), aclrtBinaryLoad(binary));
        let code = bare(|| acl!(aclrtBinaryUnLoad(handle)));
        ok!(aclrtBinaryUnLoad(handle));
        code
    });
    r.row("aclrtBinaryUnLoad#04", |_| {
        let (file, binary) = (Written::new(BINARY), Binary::new());
        let other = get!(null_mut(), aclrtBinaryLoadFromFile(file.path().as_ptr(), null_mut()));
        [binary.h(), other].map(|handle| bare(|| acl!(aclrtBinaryUnLoad(handle))))
    });
    r.decided("aclrtBinaryUnLoad#05", |t| {
        let binary = Binary::new();
        let counter = global(binary.h(), c"counter");
        let code = on_device(t, 1, || acl!(aclrtBinaryUnLoad(binary.h())));
        // The variable's memory is gone.
        assert_ne!(attributes(counter).0, ACL_MEM_LOCATION_TYPE_DEVICE);
        code
    });
    r.decided("aclrtBinaryUnLoad#06", |_| {
        let binary = Binary::new();
        let function = binary.function("store");
        ok!(aclrtBinaryUnLoad(binary.h()));
        [
            acl!(aclrtFunctionGetBinary(function, &mut null_mut())),
            acl!(aclrtFunctionGetParamCount(function, &mut 0)),
        ]
    });
}

fn functions(r: &mut Rows) {
    let name = c"store".as_ptr() as usize;
    let find = move |binary: aclrtBinHandle| {
        let mut function = at(1);
        let code = acl!(aclrtBinaryGetFunction(binary, name as *const _, &mut function));
        assert_eq!(code == 0, !function.is_null(), "null on failure");
        code
    };
    r.row("aclrtBinaryGetFunction#01", |_| {
        acl!(aclrtBinaryGetFunction(null_mut(), c"store".as_ptr(), &mut null_mut()))
    });
    r.row("aclrtBinaryGetFunction#02", |_| {
        acl!(aclrtBinaryGetFunction(Binary::new().h(), null(), &mut null_mut()))
    });
    r.row("aclrtBinaryGetFunction#03", |_| {
        acl!(aclrtBinaryGetFunction(Binary::new().h(), c"store".as_ptr(), null_mut()))
    });
    r.row("aclrtBinaryGetFunction#04", move |_| no_binaries().into_iter().map(find).collect::<Vec<_>>());
    let unknown = |_: &Test<'_>| {
        let (binary, mut function) = (Binary::new(), at(1));
        let code = acl!(aclrtBinaryGetFunction(binary.h(), c"no such kernel".as_ptr(), &mut function));
        assert!(function.is_null());
        code
    };
    r.row("aclrtBinaryGetFunction#05", unknown);
    r.row("aclrtBinaryGetFunction#06", move |_| {
        let binary = Binary::new();
        bare(|| find(binary.h()))
    });
    r.row("aclrtBinaryGetFunction#07", move |t| {
        same("an unknown name", unknown(t), ACL_ERROR_RT_PARAM_INVALID);
    });
    r.row("aclrtBinaryGetFunction#08", |t| {
        let binary = Binary::new();
        on_device(t, 1, || {
            binary.function("store");
            assert!(!dev_address(binary.h()).is_null());
        });
    });
    r.row("aclrtBinaryGetFunction#09", |_| {
        let binary = Binary::new();
        assert_eq!(binary.function("store"), binary.function("store"));
        assert_ne!(binary.function("store"), binary.function("add"));
    });
    let entry = |binary, entry| acl!(aclrtBinaryGetFunctionByEntry(binary, entry, &mut null_mut()));
    r.row("aclrtBinaryGetFunctionByEntry#01", move |_| entry(null_mut(), 7));
    r.row("aclrtBinaryGetFunctionByEntry#02", |_| {
        acl!(aclrtBinaryGetFunctionByEntry(Binary::new().h(), 7, null_mut()))
    })
    .having(LOAD);
    r.row("aclrtBinaryGetFunctionByEntry#03", move |_| {
        no_binaries().into_iter().map(|binary| entry(binary, 7)).collect::<Vec<_>>()
    })
    .having(LOAD);
    r.hardware("aclrtBinaryGetFunctionByEntry#04", "AI CPU kernels are not built");
    r.row("aclrtBinaryGetFunctionByEntry#05", move |_| [0, 8, u64::MAX].map(|n| entry(Binary::new().h(), n)))
    .having(LOAD);
    r.decided("aclrtBinaryGetFunctionByEntry#06", |_| {
        let (binary, mut found) = (Binary::new(), null_mut());
        let code = acl!(aclrtBinaryGetFunctionByEntry(binary.h(), 7, &mut found));
        assert_eq!(found, binary.function("tiled_7"));
        code
    })
    .having(LOAD);
    let address = |binary| acl!(aclrtBinaryGetDevAddress(binary, &mut null_mut(), &mut 0));
    r.row("aclrtBinaryGetDevAddress#01", move |_| address(null_mut()));
    r.row("aclrtBinaryGetDevAddress#02", |_| {
        acl!(aclrtBinaryGetDevAddress(Binary::new().h(), null_mut(), &mut 0))
    });
    r.hardware("aclrtBinaryGetDevAddress#03", "undefined behaviour: anything may happen");
    r.row("aclrtBinaryGetDevAddress#04", move |_| no_binaries().into_iter().map(address).collect::<Vec<_>>());
    r.row("aclrtBinaryGetDevAddress#05", move |_| {
        let binary = Binary::new();
        bare(|| address(binary.h()))
    });
    r.row("aclrtBinaryGetDevAddress#06", |_| {
        let mut option = option(LAZY, 1);
        let options = aclrtBinaryLoadOptions { options: &mut option, numOpt: 1 };
        let (data, bytes) = (BINARY.as_ptr().cast(), BINARY.len());
        let binary = get!(null_mut(), aclrtBinaryLoadFromData(data, bytes, &options));
        assert!(dev_address(binary).is_null());
        get!(null_mut(), aclrtBinaryGetFunction(binary, c"store".as_ptr()));
        assert!(!dev_address(binary).is_null());
        ok!(aclrtBinaryUnLoad(binary));
    });
    r.row("aclrtBinaryGetDevAddress#07", |t| {
        let binary = Binary::new();
        let here = dev_address(binary.h());
        let there = on_device(t, 1, || dev_address(binary.h()));
        assert!(!here.is_null() && !there.is_null() && here != there);
    });
    // `dev_address` compares.
    r.row("aclrtBinaryGetDevAddress#08", |_| assert!(!dev_address(Binary::new().h()).is_null()));
}

fn global(binary: aclrtBinHandle, name: &std::ffi::CStr) -> *mut c_void {
    let (mut start, mut bytes) = (null_mut(), 0);
    ok!(aclrtBinaryGetGlobal(binary, name.as_ptr(), &mut start, &mut bytes));
    start
}

fn globals(r: &mut Rows) {
    let find = |binary| acl!(aclrtBinaryGetGlobal(binary, c"counter".as_ptr(), &mut null_mut(), &mut 0));
    r.row("aclrtBinaryGetGlobal#01", move |_| find(null_mut()));
    r.row("aclrtBinaryGetGlobal#02", |_| {
        acl!(aclrtBinaryGetGlobal(Binary::new().h(), null(), &mut null_mut(), &mut 0))
    });
    r.row("aclrtBinaryGetGlobal#03", |_| {
        acl!(aclrtBinaryGetGlobal(Binary::new().h(), c"counter".as_ptr(), null_mut(), null_mut()))
    });
    r.row("aclrtBinaryGetGlobal#04", |_| {
        let (binary, mut start, mut bytes) = (Binary::new(), null_mut(), 0);
        ok!(aclrtBinaryGetGlobal(binary.h(), c"table".as_ptr(), null_mut(), &mut bytes));
        assert_eq!(bytes, 32);
        ok!(aclrtBinaryGetGlobal(binary.h(), c"table".as_ptr(), &mut start, null_mut()));
        assert_eq!(start, global(binary.h(), c"table"));
    });
    r.row("aclrtBinaryGetGlobal#05", move |_| no_binaries().into_iter().map(find).collect::<Vec<_>>());
    r.hardware("aclrtBinaryGetGlobal#06", "AI CPU kernels are not built");
    r.row("aclrtBinaryGetGlobal#07", move |_| {
        let binary = Binary::new();
        bare(|| find(binary.h()))
    });
    r.row("aclrtBinaryGetGlobal#08", |_| {
        acl!(aclrtBinaryGetGlobal(Binary::new().h(), c"no such".as_ptr(), &mut null_mut(), &mut 0))
    });
    r.row("aclrtBinaryGetGlobal#09", |t| {
        let binary = Binary::new();
        on_device(t, 1, || assert!(!global(binary.h(), c"counter").is_null()));
    });
    r.row("aclrtBinaryGetGlobal#10", |t| {
        let binary = Binary::new();
        let read = |start: *mut c_void, bytes: &mut [u8]| {
            let kind = ACL_MEMCPY_DEVICE_TO_HOST;
            ok!(aclrtMemcpy(bytes.as_mut_ptr().cast(), bytes.len(), start, bytes.len(), kind));
        };
        for id in [0, 1] {
            on_device(t, id, || {
                let mut bytes = [0u8; 32];
                read(global(binary.h(), c"table"), &mut bytes);
                let numbers: Vec<u8> = bytes.iter().step_by(4).copied().collect();
                assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
                let (kind, device, _) = attributes(global(binary.h(), c"table"));
                assert_eq!((kind, device), (ACL_MEM_LOCATION_TYPE_DEVICE, id as u32));
            });
        }
    });
}

/// What a binary's callback was told: its word, and whether the kernel's handle and arguments were.
static TOLD: std::sync::Mutex<Vec<(usize, i32, i32, u64)>> = std::sync::Mutex::new(Vec::new());
static KEPT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

unsafe extern "C" fn told(info: *mut aclrtExceptionInfo, word: *mut c_void) {
    let (mut start, mut bytes, mut function) = (null_mut(), 0, null_mut());
    let arguments = acl!(aclrtGetArgsFromExceptionInfo(info, &mut start, &mut bytes));
    let handle = acl!(aclrtGetFuncHandleFromExceptionInfo(info, &mut function));
    let first = if arguments == 0 && bytes >= 8 { unsafe { start.cast::<u64>().read() } } else { 0 };
    if let Ok(mut list) = TOLD.lock() {
        list.push((word as usize, arguments, handle, first));
    }
    KEPT.store(info as usize, std::sync::atomic::Ordering::Release);
    // Null arguments, while there is an exception.
    let nulls = [
        acl!(aclrtGetArgsFromExceptionInfo(info, null_mut(), &mut bytes)),
        acl!(aclrtGetArgsFromExceptionInfo(info, &mut start, null_mut())),
        acl!(aclrtGetFuncHandleFromExceptionInfo(info, null_mut())),
    ];
    if let Ok(mut list) = NULLS.lock() {
        *list = nulls;
    }
}

static NULLS: std::sync::Mutex<[i32; 3]> = std::sync::Mutex::new([0; 3]);

/// A callback of the process: what the queries answer for whatever failed.
unsafe extern "C" fn told_all(info: *mut aclrtExceptionInfo) {
    unsafe { told(info, null_mut()) };
}

/// A kernel of the binary fails; what its callback was told.
fn failing(binary: &Binary) -> Vec<(usize, i32, i32, u64)> {
    let stream = Stream::new();
    let word = 0x80u64;
    let (at, kernel) = ((&raw const word).cast_mut().cast(), binary.function("touch"));
    ok!(aclrtLaunchKernelWithHostArgs(kernel, 1, stream.h(), null_mut(), at, 8, null_mut(), 0));
    code!(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.h()));
    TOLD.lock().map(|mut list| std::mem::take(&mut *list)).unwrap_or_default()
}

fn exceptions(r: &mut Rows) {
    let set = |binary, word: usize| acl!(aclrtBinarySetExceptionCallback(binary, Some(told), at(word)));
    r.row("aclrtBinarySetExceptionCallback#01", move |_| set(null_mut(), 1));
    r.row("aclrtBinarySetExceptionCallback#02", |_| {
        acl!(aclrtBinarySetExceptionCallback(Binary::new().h(), None, null_mut()))
    });
    r.row("aclrtBinarySetExceptionCallback#03", move |_| set(Binary::new().h(), 0));
    r.row("aclrtBinarySetExceptionCallback#04", move |_| {
        no_binaries().into_iter().map(|binary| set(binary, 1)).collect::<Vec<_>>()
    });
    r.row("aclrtBinarySetExceptionCallback#05", move |_| {
        let binary = Binary::new();
        assert_eq!([set(binary.h(), 5), set(binary.h(), 6)], [0; 2]);
        let words: Vec<_> = failing(&binary).iter().map(|told| told.0).collect();
        assert_eq!(words, [6]);
    });
    r.row("aclrtBinarySetExceptionCallback#06", move |_| {
        let (binary, other) = (Binary::new(), Binary::new());
        assert_eq!(set(binary.h(), 9), 0);
        assert_eq!(failing(&other), []);
        assert_eq!(failing(&binary), [(9, 0, 0, 0x80)]);
    });
    r.row("aclrtGetArgsFromExceptionInfo#01", |_| {
        assert_eq!(acl!(aclrtGetArgsFromExceptionInfo(null(), &mut null_mut(), &mut 0)), -1);
    });
    let nulls = move |at: usize| {
        let binary = Binary::new();
        assert_eq!(set(binary.h(), 1), 0);
        failing(&binary);
        NULLS.lock().map(|list| list[at]).unwrap_or_default()
    };
    r.row("aclrtGetArgsFromExceptionInfo#02", move |_| nulls(0));
    r.row("aclrtGetArgsFromExceptionInfo#03", move |_| nulls(1));
    // A task that is no kernel fails.
    let other = || {
        ok!(aclrtSetExceptionInfoCallback(Some(told_all)));
        let stream = Stream::new();
        fail(stream.h());
        acl!(aclrtSynchronizeStream(stream.h()));
        ok!(aclrtSetExceptionInfoCallback(None));
        TOLD.lock().map(|mut list| std::mem::take(&mut *list)).unwrap_or_default()
    };
    r.row("aclrtGetArgsFromExceptionInfo#04", move |_| {
        let told = other();
        assert!(!told.is_empty() && told.iter().all(|told| told.1 == -1), "{told:?}");
    });
    r.row("aclrtGetArgsFromExceptionInfo#05", move |_| {
        let binary = Binary::new();
        assert_eq!(set(binary.h(), 1), 0);
        // The argument is 8 bytes, and all of them are told.
        assert_eq!(failing(&binary)[0].3, 0x80);
    });
    r.row("aclrtGetFuncHandleFromExceptionInfo#01", |_| {
        assert_eq!(acl!(aclrtGetFuncHandleFromExceptionInfo(null(), &mut null_mut())), -1);
    });
    r.row("aclrtGetFuncHandleFromExceptionInfo#02", move |_| nulls(2));
    r.row("aclrtGetFuncHandleFromExceptionInfo#03", move |_| {
        let told = other();
        assert!(!told.is_empty());
        told.into_iter().map(|told| told.2).collect::<Vec<_>>()
    });
    r.row("aclrtGetFuncHandleFromExceptionInfo#04", |_| {
        ok!(aclrtSetExceptionInfoCallback(Some(told_all)));
        let (binary, stream) = (Binary::new(), Stream::new());
        let (word, gate) = (0x80u64, Busy::new(stream.h()));
        let (at, kernel) = ((&raw const word).cast_mut().cast(), binary.function("touch"));
        ok!(aclrtLaunchKernelWithHostArgs(kernel, 1, stream.h(), null_mut(), at, 8, null_mut(), 0));
        ok!(aclrtBinaryUnLoad(binary.h()));
        drop(gate);
        code!(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.h()));
        ok!(aclrtSetExceptionInfoCallback(None));
        let told = TOLD.lock().map(|mut list| std::mem::take(&mut *list)).unwrap_or_default();
        told.into_iter().map(|told| told.2).collect::<Vec<_>>()
    });
}

fn cpu(r: &mut Rows) {
    let (func, kernel) = (c"func".as_ptr() as usize, c"kernel".as_ptr() as usize);
    let register = move |binary, func: usize, kernel: usize| {
        let mut handle = at(1);
        let code = acl!(aclrtRegisterCpuFunc(binary, func as *const _, kernel as *const _, &mut handle));
        assert!(code == ACL_ERROR_INVALID_PARAM || handle.is_null(), "null when the registration fails");
        code
    };
    r.row("aclrtRegisterCpuFunc#01", move |_| register(null_mut(), func, kernel));
    r.row("aclrtRegisterCpuFunc#02", move |_| register(Binary::new().h(), 0, kernel));
    r.row("aclrtRegisterCpuFunc#03", move |_| register(Binary::new().h(), func, 0));
    r.row("aclrtRegisterCpuFunc#04", |_| {
        let (func, kernel) = (c"func".as_ptr(), c"kernel".as_ptr());
        acl!(aclrtRegisterCpuFunc(Binary::new().h(), func, kernel, null_mut()))
    });
    r.row("aclrtRegisterCpuFunc#05", move |_| {
        no_binaries().into_iter().map(|binary| register(binary, func, kernel)).collect::<Vec<_>>()
    });
    r.row("aclrtRegisterCpuFunc#06", move |_| register(Binary::new().h(), func, kernel));
    r.row("aclrtRegisterCpuFunc#07", move |_| {
        same("a binary of AI Core kernels", register(Binary::new().h(), func, kernel), ACL_ERROR_RT_PARAM_INVALID);
    });
    r.hardware("aclrtRegisterCpuFunc#08", "AI CPU kernels are not built");
}

fn symbols(r: &mut Rows) {
    let find = |symbol: *const c_void| {
        let mut function = at(1);
        let code = acl!(aclrtGetFuncBySymbol(symbol, &mut function));
        assert_eq!(code == 0, function != at(1), "the answer is written if and only if there is one");
        code
    };
    r.row("aclrtGetFuncBySymbol#01", move |_| find(null()));
    r.row("aclrtGetFuncBySymbol#02", |_| acl!(aclrtGetFuncBySymbol(stub(registered(), "store"), null_mut())));
    r.row("aclrtGetFuncBySymbol#03", move |_| {
        let binary = registered();
        let gone = stub(binary, "store");
        unregister(binary);
        [gone, current().cast_const(), variable(&[1])].map(find)
    });
    r.row("aclrtGetFuncBySymbol#04", move |_| [stub(registered(), "store"), null::<u8>().wrapping_add(64).cast()].map(find))
        .bare();
    r.row("aclrtGetFuncBySymbol#05", |_| {
        let (binary, args, stream) = (registered(), device(64), Stream::new());
        let function = get!(null_mut(), aclrtGetFuncBySymbol(stub(binary, "nothing")));
        // A launch by handle needs the binary on the device.
        ok!(aclrtLaunchKernel(function, 1, args.p(), 8, stream.h()));
        stream.wait();
    });
    r.decided("aclrtGetFuncBySymbol#06", |t| {
        let symbol = stub(registered(), "nothing");
        let function = get!(null_mut(), aclrtGetFuncBySymbol(symbol));
        on_device(t, 1, || {
            let (args, stream) = (device(64), Stream::new());
            let launch = |function| acl!(aclrtLaunchKernel(function, 1, args.p(), 8, stream.h()));
            let code = launch(function);
            same("looked up again", launch(get!(null_mut(), aclrtGetFuncBySymbol(symbol))), 0);
            stream.wait();
            code
        })
    });
    r.decided("aclrtGetFuncBySymbol#07", move |_| {
        let binary = registered();
        ["store", "meet", "cube", "vector", "tiled_7"].map(|name| find(stub(binary, name)))
    });
}
