//! What of a failed call is printed to the standard error: `TOPROPE_LOG`, see [`Log`].

use parking_lot::Mutex;

use super::Error;
use crate::generated::api::Api;
use crate::process;
use crate::profile::Log;

/// Rule of a call that this version does not have.
pub(crate) const UNBUILT: &str = "ours: not built yet";
/// Rule of a call that the product does not have.
pub(crate) const UNSUPPORTED: &str = "*#06";

/// Functions that were told about.
static TOLD: Mutex<Vec<Api>> = Mutex::new(Vec::new());

/// Whether programs ask this to learn something, and handle a refusal: it is an answer, not a mistake.
fn is_question(api: Api) -> bool {
    const WORDS: [&str; 6] =
        ["Query", "Capabilit", "GetAttributes", "CanAccessPeer", "GetDeviceInfo", "CannAttribute"];
    WORDS.iter().any(|word| api.name().contains(word))
}

/// Prints the message of a failed call if it is to be printed.
pub(super) fn failed(api: Api, error: &Error, text: &str) {
    // Without a target the reason was printed when the process asked for it.
    let Ok(rt) = process::runtime() else { return };
    let print = match rt.profile.log {
        Log::Off => false,
        Log::Missing => matches!(error.rule(), UNBUILT | UNSUPPORTED) && !is_question(api) && first(api),
        Log::Error => !is_question(api),
        Log::Info => true,
    };
    if print {
        eprintln!("toprope: {text}");
    }
}

fn first(api: Api) -> bool {
    let mut told = TOLD.lock();
    let new = !told.contains(&api);
    if new {
        told.push(api);
    }
    new
}
