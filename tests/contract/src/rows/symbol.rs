//! Chapter 11-11. Variables are registered as compiled programs do it; the rows of the C++ forms are in `cpp`.

use super::prelude::*;
use std::time::Duration;

const OUT: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_HOST;
const IN: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_DEVICE;

pub fn rows(r: &mut Rows) {
    queries(r);
    copies(r);
    arguments(r);
    ranges(r);
    from(r);
    asynchronous(r);
}

fn address(symbol: *const c_void) -> i32 {
    let mut out = at(1);
    let code = acl!(aclrtGetSymbolAddress(symbol, &mut out));
    assert_eq!(code == 0, out != at(1), "the answer is written if and only if there is one");
    code
}

fn size(symbol: *const c_void) -> i32 {
    let mut out = usize::MAX;
    let code = acl!(aclrtGetSymbolSize(symbol, &mut out));
    assert_eq!(code == 0, out != usize::MAX, "the answer is written if and only if there is one");
    code
}

fn queries(r: &mut Rows) {
    type Query = fn(*const c_void) -> i32;
    for (ids, query) in [
        (
            [
                "aclrtGetSymbolAddress#01",
                "aclrtGetSymbolAddress#03",
                "aclrtGetSymbolAddress#05",
                "aclrtGetSymbolAddress#06",
                "aclrtGetSymbolAddress#07",
            ],
            address as Query,
        ),
        (
            [
                "aclrtGetSymbolSize#01",
                "aclrtGetSymbolSize#03",
                "aclrtGetSymbolSize#05",
                "aclrtGetSymbolSize#06",
                "aclrtGetSymbolSize#07",
            ],
            size as Query,
        ),
    ] {
        r.decided(ids[0], move |_| unregistered(query));
        r.decided(ids[1], move |_| query(variable(&[1; 13])));
        r.row(ids[2], move |_| no_symbols().into_iter().map(query).collect::<Vec<_>>());
        r.row(ids[3], move |_| {
            let symbol = variable(&[1]);
            bare(|| query(symbol))
        });
        r.row(ids[4], move |_| query(null()));
    }
    r.decided("aclrtGetSymbolAddress#02", |t| {
        let symbol = variable(&[1, 2]);
        let here = symbol_address(symbol);
        let there = on_device(t, 1, || symbol_address(symbol));
        assert_ne!(here, there);
        for (ptr, id) in [(here, 0), (there, 1)] {
            let attributes = get!(zeroed(), aclrtPointerGetAttributes(ptr));
            assert_eq!(
                (attributes.location.r#type, attributes.location.id),
                (ACL_MEM_LOCATION_TYPE_DEVICE, id)
            );
        }
        // Asked again here, it is the first one.
        assert_eq!(symbol_address(symbol), here);
    });
    r.decided("aclrtGetSymbolSize#02", |t| {
        let symbol = variable(&[1; 40]);
        for device in [0, 1] {
            on_device(t, device, || assert_eq!(get!(0, aclrtGetSymbolSize(symbol)), 40));
        }
    });
    r.row("aclrtGetSymbolAddress#08", |_| acl!(aclrtGetSymbolAddress(variable(&[1]), null_mut())));
    r.row("aclrtGetSymbolSize#08", |_| acl!(aclrtGetSymbolSize(variable(&[1]), null_mut())));
    r.row("aclrtGetSymbolAddress#09", |_| {
        // The address is that of the variable's bytes.
        let symbol = variable(&pattern(24, 5));
        let mut bytes = [0u8; 24];
        ok!(aclrtMemcpy(bytes.as_mut_ptr().cast(), 24, symbol_address(symbol), 24, OUT));
        assert_eq!(bytes.to_vec(), pattern(24, 5));
    });
    r.row("aclrtGetSymbolSize#09", |_| {
        for bytes in [1, 7, 4096, 100_000] {
            assert_eq!(get!(0, aclrtGetSymbolSize(variable(&vec![3; bytes]))), bytes);
        }
    });
}

/// The code before the registration; afterwards it works.
fn unregistered(call: impl Fn(*const c_void) -> i32) -> i32 {
    let shadow: *const c_void = Vec::leak(vec![9u8; 16]).as_ptr().cast();
    let code = call(shadow);
    register(shadow, 16);
    same("after the registration", call(shadow), 0);
    code
}

fn zeroed<T>() -> T {
    unsafe { std::mem::zeroed() }
}

/// One of the four copies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    From,
    FromAsync,
    To,
    ToAsync,
}

use Way::{From, FromAsync, To, ToAsync};

impl Way {
    fn out(self) -> bool {
        matches!(self, From | FromAsync)
    }

    fn kind(self) -> aclrtMemcpyKind {
        if self.out() { OUT } else { IN }
    }
}

/// A call of one of them with all its arguments.
#[derive(Clone, Copy)]
struct Call {
    way: Way,
    symbol: *const c_void,
    host: *mut c_void,
    room: usize,
    count: usize,
    offset: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
}

impl Call {
    fn run(self) -> i32 {
        let Call { way, symbol, host, room, count, offset, kind, stream } = self;
        match way {
            From => acl!(aclrtMemcpyFromSymbol(host, room, symbol, count, offset, kind)),
            FromAsync => acl!(aclrtMemcpyFromSymbolAsync(host, room, symbol, count, offset, kind, stream)),
            To => acl!(aclrtMemcpyToSymbol(symbol, host, count, offset, kind)),
            ToAsync => acl!(aclrtMemcpyToSymbolAsync(symbol, host, count, offset, kind, stream)),
        }
    }
}

/// A good call: 16 bytes of a variable that starts with 1s, host memory with 2s, the default stream.
struct Good {
    call: Call,
    host: Memory,
}

impl Good {
    fn new(way: Way, host: Memory) -> Good {
        host.put(&[2; 16]);
        let symbol = variable(&[1; 16]);
        let (host_at, kind) = (host.p(), way.kind());
        let call =
            Call { way, symbol, host: host_at, room: 16, count: 16, offset: 0, kind, stream: null_mut() };
        Good { call, host }
    }

    /// With page-locked host memory.
    fn pinned(way: Way) -> Good {
        Good::new(way, pinned(16))
    }

    /// With the program's memory.
    fn pageable(way: Way) -> Good {
        Good::new(way, pageable(16))
    }

    /// Runs a changed call.
    fn but(&self, change: impl FnOnce(&mut Call)) -> i32 {
        let mut call = self.call;
        change(&mut call);
        call.run()
    }

    /// Whether the first `count` bytes were copied from the start of the one to the place `offset` of the other, and no other.
    fn moved(&self, offset: usize, count: usize) -> bool {
        if self.call.way.out() {
            self.host.get() == [vec![1; count], vec![2; 16 - count]].concat()
        } else {
            symbol_bytes(self.call.symbol, 16)
                == [vec![1; offset], vec![2; count], vec![1; 16 - offset - count]].concat()
        }
    }
}

/// A context check, an unknown symbol and the rest that all four have.
fn copies(r: &mut Rows) {
    for (way, ids) in [
        (
            From,
            [
                "aclrtMemcpyFromSymbol#01",
                "aclrtMemcpyFromSymbol#02",
                "aclrtMemcpyFromSymbol#03",
                "aclrtMemcpyFromSymbol#05",
                "aclrtMemcpyFromSymbol#06",
                "aclrtMemcpyFromSymbol#18",
            ],
        ),
        (
            FromAsync,
            [
                "aclrtMemcpyFromSymbolAsync#01",
                "aclrtMemcpyFromSymbolAsync#02",
                "aclrtMemcpyFromSymbolAsync#03",
                "aclrtMemcpyFromSymbolAsync#05",
                "aclrtMemcpyFromSymbolAsync#06",
                "aclrtMemcpyFromSymbolAsync#21",
            ],
        ),
        (
            To,
            [
                "aclrtMemcpyToSymbol#01",
                "aclrtMemcpyToSymbol#02",
                "aclrtMemcpyToSymbol#03",
                "aclrtMemcpyToSymbol#05",
                "aclrtMemcpyToSymbol#06",
                "aclrtMemcpyToSymbol#16",
            ],
        ),
        (
            ToAsync,
            [
                "aclrtMemcpyToSymbolAsync#01",
                "aclrtMemcpyToSymbolAsync#02",
                "aclrtMemcpyToSymbolAsync#03",
                "aclrtMemcpyToSymbolAsync#05",
                "aclrtMemcpyToSymbolAsync#06",
                "aclrtMemcpyToSymbolAsync#19",
            ],
        ),
    ] {
        r.decided(ids[0], move |_| {
            let good = Good::pageable(way);
            unregistered(|shadow| good.but(|call| call.symbol = shadow))
        });
        r.decided(ids[1], move |t| on_each_device(t, way));
        r.decided(ids[2], move |_| {
            // Whatever a compiler calls it: so many bytes.
            let good = Good::pageable(way);
            let symbol = variable(&[1; 13]);
            let code = good.but(|call| (call.symbol, call.count) = (symbol, 13));
            if way.out() {
                assert!(good.moved(0, 13));
            } else {
                assert_eq!(symbol_bytes(symbol, 13), [2; 13]);
            }
            code
        });
        r.row(ids[3], move |_| {
            let good = Good::pageable(way);
            no_symbols().into_iter().map(|symbol| good.but(|call| call.symbol = symbol)).collect::<Vec<_>>()
        });
        r.row(ids[4], move |_| {
            let good = Good::pageable(way);
            bare(|| good.call.run())
        });
        r.row(ids[5], move |_| {
            let good = Good::pinned(way);
            for (offset, count) in [(0, 16), (5, 3), (15, 1)] {
                good.host.put(&[2; 16]);
                set_symbol(good.call.symbol, &[1; 16]);
                same("the copy", good.but(|call| (call.offset, call.count) = (offset, count)), 0);
                ok!(aclrtSynchronizeStream(null_mut()));
                assert!(good.moved(offset, count), "{count} bytes at {offset}");
            }
        });
    }
}

/// A copy means the copy of the variable on the current device.
fn on_each_device(t: &Test<'_>, way: Way) {
    let symbol = variable(&[1; 16]);
    let host = pageable(16);
    let call = Call {
        way,
        symbol,
        host: host.p(),
        room: 16,
        count: 16,
        offset: 0,
        kind: way.kind(),
        stream: null_mut(),
    };
    for device in [0, 1] {
        let value = 10 + device as u8;
        on_device(t, device, || {
            if way.out() {
                set_symbol(symbol, &[value; 16]);
            } else {
                host.put(&[value; 16]);
                same("the copy", call.run(), 0);
            }
        });
    }
    for device in [0, 1] {
        let value = 10 + device as u8;
        on_device(t, device, || {
            if way.out() {
                same("the copy", call.run(), 0);
                assert_eq!(host.get(), [value; 16], "device {device}");
            } else {
                assert_eq!(symbol_bytes(symbol, 16), [value; 16], "device {device}");
            }
        });
    }
}

/// Kinds that are not this way's.
fn wrong_kinds(way: Way) -> Vec<i32> {
    let good = Good::pageable(way);
    let kinds =
        (0..8).chain([99, u32::MAX]).filter(|kind| *kind != way.kind() && *kind != ACL_MEMCPY_DEFAULT);
    kinds.map(|kind| good.but(|call| call.kind = kind)).collect()
}

fn arguments(r: &mut Rows) {
    for (way, ids) in [
        (
            From,
            [
                "aclrtMemcpyFromSymbol#07",
                "aclrtMemcpyFromSymbol#08",
                "aclrtMemcpyFromSymbol#09",
                "aclrtMemcpyFromSymbol#12",
                "aclrtMemcpyFromSymbol#13",
            ],
        ),
        (
            FromAsync,
            [
                "aclrtMemcpyFromSymbolAsync#07",
                "aclrtMemcpyFromSymbolAsync#08",
                "aclrtMemcpyFromSymbolAsync#09",
                "aclrtMemcpyFromSymbolAsync#12",
                "aclrtMemcpyFromSymbolAsync#13",
            ],
        ),
        (
            To,
            [
                "aclrtMemcpyToSymbol#07",
                "aclrtMemcpyToSymbol#08",
                "aclrtMemcpyToSymbol#09",
                "aclrtMemcpyToSymbol#10",
                "aclrtMemcpyToSymbol#11",
            ],
        ),
        (
            ToAsync,
            [
                "aclrtMemcpyToSymbolAsync#07",
                "aclrtMemcpyToSymbolAsync#08",
                "aclrtMemcpyToSymbolAsync#09",
                "aclrtMemcpyToSymbolAsync#10",
                "aclrtMemcpyToSymbolAsync#11",
            ],
        ),
    ] {
        r.row(ids[0], move |_| {
            let nothing = Call {
                way,
                symbol: null(),
                host: null_mut(),
                room: 0,
                count: 0,
                offset: usize::MAX,
                kind: 99,
                stream: invented(),
            };
            let good = Good::pageable(way);
            let codes = [nothing.run(), bare(|| nothing.run()), good.but(|call| call.count = 0)];
            assert!(good.moved(0, 0), "something was copied");
            codes
        });
        r.row(ids[1], move |_| Good::pageable(way).but(|call| call.symbol = null()));
        r.row(ids[2], move |_| Good::pageable(way).but(|call| call.host = null_mut()));
        r.row(ids[3], move |_| wrong_kinds(way));
        r.decided(ids[4], move |_| {
            for kind in [way.kind(), ACL_MEMCPY_DEFAULT] {
                let good = Good::pageable(way);
                same("the copy", good.but(|call| call.kind = kind), 0);
                assert!(good.moved(0, 16));
            }
            wrong_kinds(way)
        });
    }
}

fn ranges(r: &mut Rows) {
    for (way, ids) in [
        (From, ["aclrtMemcpyFromSymbol#14", "aclrtMemcpyFromSymbol#15", "aclrtMemcpyFromSymbol#16"]),
        (
            FromAsync,
            [
                "aclrtMemcpyFromSymbolAsync#14",
                "aclrtMemcpyFromSymbolAsync#15",
                "aclrtMemcpyFromSymbolAsync#16",
            ],
        ),
        (To, ["aclrtMemcpyToSymbol#12", "aclrtMemcpyToSymbol#13", "aclrtMemcpyToSymbol#14"]),
        (
            ToAsync,
            ["aclrtMemcpyToSymbolAsync#12", "aclrtMemcpyToSymbolAsync#13", "aclrtMemcpyToSymbolAsync#14"],
        ),
    ] {
        let beyond = move || {
            let good = Good::new(way, pageable(32));
            let codes = [(0, 17), (1, 16), (16, 1), (1 << 40, 1)].map(|(offset, count)| {
                good.but(|call| (call.offset, call.count, call.room) = (offset, count, 32))
            });
            if way.out() {
                assert_eq!(good.host.get()[..16], [2; 16], "something was copied");
            } else {
                assert!(good.moved(0, 0), "something was copied");
            }
            codes
        };
        r.row(ids[0], move |_| beyond());
        r.decided(ids[1], move |_| {
            let good = Good::pageable(way);
            same("up to the end", good.but(|call| (call.offset, call.count) = (12, 4)), 0);
            assert!(good.moved(12, 4));
            beyond()
        });
        r.row(ids[2], move |_| {
            let good = Good::pageable(way);
            [(1, usize::MAX), (usize::MAX, 1), (usize::MAX, usize::MAX)].map(|(offset, count)| {
                good.but(|call| (call.offset, call.count, call.room) = (offset, count, usize::MAX))
            })
        });
    }
}

fn from(r: &mut Rows) {
    for (way, ids) in [
        (From, ["aclrtMemcpyFromSymbol#10", "aclrtMemcpyFromSymbol#11"]),
        (FromAsync, ["aclrtMemcpyFromSymbolAsync#10", "aclrtMemcpyFromSymbolAsync#11"]),
    ] {
        let short = move || {
            let good = Good::pageable(way);
            let codes = [0, 1, 15].map(|room| good.but(|call| call.room = room));
            assert!(good.moved(0, 0), "something was copied");
            codes
        };
        r.row(ids[0], move |_| short());
        r.decided(ids[1], move |_| {
            let good = Good::pageable(way);
            same("room enough", good.but(|call| (call.room, call.count) = (7, 7)), 0);
            assert!(good.moved(0, 7));
            short()
        });
    }
    r.row("aclrtMemcpyFromSymbol#17", |_| {
        let good = Good::pinned(From);
        let code = good.call.run();
        assert!(good.moved(0, 16));
        code
    });
    r.row("aclrtMemcpyToSymbol#15", |_| {
        let good = Good::pinned(To);
        let code = good.call.run();
        // What the program writes now is too late.
        good.host.put(&[7; 16]);
        assert!(good.moved(0, 16));
        code
    });
}

/// Page-locked memory: the call returns while the stream is held, and the copy runs when the stream comes to it.
fn later(way: Way) -> i32 {
    let good = Good::pinned(way);
    let stream = Stream::new();
    let gate = held(stream.h());
    let code = good.but(|call| call.stream = stream.h());
    assert!(good.moved(0, 0), "the stream is held");
    gate.open();
    stream.wait();
    assert!(good.moved(0, 16));
    code
}

fn asynchronous(r: &mut Rows) {
    for (way, ids) in [
        (
            FromAsync,
            [
                "aclrtMemcpyFromSymbolAsync#17",
                "aclrtMemcpyFromSymbolAsync#18",
                "aclrtMemcpyFromSymbolAsync#19",
                "aclrtMemcpyFromSymbolAsync#20",
            ],
        ),
        (
            ToAsync,
            [
                "aclrtMemcpyToSymbolAsync#15",
                "aclrtMemcpyToSymbolAsync#16",
                "aclrtMemcpyToSymbolAsync#17",
                "aclrtMemcpyToSymbolAsync#18",
            ],
        ),
    ] {
        r.row(ids[0], move |_| {
            let good = Good::pageable(way);
            let stream = Stream::new();
            let before = Flag::new();
            let flag = before.clone();
            launch(stream.h(), move || {
                std::thread::sleep(Duration::from_millis(30));
                flag.set();
            });
            let code = good.but(|call| call.stream = stream.h());
            assert!(before.is(), "it comes after what the stream held");
            // Done on return: what the program writes now is too late, what it reads is there.
            if !way.out() {
                good.host.put(&[7; 16]);
            }
            assert!(good.moved(0, 16));
            [code, later(way)]
        });
        r.decided(ids[1], move |_| later(way));
        r.row(ids[2], move |_| {
            // DEFAULT and the way's own kind are one: the same answers and the same copies, even where an address is of the
            // other side.
            let mut codes = Vec::new();
            for kind in [way.kind(), ACL_MEMCPY_DEFAULT] {
                for host in [pinned(16), device(16)] {
                    let good = Good::new(way, host);
                    codes.push(good.but(|call| call.kind = kind));
                    ok!(aclrtSynchronizeStream(null_mut()));
                    assert!(good.moved(0, 16), "kind {kind}");
                }
            }
            codes
        });
        r.row(ids[3], move |_| {
            let good = Good::pinned(way);
            let stream = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
            let gate = held(stream);
            let code = good.but(|call| call.stream = null_mut());
            assert!(good.moved(0, 0), "the default stream is held");
            gate.open();
            ok!(aclrtSynchronizeStream(stream));
            assert!(good.moved(0, 16));
            code
        });
    }
}
