//! A system that gives the runtime no thread: what hosts can do themselves is done, the rest waits for a thread.
#![allow(
    clippy::unwrap_used,
    clippy::undocumented_unsafe_blocks,
    reason = "tests call C functions with valid arguments"
)]

mod child;

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use ascendcl::callback::*;
use ascendcl::copy::*;
use ascendcl::device::*;
use ascendcl::event::*;
use ascendcl::memory::*;
use ascendcl::stream::*;
use ascendcl_sys::*;
use child::alone;

static REFUSE: AtomicBool = AtomicBool::new(false);
static REFUSED: AtomicU32 = AtomicU32::new(0);

type Main = extern "C" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(*mut u64, *const c_void, Main, *mut c_void) -> c_int;

/// Stands before the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut u64,
    attributes: *const c_void,
    main: Main,
    arg: *mut c_void,
) -> c_int {
    if REFUSE.load(Ordering::Relaxed) {
        REFUSED.fetch_add(1, Ordering::Relaxed);
        return libc::EAGAIN;
    }
    unsafe {
        let next = libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr());
        std::mem::transmute::<*mut c_void, Create>(next)(thread, attributes, main, arg)
    }
}

static RAN: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn count(_: *mut c_void) {
    RAN.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn without_a_thread_hosts_help_themselves() {
    alone("without_a_thread_hosts_help_themselves", &[], || unsafe {
        REFUSE.store(true, Ordering::Relaxed);
        let (mut one, mut two, mut event) = (null_mut(), null_mut(), null_mut());
        let (mut block, mut back) = (null_mut(), [0_u8; 64]);
        assert_eq!(aclrtSetDevice(0), 0);
        assert_eq!(aclrtCreateStream(&mut one), 0);
        assert_eq!(aclrtCreateStream(&mut two), 0);
        assert_eq!(aclrtCreateEvent(&mut event), 0);
        assert_eq!(aclrtMalloc(&mut block, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
        assert_eq!(aclrtMemsetAsync(block, 64, 5, 64, one), 0);
        assert_eq!(aclrtSynchronizeStream(one), 0);
        assert_eq!(aclrtMemcpy(back.as_mut_ptr().cast(), 64, block, 64, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        assert_eq!(back, [5; 64]);
        // A host function needs a thread of the runtime; a wait's time is over without one.
        assert_eq!(aclrtLaunchHostFunc(one, Some(count), null_mut()), 0);
        assert_eq!(aclrtSynchronizeStreamWithTimeout(one, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        assert_eq!(aclrtRecordEvent(event, one), 0);
        assert_eq!(aclrtStreamWaitEventWithTimeout(two, event, 10), 0);
        assert_eq!(aclrtSynchronizeStreamWithTimeout(two, 20_000), ACL_ERROR_RT_WAIT_TIMEOUT);
        assert!(REFUSED.load(Ordering::Relaxed) > 1);
        // As soon as there are threads, everything goes on.
        assert_eq!(RAN.load(Ordering::Relaxed), 0);
        REFUSE.store(false, Ordering::Relaxed);
        assert_eq!(aclrtSynchronizeStream(one), 0);
        assert_eq!(RAN.load(Ordering::Relaxed), 1);
        assert_eq!(aclrtSynchronizeStream(two), 0);
    });
}
