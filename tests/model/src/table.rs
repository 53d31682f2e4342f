//! Where the functions come from: the runtime that is linked in, or a library.

use std::ffi::{CStr, c_void};

use ascendcl as _;
use ascendcl_sys::Table;

macro_rules! linked {
    ($($name:ident)*) => {
        unsafe extern "C" {
            $(fn $name();)*
        }

        fn find(name: &CStr) -> Option<*mut c_void> {
            match name.to_bytes() {
                $(bytes if bytes == stringify!($name).as_bytes() => Some($name as *mut c_void),)*
                _ => None,
            }
        }
    };
}

linked! {
    aclInit aclFinalize aclFinalizeReference aclGetRecentErrMsg
    aclrtSetDevice aclrtResetDevice aclrtResetDeviceForce aclrtGetDevice aclrtGetDeviceCount aclrtGetPrimaryCtxState
    aclrtSynchronizeDevice aclrtSynchronizeDeviceWithTimeout
    aclrtCreateContext aclrtDestroyContext aclrtSetCurrentContext aclrtGetCurrentContext aclrtCtxGetCurrentDefaultStream
    aclrtCreateStream aclrtCreateStreamWithConfig aclrtDestroyStream aclrtDestroyStreamForce
    aclrtSynchronizeStream aclrtSynchronizeStreamWithTimeout aclrtStreamQuery aclrtStreamGetPriority aclrtStreamAbort
    aclrtGetStreamAvailableNum aclrtGetEventAvailNum
    aclrtCreateEvent aclrtCreateEventWithFlag aclrtCreateEventExWithFlag aclrtDestroyEvent aclrtRecordEvent
    aclrtResetEvent aclrtStreamWaitEvent aclrtStreamWaitEventWithTimeout aclrtQueryEvent aclrtQueryEventStatus
    aclrtSynchronizeEvent aclrtSynchronizeEventWithTimeout aclrtEventElapsedTime
    aclrtMalloc aclrtMallocHost aclrtMemAllocManaged aclrtFree aclrtFreeWithDevSync aclrtFreeHost aclrtGetMemInfo
    aclrtMemcpy aclrtMemcpyAsync aclrtMemcpyAsyncWithCondition aclrtMemcpy2d aclrtMemcpy2dAsync
    aclrtMemset aclrtMemsetAsync aclrtMemsetD32 aclrtMemsetD32Async
    aclrtLaunchHostFunc
}

/// The functions of the runtime that is linked in. Those that no sequence calls answer ACL_ERROR_RT_FEATURE_NOT_SUPPORT.
pub fn linked() -> Table {
    // SAFETY: the functions are those of the C ABI, for as long as the program runs.
    unsafe { Table::from_symbols(find) }
}
