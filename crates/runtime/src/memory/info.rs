//! What memory there is: aclrtGetMemInfo, aclrtGetMemUsageInfo, aclrtCheckMemType; and the cache calls.

use ascendcl_sys as sys;
use toprope_engine::memory::Page;

use super::ledger::{self, Module};
use super::place::{self, Place};
use crate::error::Result;
use crate::generated::api::Api;
use crate::process::Runtime;
use crate::{device, refuse, thread};

/// Kind of memory that an attribute asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chip {
    Ddr,
    Hbm,
    Any,
}

struct Attr {
    chip: Chip,
    page: Option<Page>,
    peer: bool,
}

/// aclrtGetMemInfo#03: what the attributes mean, in the order of the enumeration.
const ATTRS: [Attr; 18] = {
    use Chip::*;
    const fn attr(chip: Chip, page: Option<Page>, peer: bool) -> Attr {
        Attr { chip, page, peer }
    }
    [
        attr(Ddr, None, false),
        attr(Hbm, None, false),
        attr(Ddr, Some(Page::Huge), false),
        attr(Ddr, Some(Page::Normal), false),
        attr(Hbm, Some(Page::Huge), false),
        attr(Hbm, Some(Page::Normal), false),
        attr(Ddr, Some(Page::Huge), true),
        attr(Ddr, Some(Page::Normal), true),
        attr(Hbm, Some(Page::Huge), true),
        attr(Hbm, Some(Page::Normal), true),
        attr(Hbm, Some(Page::Giant), false),
        attr(Hbm, Some(Page::Giant), true),
        attr(Any, Some(Page::Normal), false),
        attr(Any, Some(Page::Huge), false),
        attr(Any, Some(Page::Giant), false),
        attr(Any, Some(Page::Normal), true),
        attr(Any, Some(Page::Huge), true),
        attr(Any, Some(Page::Giant), true),
    ]
};

/// aclrtGetMemInfo: (free, total) bytes of the current device, in whole pages of the attribute's kind. One memory serves all
/// page kinds, so "free" is what one could still get of that kind.
pub fn info(rt: &Runtime, attr: u32) -> Result<(usize, usize)> {
    let asked = sys::enums::aclrtMemAttr.show(attr);
    let Some(attr) = ATTRS.get(attr as usize) else {
        return refuse!(
            sys::ACL_ERROR_RT_INVALID_MEMORY_TYPE,
            "aclrtGetMemInfo#03",
            "attr: {asked}; wanted is 0 to {}",
            ATTRS.len() - 1
        );
    };
    // aclrtGetMemInfo#04
    let device = thread::current_device(rt)?;
    let product = rt.profile.product;
    // aclrtGetMemInfo#05, #06: HBM questions are answered with DDR where there is no HBM, DDR ones are not the other way round.
    let present = (attr.chip != Chip::Ddr || !product.hbm)
        && (attr.page != Some(Page::Giant) || product.page_giant)
        && (!attr.peer || rt.profile.supports(Api::aclrtDeviceEnablePeerAccess));
    if !present {
        return Ok((0, 0));
    }
    let (free, total) = rt.ledger.balance(device);
    let page = attr.page.map_or(1, |page| ledger::page_size(rt, page));
    Ok(((free / page * page) as usize, (total / page * page) as usize))
}

/// aclrtGetMemUsageInfo: use by module, at most `limit` modules, the largest first (#05).
pub fn usage_info(rt: &Runtime, id: i32, limit: usize) -> Result<Vec<Module>> {
    if limit == 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtGetMemUsageInfo#03",
            "inputNum: must not be 0"
        );
    }
    let device = device::resolve(rt, id, "aclrtGetMemUsageInfo#04")?.id;
    let mut modules = rt.ledger.modules(device);
    modules.truncate(limit);
    Ok(modules)
}

/// ours: no page names the modules.
pub fn module_name(id: u16) -> String {
    if id == 0 { "APP".to_owned() } else { format!("MODULE_{id}") }
}

/// The types that may be asked for. aclrtCheckMemType#05: the value of ACL_RT_MEM_TYPE_RSVD is that of header and page (doc),
/// which win over #06 and #07 (impl).
const TYPES: u32 = sys::ACL_RT_MEM_TYPE_DEV | sys::ACL_RT_MEM_TYPE_DVPP | sys::ACL_RT_MEM_TYPE_RSVD;

/// aclrtCheckMemType: whether every address is memory of one of the types (#08).
pub fn check_type(rt: &Runtime, addrs: &[usize], types: u32, reserve: u32) -> Result<bool> {
    if addrs.is_empty() {
        return refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtCheckMemType#03", "size: must not be 0");
    }
    if reserve != 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtCheckMemType#04",
            "reserve: {reserve} must be 0"
        );
    }
    if types == 0 || types & !TYPES != 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtCheckMemType#06",
            "memType: {types:#x} is no OR of DEV (0x2), DVPP (0x8), RSVD (0x10)"
        );
    }
    // #09: where media memory is no kind of its own, device memory is of that type too.
    let dvpp = if rt.profile.product.dvpp_memory { 0 } else { sys::ACL_RT_MEM_TYPE_DVPP };
    let is = sys::ACL_RT_MEM_TYPE_DEV | dvpp;
    Ok(addrs.iter().all(|addr| {
        rt.space.find(*addr).is_some_and(|block| {
            matches!(block.owner.into(), Place::Device(_) | Place::Image(_)) && types & is != 0
        })
    }))
}

/// aclrtMemFlush: caches keep themselves coherent (#04).
pub fn flush(rt: &Runtime, addr: usize, size: usize) -> Result<()> {
    cache(rt, addr, size, "aclrtMemFlush#02")
}

/// aclrtMemInvalidate: caches keep themselves coherent (#04).
pub fn invalidate(rt: &Runtime, addr: usize, size: usize) -> Result<()> {
    cache(rt, addr, size, "aclrtMemInvalidate#02")
}

fn cache(rt: &Runtime, addr: usize, size: usize, zero: &'static str) -> Result<()> {
    if size == 0 {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, zero, "size: must not be 0");
    }
    let span = place::locate(rt, &"devPtr", addr, size)?;
    if span.place().side() == place::Side::Host {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "ours: caches are a device's",
            "devPtr: {addr:#x} is {}, not device memory",
            span.describe()
        );
    }
    Ok(())
}
