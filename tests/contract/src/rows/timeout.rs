//! Chapter 12: time limits of operators. They belong to the process.

use super::prelude::*;
use crate::kit::same as same_code;

pub fn rows(r: &mut Rows) {
    seconds(r);
    microseconds(r);
    overload(r);
    interval(r);
    read(r);
}

/// What counts, in milliseconds.
fn effective_ms() -> u32 {
    get!(0, aclrtGetOpExecuteTimeout())
}

fn interval_us(t: &Test<'_>) -> u64 {
    t.number("op_timeout_interval_us")
}

/// Intervals that a timeout may be made of.
const MOST: u64 = 254;

/// What a timeout in microseconds comes to: whole intervals, rounded up, 254 at most.
fn rounded(t: &Test<'_>, us: u64) -> u64 {
    us.div_ceil(interval_us(t)).min(MOST) * interval_us(t)
}

/// Microseconds as aclrtGetOpExecuteTimeout shows them.
fn as_ms(us: u64) -> u32 {
    us.div_ceil(1000) as u32
}

const NO_KERNEL: &str = "kernels do not run yet that a timeout at launch could be given for";

fn seconds(r: &mut Rows) {
    r.row("aclrtSetOpExecuteTimeOut#01", |t| {
        for seconds in [0, 1, 60] {
            ok!(aclrtSetOpExecuteTimeOut(seconds));
            if t.supports("aclrtGetOpExecuteTimeout") {
                let us = if seconds == 0 {
                    MOST * interval_us(t)
                } else {
                    rounded(t, u64::from(seconds) * 1_000_000)
                };
                assert_eq!(effective_ms(), as_ms(us), "{seconds} s");
            }
        }
    })
    .alone();
    r.row("aclrtSetOpExecuteTimeOut#02", |t| {
        for seconds in [30, 10, 20] {
            ok!(aclrtSetOpExecuteTimeOut(seconds));
        }
        if t.supports("aclrtGetOpExecuteTimeout") {
            bare(|| assert_eq!(effective_ms(), as_ms(rounded(t, 20_000_000))));
        }
    })
    .alone();
    r.hardware("aclrtSetOpExecuteTimeOut#03", NO_KERNEL);
    for (id, ms) in [
        ("aclrtSetOpExecuteTimeOut#04", 1_091_000),
        ("aclrtSetOpExecuteTimeOut#05", 1_091_000),
        ("aclrtSetOpExecuteTimeOut#06", 547_000),
        ("aclrtSetOpExecuteTimeOut#07", 68_000),
    ] {
        r.row(id, move |t| {
            assert_eq!(effective_ms(), ms);
            assert_eq!(t.number("op_timeout_default_ms"), u64::from(ms));
        })
        .alone();
    }
    let most = |t: &Test<'_>| {
        ok!(aclrtSetOpExecuteTimeOut(u32::MAX));
        assert_eq!(effective_ms(), as_ms(MOST * interval_us(t)));
    };
    r.row("aclrtSetOpExecuteTimeOut#08", most).alone();
    for (id, seconds) in [
        ("aclrtSetOpExecuteTimeOut#09", 1091),
        ("aclrtSetOpExecuteTimeOut#10", 547),
        ("aclrtSetOpExecuteTimeOut#11", 2176),
    ] {
        r.row(id, move |t| {
            most(t);
            assert_eq!(effective_ms() / 1000, seconds);
        })
        .alone();
    }
}

type Set = fn(u64, *mut u64) -> i32;

/// Sets, and gives what counts.
fn actual(set: Set, us: u64) -> u64 {
    let mut actual = 77;
    same_code("the timeout", set(us, &mut actual), 0);
    actual
}

fn microseconds(r: &mut Rows) {
    let set: Set = |us, actual| acl!(aclrtSetOpExecuteTimeOutV2(us, actual));
    r.row("aclrtSetOpExecuteTimeOutV2#01", move |_| set(1, null_mut()));
    r.row("aclrtSetOpExecuteTimeOutV2#02", move |t| {
        assert_eq!(actual(set, 0), MOST * interval_us(t));
        assert_eq!(actual(set, 2_000_000), rounded(t, 2_000_000));
    })
    .alone_device();
    let fine = "products.csv gives every product an interval above 100000 us (ours), as its maximum of 1091 s demands";
    r.hardware("aclrtSetOpExecuteTimeOutV2#03", fine);
    r.hardware(
        "aclrtSetOpExecuteTimeOutV2#04",
        "there are no AI CPU operators here whose limit could be seen",
    );
    r.row("aclrtSetOpExecuteTimeOutV2#05", move |t| {
        let us = actual(set, 2_000_000);
        assert_eq!((us, effective_ms()), (rounded(t, 2_000_000), as_ms(us)));
    })
    .alone_device();
    r.row("aclrtSetOpExecuteTimeOutV2#06", move |_| set(1, &mut 0)).bare();
    r.row("aclrtSetOpExecuteTimeOutV2#07", move |_| {
        let mut context = null_mut();
        ok!(aclrtCreateContext(&mut context, 1));
        set(1, &mut 0)
    })
    .bare();
    r.hardware("aclrtSetOpExecuteTimeOutV2#08", NO_KERNEL);
    r.hardware(
        "aclrtSetOpExecuteTimeOutV2#09",
        "there are no AI CPU operators here whose limit could be seen",
    );
    r.row("aclrtSetOpExecuteTimeOutV2#10", move |t| {
        for us in [1, 1_000_000, interval_us(t), interval_us(t) + 1, u64::MAX] {
            assert_eq!(actual(set, us), rounded(t, us), "{us} us");
        }
    })
    .alone_device();
}

fn overload(r: &mut Rows) {
    let set: Set = |us, actual| unsafe { cpp_set_op_execute_timeout(us, actual) };
    let null = move |_: &Test<'_>| {
        same_code("the overload", set(1, null_mut()), ACL_ERROR_INVALID_PARAM);
        calls("aclrtSetOpExecuteTimeOutV2");
    };
    r.row("aclrtSetOpExecuteTimeOut<cpp>#01", null);
    r.row("aclrtSetOpExecuteTimeOut<cpp>#07", move |t| {
        null(t);
        bare(|| same_code("the overload", set(1, &mut 0), ACL_ERROR_RT_CONTEXT_NULL));
    });
    r.row("aclrtSetOpExecuteTimeOut<cpp>#02", |_| header_only("aclrtSetOpExecuteTimeOut"));
    r.row("aclrtSetOpExecuteTimeOut<cpp>#03", move |t| {
        assert_eq!(actual(set, 0), MOST * interval_us(t));
        assert_eq!(actual(set, 3_000_000), rounded(t, 3_000_000));
    })
    .alone_device();
    r.row("aclrtSetOpExecuteTimeOut<cpp>#04", move |t| {
        assert_eq!(actual(set, 1), interval_us(t));
        assert_eq!(effective_ms(), as_ms(interval_us(t)));
    })
    .alone_device();
    r.hardware("aclrtSetOpExecuteTimeOut<cpp>#05", NO_KERNEL);
    r.row("aclrtSetOpExecuteTimeOut<cpp>#06", move |t| {
        // The one argument is seconds, the two are microseconds.
        ok!(aclrtSetOpExecuteTimeOut(10));
        let seconds = effective_ms();
        actual(set, 10_000_000);
        assert_eq!(effective_ms(), seconds);
        assert_eq!(seconds, as_ms(rounded(t, 10_000_000)));
    })
    .alone_device();
}

fn interval(r: &mut Rows) {
    r.row("aclrtGetOpTimeOutInterval#01", |_| acl!(aclrtGetOpTimeOutInterval(null_mut())));
    r.row("aclrtGetOpTimeOutInterval#02", |_| acl!(aclrtGetOpTimeOutInterval(&mut 0))).bare();
    r.row("aclrtGetOpTimeOutInterval#03", |_| {
        let mut context = null_mut();
        ok!(aclrtCreateContext(&mut context, 1));
        acl!(aclrtGetOpTimeOutInterval(&mut 0))
    })
    .bare();
    let known = |t: &Test<'_>| assert_eq!(get!(0, aclrtGetOpTimeOutInterval()), interval_us(t));
    r.row("aclrtGetOpTimeOutInterval#04", known);
    r.row("aclrtGetOpTimeOutInterval#05", |_| {
        let interval = get!(0, aclrtGetOpTimeOutInterval());
        let set: Set = |us, actual| acl!(aclrtSetOpExecuteTimeOutV2(us, actual));
        for (us, wanted) in [(interval / 2, 1), (interval, 1), (interval * 2 - 1, 2), (interval * 300, 254)] {
            assert_eq!(actual(set, us), wanted * interval);
        }
    })
    .alone_device();
    r.row("aclrtGetOpTimeOutInterval#06", known);
}

fn read(r: &mut Rows) {
    r.row("aclrtGetOpExecuteTimeout#01", |_| acl!(aclrtGetOpExecuteTimeout(null_mut())));
    r.row("aclrtGetOpExecuteTimeout#02", |t| {
        assert_eq!(u64::from(effective_ms()), t.number("op_timeout_default_ms"));
        ok!(aclrtSetOpExecuteTimeOut(5));
        assert_eq!(effective_ms(), as_ms(rounded(t, 5_000_000)));
    })
    .alone();
    r.hardware(
        "aclrtGetOpExecuteTimeout#03",
        "products.csv gives every product an interval above 100000 us (ours): no operator is without a limit",
    );
}
