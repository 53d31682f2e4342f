//! Launches. The five forms store a number; each rule changes one thing of a good call.

use super::super::prelude::*;

/// What the kernel stores.
const VALUE: i32 = 41;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Plain,
    V2,
    Config,
    Host,
    Array,
}

use Form::{Array, Config, Host, Plain, V2};

/// A call of one of them with all its arguments.
#[derive(Clone, Copy)]
struct Call {
    form: Form,
    func: *mut c_void,
    blocks: u32,
    stream: aclrtStream,
    cfg: *mut aclrtLaunchKernelCfg,
    args: *mut c_void,
    size: usize,
    holders: *mut aclrtPlaceHolderInfo,
    holder_count: usize,
    reserve: *mut c_void,
}

impl Call {
    fn run(self) -> i32 {
        let Call { form, func, blocks, stream, cfg, args, size, holders, holder_count, reserve } = self;
        match form {
            Plain => acl!(aclrtLaunchKernel(func, blocks, args, size, stream)),
            V2 => acl!(aclrtLaunchKernelV2(func, blocks, args, size, cfg, stream)),
            Config => acl!(aclrtLaunchKernelWithConfig(func, blocks, stream, cfg, args, reserve)),
            Host => acl!(aclrtLaunchKernelWithHostArgs(
                func,
                blocks,
                stream,
                cfg,
                args,
                size,
                holders,
                holder_count
            )),
            Array => acl!(aclrtLaunchKernelWithArgsArray(func, blocks, stream, cfg, args.cast())),
        }
    }
}

/// A good call: the kernel writes the value to `to`.
struct Good {
    call: Call,
    to: Memory,
    stream: Stream,
    _args: Memory,
    _parts: Box<(usize, i32)>,
}

impl Good {
    fn new(form: Form) -> Good {
        Good::of(form, kernel("store"))
    }

    fn of(form: Form, func: *mut c_void) -> Good {
        let (to, stream) = (device(4), Stream::new());
        to.put(&[0; 4]);
        let parts = Box::new((to.p() as usize, VALUE));
        let block = [(to.p() as u64).to_le_bytes(), (VALUE as u64).to_le_bytes()].concat();
        let places = [(&raw const parts.0) as u64, (&raw const parts.1) as u64].map(u64::to_le_bytes).concat();
        let memory = match form {
            Plain | V2 => device_with(&block),
            Array => pageable_with(&places),
            _ => pageable_with(&block),
        };
        let args = if form == Config { list(func, &block) } else { memory.p() };
        let (cfg, holders, reserve) = (null_mut(), null_mut(), null_mut());
        let call =
            Call { form, func, blocks: 1, stream: stream.h(), cfg, args, size: 16, holders, holder_count: 0, reserve };
        Good { call, to, stream, _args: memory, _parts: parts }
    }

    /// Runs a changed call; it stores the value if and only if it succeeds.
    fn but(&self, change: impl FnOnce(&mut Call)) -> i32 {
        let mut call = self.call;
        change(&mut call);
        self.to.put(&[0; 4]);
        let code = call.run();
        if has("aclrtSynchronizeDevice") {
            ok!(aclrtSynchronizeDevice());
        } else {
            self.stream.wait();
        }
        assert_eq!(self.to.get() == VALUE.to_le_bytes(), code == 0, "{:?}: stored", call.form);
        code
    }

    fn run(&self) -> i32 {
        self.but(|_| ())
    }
}

/// A list with a pointer and a word.
fn list(func: aclrtFuncHandle, block: &[u8]) -> aclrtArgsHandle {
    let list = get!(null_mut(), aclrtKernelArgsInit(func));
    for (offset, size) in [(0, 8), (8, 4)] {
        let from = block.as_ptr().wrapping_add(offset).cast_mut().cast();
        ok!(aclrtKernelArgsAppend(list, from, size, &mut null_mut()));
    }
    ok!(aclrtKernelArgsFinalize(list));
    list
}

pub fn rows(r: &mut Rows) {
    functions(r);
    streams(r);
    amounts(r);
    configurations(r);
    plain(r);
    lists(r);
    host(r);
    array(r);
}

macro_rules! forms {
    ($r:ident, [$($form:ident $id:literal),*], $check:expr) => {
        $({
            let check = $check;
            $r.row($id, move |t| check($form, t));
        })*
    };
}

fn functions(r: &mut Rows) {
    forms!(
        r,
        [
            Plain "aclrtLaunchKernel#01", V2 "aclrtLaunchKernelV2#01", Config "aclrtLaunchKernelWithConfig#01",
            Host "aclrtLaunchKernelWithHostArgs#01", Array "aclrtLaunchKernelWithArgsArray#01"
        ],
        |form, _: &Test<'_>| Good::new(form).but(|call| call.func = null_mut())
    );
    forms!(
        r,
        [Plain "aclrtLaunchKernel#05", Array "aclrtLaunchKernelWithArgsArray#04"],
        |form, _: &Test<'_>| {
            let good = Good::new(form);
            no_kernels().into_iter().map(|func| good.but(|call| call.func = func)).collect::<Vec<_>>()
        }
    );
    // Stale, and not loaded on the device.
    forms!(
        r,
        [V2 "aclrtLaunchKernelV2#12", Host "aclrtLaunchKernelWithHostArgs#09"],
        |form, t: &Test<'_>| {
            let good = Good::new(form);
            let mut codes: Vec<i32> =
                no_kernels().into_iter().map(|func| good.but(|call| call.func = func)).collect();
            codes.push(elsewhere(form, t));
            codes
        }
    );
    r.row("aclrtLaunchKernelWithConfig#06", |_| {
        let good = Good::new(Config);
        let mut codes: Vec<i32> = no_kernels().into_iter().map(|func| good.but(|call| call.func = func)).collect();
        codes.extend(
            [stale_kernel(), invented()].map(|list| good.but(|call| call.args = list)),
        );
        codes
    });
    forms!(
        r,
        [
            Plain "aclrtLaunchKernel#06", Config "aclrtLaunchKernelWithConfig#11",
            Array "aclrtLaunchKernelWithArgsArray#11"
        ],
        |form, t: &Test<'_>| elsewhere(form, t)
    );
    r.row("aclrtLaunchKernelWithArgsArray#03", |_| {
        let symbol = stub(registered(), "store");
        [Good::of(Array, symbol.cast_mut()).run(), Good::new(Array).run()]
    });
}

/// A kernel that was looked up on device 0, launched on device 1.
fn elsewhere(form: Form, t: &Test<'_>) -> i32 {
    let func = kernel("store");
    on_device(t, 1, || Good::of(form, func).run())
}

fn streams(r: &mut Rows) {
    forms!(
        r,
        [Plain "aclrtLaunchKernel#07", V2 "aclrtLaunchKernelV2#13"],
        |form, _: &Test<'_>| {
            let good = Good::new(form);
            on_no_streams(|stream| good.but(|call| call.stream = stream))
        }
    );
    forms!(
        r,
        [
            Plain "aclrtLaunchKernel#09", V2 "aclrtLaunchKernelV2#14", Config "aclrtLaunchKernelWithConfig#12",
            Host "aclrtLaunchKernelWithHostArgs#10", Array "aclrtLaunchKernelWithArgsArray#12"
        ],
        |form, _: &Test<'_>| {
            let (context, good) = (Context::new(0), Good::new(form));
            let stream = context.enter(Stream::new);
            good.but(|call| call.stream = stream.h())
        }
    );
    forms!(
        r,
        [
            Plain "aclrtLaunchKernel#10", V2 "aclrtLaunchKernelV2#15", Config "aclrtLaunchKernelWithConfig#13",
            Host "aclrtLaunchKernelWithHostArgs#11", Array "aclrtLaunchKernelWithArgsArray#05"
        ],
        |form, _: &Test<'_>| {
            let good = Good::new(form);
            bare(|| Call { stream: null_mut(), ..good.call }.run())
        }
    );
    let default = |form: Form, _: &Test<'_>| Good::new(form).but(|call| call.stream = null_mut());
    r.row("aclrtLaunchKernel#08", move |t| default(Plain, t)).only(|target| target.product.has("default_stream"));
    r.row("aclrtLaunchKernelWithConfig#14", move |t| default(Config, t))
        .only(|target| target.product.has("default_stream"));
    // The call does not wait for what is before it.
    forms!(
        r,
        [
            Plain "aclrtLaunchKernel#14", V2 "aclrtLaunchKernelV2#18", Array "aclrtLaunchKernelWithArgsArray#13"
        ],
        |form, _: &Test<'_>| {
            let good = Good::new(form);
            let code = at_once(good.stream.h(), || good.call.run());
            assert_eq!(good.to.get(), VALUE.to_le_bytes());
            code
        }
    );
}

fn amounts(r: &mut Rows) {
    forms!(
        r,
        [
            Plain "aclrtLaunchKernel#03", V2 "aclrtLaunchKernelV2#04", Config "aclrtLaunchKernelWithConfig#02",
            Host "aclrtLaunchKernelWithHostArgs#04", Array "aclrtLaunchKernelWithArgsArray#02"
        ],
        |form, _: &Test<'_>| Good::new(form).but(|call| call.blocks = 0)
    );
    forms!(
        r,
        [Plain "aclrtLaunchKernel#04", Host "aclrtLaunchKernelWithHostArgs#03"],
        |form, _: &Test<'_>| Good::new(form).but(|call| call.size = 0)
    );
    r.row("aclrtLaunchKernelV2#03", |_| {
        // Before numBlocks, as the message tells.
        let code = Good::new(V2).but(|call| (call.size, call.blocks) = (0, 0));
        let text = message();
        assert!(text.is_empty() || text.contains("argsSize"), "{text}");
        code
    });
    forms!(
        r,
        [
            Plain "aclrtLaunchKernel#02", V2 "aclrtLaunchKernelV2#02", Config "aclrtLaunchKernelWithConfig#03",
            Host "aclrtLaunchKernelWithHostArgs#02", Array "aclrtLaunchKernelWithArgsArray#08"
        ],
        |form, _: &Test<'_>| Good::new(form).but(|call| call.args = null_mut())
    );
}

fn attribute(id: u32, word: u32) -> aclrtLaunchKernelAttr {
    aclrtLaunchKernelAttr { id, value: aclrtLaunchKernelAttrValue { rsv: [word, 0, 0, 0] } }
}

/// With these attributes.
fn with(form: Form, attributes: &mut [aclrtLaunchKernelAttr]) -> i32 {
    let mut cfg = aclrtLaunchKernelCfg { attrs: attributes.as_mut_ptr(), numAttrs: attributes.len() };
    Good::new(form).but(|call| call.cfg = &mut cfg)
}

fn without_attributes(form: Form) -> i32 {
    let mut cfg = aclrtLaunchKernelCfg { attrs: null_mut(), numAttrs: 1 };
    Good::new(form).but(|call| call.cfg = &mut cfg)
}

const TIMEOUT: u32 = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
const TIMEOUT_US: u32 = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;

fn configurations(r: &mut Rows) {
    r.row("aclrtLaunchKernelV2#05", |_| Good::new(V2).run());
    r.row("aclrtLaunchKernelV2#06", |_| without_attributes(V2));
    r.row("aclrtLaunchKernelV2#07", |_| [0, 10, u32::MAX].map(|id| with(V2, &mut [attribute(id, 0)])));
    for (id, form) in [("aclrtLaunchKernelWithConfig#10", Config), ("aclrtLaunchKernelWithHostArgs#08", Host)] {
        r.row(id, move |_| [without_attributes(form), with(form, &mut [attribute(10, 0)])]);
    }
    r.row("aclrtLaunchKernelV2#08", |_| {
        [
            with(V2, &mut [attribute(TIMEOUT, 9), attribute(TIMEOUT_US, 9)]),
            with(V2, &mut [attribute(TIMEOUT_US, 9), attribute(TIMEOUT, 9)]),
        ]
    });
    r.row("aclrtLaunchKernelV2#09", |_| {
        let mode = |mode| with(V2, &mut [attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, mode)]);
        assert_eq!([mode(0), mode(1)], [0; 2]);
        [mode(2), mode(255)]
    });
    r.row("aclrtLaunchKernelV2#10", |_| {
        let switches = [
            ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH,
            ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP,
            ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING,
        ];
        for id in switches {
            assert_eq!([0, 1].map(|on| with(V2, &mut [attribute(id, on)])), [0; 2]);
        }
        switches.map(|id| with(V2, &mut [attribute(id, 2)]))
    });
    r.hardware("aclrtLaunchKernelV2#11", "no device binary of toprope has kernels for both kinds of cores of that series");
    r.row("aclrtLaunchKernelV2#16", |_| {
        // Never, for a kernel that is held up; and a limit in microseconds and in seconds.
        let (stream, word, busy) = (Stream::new(), device_with(&[0; 4]), kernel("wait"));
        let args = device_with(&(word.p() as u64).to_le_bytes());
        let launch = |id, value| {
            let mut attribute = attribute(id, value);
            let mut cfg = aclrtLaunchKernelCfg { attrs: &mut attribute, numAttrs: 1 };
            ok!(aclrtLaunchKernelV2(busy, 1, args.p(), 8, &mut cfg, stream.h()));
        };
        for (id, value) in [(TIMEOUT, 1), (TIMEOUT_US, 1000)] {
            launch(id, value);
            code!(ACL_ERROR_RT_AICORE_TIMEOUT, aclrtSynchronizeStream(stream.h()));
        }
        for id in [TIMEOUT, TIMEOUT_US] {
            word.put(&[0; 4]);
            launch(id, 0);
            let late = acl!(aclrtSynchronizeStreamWithTimeout(stream.h(), 20));
            assert_eq!(late, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
            // Those that were left behind end as well.
            word.put(&[1; 4]);
            stream.wait();
        }
    });
    r.row("aclrtLaunchKernelV2#17", |_| with(V2, &mut [attribute(ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE, 1024)]));
}

fn plain(r: &mut Rows) {
    r.row("aclrtLaunchKernel#11", |_| {
        let (good, stale) = (Good::new(Plain), stale_stream());
        let but = |change: fn(&mut Call, aclrtStream)| good.but(|call| change(call, stale));
        assert_eq!(but(|c, _| (c.func, c.args) = (null_mut(), null_mut())), ACL_ERROR_INVALID_PARAM);
        assert_eq!(but(|c, _| (c.func, c.args) = (invented(), null_mut())), ACL_ERROR_INVALID_PARAM);
        assert_eq!(but(|c, _| (c.func, c.blocks) = (invented(), 0)), ACL_ERROR_RT_INVALID_HANDLE);
        assert_eq!(but(|c, stale| (c.stream, c.blocks) = (stale, 0)), ACL_ERROR_RT_INVALID_HANDLE);
        assert_eq!(but(|c, _| (c.blocks, c.size) = (0, 0)), ACL_ERROR_RT_PARAM_INVALID);
        let call = Call { blocks: 0, stream: null_mut(), ..good.call };
        assert_eq!(bare(|| call.run()), ACL_ERROR_RT_PARAM_INVALID);
    });
    r.row("aclrtLaunchKernel#12", |_| {
        let (good, to) = (Good::new(Plain), device_with(&[0; 4]));
        let busy = Busy::new(good.stream.h());
        let code = good.call.run();
        // Another place and another number, before the kernel runs.
        let block = [(to.p() as u64).to_le_bytes(), 7u64.to_le_bytes()].concat();
        good._args.put(&block);
        drop(busy);
        good.stream.wait();
        assert_eq!((good.to.get(), to.get()), (vec![0; 4], vec![7, 0, 0, 0]));
        code
    });
    r.row("aclrtLaunchKernel#13", |_| Good::new(Plain).but(|call| call.size = (1 << 32) + 16));
}

fn lists(r: &mut Rows) {
    r.row("aclrtLaunchKernelWithConfig#04", |_| Good::new(Config).but(|call| call.reserve = at(8)));
    r.row("aclrtLaunchKernelWithConfig#05", |_| {
        let good = Good::new(Config);
        let mut codes = Vec::new();
        let mut wrong = |name: &str, change: fn(&mut Call)| {
            codes.push(good.but(change));
            let text = message();
            assert!(text.is_empty() || text.contains(&format!("{name}: ")), "{name}: {text}");
        };
        wrong("funcHandle", |c| {
            (c.func, c.blocks, c.args, c.reserve) = (null_mut(), 0, null_mut(), at(8));
        });
        wrong("numBlocks", |c| (c.blocks, c.args, c.reserve) = (0, null_mut(), at(8)));
        wrong("argsHandle", |c| (c.args, c.reserve) = (null_mut(), at(8)));
        wrong("reserve", |c| c.reserve = at(8));
        codes
    });
    r.row("aclrtLaunchKernelWithConfig#07", |_| {
        let good = Good::new(Config);
        let mut value = VALUE;
        let list = get!(null_mut(), aclrtKernelArgsInit(good.call.func));
        let mut to = good.to.p();
        ok!(aclrtKernelArgsAppend(list, (&raw mut to).cast(), 8, &mut null_mut()));
        let param = get!(null_mut(), aclrtKernelArgsAppend(list, (&raw mut value).cast(), 4));
        let launch = || good.but(|call| call.args = list);
        let before = launch();
        ok!(aclrtKernelArgsFinalize(list));
        assert_eq!(launch(), 0);
        ok!(aclrtKernelArgsParaUpdate(list, param, (&raw mut value).cast(), 4));
        [before, launch()]
    });
    r.row("aclrtLaunchKernelWithConfig#08", |_| {
        let good = Good::new(Config);
        let list = get!(null_mut(), aclrtKernelArgsInit(good.call.func));
        ok!(aclrtKernelArgsFinalize(list));
        good.but(|call| call.args = list)
    });
    r.row("aclrtLaunchKernelWithConfig#09", |_| {
        let good = Good::new(Config);
        let list = get!(null_mut(), aclrtKernelArgsInit(good.call.func));
        get!(null_mut(), aclrtKernelArgsAppendPlaceHolder(list));
        ok!(aclrtKernelArgsAppend(list, [0u8; 4].as_mut_ptr().cast(), 4, &mut null_mut()));
        ok!(aclrtKernelArgsFinalize(list));
        good.but(|call| call.args = list)
    });
    r.row("aclrtLaunchKernelWithConfig#15", |_| {
        let good = Good::new(Config);
        let code = at_once(good.stream.h(), || {
            let code = good.call.run();
            // The thread's list, emptied.
            get!(null_mut(), aclrtKernelArgsInit(good.call.func));
            code
        });
        assert_eq!(good.to.get(), VALUE.to_le_bytes());
        code
    });
}

fn host(r: &mut Rows) {
    let holders = |holders: &mut [aclrtPlaceHolderInfo]| {
        Good::new(Host).but(|call| (call.holders, call.holder_count) = (holders.as_mut_ptr(), holders.len()))
    };
    let holder = |address, data| aclrtPlaceHolderInfo { addrOffset: address, dataOffset: data };
    r.row("aclrtLaunchKernelWithHostArgs#05", |_| Good::new(Host).but(|call| call.holder_count = 1));
    r.row("aclrtLaunchKernelWithHostArgs#06", move |_| {
        [(16, 0), (0, 16), (u32::MAX, 0), (0, u32::MAX)].map(|(a, d)| holders(&mut [holder(a, d)]))
    });
    r.row("aclrtLaunchKernelWithHostArgs#07", move |_| {
        // To, from, bytes; the data from byte 24 on.
        let (to, stream) = (device_with(&[0; 8]), Stream::new());
        let mut args =
            [(to.p() as u64).to_le_bytes(), [0; 8], 8u64.to_le_bytes(), *b"the data"].concat();
        let mut holders = [holder(8, 24)];
        let (at, copy) = (args.as_mut_ptr().cast(), kernel("copy"));
        let code = acl!(aclrtLaunchKernelWithHostArgs(
            copy,
            1,
            stream.h(),
            null_mut(),
            at,
            32,
            holders.as_mut_ptr(),
            1
        ));
        stream.wait();
        assert_eq!(to.get(), b"the data");
        code
    });
    r.row("aclrtLaunchKernelWithHostArgs#12", |_| {
        let good = Good::new(Host);
        let code = at_once(good.stream.h(), || {
            let code = good.call.run();
            good._args.put(&[0; 16]);
            code
        });
        assert_eq!(good.to.get(), VALUE.to_le_bytes());
        code
    });
}

fn array(r: &mut Rows) {
    r.hardware("aclrtLaunchKernelWithArgsArray#06", "AI CPU kernels are not built");
    r.hardware("aclrtLaunchKernelWithArgsArray#07", "every device binary has parameter information");
    r.row("aclrtLaunchKernelWithArgsArray#09", |_| {
        let (nothing, stream) = (kernel("nothing"), Stream::new());
        let code = acl!(aclrtLaunchKernelWithArgsArray(nothing, 1, stream.h(), null_mut(), null_mut()));
        stream.wait();
        code
    });
    r.hardware("aclrtLaunchKernelWithArgsArray#10", "undefined behaviour: anything may happen");
}
