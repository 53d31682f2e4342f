//! What an observer is told of memory and copies. One test, since a process has one observer.

#[macro_use]
mod copy_support;

use std::sync::Mutex;

use ascendcl::copy::*;
use ascendcl::memory::*;
use copy_support::*;
use toprope_engine::memory::Block;
use toprope_runtime::Api;
use toprope_runtime::observer::{self, Enqueued, Observer, Range};

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn tell(text: String) {
    TOLD.lock().unwrap_or_else(|bad| bad.into_inner()).push(text);
}

fn told() -> Vec<String> {
    std::mem::take(&mut *TOLD.lock().unwrap_or_else(|bad| bad.into_inner()))
}

struct Notes;

impl Observer for Notes {
    fn enqueued(&self, task: &Enqueued<'_>) {
        assert!(rt().streams.contains(task.stream));
        tell(format!("{:?} task {} -> {}", task.api, list(task.reads), list(task.writes)));
    }
    fn accessed(&self, api: Api, reads: &[Range], writes: &[Range]) {
        tell(format!("{api:?} now {} -> {}", list(reads), list(writes)));
    }
    fn allocated(&self, block: &Block) {
        tell(format!("allocated {:#x}", block.base));
    }
    fn freed(&self, block: &Block) {
        tell(format!("freed {:#x}", block.base));
    }
}

fn list(ranges: &[Range]) -> String {
    let texts: Vec<_> = ranges.iter().map(|range| format!("{:#x}+{}", range.start, range.len)).collect();
    texts.join(" ")
}

#[test]
fn allocations_and_accesses_are_told() {
    observer::observe(Box::new(Notes));
    let stream = device(0);
    let (mut a, mut p) = (std::ptr::null_mut(), std::ptr::null_mut());
    assert_eq!(acl! { aclrtMalloc(&mut a, 256, 0) }, 0);
    assert_eq!(acl! { aclrtMallocHost(&mut p, 256) }, 0);
    assert_eq!(told(), [format!("allocated {a:p}"), format!("allocated {p:p}")]);
    let mut u = [0u8; 64];
    let u: Ptr = u.as_mut_ptr().cast();
    let expect = |code: i32, want: &[String]| {
        assert_eq!(code, 0, "{}", said());
        assert_eq!(told(), want);
    };
    let copied = |api: &str, from: Ptr, to: Ptr| [format!("{api} {from:p}+64 -> {to:p}+64")];
    let code = acl! { aclrtMemcpy(a, 64, p, 64, ACL_MEMCPY_DEFAULT) };
    expect(code, &copied("aclrtMemcpy now", p, a));
    let code = acl! { aclrtMemcpyAsync(p, 64, a, 64, ACL_MEMCPY_DEFAULT, stream) };
    expect(code, &copied("aclrtMemcpyAsync task", a, p));
    let code = acl! { aclrtMemcpyAsync(u, 64, a, 64, ACL_MEMCPY_DEFAULT, stream) };
    expect(code, &copied("aclrtMemcpyAsync now", a, u));
    let code = acl! { aclrtMemcpyAsync(a, 64, p, 64, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream) };
    expect(
        code,
        &[format!("aclrtMemcpyAsync now {p:p}+64 -> "), format!("aclrtMemcpyAsync task  -> {a:p}+64")],
    );
    let rows = |text: &str| [format!("{text} {p:p}+4 {:p}+4 -> {a:p}+4 {:p}+4", at(p, 6), at(a, 5))];
    let code = acl! { aclrtMemcpy2d(a, 5, p, 6, 4, 2, ACL_MEMCPY_DEFAULT) };
    expect(code, &rows("aclrtMemcpy2d now"));
    let code = acl! { aclrtMemcpy2dAsync(a, 5, p, 6, 4, 2, ACL_MEMCPY_DEFAULT, stream) };
    expect(code, &rows("aclrtMemcpy2dAsync task"));
    let code = acl! { aclrtMemset(a, 64, 0, 64) };
    expect(code, &[format!("aclrtMemset now  -> {a:p}+64")]);
    let code = acl! { aclrtMemsetAsync(a, 64, 0, 64, stream) };
    expect(code, &[format!("aclrtMemsetAsync task  -> {a:p}+64")]);
    let code = acl! { aclrtMemsetD32Async(p, 64, 0, 2, stream) };
    expect(code, &[format!("aclrtMemsetD32Async now  -> {p:p}+8")]);
    let code = acl! { aclrtMemsetD32Async(a, 64, 0, 2, stream) };
    expect(code, &[format!("aclrtMemsetD32Async task  -> {a:p}+8")]);
    // What is refused is not told.
    assert_ne!(acl! { aclrtMemcpy(a, 1000, p, 1000, ACL_MEMCPY_DEFAULT) }, 0);
    assert_ne!(acl! { aclrtFree(at(a, 1)) }, 0);
    assert_eq!(told(), [""; 0]);
    finish(stream);
    assert_eq!(acl! { aclrtFree(a) }, 0);
    expect(acl! { aclrtFreeHost(p) }, &[format!("freed {a:p}"), format!("freed {p:p}")]);
}
