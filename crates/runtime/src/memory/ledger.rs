//! How much of each device's memory is in use, in whole pages, and for which module.

use toprope_engine::memory::Page;
use toprope_engine::sync::plain::ShortMutex;

use super::tag;
use crate::process::Runtime;

/// One 1 GiB page, in bytes.
const GIANT: u64 = 1 << 30;

/// Size of a page kind in bytes.
pub fn page_size(rt: &Runtime, page: Page) -> u64 {
    match page {
        Page::Normal => rt.profile.product.page_normal,
        Page::Huge => rt.profile.product.page_huge,
        Page::Giant => GIANT,
    }
}

/// Bytes of whole pages that hold `usable` bytes (aclrtMemMallocPolicy#03).
pub fn pages(rt: &Runtime, page: Page, usable: usize) -> u64 {
    let (bytes, page) = (usable as u64, page_size(rt, page));
    let rest = bytes & page.wrapping_sub(1);
    match page.is_power_of_two() {
        true if rest == 0 => bytes,
        // Without a division.
        true => (bytes - rest).saturating_add(page),
        false => bytes.checked_next_multiple_of(page).unwrap_or(u64::MAX),
    }
}

/// The accounts of all devices.
pub struct Ledger(Box<[ShortMutex<Account>]>);

struct Account {
    total: u64,
    used: u64,
    modules: Vec<Module>,
}

/// What one module uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its id; 0: memory for which no module was named.
    pub id: u16,
    /// Bytes in use.
    pub now: u64,
    /// Most bytes that were ever in use.
    pub peak: u64,
}

impl Ledger {
    /// Accounts for `devices` devices of `total` bytes each.
    pub fn new(devices: u16, total: u64) -> Ledger {
        Ledger(
            (0..devices).map(|_| ShortMutex::new(Account { total, used: 0, modules: Vec::new() })).collect(),
        )
    }

    /// Books `bytes`; the error is what is free when that is less. The module is in the low bits of `mark`, a block's tag.
    pub fn take(&self, device: u16, bytes: u64, mark: u64) -> Result<(), u64> {
        let Some(account) = self.0.get(usize::from(device)) else { return Err(0) };
        let mut account = account.lock();
        let free = account.total - account.used;
        if bytes > free {
            return Err(free);
        }
        account.used += bytes;
        let id = (mark & tag::MODULE) as u16;
        match account.modules.iter_mut().find(|module| module.id == id) {
            Some(module) => {
                module.now += bytes;
                module.peak = module.peak.max(module.now);
            }
            None => account.modules.push(Module { id, now: bytes, peak: bytes }),
        }
        Ok(())
    }

    /// Books `bytes` back.
    pub fn give(&self, device: u16, bytes: u64, mark: u64) {
        let Some(account) = self.0.get(usize::from(device)) else { return };
        let mut account = account.lock();
        account.used = account.used.saturating_sub(bytes);
        let id = (mark & tag::MODULE) as u16;
        if let Some(module) = account.modules.iter_mut().find(|module| module.id == id) {
            module.now = module.now.saturating_sub(bytes);
        }
    }

    /// (free, total) bytes of a device.
    pub fn balance(&self, device: u16) -> (u64, u64) {
        self.0.get(usize::from(device)).map_or((0, 0), |account| {
            let account = account.lock();
            (account.total - account.used, account.total)
        })
    }

    /// Use by module, most bytes in use first.
    pub fn modules(&self, device: u16) -> Vec<Module> {
        let mut modules =
            self.0.get(usize::from(device)).map_or(Vec::new(), |account| account.lock().modules.clone());
        modules.sort_by_key(|module| (std::cmp::Reverse(module.now), module.id));
        modules
    }
}
