//! The target: product × form × generation, and what the process asked of it. Everything that differs between targets is
//! looked up here; the data stands in `spec/products.csv` and `spec/functions.csv`.

use crate::generated::api::Api;
pub use crate::generated::products::{PRODUCTS, Product};

/// How host and device stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The device is a card in a host (endpoint): two memories.
    Endpoint,
    /// The device is the host (root complex): one memory.
    RootComplex,
}

impl Form {
    /// As written in options and in `products.csv`.
    pub fn key(self) -> &'static str {
        match self {
            Form::Endpoint => "ep",
            Form::RootComplex => "rc",
        }
    }
}

/// What is printed to the standard error of failed calls; their codes and `aclGetRecentErrMsg` are the same whatever it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Log {
    /// Nothing.
    Off,
    /// What this version or the product does not have, once for each function.
    #[default]
    Missing,
    /// Every failed call, but for questions whose answer programs handle.
    Error,
    /// Every failed call.
    Info,
}

/// What a process runs on.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Row of `spec/products.csv`.
    pub product: &'static Product,
    /// Chip name, one of the product's.
    pub soc: &'static str,
    index: usize,
    /// EP or RC.
    pub form: Form,
    /// CANN generation: 9, 8 or 5.
    pub generation: u8,
    /// Devices of the process.
    pub devices: u16,
    /// Memory of each device in bytes.
    pub device_memory: u64,
    /// Whether host code is to be kept out of device memory.
    pub guard: bool,
    /// What is printed of failed calls.
    pub log: Log,
    /// What the checker does with what it finds.
    pub check: Check,
    /// The rules of the checker that are looked at besides those that always are.
    pub check_rules: Vec<&'static str>,
    /// Draws the order in which ready streams run; None: by priority, first come first served.
    pub seed: Option<u64>,
}

/// Whether a checker looks for mistakes of the program (`toprope-checker`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Check {
    /// No.
    #[default]
    Off,
    /// It reports.
    Warn,
    /// It reports, and `toprope run` ends with 97 if there was something to report.
    Strict,
}

impl Check {
    /// Of `off`, `warn` or `strict`.
    pub fn parse(text: &str) -> Option<Check> {
        match text {
            "off" => Some(Check::Off),
            "warn" => Some(Check::Warn),
            "strict" => Some(Check::Strict),
            _ => None,
        }
    }
}

/// The rules of the checker that are looked at only if they are asked for, since right programs break them too.
pub const OPT_IN: [&str; 1] = ["sub-division"];

/// The rules of a list with commas.
fn opted(text: &str) -> Result<Vec<&'static str>, String> {
    let find = |name: &str| {
        OPT_IN
            .into_iter()
            .find(|rule| *rule == name)
            .ok_or_else(|| format!("'{name}' is no rule that can be asked for; valid: {}", OPT_IN.join(", ")))
    };
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(find).collect()
}

/// What may be asked for, each as text; `None` or empty is the default.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// `TOPROPE_PRODUCT`, default `a2`.
    pub product: Option<String>,
    /// `TOPROPE_SOC`: a chip name of the product, default its first.
    pub soc: Option<String>,
    /// `TOPROPE_FORM`, default `ep`.
    pub form: Option<String>,
    /// `TOPROPE_CANN`, default the newest generation of the product.
    pub cann: Option<String>,
    /// `TOPROPE_DEVICES`, default the product's.
    pub devices: Option<String>,
    /// `TOPROPE_DEVICE_MEMORY`: bytes, or with K, M, G (powers of 1024); default the product's.
    pub device_memory: Option<String>,
    /// `TOPROPE_GUARD`: `on` (default) or `off`.
    pub guard: Option<String>,
    /// `TOPROPE_LOG`: `off`, `error` or `info`.
    pub log: Option<String>,
    /// `TOPROPE_CHECK`: `off` (default), `warn` or `strict`.
    pub check: Option<String>,
    /// `TOPROPE_CHECK_RULES`: some of [`OPT_IN`], with commas between; none by default.
    pub check_rules: Option<String>,
    /// `TOPROPE_SEED`: a number; none by default.
    pub seed: Option<String>,
}

/// The variables that this project reads.
pub const VARIABLES: [&str; 15] = [
    "TOPROPE_PRODUCT",
    "TOPROPE_SOC",
    "TOPROPE_FORM",
    "TOPROPE_CANN",
    "TOPROPE_DEVICES",
    "TOPROPE_DEVICE_MEMORY",
    "TOPROPE_GUARD",
    "TOPROPE_LOG",
    "TOPROPE_SEED",
    // Read by the Python module too.
    "TOPROPE_CHECK",
    "TOPROPE_CHECK_RULES",
    // Read by the checker.
    "TOPROPE_REPORT",
    "TOPROPE_SUPPRESS",
    "TOPROPE_CHECK_NOTE",
    "TOPROPE_CHECK_PATIENCE",
];

/// Beginnings of variables that the project's own tests use.
const OF_TESTS: [&str; 3] = ["TOPROPE_TEST_", "TOPROPE_STRESS_", "TOPROPE_LOOM_"];

/// What to say about a variable that looks like one of ours and is none; None if there is nothing to say.
pub fn misspelt(name: &str) -> Option<String> {
    let ours = VARIABLES.contains(&name) || OF_TESTS.iter().any(|start| name.starts_with(start));
    if ours || !name.starts_with("TOPROPE_") {
        return None;
    }
    let nearest = VARIABLES.into_iter().min_by_key(|known| distance(&name.to_ascii_uppercase(), known))?;
    Some(format!("the variable {name} means nothing; the nearest that does is {nearest}"))
}

/// How many bytes must be put in, taken out or changed to make one name of the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut before = i;
        let mut left = i + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(to.bytes()) {
            let here = (before + usize::from(a != b)).min(*cell + 1).min(left + 1);
            before = std::mem::replace(cell, here);
            left = here;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

impl Request {
    /// As the environment says.
    pub fn from_env() -> Request {
        let get = |name| std::env::var(name).ok().filter(|text: &String| !text.is_empty());
        Request {
            product: get("TOPROPE_PRODUCT"),
            soc: get("TOPROPE_SOC"),
            form: get("TOPROPE_FORM"),
            cann: get("TOPROPE_CANN"),
            devices: get("TOPROPE_DEVICES"),
            device_memory: get("TOPROPE_DEVICE_MEMORY"),
            guard: get("TOPROPE_GUARD"),
            log: get("TOPROPE_LOG"),
            check: get("TOPROPE_CHECK"),
            check_rules: get("TOPROPE_CHECK_RULES"),
            seed: get("TOPROPE_SEED"),
        }
    }
}

/// The most devices that a process may ask for.
pub const MOST_DEVICES: u16 = 64;
/// The product when none is named.
pub const DEFAULT_PRODUCT: &str = "a2";

impl Profile {
    /// The target of a request; the error is one line that lists what is valid.
    pub fn resolve(request: &Request) -> Result<Profile, String> {
        let key = request.product.as_deref().unwrap_or(DEFAULT_PRODUCT);
        let Some(index) = PRODUCTS.iter().position(|product| product.key.eq_ignore_ascii_case(key)) else {
            let keys: Vec<_> = PRODUCTS.iter().map(|product| product.key).collect();
            return Err(format!("unknown product '{key}'; valid: {}", keys.join(", ")));
        };
        let product = &PRODUCTS[index];
        let wanted = |name: &&&str| request.soc.as_deref().is_none_or(|soc| name.eq_ignore_ascii_case(soc));
        let Some(soc) = product.soc_names.iter().find(wanted) else {
            return Err(format!(
                "product {} has no chip '{}'; valid: {}",
                product.key,
                request.soc.as_deref().unwrap_or_default(),
                product.soc_names.join(", ")
            ));
        };
        let form = match request.form.as_deref().unwrap_or("ep").to_ascii_lowercase().as_str() {
            "ep" if product.ep => Form::Endpoint,
            "rc" if product.rc => Form::RootComplex,
            other => {
                let valid: Vec<_> =
                    [("ep", product.ep), ("rc", product.rc)].iter().filter(|f| f.1).map(|f| f.0).collect();
                return Err(format!(
                    "product {} has no form '{other}'; valid: {}",
                    product.key,
                    valid.join(", ")
                ));
            }
        };
        let generation = match request.cann.as_deref() {
            None => product.generations.iter().copied().max().unwrap_or(9),
            Some(text) => match text.parse().ok().filter(|g| product.generations.contains(g)) {
                Some(generation) => generation,
                None => {
                    let valid: Vec<_> = product.generations.iter().map(u8::to_string).collect();
                    return Err(format!(
                        "product {} has no CANN generation '{text}'; valid: {}",
                        product.key,
                        valid.join(", ")
                    ));
                }
            },
        };
        let devices = match request.devices.as_deref() {
            None => product.device_count,
            Some(text) => match text.parse().ok().filter(|n| (1..=MOST_DEVICES).contains(n)) {
                Some(devices) => devices,
                None => return Err(format!("'{text}' is no number of devices; valid: 1 to {MOST_DEVICES}")),
            },
        };
        let device_memory = match request.device_memory.as_deref() {
            None => product.device_memory_bytes,
            Some(text) => parse_size(text)
                .filter(|bytes| (MIB..=TIB).contains(bytes))
                .ok_or_else(|| format!("'{text}' is no memory size; valid: 1M to 1T, as in 512M or 64G"))?,
        };
        let guard = match request.guard.as_deref() {
            None | Some("on") => form == Form::Endpoint,
            Some("off") => false,
            Some(text) => return Err(format!("'{text}' is no guard setting; valid: on, off")),
        };
        let log = match request.log.as_deref() {
            None => Log::default(),
            Some("off") => Log::Off,
            Some("error") => Log::Error,
            Some("info") => Log::Info,
            Some(text) => return Err(format!("'{text}' is no log setting; valid: off, error, info")),
        };
        let check = match request.check.as_deref() {
            None => Check::Off,
            Some(text) => Check::parse(text)
                .ok_or_else(|| format!("'{text}' is no check setting; valid: off, warn, strict"))?,
        };
        let check_rules = opted(request.check_rules.as_deref().unwrap_or_default())?;
        let seed = match request.seed.as_deref() {
            None => None,
            Some(text) => match text.parse() {
                Ok(seed) => Some(seed),
                Err(_) => return Err(format!("'{text}' is no seed; valid: 0 to {}", u64::MAX)),
            },
        };
        Ok(Profile {
            product,
            soc,
            index,
            form,
            generation,
            devices,
            device_memory,
            guard,
            log,
            check,
            check_rules,
            seed,
        })
    }

    /// The product's place in `spec/products.csv`.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether the product has the function. Source: product tables of the pages, `spec/functions.csv`.
    #[inline]
    pub fn supports(&self, api: Api) -> bool {
        api.function().support >> self.index & 1 == 1
    }
}

/// Whether host code can be kept out of device memory on this machine: it takes a protection key.
pub fn can_guard() -> bool {
    toprope_engine::memory::can_guard()
}

const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;

/// Bytes of a text such as `64G`, `512MiB` or `4096`.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.strip_suffix("ib").or(text.strip_suffix('b')).unwrap_or(&text);
    let (digits, shift) = match text.chars().last()? {
        'k' => (&text[..text.len() - 1], 10),
        'm' => (&text[..text.len() - 1], 20),
        'g' => (&text[..text.len() - 1], 30),
        't' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let number: u64 = digits.trim().parse().ok()?;
    number.checked_mul(1 << shift)
}

#[cfg(test)]
#[path = "profile/tests.rs"]
mod tests;
