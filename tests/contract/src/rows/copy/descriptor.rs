//! Copies inside a device whose operands stand in memory: descriptors, and pointers to pointers.

use super::*;

const INNER: u32 = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

/// Kinds of other calls.
const OTHERS: [u32; 7] = [H2H, H2D, D2H, D2D, DEFAULT, BUFFERED, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE];

fn set(desc: *mut c_void, src: *mut c_void, dst: *mut c_void, count: usize) -> i32 {
    acl!(aclrtSetMemcpyDesc(desc, INNER, src, dst, count, null_mut()))
}

fn desc_size() -> usize {
    get!(0, aclrtGetMemcpyDescSize(INNER))
}

/// Room for a descriptor.
fn room() -> Memory {
    device(desc_size())
}

pub fn rows(r: &mut Rows) {
    r.row("aclrtGetMemcpyDescSize#01", |_| acl!(aclrtGetMemcpyDescSize(INNER, null_mut())));
    r.row("aclrtGetMemcpyDescSize#02", |_| {
        assert!(desc_size() > 0);
        [8, u32::MAX].map(|kind| acl!(aclrtGetMemcpyDescSize(kind, &mut 0)))
    });
    r.row("aclrtGetMemcpyDescSize#03", |_| {
        OTHERS.map(|kind| {
            let mut size = 77;
            let code = acl!(aclrtGetMemcpyDescSize(kind, &mut size));
            assert_eq!(size, 77);
            code
        })
    });
    descriptors(r);
    with_descriptors(r);
    with_offsets(r);
}

fn descriptors(r: &mut Rows) {
    let of_kind = |kind: u32| {
        let (desc, one, other) = (room(), device(64), device(64));
        acl!(aclrtSetMemcpyDesc(desc.p(), kind, one.p(), other.p(), 64, null_mut()))
    };
    r.row("aclrtSetMemcpyDesc#01", |_| set(null_mut(), device(64).p(), device(64).p(), 64));
    r.row("aclrtSetMemcpyDesc#02", |_| set(room().p(), null_mut(), device(64).p(), 64));
    r.row("aclrtSetMemcpyDesc#03", |_| set(room().p(), device(64).p(), null_mut(), 64));
    r.row("aclrtSetMemcpyDesc#04", |_| set(room().p(), device(64).p(), device(64).p(), 0));
    r.row("aclrtSetMemcpyDesc#05", |_| {
        let (desc, one, other) = (room(), device(64), device(64));
        acl!(aclrtSetMemcpyDesc(desc.p(), INNER, one.p(), other.p(), 64, desc.p()))
    });
    r.row("aclrtSetMemcpyDesc#06", move |_| [8, u32::MAX].map(of_kind));
    r.row("aclrtSetMemcpyDesc#07", move |_| OTHERS.map(of_kind));
    r.row("aclrtSetMemcpyDesc#08", |_| {
        let (desc, one, other) = (device(256), device(64), device(64));
        same("an aligned one", set(desc.after(64), one.p(), other.p(), 64), 0);
        [1, 8, 32, 63].map(|offset| set(desc.after(offset), one.p(), other.p(), 64))
    });
    r.row("aclrtSetMemcpyDesc#09", |t| {
        let (desc, one, other, host) = (room(), device(64), device(64), pageable(256));
        let away = on_device(t, 1, || device(64));
        same("all on one device", set(desc.p(), one.p(), other.p(), 64), 0);
        [
            set(host.p(), one.p(), other.p(), 64),
            set(desc.p(), host.p(), other.p(), 64),
            set(desc.p(), one.p(), host.p(), 64),
            set(desc.p(), away.p(), other.p(), 64),
            set(desc.p(), one.p(), away.p(), 64),
        ]
    });
    r.row("aclrtSetMemcpyDesc#10", |_| {
        const MOST: usize = 4 << 30;
        let (desc, one) = (room(), device(MOST + 4096));
        same("4 GiB", set(desc.p(), one.p(), one.p(), MOST), 0);
        [set(desc.p(), one.p(), one.p(), MOST + 1), set(desc.p(), one.p(), one.p(), usize::MAX)]
    });
}

/// A descriptor, what it copies and where to.
struct Described {
    desc: Memory,
    src: Memory,
    dst: Memory,
}

fn described() -> Described {
    let all = Described { desc: room(), src: device_with(&pattern(64, 1)), dst: device_with(&[0xee; 64]) };
    same("a descriptor", set(all.desc.p(), all.src.p(), all.dst.p(), 64), 0);
    all
}

fn enqueue(desc: *mut c_void, kind: u32, stream: aclrtStream) -> i32 {
    acl!(aclrtMemcpyAsyncWithDesc(desc, kind, stream))
}

fn with_descriptors(r: &mut Rows) {
    r.row("aclrtMemcpyAsyncWithDesc#01", |_| enqueue(null_mut(), INNER, Stream::new().h()));
    r.row("aclrtMemcpyAsyncWithDesc#02", |_| enqueue(described().desc.p(), INNER, null_mut()));
    r.row("aclrtMemcpyAsyncWithDesc#03", |_| enqueue(described().desc.p(), INNER, null_mut()));
    r.row("aclrtMemcpyAsyncWithDesc#04", |_| {
        let (all, stream) = (described(), Stream::new());
        let codes = OTHERS.map(|kind| enqueue(all.desc.p(), kind, stream.h()));
        stream.wait();
        assert_eq!(all.dst.get(), [0xee; 64]);
        codes
    });
    r.row("aclrtMemcpyAsyncWithDesc#05", |_| enqueue(pageable(256).p(), INNER, Stream::new().h()));
    r.row("aclrtMemcpyAsyncWithDesc#06", |_| {
        let (all, stream) = (described(), Stream::new());
        at_once(stream.h(), || {
            same("a copy", enqueue(all.desc.p(), INNER, stream.h()), 0);
            assert_eq!(all.dst.get(), [0xee; 64]);
            all.src.put(&pattern(64, 2));
        });
        assert_eq!(all.dst.get(), pattern(64, 2));
        // The same descriptor again.
        all.src.put(&pattern(64, 3));
        same("again", enqueue(all.desc.p(), INNER, stream.h()), 0);
        stream.wait();
        assert_eq!(all.dst.get(), pattern(64, 3));
    });
}

/// Pointers in device memory.
struct Cells {
    to: Memory,
    from: Memory,
    dst: Memory,
    src: Memory,
}

fn cells() -> Cells {
    let (to, from) = (device_with(&[0xee; 128]), device_with(&pattern(128, 1)));
    let [dst, src] = [&to, &from].map(|memory| device_with(&(memory.p() as usize).to_le_bytes()));
    Cells { to, from, dst, src }
}

impl Cells {
    fn call(&self, max: usize, to: usize, count: usize, from: usize, kind: u32) -> i32 {
        let (dst, src) = (self.dst.p().cast(), self.src.p().cast());
        acl!(aclrtMemcpyAsyncWithOffset(dst, max, to, src, count, from, kind, null_mut()))
    }

    #[track_caller]
    fn untouched(&self) {
        ok!(aclrtSynchronizeStream(null_mut()));
        assert_eq!(self.to.get(), [0xee; 128]);
    }
}

fn with_offsets(r: &mut Rows) {
    r.row("aclrtMemcpyAsyncWithOffset#01", |_| {
        let none = acl!(aclrtMemcpyAsyncWithOffset(null_mut(), 0, 0, null_mut(), 0, 0, 99, null_mut()));
        [none, cells().call(128, 0, 0, 0, INNER)]
    });
    let of_kind = |kind: u32| {
        let cells = cells();
        let code = cells.call(128, 0, 64, 0, kind);
        cells.untouched();
        code
    };
    let all = move || OTHERS.into_iter().chain([8, u32::MAX]).map(of_kind).collect::<Vec<_>>();
    r.row("aclrtMemcpyAsyncWithOffset#02", move |_| all());
    r.decided("aclrtMemcpyAsyncWithOffset#03", move |_| all());
    r.row("aclrtMemcpyAsyncWithOffset#04", |_| {
        let cells = cells();
        let codes = [(64, 64, 1), (64, 65, 1), (64, 32, 33), (64, 0, 65), (0, 0, 1), (64, 1, usize::MAX)]
            .map(|(max, offset, count)| cells.call(max, offset, count, 0, INNER));
        cells.untouched();
        same("just so", cells.call(64, 32, 32, 0, INNER), 0);
        ok!(aclrtSynchronizeStream(null_mut()));
        assert_eq!(cells.to.get()[32..64], pattern(128, 1)[..32]);
        codes
    });
    r.row("aclrtMemcpyAsyncWithOffset#05", |_| {
        let (cells, far) = (cells(), 0x1_0000_0000_0000);
        let codes = [cells.call(usize::MAX, far, 8, 0, INNER), cells.call(128, 0, 8, far, INNER)];
        cells.untouched();
        codes
    });
    r.decided("aclrtMemcpyAsyncWithOffset#06", |_| {
        let (cells, other) = (cells(), device_with(&pattern(128, 9)));
        same("a copy", cells.call(128, 16, 32, 48, INNER), 0);
        ok!(aclrtSynchronizeStream(null_mut()));
        let mut wanted = vec![0xee; 128];
        wanted[16..48].copy_from_slice(&pattern(128, 1)[48..80]);
        assert_eq!(cells.to.get(), wanted);
        // What stands at the address when the task executes counts.
        let stream = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        let code = at_once(stream, || {
            let code = cells.call(128, 0, 128, 0, INNER);
            cells.src.put(&(other.p() as usize).to_le_bytes());
            code
        });
        assert_eq!(cells.to.get(), pattern(128, 9));
        assert_eq!(cells.from.get(), pattern(128, 1));
        code
    });
}
