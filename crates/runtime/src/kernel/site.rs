//! A kernel on a device: what all its launches there share.
//!
//! A binary makes one for each kernel and instance when it is first launched, and says when the instance ends. Launches hold it, and
//! with it code and variables, until they are done. Each thread remembers the last few that it launched by the address of a host
//! function: tables, binary and handle need not be looked up again, which is most of the cost of a launch.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use toprope_engine::image::{Core, Image, Instance, Kernel};

use super::attribute;
use crate::process::Runtime;

/// A kernel in an instance of its binary.
pub(crate) struct Site {
    pub image: Arc<Image>,
    /// Its place in the image.
    pub index: usize,
    pub instance: Arc<Instance>,
    pub device: u16,
    /// Where its code begins.
    pub entry: usize,
    /// Where the binary is, and its bytes.
    pub code: (usize, usize),
    /// Its handle.
    pub function: u64,
    /// Its binary's handle.
    pub binary: u64,
    /// Blocks that can run at the same time on the target.
    pub cores: u32,
    /// The instance, or its whole binary, has ended: no new launches.
    ended: AtomicBool,
}

impl Site {
    pub(super) fn new(
        rt: &Runtime,
        (image, index): (&Arc<Image>, usize),
        (instance, device): (&Arc<Instance>, u16),
        (function, binary): (u64, u64),
    ) -> Site {
        let kernel = &image.kernels[index];
        let product = rt.profile.product;
        let vector = attribute::split(rt) && kernel.core == Core::Vector;
        Site {
            image: image.clone(),
            index,
            instance: instance.clone(),
            device,
            entry: instance.base() + kernel.entry,
            code: (instance.base(), image.size()),
            function,
            binary,
            cores: if vector { product.vector_core_num } else { product.ai_core_num },
            ended: AtomicBool::new(false),
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.image.kernels[self.index]
    }

    /// No new launches from now on.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }
}

/// What a thread launched of late, by host function and device. It keeps nothing alive.
#[derive(Default)]
struct Recent {
    host: usize,
    device: u16,
    site: Weak<Site>,
}

/// Host functions remembered by each thread, at a place that their address says.
const KEPT: usize = 8;

thread_local! {
    /// Made by the first launch. Apart: the library's own thread-local memory has to be small (`cargo xtask abi`).
    static RECENT: RefCell<Option<Box<[Recent; KEPT]>>> = const { RefCell::new(None) };
}

fn place(host: usize) -> usize {
    // Functions begin at multiples of 16.
    (host >> 4) % KEPT
}

/// The kernel that the calling thread has launched before through the host function at `host` on this device, unless that has ended.
pub(super) fn recent(host: usize, device: u16) -> Option<Arc<Site>> {
    // Not in a thread that is about to end; then it is looked up.
    let site = RECENT.try_with(|recent| {
        let recent = recent.borrow();
        let recent = &recent.as_ref()?[place(host)];
        if recent.host == host && recent.device == device { recent.site.upgrade() } else { None }
    });
    site.ok().flatten().filter(|site| !site.ended.load(Ordering::Acquire))
}

/// Remembers it.
pub(super) fn remember(host: usize, site: &Arc<Site>) {
    let entry = Recent { host, device: site.device, site: Arc::downgrade(site) };
    let _gone = RECENT.try_with(|recent| recent.borrow_mut().get_or_insert_default()[place(host)] = entry);
}
