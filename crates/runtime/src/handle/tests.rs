use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

struct Counted(Arc<AtomicUsize>);
impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_handle_is_no_address() {
    let table = Table::new(Kind::Stream);
    let handle = table.insert(1);
    assert_eq!(handle >> 63, 0);
    assert_ne!(handle >> 57, 0);
    assert_eq!(Kind::of(handle), Some(Kind::Stream));
}

#[test]
fn stale_foreign_and_invented_handles_find_nothing() {
    let table = Table::new(Kind::Stream);
    let other = Table::new(Kind::Event);
    let first = table.insert(1);
    assert_eq!(*table.pin(first).unwrap(), 1);
    assert!(table.remove(first).is_some());
    assert!(table.pin(first).is_none());
    assert!(table.remove(first).is_none());
    let second = table.insert(2);
    assert_ne!(first, second);
    assert_eq!(first as u32, second as u32, "the slot is used again");
    assert!(table.pin(first).is_none());
    let foreign = other.insert(3);
    for bad in [0, 1, u64::MAX, u64::MAX >> 1, foreign, second ^ 1 << 40, second | 0xffff_ffff] {
        assert!(table.pin(bad).is_none(), "{bad:#x}");
        assert!(!table.contains(bad));
    }
}

#[test]
fn the_value_goes_with_the_last_pin() {
    let drops = Arc::new(AtomicUsize::new(0));
    let table = Table::new(Kind::Event);
    let handle = table.insert(Counted(drops.clone()));
    let pin = table.pin(handle).unwrap();
    let more = pin.clone();
    drop(table.remove(handle).unwrap());
    drop(pin);
    assert_eq!(drops.load(Ordering::SeqCst), 0);
    drop(more);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn many_objects_keep_their_handles() {
    let table = Table::new(Kind::Event);
    let handles: Vec<u64> = (0..1000).map(|n| table.insert(n)).collect();
    assert_eq!(table.len(), 1000);
    for (n, handle) in handles.iter().enumerate() {
        assert_eq!(*table.pin(*handle).unwrap(), n);
    }
    assert_eq!(table.all().len(), 1000);
    for handle in handles {
        table.remove(handle);
    }
    assert!(table.is_empty());
}

#[test]
fn threads_that_pin_and_destroy_drop_each_value_once() {
    let drops = Arc::new(AtomicUsize::new(0));
    let table: Table<Counted> = Table::new(Kind::Event);
    let shared = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    if let Some(pin) = table.pin(shared.load(Ordering::Relaxed)) {
                        let _again = pin.clone();
                        table.remove(pin.handle());
                    }
                    shared.store(table.insert(Counted(drops.clone())), Ordering::Relaxed);
                }
            });
        }
    });
    let live = table.len();
    assert_eq!(drops.load(Ordering::SeqCst) + live, 6000);
    drop(table);
    assert_eq!(drops.load(Ordering::SeqCst), 6000);
}
