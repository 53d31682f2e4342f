//! Where the functions come from: the runtime that is linked in, or a library.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

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
    aclrtHostRegisterV2 aclrtHostUnregister aclrtDeviceEnablePeerAccess aclrtDeviceDisablePeerAccess
    aclrtGetSymbolAddress aclrtGetSymbolSize aclrtMemcpyToSymbol aclrtMemcpyFromSymbol
    aclrtMemcpyToSymbolAsync aclrtMemcpyFromSymbolAsync
}

/// The registration function of device variables: `spec/registration.csv`.
pub type RegisterVariable =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_char, usize, u32, *mut c_void);

/// What sequences call.
pub struct Functions {
    /// The functions of the headers.
    pub table: Table,
    /// That for device variables; not every library has it.
    pub register_variable: Option<RegisterVariable>,
}

/// The functions of the runtime that is linked in. Those that no sequence calls answer ACL_ERROR_RT_FEATURE_NOT_SUPPORT.
pub fn linked() -> Functions {
    // SAFETY: the functions are those of the C ABI, for as long as the program runs.
    let table = unsafe { Table::from_symbols(find) };
    Functions { table, register_variable: Some(ascendcl::symbol::rtRegisterVariable) }
}

/// The functions of a library.
///
/// # Errors
/// Why it cannot be used, in words.
///
/// # Safety
/// As for [`Table::load`].
pub unsafe fn load(path: &Path) -> Result<Functions, String> {
    // SAFETY: the caller's promise.
    let (table, _) = unsafe { Table::load_available(path) }.map_err(|error| error.to_string())?;
    // SAFETY: looks a name up, among the libraries that are loaded for everyone.
    let register = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"rtRegisterVariable".as_ptr()) };
    // SAFETY: a function of that name has that type.
    let register = unsafe { std::mem::transmute::<*mut c_void, Option<RegisterVariable>>(register) };
    Ok(Functions { table, register_variable: register })
}
