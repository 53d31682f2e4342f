//! The only file that names `std::sync`, `parking_lot` or `loom`: everything else imports from here.
//!
//! Under `cfg(loom)` the small protocols of [`crate::queue`] are built over loom's types and explored by the models
//! in `queue/loom.rs`; everything else of the crate is left out.

#[cfg_attr(loom, allow(dead_code))]
mod short;

#[cfg(loom)]
pub use model::*;
#[cfg(not(loom))]
pub use real::*;

/// The real primitives under every configuration, loom's too: for signal handlers, statics and tables that no loom
/// model steps through.
pub mod plain {
    pub use super::short::{ShortGuard, ShortMutex};
    pub use parking_lot::Mutex;
    pub use std::sync::OnceLock;
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// The places where a sequentially consistent fence is needed. A model can leave one out, to show that it would see
/// its absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// After a stream was listed, before the counts of idle workers are read.
    Enqueue,
    /// After a worker counted itself idle, before it looks at the lists.
    Park,
    /// After a position was published, before the lowest awaited position is read.
    Publish,
    /// After a waiter was registered, before the published position is read.
    Wait,
    /// After a stream was marked WAITING, before the abort flag is read; and the other way round in abort.
    Abort,
    /// Not a fence: a pop clears the listed flag before it tries to claim the stream. Planted: after.
    Unlist,
    /// Not a fence: the waker of a host thread holds the waiter lock over the wake. Planted: the sleeper leaves
    /// without taking it.
    Leave,
}

#[cfg(not(loom))]
mod real {
    pub use super::short::ShortMutex;
    pub use parking_lot::{Condvar, Mutex};
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    };
    pub use std::sync::{Arc, Weak};
    use std::time::Duration;

    /// A sequentially consistent fence at a named place.
    #[inline(always)]
    pub fn full_fence(_place: super::Place) {
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    /// Whether a model planted a fault at a place: never in a real build.
    #[inline(always)]
    pub fn planted(_place: super::Place) -> bool {
        false
    }

    /// Tells the processor that this is a spin.
    #[inline(always)]
    pub fn spin_loop() {
        std::hint::spin_loop();
    }

    /// Lets another thread run.
    #[inline]
    pub fn yield_now() {
        // SAFETY: sched_yield takes no argument and touches no memory of ours.
        unsafe { libc::sched_yield() };
    }

    /// Something that others reach by pointer: a model sees a use after its end. Here it is nothing.
    #[derive(Default)]
    pub struct Alive;

    impl Alive {
        /// It is being used.
        #[inline(always)]
        pub fn used(&self) {}
        /// Its end.
        #[inline(always)]
        pub fn end(&self) {}
    }

    /// A word that threads sleep on.
    #[derive(Default)]
    pub struct Futex {
        /// The word; its meaning is the user's.
        pub word: AtomicU32,
    }

    impl Futex {
        /// Sleeps while the word is `expected`, at most for `limit`. May return early for no reason.
        pub fn wait(&self, expected: u32, limit: Option<Duration>) {
            let span = limit.map(|d| libc::timespec {
                tv_sec: libc::time_t::try_from(d.as_secs()).unwrap_or(libc::time_t::MAX),
                tv_nsec: libc::c_long::from(d.subsec_nanos() as i32),
            });
            let span = span.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
            // SAFETY: the word lives as long as `self`, the time span (or null) until the call returns.
            unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), op, expected, span) };
        }

        /// Wakes one thread that sleeps here.
        pub fn wake_one(&self) {
            let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
            // SAFETY: FUTEX_WAKE only takes the address as a key.
            unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), op, 1) };
        }
    }
}

#[cfg(loom)]
mod model {
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    use std::cell::Cell;
    use std::time::Duration;

    thread_local! {
        // loom runs all threads of a model on the thread that called it.
        static PLANTED: Cell<Option<super::Place>> = const { Cell::new(None) };
    }

    /// Plants a fault in the models that this thread runs from now on.
    pub fn plant(place: Option<super::Place>) {
        PLANTED.with(|p| p.set(place));
    }

    /// Whether a fault is planted here.
    pub fn planted(place: super::Place) -> bool {
        PLANTED.with(Cell::get) == Some(place)
    }

    /// A sequentially consistent fence, unless it is the planted fault.
    pub fn full_fence(place: super::Place) {
        if !planted(place) {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }
    }

    /// Tells loom that another thread must run.
    pub fn spin_loop() {
        loom::thread::yield_now();
    }

    /// Tells loom that another thread must run.
    pub fn yield_now() {
        loom::thread::yield_now();
    }

    /// parking_lot's shape over loom's mutex.
    #[derive(Default)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// A new lock.
        pub fn new(value: T) -> Self {
            Mutex(loom::sync::Mutex::new(value))
        }
        /// Locks; a poisoned lock is as good as any, since a panic ends the model.
        pub fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            match self.0.lock() {
                Ok(guard) => guard,
                Err(poisoned) => poisoned.into_inner(),
            }
        }
    }

    /// Locks are alike to a model.
    pub type ShortMutex<T> = Mutex<T>;

    /// Something that others reach by pointer: a use that is not ordered before its end fails the model.
    #[derive(Default)]
    pub struct Alive(loom::cell::UnsafeCell<()>);

    impl Alive {
        /// It is being used.
        pub fn used(&self) {
            self.0.with(|_| ());
        }
        /// Its end.
        pub fn end(&self) {
            self.0.with_mut(|_| ());
        }
    }

    /// A word that threads sleep on; never wakes by itself.
    #[derive(Default)]
    pub struct Futex {
        /// The word; its meaning is the user's.
        pub word: AtomicU32,
        lock: loom::sync::Mutex<()>,
        bell: loom::sync::Condvar,
    }

    impl Futex {
        /// Sleeps while the word is `expected`. Time does not pass in a model: the limit is ignored.
        pub fn wait(&self, expected: u32, _limit: Option<Duration>) {
            if let Ok(guard) = self.lock.lock()
                && self.word.load(Ordering::Relaxed) == expected
            {
                drop(self.bell.wait(guard));
            }
        }
        /// Wakes one thread that sleeps here.
        pub fn wake_one(&self) {
            drop(self.lock.lock());
            self.bell.notify_one();
        }
    }
}
