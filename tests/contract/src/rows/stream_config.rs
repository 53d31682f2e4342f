//! Chapters 24 and 25-03: streams from a configuration, and threads that serve host functions.

use super::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A configuration, destroyed at the end.
struct Config(*mut aclrtStreamConfigHandle);

impl Config {
    fn new() -> Config {
        let config = acl!(aclrtCreateStreamConfigHandle());
        assert!(!config.is_null());
        Config(config)
    }

    fn set(&self, attribute: aclrtStreamConfigAttr, value: u64, size: usize) -> i32 {
        acl!(aclrtSetStreamConfigOpt(self.0, attribute, (&raw const value).cast(), size))
    }

    /// Work memory, its size, flags, priority: the structure is public.
    fn values(&self) -> (usize, usize, usize, u32) {
        let config = unsafe { &*self.0 };
        (config.workptr as usize, config.workSize, config.flag, config.priority)
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        acl!(aclrtDestroyStreamConfigHandle(self.0));
    }
}

pub fn rows(r: &mut Rows) {
    streams(r);
    options(r);
    subscriptions(r);
    process(r);
}

fn streams(r: &mut Rows) {
    r.row("aclrtCreateStreamV2#01", |_| acl!(aclrtCreateStreamV2(null_mut(), Config::new().0)));
    r.row("aclrtCreateStreamV2#02", |_| {
        let mut stream = null_mut();
        let code = acl!(aclrtCreateStreamV2(&mut stream, null()));
        Stream::own(stream).wait();
        code
    });
    r.row("aclrtCreateStreamV2#03", |_| {
        let config = Config::new();
        same("priority", config.set(ACL_RT_STREAM_PRIORITY, 3, 4), 0);
        same("flag", config.set(ACL_RT_STREAM_FLAG, 0, 8), 0);
        let mut stream = null_mut();
        let code = acl!(aclrtCreateStreamV2(&mut stream, config.0));
        ok!(aclrtSynchronizeStream(stream));
        ok!(aclrtDestroyStream(stream));
        ok!(aclrtDestroyStreamConfigHandle(config.0));
        // It is gone.
        code!(ACL_ERROR_INVALID_PARAM, aclrtDestroyStreamConfigHandle(config.0));
        code!(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamV2(&mut stream, config.0));
        code
    });
    r.hardware("aclrtCreateStreamConfigHandle#01", "the host's memory would have to be used up");
    r.row("aclrtCreateStreamConfigHandle#02", |_| {
        let used = Config::new();
        same("priority", used.set(ACL_RT_STREAM_PRIORITY, 7, 4), 0);
        drop(used);
        assert_eq!(Config::new().values(), (0, 0, 0, 0));
    });
    r.row("aclrtDestroyStreamConfigHandle#01", |_| acl!(aclrtDestroyStreamConfigHandle(null_mut())));
}

fn options(r: &mut Rows) {
    r.row("aclrtSetStreamConfigOpt#01", |_| {
        let value = 0_u32;
        acl!(aclrtSetStreamConfigOpt(null_mut(), ACL_RT_STREAM_PRIORITY, (&raw const value).cast(), 4))
    });
    r.row("aclrtSetStreamConfigOpt#02", |_| {
        acl!(aclrtSetStreamConfigOpt(Config::new().0, ACL_RT_STREAM_PRIORITY, null(), 4))
    });
    r.row("aclrtSetStreamConfigOpt#03", |_| {
        let config = Config::new();
        let codes = [4, 5, u32::MAX].map(|attribute| config.set(attribute, 1, 8));
        assert_eq!(config.values(), (0, 0, 0, 0));
        codes
    });
    r.row("aclrtSetStreamConfigOpt#04", |_| {
        let config = Config::new();
        let mut codes = Vec::new();
        for (attribute, size) in [
            (ACL_RT_STREAM_PRIORITY, 4),
            (ACL_RT_STREAM_FLAG, 8),
            (ACL_RT_STREAM_WORK_SIZE, 8),
            (ACL_RT_STREAM_WORK_ADDR_PTR, 8),
        ] {
            let wrong = [0, 1, 4, 8, 16].into_iter().filter(|other| *other != size);
            codes.extend(wrong.map(|size| config.set(attribute, 5, size)));
        }
        assert_eq!(config.values(), (0, 0, 0, 0), "nothing was set");
        same("priority", config.set(ACL_RT_STREAM_PRIORITY, 5, 4), 0);
        same("flag", config.set(ACL_RT_STREAM_FLAG, 1, 8), 0);
        same("size", config.set(ACL_RT_STREAM_WORK_SIZE, 4096, 8), 0);
        assert_eq!(config.values(), (0, 4096, 1, 5));
        codes
    });
    r.row("aclrtSetStreamConfigOpt#05", |_| {
        let config = Config::new();
        assert_eq!(config.values().3, 0, "the default");
        for priority in 0..=7 {
            same("a priority", config.set(ACL_RT_STREAM_PRIORITY, priority, 4), 0);
            assert_eq!(u64::from(config.values().3), priority);
        }
        [8, 100, u64::from(u32::MAX)].map(|priority| config.set(ACL_RT_STREAM_PRIORITY, priority, 4))
    });
    r.row("aclrtSetStreamConfigOpt#06", |_| {
        let (config, memory) = (Config::new(), device(64));
        let pointer = memory.p();
        let set = acl!(aclrtSetStreamConfigOpt(
            config.0,
            ACL_RT_STREAM_WORK_ADDR_PTR,
            (&raw const pointer).cast(),
            8
        ));
        assert_eq!(config.values().0, pointer as usize);
        set
    });
}

fn subscribe(thread: u64, stream: &Stream) -> i32 {
    acl!(aclrtSubscribeHostFunc(thread, stream.h()))
}

fn unsubscribe(thread: u64, stream: &Stream) -> i32 {
    acl!(aclrtUnSubscribeHostFunc(thread, stream.h()))
}

fn subscriptions(r: &mut Rows) {
    r.decided("aclrtSubscribeHostFunc#01", |_| acl!(aclrtSubscribeHostFunc(this_thread(), null_mut())));
    r.decided("aclrtUnSubscribeHostFunc#01", |_| acl!(aclrtUnSubscribeHostFunc(this_thread(), null_mut())));
    r.decided("aclrtSubscribeHostFunc#02", |_| {
        let (stream, me) = (Stream::new(), this_thread());
        same("the first", subscribe(me, &stream), 0);
        let codes = [subscribe(me + 1, &stream), subscribe(me, &stream)];
        // When the first one has left there is room for another.
        same("the first leaves", unsubscribe(me, &stream), 0);
        same("another", subscribe(me + 1, &stream), 0);
        same("it leaves", unsubscribe(me + 1, &stream), 0);
        codes
    });
    r.row("aclrtSubscribeHostFunc#03", |t| {
        let (one, two, me) = (Stream::new(), Stream::new(), this_thread());
        let codes = [subscribe(me, &one), subscribe(me, &two)];
        on_device(t, 1, || {
            let foreign = Stream::new();
            same("another device's", subscribe(me, &foreign), ACL_ERROR_RT_THREAD_SUBSCRIBE);
        });
        same("one leaves", unsubscribe(me, &one), 0);
        same("the other leaves", unsubscribe(me, &two), 0);
        codes
    });
}

fn process(r: &mut Rows) {
    r.decided("aclrtProcessHostFunc#01", |_| {
        let (stream, me) = (Stream::new(), this_thread());
        same("the subscription", subscribe(me, &stream), 0);
        let codes = [0, -2, i32::MIN].map(|timeout| acl!(aclrtProcessHostFunc(timeout)));
        same("its end", unsubscribe(me, &stream), 0);
        codes
    });
    r.row("aclrtProcessHostFunc#02", |_| {
        let (stream, me) = (Stream::new(), this_thread());
        same("the subscription", subscribe(me, &stream), 0);
        // Nothing comes: it waits as long as it is told, or until it has nothing to wait for.
        let start = Instant::now();
        code!(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessHostFunc(30));
        assert!(start.elapsed() >= Duration::from_millis(30));
        same("its end", unsubscribe(me, &stream), 0);
        let (waits, ended, number) = (Flag::new(), Flag::new(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let me = this_thread();
                number.store(me, Ordering::SeqCst);
                waits.set();
                while acl!(aclrtProcessHostFunc(-1)) == ACL_ERROR_RT_THREAD_SUBSCRIBE && !ended.is() {
                    std::thread::yield_now();
                }
            });
            assert!(eventually(|| waits.is()));
            let other = number.load(Ordering::SeqCst);
            same("the subscription", subscribe(other, &stream), 0);
            std::thread::sleep(Duration::from_millis(50));
            ended.set();
            same("its end", unsubscribe(other, &stream), 0);
        });
    });
}
