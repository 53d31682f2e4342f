//! A lock for some tens of nanoseconds at a time. Taking it is one locked instruction and giving it back is a plain store, where a lock that
//! wakes its waiters needs a second locked instruction to look for them: those are most of what a call of the runtime costs.
//!
//! Who finds it held looks again for a while, then lets others run, then sleeps for moments, so that a holder of lower priority gets on.

use super::plain::{AtomicBool, Ordering};
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// The lock.
#[derive(Default)]
pub struct ShortMutex<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by one thread at a time.
unsafe impl<T: Send> Sync for ShortMutex<T> {}

impl<T> ShortMutex<T> {
    /// A free lock.
    pub const fn new(value: T) -> ShortMutex<T> {
        ShortMutex { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Takes it.
    #[inline]
    pub fn lock(&self) -> ShortGuard<'_, T> {
        if self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
        ShortGuard { lock: self }
    }

    #[cold]
    fn wait(&self) {
        let mut yields = 0_u32;
        loop {
            for _ in 0..64 {
                if !self.held.load(Ordering::Relaxed)
                    && self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
                {
                    return;
                }
                std::hint::spin_loop();
            }
            if yields < 200 {
                yields += 1;
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
    }

    /// The value, for who has the lock to itself.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for ShortMutex<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.lock().fmt(f)
    }
}

/// The held lock.
pub struct ShortGuard<'a, T> {
    lock: &'a ShortMutex<T>,
}

// SAFETY: a guard shared is the value shared; it is given back by the thread that took it.
unsafe impl<T: Sync> Sync for ShortGuard<'_, T> {}

impl<T> Deref for ShortGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for ShortGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for ShortGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.held.store(false, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::ShortMutex;

    #[test]
    fn one_at_a_time() {
        let lock = ShortMutex::new((0_u64, 0_u64));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for i in 0..5_000 {
                        let mut pair = lock.lock();
                        pair.0 += 1;
                        if i % 1000 == 0 {
                            std::thread::yield_now();
                        }
                        pair.1 += 1;
                        assert_eq!(pair.0, pair.1);
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), (20_000, 20_000));
    }
}
