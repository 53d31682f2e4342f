//! `crates/runtime/src/generated/products.rs`: what each product offers.
use std::fmt::Write as _;

use super::Result;
use super::spec::{Row, Spec};

/// The text of the file.
pub fn text(spec: &Spec) -> Result<String> {
    let mut table = String::new();
    for row in spec.products.rows() {
        product(&mut table, spec, row)?;
    }
    let count = spec.products.rows().count();
    Ok(format!(
        "{TYPES}\n/// The products, in the order of the support bits of a function.\npub static PRODUCTS: [Product; {count}] = [\n{table}];\n"
    ))
}

fn product(out: &mut String, spec: &Spec, row: Row<'_>) -> Result<()> {
    let yes = |column: &str| -> Result<bool> {
        match row.get(column)? {
            "yes" => Ok(true),
            "no" => Ok(false),
            other => Err(format!("products.csv: {column} is {other:?}").into()),
        }
    };
    let forms: Vec<_> = list(row, "forms")?;
    let npu_arch = match row.get("npu_arch")? {
        "" => "None".to_string(),
        text => format!("Some({text})"),
    };
    let (pad32, pad_giant) = match row.get("malloc_padding")? {
        "align32" => (false, false),
        "align32+32" => (true, true),
        "align32+32; 1 GiB policies align32" => (true, false),
        other => return Err(format!("products.csv: malloc_padding is {other:?}").into()),
    };
    let _ = writeln!(out, "Product {{");
    let _ = writeln!(out, "key: {:?}, document_name: {:?},", row.get("key")?, row.get("document_name")?);
    let _ = writeln!(out, "generations: &[{}],", list(row, "generations")?.join(", "));
    let _ = writeln!(out, "ep: {}, rc: {},", forms.contains(&"ep"), forms.contains(&"rc"));
    let _ = writeln!(out, "soc_names: &{:?}, npu_arch: {npu_arch},", list(row, "soc_names")?);
    for column in [
        "device_count",
        "device_memory_bytes",
        "ai_core_num",
        "vector_core_num",
        "max_streams",
        "max_events",
        "max_notifies",
        "priority_greatest",
        "priority_least",
        "ai_cpu_num",
        "l2_bytes",
        "ub_bytes",
    ] {
        let _ = writeln!(out, "{column}: {},", row.number::<u64>(column)?);
    }
    for column in ["op_timeout_interval_us", "op_timeout_default_ms"] {
        let _ = writeln!(out, "{column}: {},", row.number::<u64>(column)?);
    }
    let _ = writeln!(out, "pad32: {pad32}, pad_giant: {pad_giant},");
    for column in [
        "default_stream",
        "uvm",
        "host_register",
        "symbol",
        "failure_mode_default_stream",
        "hbm",
        "dvpp_memory",
        "bandwidth_policy",
        "va_flag",
        "copy_2d_device",
        "kernel_ratio",
    ] {
        let _ = writeln!(out, "{column}: {},", yes(column)?);
    }
    let _ = writeln!(out, "page_normal: {},", row.number::<u64>("page_normal")?);
    let _ = writeln!(out, "page_huge: {}, page_giant: {},", row.number::<u64>("page_huge")?, yes("page_1g")?);
    let _ = writeln!(out, "event_flags: {:#x},", mask(spec, row, "event_flags", "ACL_EVENT_")?);
    let _ = writeln!(out, "stream_flags: {:#x},", mask(spec, row, "stream_flags", "ACL_STREAM_")?);
    for generation in ["gen9", "gen8", "gen5"] {
        let value = match row.get(&format!("pageable_async_{generation}"))? {
            "" | "not available" => "Absent",
            "synchronous" => "Synchronous",
            // ours: the page of generation 5 says nothing on pageable memory, so that of generation 8 holds.
            "accepted; undefined at execution" | "not stated; treated as gen 8" => "Undefined",
            other => return Err(format!("products.csv: pageable_async_{generation} is {other:?}").into()),
        };
        let _ = writeln!(out, "pageable_{generation}: Pageable::{value},");
    }
    let simt = list(row, "simt")?;
    let simt = if simt.is_empty() { "None".to_string() } else { format!("Some([{}])", simt.join(", ")) };
    let _ = writeln!(out, "simt: {simt},");
    let connect = optional(spec, row, "hd_connect_type", "ACL_HOST_DEVICE_CONNECT_TYPE_")?;
    let _ = writeln!(out, "hd_connect_type: {connect},");
    let form = optional(spec, row, "form_factor", "ACL_DEVICE_FORM_FACTOR_")?;
    let _ = writeln!(out, "form_factor: {form},");
    let _ = writeln!(out, "topology: {:#x},", mask(spec, row, "topology", "ACL_RT_DEVS_TOPOLOGY_")?);
    let modes = constants(spec, row, "sat_modes", "aclrtFloatOverflowMode", "ACL_RT_OVERFLOW_MODE_")?;
    let _ = writeln!(out, "sat_modes: &{modes:?},");
    let kinds = constants(spec, row, "reduce_kinds", "aclrtReduceKind", "ACL_RT_MEMCPY_SDMA_AUTOMATIC_")?;
    let _ = writeln!(out, "reduce_kinds: &{kinds:?},");
    let types = constants(spec, row, "reduce_types", "aclDataType", "ACL_")?;
    let _ = writeln!(out, "reduce_types: &{types:?},");
    let attributes = constants(spec, row, "cann_attributes", "aclCannAttr", "ACL_CANN_ATTR_")?;
    let _ = writeln!(out, "cann_attributes: &{attributes:?},");
    let stack = match row.get("aicore_stack_max")? {
        "" => "None".to_string(),
        text => format!("Some({text})"),
    };
    let _ = writeln!(out, "aicore_stack_max: {stack},");
    let _ = writeln!(out, "ours: &{:?},\n}},", list(row, "ours")?);
    Ok(())
}

/// The items of a `;`-separated cell.
fn list<'a>(row: Row<'a>, column: &str) -> Result<Vec<&'a str>> {
    Ok(row.get(column)?.split(';').map(str::trim).filter(|item| !item.is_empty()).collect())
}

/// The OR of the macros `{prefix}{item}`; a remark in parentheses after an item is not part of its name.
fn mask(spec: &Spec, row: Row<'_>, column: &str, prefix: &str) -> Result<u64> {
    let mut bits = 0;
    for item in list(row, column)? {
        let name = format!("{prefix}{}", item.split('(').next().unwrap_or(item).trim());
        let value = spec.macros.iter().find(|m| m.name == name);
        bits |= value.ok_or_else(|| format!("products.csv: {column}: no macro {name}"))?.value;
    }
    Ok(bits)
}

/// The macro `{prefix}{cell}` as an option; an empty cell is none.
fn optional(spec: &Spec, row: Row<'_>, column: &str, prefix: &str) -> Result<String> {
    Ok(if row.get(column)?.is_empty() {
        "None".to_string()
    } else {
        format!("Some({})", mask(spec, row, column, prefix)?)
    })
}

/// The values of the enumerators `{prefix}{item}`, in the order of the cell.
fn constants(spec: &Spec, row: Row<'_>, column: &str, of: &str, prefix: &str) -> Result<Vec<i64>> {
    let found = spec.enums.iter().find(|e| e.name == of);
    let found = found.ok_or_else(|| format!("enums.csv: no enum {of}"))?;
    let value = |item: &&str| {
        let name = format!("{prefix}{item}");
        let constant = found.values.iter().find(|v| v.name == name);
        constant.map(|v| v.value).ok_or_else(|| format!("products.csv: {column}: no {name}").into())
    };
    list(row, column)?.iter().map(value).collect()
}

const TYPES: &str = r#"//! What each product offers (spec/products.csv; its sources: spec/products_sources.md).

/// What an asynchronous copy does with pageable host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pageable {
    /// The product does not exist in this generation, or has no asynchronous copy.
    Absent,
    /// The call returns when the copy is done.
    Synchronous,
    /// The call is accepted; what the copy does when it executes is not defined.
    Undefined,
}

/// A product: a family of devices with its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Name on the command line, such as `a2`.
    pub key: &'static str,
    /// Name in the documentation.
    pub document_name: &'static str,
    /// Document generations that know the product (9, 8, 5).
    pub generations: &'static [u8],
    /// Works as an accelerator card beside a host (endpoint form).
    pub ep: bool,
    /// Works as a whole computer (root-complex form).
    pub rc: bool,
    /// Chip names as aclrtGetSocName gives them; the first is the default.
    pub soc_names: &'static [&'static str],
    /// Architecture number as aclrtGetDeviceInfo gives it; `None`: not known.
    pub npu_arch: Option<u32>,
    /// Devices of one machine.
    pub device_count: u16,
    /// Memory of one device, in bytes.
    pub device_memory_bytes: u64,
    /// AI (cube) cores of one device.
    pub ai_core_num: u32,
    /// Vector cores of one device.
    pub vector_core_num: u32,
    /// Streams of one device, default streams included.
    pub max_streams: u32,
    /// Events of one device; 0: the product has none.
    pub max_events: u32,
    /// Notifies of one device; 0: the product has none.
    pub max_notifies: u32,
    /// Whether a NULL stream stands for the context's default stream.
    pub default_stream: bool,
    /// Number of the highest stream priority.
    pub priority_greatest: u32,
    /// Number of the lowest stream priority.
    pub priority_least: u32,
    /// Unit of operator timeouts, in microseconds; 254 of them are the most.
    pub op_timeout_interval_us: u64,
    /// Timeout of AI core operators while none is set, in milliseconds.
    pub op_timeout_default_ms: u32,
    /// aclrtMalloc adds 32 bytes to the size after it is rounded up to a multiple of 32.
    pub pad32: bool,
    /// The 32 bytes of `pad32` are added under the 1 GiB page policies too.
    pub pad_giant: bool,
    /// Managed memory (unified virtual memory).
    pub uvm: bool,
    /// Registration of host memory for device access.
    pub host_register: bool,
    /// Device variables (the symbol calls).
    pub symbol: bool,
    /// Normal page, in bytes.
    pub page_normal: u64,
    /// Huge page, in bytes.
    pub page_huge: u64,
    /// Whether 1 GiB pages exist.
    pub page_giant: bool,
    /// Whether device memory is HBM; DDR otherwise.
    pub hbm: bool,
    /// Whether media (DVPP) memory is a kind of its own; otherwise device memory counts as such.
    pub dvpp_memory: bool,
    /// Whether aclrtMalloc takes a bandwidth beside the page policy.
    pub bandwidth_policy: bool,
    /// Whether the VA flag of a host allocation is supported: registered, its device address equals the host's.
    pub va_flag: bool,
    /// 2D copies inside device memory.
    pub copy_2d_device: bool,
    /// Whether a kernel's ratio of cube and vector cores can be asked for.
    pub kernel_ratio: bool,
    /// OR of the `ACL_EVENT_*` flags that events may be created with.
    pub event_flags: u32,
    /// OR of the `ACL_STREAM_*` flags that streams may be created with, those without effect included.
    pub stream_flags: u32,
    /// Whether the failure mode of the default stream can be set.
    pub failure_mode_default_stream: bool,
    /// Asynchronous copies of pageable memory in generation 9.
    pub pageable_gen9: Pageable,
    /// Asynchronous copies of pageable memory in generation 8.
    pub pageable_gen8: Pageable,
    /// Asynchronous copies of pageable memory in generation 5.
    pub pageable_gen5: Pageable,
    /// AI CPUs of one device.
    pub ai_cpu_num: u32,
    /// L2 cache of one device, in bytes.
    pub l2_bytes: u64,
    /// Unified buffer of one vector core, in bytes.
    pub ub_bytes: u64,
    /// What aclrtGetDeviceInfo gives for the attributes 202, 203 and 205 to 212 (warp size, threads per vector core, grid x,
    /// y, z, blocks per grid, threads per block, block x, y, z); `None`: no SIMT.
    pub simt: Option<[u32; 10]>,
    /// `ACL_HOST_DEVICE_CONNECT_TYPE_*`; `None`: the attribute does not exist.
    pub hd_connect_type: Option<u32>,
    /// `ACL_DEVICE_FORM_FACTOR_*`; `None`: the attribute does not exist.
    pub form_factor: Option<u32>,
    /// `ACL_RT_DEVS_TOPOLOGY_*` of two devices of one machine.
    pub topology: u64,
    /// `aclrtFloatOverflowMode` values that can be set; the first is the default.
    pub sat_modes: &'static [u32],
    /// `aclrtReduceKind` values that aclrtReduceAsync has.
    pub reduce_kinds: &'static [u32],
    /// `aclDataType` values that aclrtReduceAsync has.
    pub reduce_types: &'static [i32],
    /// `aclCannAttr` values that are supported.
    pub cann_attributes: &'static [i32],
    /// Largest stack of an AI core, in bytes; `None`: it cannot be set.
    pub aicore_stack_max: Option<u32>,
    /// Columns of products.csv whose value for this product is our choice, since no page gives one.
    pub ours: &'static [&'static str],
}
"#;
