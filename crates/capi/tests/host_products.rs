//! What each product offers of chapters 11-02 (registration), 11-05 and 11-11. One child process for each product.
#![allow(clippy::undocumented_unsafe_blocks, reason = "every call is one of the library under test")]

mod host_help;

use std::process::Command;
use std::ptr::null_mut;

use ascendcl::device::aclrtSetDevice;
use ascendcl::host::*;
use ascendcl::managed::*;
use ascendcl::symbol::*;
use ascendcl_sys as sys;
use host_help::*;

const UNSUPPORTED: i32 = sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

/// (product, registration, unregistration, managed memory, device variables)
///
/// aclrtHostRegister<cpp>#06, aclrtHostGetDevicePointer<cpp>#04 and aclrtHostUnregister<cpp>#04, #06: where the seed and the page
/// of the C function disagree, the seed holds.
const PRODUCTS: [(&str, bool, bool, bool, bool); 9] = [
    ("950pr", true, true, false, true),
    ("950dt", false, false, false, true),
    ("a3", true, true, false, true),
    ("a2", true, true, true, true),
    ("200i-500-a2", false, false, false, false),
    ("inference", false, false, false, true),
    ("training", false, true, false, false),
    ("ipv350", false, false, false, false),
    ("200-300-500", false, false, false, false),
];

const CHILD: &str = "TOPROPE_TEST_EXPECT";

#[test]
fn every_product_answers_as_its_pages_say() {
    if let Some(n) = std::env::var_os(CHILD) {
        return product(PRODUCTS[n.to_str().and_then(|n| n.parse::<usize>().ok()).unwrap()]);
    }
    let known: Vec<_> = toprope_runtime::profile::PRODUCTS.iter().map(|product| product.key).collect();
    assert_eq!(known.len(), PRODUCTS.len(), "{known:?}");
    for (n, (key, ..)) in PRODUCTS.iter().enumerate() {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "every_product_answers_as_its_pages_say", "--nocapture"])
            .env(CHILD, n.to_string())
            .env("TOPROPE_PRODUCT", key)
            .output()
            .unwrap();
        assert!(child.status.success(), "{key}: {child:?}");
        assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"), "{key}: {child:?}");
    }
}

fn product((key, register, unregister, managed, symbols): (&str, bool, bool, bool, bool)) {
    assert_eq!(runtime().profile.product.key, key);
    let forbidden = |answer: i32| refused(answer, UNSUPPORTED, "*#06");
    assert_eq!(unsafe { aclrtSetDevice(0) }, 0);
    if runtime().profile.product.default_stream {
        on(0);
    }
    let memory = Pages::new(1);
    let mut device = null_mut();
    let answer =
        unsafe { aclrtHostRegister(memory.base, 4096, sys::ACL_HOST_REGISTER_MAPPED, &raw mut device) };
    let pointer = unsafe { aclrtHostGetDevicePointer(memory.base, &raw mut device, 0) };
    if register {
        assert_eq!((answer, pointer), (0, 0), "{}", recent());
        done(unsafe { aclrtHostUnregister(memory.base) });
        done(unsafe { aclrtHostRegisterV2(memory.base, 4096, sys::ACL_HOST_REG_MAPPED as u32) });
        done(unsafe { aclrtHostUnregister(memory.base) });
    } else {
        assert_eq!((answer, pointer), (UNSUPPORTED, UNSUPPORTED));
        forbidden(unsafe { aclrtHostRegisterV2(memory.base, 4096, sys::ACL_HOST_REG_MAPPED as u32) });
    }
    let answer = unsafe { aclrtHostUnregister(memory.base) };
    if unregister {
        refused(answer, sys::ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "aclrtHostUnregister#02");
    } else {
        forbidden(answer);
    }

    let mut shared = null_mut();
    let answer = unsafe { aclrtMemAllocManaged(&raw mut shared, 1, sys::ACL_RT_MEM_ATTACH_GLOBAL) };
    let place = sys::aclrtMemManagedLocation { r#type: sys::ACL_MEM_LOCATIONTYPE_HOST, id: 0 };
    let page = toprope_runtime::managed::PAGE;
    let prefetch = |ptr| unsafe { aclrtMemManagedPrefetchAsync(ptr, page, place, 0, null_mut()) };
    let advise =
        |ptr| unsafe { aclrtMemManagedAdvise(ptr, page as u64, sys::ACL_MEM_ADVISE_SET_READ_MOSTLY, place) };
    if managed {
        done(answer);
        done(prefetch(shared));
        done(advise(shared));
    } else {
        forbidden(answer);
        forbidden(prefetch(0x900_0000_0000 as *const _));
        forbidden(advise(0x900_0000_0000 as *const _));
    }

    // Registering a variable is in order everywhere; asking for it is not. aclrtGetSymbolAddress#04
    static VARIABLE: u32 = 5;
    let symbol = (&raw const VARIABLE).cast();
    unsafe { rtRegisterVariable(null_mut(), symbol, c"variable".as_ptr(), 4, 0, null_mut()) };
    let (mut size, mut value) = (0, 0u32);
    let answer = unsafe { aclrtGetSymbolSize(symbol, &raw mut size) };
    let copy = unsafe {
        aclrtMemcpyFromSymbol((&raw mut value).cast(), 4, symbol, 4, 0, sys::ACL_MEMCPY_DEVICE_TO_HOST)
    };
    if symbols {
        assert_eq!((answer, size, copy, value), (0, 4, 0, 5), "{}", recent());
    } else {
        assert_eq!((answer, copy), (UNSUPPORTED, UNSUPPORTED));
    }
}
