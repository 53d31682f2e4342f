//! Which rule something breaks. The rules themselves are in [`crate::rule`].

pub mod copies;
pub mod race;

use toprope_runtime::handle::Kind;
use toprope_runtime::{Api, Error};

use crate::here::Here;
use crate::model::{Call, Model};
use crate::rule;

/// A call was refused.
pub fn refused(model: &mut Model, here: &mut Here, api: Api, error: &Error) {
    let call = model.call(here);
    let call = Call { api: Some(api), ..call };
    let found = rule::out_of_range::refused(&call, error)
        .or_else(|| rule::misaligned::refused(&call, error))
        .or_else(|| rule::alias_attributes::refused(&call, error))
        .or_else(|| rule::alias_in_copy::refused(&call, error))
        .or_else(|| rule::wrong_context::refused(model, &call, error));
    model.out.extend(found);
}

/// A call was given a handle that is none, or none any more.
pub fn stale(model: &mut Model, here: &mut Here, handle: u64, wanted: Kind) {
    let call = model.call(here);
    let Some((kind, born, died)) = model.objects.ended.get(handle).filter(|(kind, ..)| *kind == wanted)
    else {
        return;
    };
    let destroys =
        call.api.is_some_and(|api| api.name().contains("Destroy") || api.name().contains("destroy"));
    let finding = if destroys {
        rule::double_destroy::finding(&call, handle, *kind, born, died)
    } else {
        rule::use_after_destroy::finding(&call, handle, *kind, born, died)
    };
    model.out.push(finding);
}

/// Whether the function goes in pairs with another.
pub fn paired(api: Api) -> bool {
    matches!(
        api,
        Api::aclInit
            | Api::aclFinalize
            | Api::aclFinalizeReference
            | Api::aclrtSetDevice
            | Api::aclrtResetDevice
            | Api::aclrtResetDeviceForce
    )
}

/// The process ends.
pub fn at_exit(model: &mut Model, _here: &mut Here) {
    let mut found = rule::unsynchronised_exit::at_exit(model);
    found.extend(rule::leak::at_exit(model));
    found.extend(rule::unbalanced_init::at_exit(model));
    model.out.extend(found);
    model.settle_all();
}
