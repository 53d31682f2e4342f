//! Chapter 12: tasks that a device has built in, with no kernel.

use super::prelude::*;

pub fn rows(r: &mut Rows) {
    reduce_arguments(r);
    reduce(r);
    random(r);
}

const SUM: aclrtReduceKind = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
const MAX: aclrtReduceKind = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX;
const MIN: aclrtReduceKind = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN;
const EQUAL: aclrtReduceKind = ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL;

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// What a reduction is called with. Every product sums floats.
#[derive(Clone, Copy)]
struct Args {
    dst: *mut c_void,
    src: *mut c_void,
    count: u64,
    kind: aclrtReduceKind,
    data: aclDataType,
    stream: aclrtStream,
    reserve: *mut c_void,
}

impl Args {
    fn call(self) -> i32 {
        acl!(aclrtReduceAsync(self.dst, self.src, self.count, self.kind, self.data, self.stream, self.reserve))
    }
}

/// Calls with 16 floats each in `dst` and `src`, changed.
fn reduce_with(change: impl FnOnce(&mut Args)) -> i32 {
    let (dst, src) = (device_with(&[0; 64]), device_with(&[0; 64]));
    let mut args = Args {
        dst: dst.p(),
        src: src.p(),
        count: 64,
        kind: SUM,
        data: ACL_FLOAT,
        stream: null_mut(),
        reserve: null_mut(),
    };
    change(&mut args);
    let code = args.call();
    acl!(aclrtSynchronizeDevice());
    code
}

fn reduce_arguments(r: &mut Rows) {
    r.row("aclrtReduceAsync#01", |_| reduce_with(|args| args.dst = null_mut()));
    r.row("aclrtReduceAsync#02", |_| reduce_with(|args| args.src = null_mut()));
    r.row("aclrtReduceAsync#03", |_| reduce_with(|args| args.reserve = at(1)));
    r.row("aclrtReduceAsync#04", |_| {
        [ACL_DOUBLE, ACL_INT64, ACL_UINT8, ACL_BOOL, ACL_STRING, 999].map(|data| reduce_with(|args| args.data = data))
    });
    r.row("aclrtReduceAsync#05", |_| reduce_with(|args| args.count = 0));
    r.row("aclrtReduceAsync#06", |_| [0, 9, 14, u32::MAX].map(|kind| reduce_with(|args| args.kind = kind)));
    r.decided("aclrtReduceAsync#15", |_| {
        let (host, there) = (pageable(64), Context::new(1).enter(|| device(64)));
        [
            reduce_with(|args| args.dst = there.p()),
            reduce_with(|args| args.src = there.p()),
            reduce_with(|args| args.dst = host.p()),
            reduce_with(|args| args.src = unmapped()),
            reduce_with(|args| args.count = 1 << 40),
        ]
    })
    .ep();
    r.row("aclrtReduceAsync#18", |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        reduce_with(|args| args.stream = stream.h())
    });
    r.row("aclrtReduceAsync#19", |_| {
        let (dst, src) = (device(64), device(64));
        let args = Args {
            dst: dst.p(),
            src: src.p(),
            count: 64,
            kind: SUM,
            data: ACL_FLOAT,
            stream: null_mut(),
            reserve: null_mut(),
        };
        bare(|| args.call())
    });
    r.row("aclrtReduceAsync#20", |_| on_no_streams(|stream| reduce_with(|args| args.stream = stream)));
}

/// Combines `b` into `a`; what is there then.
fn combined(kind: aclrtReduceKind, data: aclDataType, a: &[u8], b: &[u8], count: usize) -> Vec<u8> {
    let (dst, src, stream) = (device_with(a), device_with(b), Stream::new());
    ok!(aclrtReduceAsync(dst.p(), src.p(), count as u64, kind, data, stream.h(), null_mut()));
    stream.wait();
    assert_eq!(src.get(), b, "the source stays");
    dst.get()
}

/// The elements that reductions know: type, 3, 5 and their sum.
const TYPES: [(aclDataType, [u64; 3]); 7] = [
    (ACL_INT8, [3, 5, 8]),
    (ACL_INT16, [3, 5, 8]),
    (ACL_INT32, [3, 5, 8]),
    (ACL_UINT32, [3, 5, 8]),
    (ACL_FLOAT16, [0x4200, 0x4500, 0x4800]),
    (ACL_FLOAT, [0x4040_0000, 0x40a0_0000, 0x4100_0000]),
    (ACL_BF16, [0x4040, 0x40a0, 0x4100]),
];

/// The types of `TYPES` that the row names are summed right; the codes of the others.
fn types(named: &'static [aclDataType]) -> impl Fn(&Test<'_>) -> Vec<i32> {
    move |_| {
        let mut refused = Vec::new();
        for (data, values) in TYPES {
            if !named.contains(&data) {
                refused.push(reduce_with(|args| args.data = data));
                continue;
            }
            let size = acl!(aclDataTypeSize(data));
            let [a, b, sum] = values.map(|value| value.to_le_bytes()[..size].to_vec());
            assert_eq!(combined(SUM, data, &a, &b, size), sum, "type {data}");
        }
        refused
    }
}

fn reduce(r: &mut Rows) {
    r.row("aclrtReduceAsync#07", |_| {
        // 8 bytes are two floats.
        let got = combined(SUM, ACL_FLOAT, &floats(&[1.0, 2.0, 3.0]), &floats(&[10.0, 20.0, 30.0]), 8);
        assert_eq!(got, floats(&[11.0, 22.0, 3.0]));
    });
    r.row("aclrtReduceAsync#08", |t| {
        assert_eq!([SUM, MAX, MIN, EQUAL], [10, 11, 12, 13]);
        let (a, b) = (floats(&[1.0, 7.0, 4.0]), floats(&[5.0, 2.0, 4.0]));
        for (kind, name, wanted) in [
            (SUM, "SUM", [6.0, 9.0, 8.0]),
            (MAX, "MAX", [5.0, 7.0, 4.0]),
            (MIN, "MIN", [1.0, 2.0, 4.0]),
            (EQUAL, "EQUAL", [0.0, 0.0, 1.0]),
        ] {
            // Those of the product: #09.
            if t.target.product.list("reduce_kinds").any(|kind| kind == name) {
                assert_eq!(combined(kind, ACL_FLOAT, &a, &b, 12), floats(&wanted), "{name}");
            }
        }
    });
    r.decided("aclrtReduceAsync#09", |_| {
        assert_eq!(reduce_with(|_| ()), 0);
        [MAX, MIN, EQUAL].map(|kind| reduce_with(|args| args.kind = kind))
    });
    const ALL: &[aclDataType] = &[ACL_INT8, ACL_INT16, ACL_INT32, ACL_UINT32, ACL_FLOAT16, ACL_FLOAT, ACL_BF16];
    const SIGNED: &[aclDataType] = &[ACL_INT8, ACL_INT16, ACL_INT32, ACL_FLOAT16, ACL_FLOAT, ACL_BF16];
    const NO_BRAIN: &[aclDataType] = &[ACL_INT8, ACL_INT16, ACL_INT32, ACL_FLOAT16, ACL_FLOAT];
    r.decided("aclrtReduceAsync#10", types(ALL));
    r.decided("aclrtReduceAsync#11", types(SIGNED));
    r.decided("aclrtReduceAsync#12", types(NO_BRAIN));
    r.decided("aclrtReduceAsync#13", types(&[ACL_FLOAT, ACL_FLOAT16, ACL_INT16]));
    r.decided("aclrtReduceAsync#14", types(&[ACL_FLOAT]));
    r.row("aclrtReduceAsync#16", |_| {
        let (dst, src, stream) = (device_with(&floats(&[1.0])), device_with(&floats(&[2.0])), Stream::new());
        let gate = held(stream.h());
        ok!(aclrtReduceAsync(dst.p(), src.p(), 4, SUM, ACL_FLOAT, stream.h(), null_mut()));
        // Both are read when it runs.
        src.put(&floats(&[20.0]));
        dst.put(&floats(&[10.0]));
        gate.open();
        stream.wait();
        assert_eq!(dst.get(), floats(&[30.0]));
    });
    r.row("aclrtReduceAsync#17", |_| {
        let (dst, src) = (device_with(&floats(&[1.0])), device_with(&floats(&[2.0])));
        ok!(aclrtReduceAsync(dst.p(), src.p(), 4, SUM, ACL_FLOAT, null_mut(), null_mut()));
        ok!(aclrtSynchronizeStream(get!(null_mut(), aclrtCtxGetCurrentDefaultStream())));
        assert_eq!(dst.get(), floats(&[3.0]));
    });
}

/// A value as tasks take them.
fn value(bytes: [u8; 8], size: u8) -> aclrtRandomParaInfo {
    aclrtRandomParaInfo { isAddr: 0, valueOrAddr: bytes, size, rsv: [0; 6] }
}

fn word(number: u64) -> aclrtRandomParaInfo {
    value(number.to_le_bytes(), 8)
}

/// 64 uniform numbers between two bit patterns of `size` bytes.
struct Draw {
    info: aclrtRandomNumTaskInfo,
    result: Memory,
    _counter: Memory,
}

impl Draw {
    fn of(data: aclDataType, size: u8, low: u64, high: u64) -> Draw {
        let (result, counter) = (device_with(&[0; 64 * 8]), device_with(&[0; 16]));
        let mut info: aclrtRandomNumTaskInfo = unsafe { std::mem::zeroed() };
        info.dataType = data;
        info.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
        let ends = [low, high].map(|end| value(end.to_le_bytes(), size));
        info.randomNumFuncParaInfo.paramInfo.uniformDisInfo = aclrtUniformDisInfo { min: ends[0], max: ends[1] };
        (info.randomResultAddr, info.randomCounterAddr) = (result.p(), counter.p());
        (info.randomSeed, info.randomNum) = (word(7), word(64));
        Draw { info, result, _counter: counter }
    }

    /// 64 numbers of 32 bits between 10 and 20.
    fn small() -> Draw {
        Draw::of(ACL_INT32, 4, 10, 20)
    }

    fn on(&self, stream: aclrtStream) -> i32 {
        acl!(aclrtRandomNumAsync(&self.info, stream, null_mut()))
    }

    /// Whether the numbers of [`Draw::small`] are there.
    fn drawn(&self) -> bool {
        let bytes = self.result.get();
        let mut numbers = bytes[..256].chunks_exact(4).map(|four| i32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        numbers.all(|number| (10..20).contains(&number)) && bytes[256..].iter().all(|byte| *byte == 0)
    }
}

fn random(r: &mut Rows) {
    r.row("aclrtRandomNumAsync#01", |_| acl!(aclrtRandomNumAsync(null(), null_mut(), null_mut())));
    r.row("aclrtRandomNumAsync#02", |_| {
        [ACL_STRING, 999, -5].map(|data| Draw::of(data, 4, 0, 1).on(null_mut()))
    });
    r.decided("aclrtRandomNumAsync#03", |_| {
        for (data, size, low, high) in [
            (ACL_INT32, 4, 1, 9),
            (ACL_INT64, 8, 1, 9),
            (ACL_UINT32, 4, 1, 9),
            (ACL_UINT64, 8, 1, 9),
            (ACL_BF16, 2, 0x3f80, 0x4100),
            (ACL_FLOAT16, 2, 0x3c00, 0x4800),
            (ACL_FLOAT, 4, 0x3f80_0000, 0x4100_0000),
        ] {
            let draw = Draw::of(data, size, low, high);
            assert_eq!(draw.on(null_mut()), 0, "type {data}");
            ok!(aclrtSynchronizeStream(null_mut()));
            let bytes = draw.result.get();
            let (filled, rest) = bytes.split_at(64 * usize::from(size));
            // No element is 0, and nothing comes behind the last one.
            assert!(filled.chunks_exact(size.into()).all(|number| number.iter().any(|byte| *byte != 0)), "type {data}");
            assert!(rest.iter().all(|byte| *byte == 0), "type {data}");
        }
        [ACL_INT8, ACL_DOUBLE, ACL_UINT8].map(|data| Draw::of(data, 1, 0, 1).on(null_mut()))
    });
    r.row("aclrtRandomNumAsync#04", |_| acl!(aclrtRandomNumAsync(&Draw::small().info, null_mut(), at(1))));
    r.row("aclrtRandomNumAsync#05", |_| {
        let (draw, stream) = (Draw::small(), Stream::new());
        let gate = held(stream.h());
        assert_eq!(draw.on(stream.h()), 0);
        assert_eq!(draw.result.get(), [0; 64 * 8], "written before its turn");
        gate.open();
        stream.wait();
        assert!(draw.drawn());
    });
    r.row("aclrtRandomNumAsync#06", |_| {
        let draw = Draw::small();
        assert_eq!(draw.on(null_mut()), 0);
        ok!(aclrtSynchronizeStream(get!(null_mut(), aclrtCtxGetCurrentDefaultStream())));
        assert!(draw.drawn());
    });
    r.row("aclrtRandomNumAsync#07", |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        Draw::small().on(stream.h())
    });
    r.row("aclrtRandomNumAsync#08", |_| {
        let draw = Draw::small();
        bare(|| draw.on(null_mut()))
    });
    r.row("aclrtRandomNumAsync#09", |_| {
        let draw = Draw::small();
        on_no_streams(|stream| draw.on(stream))
    });
}
