//! Chapters 11-08 and 25-03: allocators of the program.

use super::prelude::*;

pub fn rows(r: &mut Rows) {
    descriptors(r);
    register(r);
    get_by_stream(r);
    unregister(r);
}

unsafe extern "C" fn alloc(_: aclrtAllocator, _: usize) -> *mut c_void {
    null_mut()
}

unsafe extern "C" fn free(_: aclrtAllocator, _: aclrtAllocatorBlock) {}

unsafe extern "C" fn advise(_: aclrtAllocator, _: usize, _: aclrtAllocatorAddr) -> *mut c_void {
    null_mut()
}

unsafe extern "C" fn address(_: aclrtAllocatorBlock) -> *mut c_void {
    null_mut()
}

/// A descriptor, destroyed at the end.
struct Desc(aclrtAllocatorDesc);

impl Desc {
    #[track_caller]
    fn new() -> Desc {
        let desc = acl!(aclrtAllocatorCreateDesc());
        assert!(!desc.is_null());
        Desc(desc)
    }

    /// With the first so many of: object, allocation, release, address.
    #[track_caller]
    fn with(parts: usize) -> Desc {
        let desc = Desc::new();
        if parts > 0 {
            ok!(aclrtAllocatorSetObjToDesc(desc.0, at(0x77)));
        }
        if parts > 1 {
            ok!(aclrtAllocatorSetAllocFuncToDesc(desc.0, Some(alloc)));
        }
        if parts > 2 {
            ok!(aclrtAllocatorSetFreeFuncToDesc(desc.0, Some(free)));
        }
        if parts > 3 {
            ok!(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc.0, Some(address)));
        }
        desc
    }

    /// With everything that a registration needs.
    #[track_caller]
    fn whole() -> Desc {
        Desc::with(4)
    }
}

impl Drop for Desc {
    fn drop(&mut self) {
        acl!(aclrtAllocatorDestroyDesc(self.0));
    }
}

/// What is registered for a stream: descriptor, object, the three functions that must be there, and the optional one.
type Found = (aclrtAllocatorDesc, aclrtAllocator, [usize; 3], usize);

fn found(stream: aclrtStream) -> Result<Found, i32> {
    let (mut desc, mut object) = (null_mut(), null_mut());
    let (mut a, mut f, mut v, mut g) = (None, None, None, None);
    let code = acl!(aclrtAllocatorGetByStream(stream, &mut desc, &mut object, &mut a, &mut f, &mut v, &mut g));
    // A function that is there is not null.
    let (a, f, g) = (a.map_or(0, |a| a as usize), f.map_or(0, |f| f as usize), g.map_or(0, |g| g as usize));
    if code == 0 { Ok((desc, object, [a, f, g], v.map_or(0, |v| v as usize))) } else { Err(code) }
}

#[track_caller]
fn must_find(stream: aclrtStream) -> Found {
    match found(stream) {
        Ok(found) => found,
        Err(code) => panic!("aclrtAllocatorGetByStream answers {}", name(code)),
    }
}

/// The functions of [`Desc::whole`].
fn functions() -> [usize; 3] {
    [alloc as *const () as usize, free as *const () as usize, address as *const () as usize]
}

fn registered(stream: aclrtStream, desc: aclrtAllocatorDesc) -> i32 {
    acl!(aclrtAllocatorRegister(stream, desc))
}

fn descriptors(r: &mut Rows) {
    r.hardware("aclrtAllocatorCreateDesc#01", "host memory that is exhausted ends the process here, as it does in most programs");
    r.row("aclrtAllocatorCreateDesc#02", |t| {
        let (stream, desc) = (Stream::new(), Desc::new());
        ok!(aclrtAllocatorSetAllocFuncToDesc(desc.0, Some(alloc)));
        ok!(aclrtAllocatorSetFreeFuncToDesc(desc.0, Some(free)));
        ok!(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc.0, Some(address)));
        if t.supports("aclrtAllocatorRegister") {
            code!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorRegister(stream.h(), desc.0));
            ok!(aclrtAllocatorSetObjToDesc(desc.0, at(0x77)));
            ok!(aclrtAllocatorRegister(stream.h(), desc.0));
        }
    });
    r.row("aclrtAllocatorDestroyDesc#01", |_| acl!(aclrtAllocatorDestroyDesc(null_mut())));
    r.row("aclrtAllocatorDestroyDesc#02", |_| {
        let (stream, desc) = (Stream::new(), Desc::whole());
        ok!(aclrtAllocatorRegister(stream.h(), desc.0));
        ok!(aclrtAllocatorDestroyDesc(desc.0));
        assert_eq!(must_find(stream.h()), (desc.0, at(0x77), functions(), 0));
    })
    .having("aclrtAllocatorRegister");
    r.row("aclrtAllocatorSetObjToDesc#01", |_| acl!(aclrtAllocatorSetObjToDesc(null_mut(), at(1))));
    r.row("aclrtAllocatorSetObjToDesc#02", |_| acl!(aclrtAllocatorSetObjToDesc(Desc::new().0, null_mut())));
    r.row("aclrtAllocatorSetAllocFuncToDesc#01", |_| acl!(aclrtAllocatorSetAllocFuncToDesc(null_mut(), Some(alloc))));
    r.row("aclrtAllocatorSetAllocFuncToDesc#02", |_| acl!(aclrtAllocatorSetAllocFuncToDesc(Desc::new().0, None)));
    r.row("aclrtAllocatorSetFreeFuncToDesc#01", |_| acl!(aclrtAllocatorSetFreeFuncToDesc(null_mut(), Some(free))));
    r.row("aclrtAllocatorSetFreeFuncToDesc#02", |_| acl!(aclrtAllocatorSetFreeFuncToDesc(Desc::new().0, None)));
    r.row("aclrtAllocatorSetAllocAdviseFuncToDesc#01", |_| {
        acl!(aclrtAllocatorSetAllocAdviseFuncToDesc(null_mut(), Some(advise)))
    });
    r.row("aclrtAllocatorSetAllocAdviseFuncToDesc#02", |_| {
        acl!(aclrtAllocatorSetAllocAdviseFuncToDesc(Desc::new().0, None))
    });
    r.row("aclrtAllocatorSetAllocAdviseFuncToDesc#03", |_| optional()).having("aclrtAllocatorRegister");
    r.row("aclrtAllocatorSetGetAddrFromBlockFuncToDesc#01", |_| {
        acl!(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(null_mut(), Some(address)))
    });
    r.row("aclrtAllocatorSetGetAddrFromBlockFuncToDesc#02", |_| {
        acl!(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(Desc::new().0, None))
    });
}

/// A registration without and with the function that allocates at an address.
fn optional() {
    let (stream, desc) = (Stream::new(), Desc::whole());
    ok!(aclrtAllocatorRegister(stream.h(), desc.0));
    assert_eq!(must_find(stream.h()).3, 0);
    ok!(aclrtAllocatorSetAllocAdviseFuncToDesc(desc.0, Some(advise)));
    ok!(aclrtAllocatorRegister(stream.h(), desc.0));
    assert_eq!(must_find(stream.h()).3, advise as *const () as usize);
}

fn register(r: &mut Rows) {
    r.row("aclrtAllocatorRegister#01", |_| registered(null_mut(), Desc::whole().0));
    r.row("aclrtAllocatorRegister#02", |_| registered(Stream::new().h(), null_mut()));
    for (id, parts) in [
        ("aclrtAllocatorRegister#03", 0),
        ("aclrtAllocatorRegister#04", 1),
        ("aclrtAllocatorRegister#05", 2),
        ("aclrtAllocatorRegister#06", 3),
    ] {
        r.row(id, move |_| {
            let code = registered(Stream::new().h(), Desc::with(parts).0);
            let said = message();
            assert!(said.contains(&format!("[{id}]")), "{said}");
            code
        });
    }
    r.row("aclrtAllocatorRegister#07", |_| {
        // All of them have one code; the message tells which came first.
        let first = |stream, desc, rule: &str| {
            let code = registered(stream, desc);
            let said = message();
            assert!(said.contains(&format!("[aclrtAllocatorRegister#{rule}]")), "{said}");
            code
        };
        let (stream, none) = (Stream::new(), Desc::new());
        [
            first(null_mut(), null_mut(), "01"),
            first(stream.h(), null_mut(), "02"),
            first(stream.h(), none.0, "03"),
            first(stream.h(), Desc::with(1).0, "04"),
            first(stream.h(), Desc::with(2).0, "05"),
            first(stream.h(), Desc::with(3).0, "06"),
        ]
    });
    r.row("aclrtAllocatorRegister#08", |_| optional());
    r.row("aclrtAllocatorRegister#09", |_| {
        let (stream, desc) = (Stream::new(), Desc::whole());
        ok!(aclrtAllocatorRegister(stream.h(), desc.0));
        ok!(aclrtAllocatorSetObjToDesc(desc.0, at(0x99)));
        assert_eq!(must_find(stream.h()).1, at(0x77));
        ok!(aclrtAllocatorDestroyDesc(desc.0));
        assert_eq!(must_find(stream.h()).1, at(0x77));
    });
    r.row("aclrtAllocatorRegister#10", |_| {
        let (stream, first, second) = (Stream::new(), Desc::whole(), Desc::whole());
        ok!(aclrtAllocatorSetObjToDesc(second.0, at(0x99)));
        ok!(aclrtAllocatorRegister(stream.h(), first.0));
        ok!(aclrtAllocatorRegister(stream.h(), second.0));
        let found = must_find(stream.h());
        assert_eq!((found.0, found.1), (second.0, at(0x99)));
    });
    r.row("aclrtAllocatorRegister#11", |_| registered(invented(), Desc::whole().0));
    let silent = "operators are not part of this library: nothing here calls an allocator";
    r.hardware("aclrtAllocatorRegister#12", silent);
    r.hardware("aclrtAllocatorRegister#13", silent);
    r.hardware("aclrtAllocatorRegister#14", silent);
}

fn get_by_stream(r: &mut Rows) {
    let get = |stream: aclrtStream, desc: *mut aclrtAllocatorDesc| {
        acl!(aclrtAllocatorGetByStream(stream, desc, null_mut(), null_mut(), null_mut(), null_mut(), null_mut()))
    };
    r.row("aclrtAllocatorGetByStream#01", move |_| {
        let code = get(null_mut(), null_mut());
        let said = message();
        assert!(said.contains("[aclrtAllocatorGetByStream#01]"), "{said}");
        code
    });
    r.row("aclrtAllocatorGetByStream#02", move |_| get(null_mut(), &mut null_mut()));
    r.row("aclrtAllocatorGetByStream#03", move |_| get(Stream::new().h(), &mut null_mut()));
    r.row("aclrtAllocatorGetByStream#04", move |_| {
        let (stream, desc) = (Stream::new(), Desc::whole());
        ok!(aclrtAllocatorRegister(stream.h(), desc.0));
        let mut found = null_mut();
        let code = get(stream.h(), &mut found);
        assert_eq!(found, desc.0);
        assert_eq!(must_find(stream.h()), (desc.0, at(0x77), functions(), 0));
        code
    });
    r.row("aclrtAllocatorGetByStream#05", move |_| {
        let (stream, desc) = (Stream::new(), Desc::whole());
        ok!(aclrtAllocatorRegister(stream.h(), desc.0));
        ok!(aclrtAllocatorDestroyDesc(desc.0));
        assert_eq!(must_find(stream.h()).0, desc.0);
    });
}

fn unregister(r: &mut Rows) {
    r.row("aclrtAllocatorUnregister#01", |_| acl!(aclrtAllocatorUnregister(null_mut())));
    r.row("aclrtAllocatorUnregister#02", |_| {
        let (stream, desc) = (Stream::new(), Desc::whole());
        ok!(aclrtAllocatorUnregister(stream.h()));
        ok!(aclrtAllocatorRegister(stream.h(), desc.0));
        ok!(aclrtAllocatorUnregister(stream.h()));
        assert_eq!(found(stream.h()), Err(ACL_ERROR_INVALID_PARAM));
        ok!(aclrtAllocatorUnregister(stream.h()));
    });
    r.hardware("aclrtAllocatorUnregister#03", "about the program's own object, which is never called here");
}
