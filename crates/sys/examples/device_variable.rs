//! A device variable that Rust registers by hand: each device has a copy of its own, which starts with the bytes of the host's.
//!
//! ```sh
//! cargo build --release && cargo build --release --example device_variable -p ascendcl-sys
//! target/release/toprope run target/release/examples/device_variable
//! ```

use std::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use ascendcl_sys::{ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, LIBRARY, Table};

/// `rtRegisterVariable`; no public header declares it. Without a device binary (null) the variable lives in the runtime alone.
type RegisterVariable =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_char, usize, u32, *mut c_void);

/// The host's shadow: its address stands for the variable, its bytes are the first value.
static SCALES: [f32; 4] = [1.0, 2.0, 4.0, 8.0];
const NAME: &CStr = c"scales";
const SIZE: usize = size_of_val(&SCALES);

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: the library is one of the AscendCL headers.
    let acl = unsafe { Table::load(LIBRARY)? };
    // SAFETY: the same library, which is loaded already; the function has this type (spec/registration.csv).
    let library = unsafe { libloading::Library::new(LIBRARY)? };
    // SAFETY: as above.
    let register = unsafe { library.get::<RegisterVariable>(b"rtRegisterVariable\0")? };
    let symbol = SCALES.as_ptr().cast::<c_void>();
    // SAFETY: symbol and name are static; every address below has the bytes that the call is told of.
    unsafe {
        register(null_mut(), symbol, NAME.as_ptr(), SIZE, 0, null_mut());
        check("aclInit", (acl.aclInit)(std::ptr::null()))?;
        let mut devices = 0;
        check("aclrtGetDeviceCount", (acl.aclrtGetDeviceCount)(&mut devices))?;
        for device in 0..devices.min(2) {
            check("aclrtSetDevice", (acl.aclrtSetDevice)(device as i32))?;
            let half = 0.5_f32 + device as f32;
            let source = (&raw const half).cast();
            let code = (acl.aclrtMemcpyToSymbol)(symbol, source, 4, 4, ACL_MEMCPY_HOST_TO_DEVICE);
            check("aclrtMemcpyToSymbol", code)?;
            let mut back = [0_f32; 4];
            let target = back.as_mut_ptr().cast();
            let code = (acl.aclrtMemcpyFromSymbol)(target, SIZE, symbol, SIZE, 0, ACL_MEMCPY_DEVICE_TO_HOST);
            check("aclrtMemcpyFromSymbol", code)?;
            println!("device {device}: {back:?}");
            check("aclrtResetDevice", (acl.aclrtResetDevice)(device as i32))?;
        }
        check("aclFinalize", (acl.aclFinalize)())
    }
}

fn check(call: &str, code: i32) -> Result<(), Box<dyn Error>> {
    if code == 0 { Ok(()) } else { Err(format!("{call}: {code}").into()) }
}
