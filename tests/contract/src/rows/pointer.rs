//! Chapter 11-04, address ranges; chapter 11-05, pointer attributes and maps between devices.

use super::prelude::*;

pub fn rows(r: &mut Rows) {
    ranges(r);
    attributes(r);
    maps(r);
}

fn range(ptr: *mut c_void) -> (*mut c_void, usize) {
    let (mut base, mut size) = (null_mut(), 0);
    ok!(aclrtMemGetAddressRange(ptr, &mut base, &mut size));
    (base, size)
}

/// The block is found from its start, its middle and its last byte, and from nowhere else.
fn found(memory: *mut c_void, bytes: usize) {
    for offset in [0, 1, bytes / 2, bytes - 1] {
        assert_eq!(range(at(memory as usize + offset)), (memory, bytes), "{offset} of {bytes}");
    }
}

fn ranges(r: &mut Rows) {
    r.row("aclrtMemGetAddressRange#01", |_| {
        acl!(aclrtMemGetAddressRange(null_mut(), &mut null_mut(), &mut 0))
    });
    r.row("aclrtMemGetAddressRange#02", |_| {
        let memory = device(64);
        acl!(aclrtMemGetAddressRange(memory.p(), null_mut(), null_mut()))
    });
    r.row("aclrtMemGetAddressRange#03", |_| {
        let memory = device(64);
        let (mut base, mut size) = (null_mut(), 0);
        let codes = [
            acl!(aclrtMemGetAddressRange(memory.p(), &mut base, null_mut())),
            acl!(aclrtMemGetAddressRange(memory.p(), null_mut(), &mut size)),
        ];
        assert_eq!((base, size), (memory.p(), 64));
        codes
    });
    r.row("aclrtMemGetAddressRange#04", |_| {
        found(device(1000).p(), 1000);
        let mut memory = null_mut();
        ok!(aclrtMallocWithCfg(&mut memory, 3 << 20, ACL_MEM_MALLOC_HUGE_FIRST, null_mut()));
        found(memory, 3 << 20);
        ok!(aclrtFree(memory));
    });
    r.row("aclrtMemGetAddressRange#05", |_| {
        let mut memory = null_mut();
        ok!(aclrtMallocHost(&mut memory, 777));
        found(memory, 777);
        ok!(aclrtFreeHost(memory));
        ok!(aclrtMallocHostWithCfg(&mut memory, 5000, null_mut()));
        found(memory, 5000);
        ok!(aclrtFreeHost(memory));
    });
    r.row("aclrtMemGetAddressRange#06", |t| {
        let mut reserved = null_mut();
        let code = acl!(aclrtReserveMemAddress(&mut reserved, 8 << 20, 0, null_mut(), 1));
        // As long as there is no virtual memory, nothing is mapped: the row starts to ask when there is.
        if t.spec.unbuilt.contains("aclrtReserveMemAddress") {
            return same("aclrtReserveMemAddress", code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        }
        same("aclrtReserveMemAddress", code, 0);
        let property = aclrtPhysicalMemProp {
            handleType: ACL_MEM_HANDLE_TYPE_NONE,
            allocationType: ACL_MEM_ALLOCATION_TYPE_PINNED,
            memAttr: ACL_HBM_MEM_HUGE,
            location: aclrtMemLocation { id: 0, r#type: ACL_MEM_LOCATION_TYPE_DEVICE },
            reserve: 0,
        };
        let mut physical = null_mut();
        ok!(aclrtMallocPhysical(&mut physical, 2 << 20, &property, 0));
        ok!(aclrtMapMem(reserved, 2 << 20, 0, physical, 0));
        found(reserved, 2 << 20);
        ok!(aclrtUnmapMem(reserved));
        ok!(aclrtFreePhysical(physical));
        ok!(aclrtReleaseMemAddress(reserved));
    });
    r.row("aclrtMemGetAddressRange#07", |_| {
        found(device(100).p(), 100);
        let mut host = null_mut();
        ok!(aclrtMallocHost(&mut host, 200));
        found(host, 200);
        ok!(aclrtFreeHost(host));
    });
    r.hardware("aclrtMemGetAddressRange#08", "no driver is loaded here that could lack the function");
}

fn about(ptr: *const c_void) -> aclrtPtrAttributes {
    get!(unsafe { std::mem::zeroed::<aclrtPtrAttributes>() }, aclrtPointerGetAttributes(ptr))
}

fn attributes(r: &mut Rows) {
    r.row("aclrtPointerGetAttributes#01", |_| {
        let mut attributes: aclrtPtrAttributes = unsafe { std::mem::zeroed() };
        acl!(aclrtPointerGetAttributes(null(), &mut attributes))
    });
    r.row("aclrtPointerGetAttributes#02", |_| acl!(aclrtPointerGetAttributes(device(64).p(), null_mut())));
    r.decided("aclrtPointerGetAttributes#03", |_| {
        let host = pinned(4096);
        let mapped = get!(null_mut(), aclrtHostRegister(host.p(), 4096, ACL_HOST_REGISTER_MAPPED));
        let mut attributes: aclrtPtrAttributes = unsafe { std::mem::zeroed() };
        let code = acl!(aclrtPointerGetAttributes(mapped, &mut attributes));
        ok!(aclrtHostUnregister(host.p()));
        code
    })
    .only(|target| target.product.has("host_register"));
    r.row("aclrtPointerGetAttributes#04", |_| {
        let memory = pinned(64);
        assert_eq!(about(memory.p()).location.r#type, ACL_MEM_LOCATION_TYPE_HOST);
        assert_eq!(about(memory.after(63)).location.r#type, ACL_MEM_LOCATION_TYPE_HOST);
        // For device memory the id counts.
        let memory = device(64);
        let location = about(memory.after(63)).location;
        assert_eq!((location.r#type, location.id), (ACL_MEM_LOCATION_TYPE_DEVICE, 0));
    })
    // Where host and device are one, aclrtMallocHost gives the device's memory.
    .ep();
    r.row("aclrtPointerGetAttributes#05", |_| {
        let memory = pageable(64);
        let local = 0_u8;
        let freed = device(64);
        ok!(aclrtFree(freed.p()));
        for address in [memory.p().cast_const(), (&raw const local).cast(), unmapped(), invented(), freed.p()]
        {
            assert_eq!(about(address).location.r#type, ACL_MEM_LOCATION_TYPE_UNREGISTERED, "{address:?}");
        }
    });
    r.row("aclrtPointerGetAttributes#06", |_| {
        let memory = Managed::new(100);
        assert_eq!(about(memory.after(99)).location.r#type, ACL_MEM_LOCATION_TYPE_MANAGED);
        assert_ne!(about(device(64).p()).location.r#type, ACL_MEM_LOCATION_TYPE_MANAGED);
    });
    r.row("aclrtPointerGetAttributes#07", |t| {
        for (policy, column) in
            [(ACL_MEM_MALLOC_NORMAL_ONLY, "page_normal"), (ACL_MEM_MALLOC_HUGE_ONLY, "page_huge")]
        {
            let mut memory = null_mut();
            ok!(aclrtMalloc(&mut memory, 4 << 20, policy));
            assert_eq!(u64::from(about(memory).pageSize), t.number(column), "{column}");
            ok!(aclrtFree(memory));
        }
    });
}

fn maps(r: &mut Rows) {
    r.row("aclrtMemP2PMap#01", |_| acl!(aclrtMemP2PMap(null_mut(), 64, 0, 0)));
    r.row("aclrtMemP2PMap#02", |_| acl!(aclrtMemP2PMap(device(64).p(), 0, 0, 0)));
    r.row("aclrtMemP2PMap#03", |_| {
        let memory = device(64);
        [1, 1 << 40].map(|flags| acl!(aclrtMemP2PMap(memory.p(), 64, 0, flags)))
    });
    r.decided("aclrtMemP2PMap#04", |t| {
        let memory = device(64);
        let before = acl!(aclrtMemP2PMap(memory.p(), 64, 1, 0));
        on_device(t, 1, || ok!(aclrtDeviceEnablePeerAccess(0, 0)));
        ok!(aclrtMemP2PMap(memory.p(), 64, 1, 0));
        before
    });
    r.decided("aclrtMemP2PMap#05", |_| {
        let memory = device(64);
        [-1, 4, i32::MAX, i32::MIN].map(|user| acl!(aclrtMemP2PMap(memory.p(), 64, user, 0)))
    });
}
