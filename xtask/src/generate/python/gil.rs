//! Which calls release the GIL, and what is learnt from calls to that end.

/// Calls that can wait for a stream, or for threads of the runtime, begin like this behind `aclrt` or `acl`.
///
/// ours: the binding's own choice (column releases_gil) leaves out calls which wait as well, and a Python callback that such a
/// call waits for would then never run. Asynchronous copies are here, since pageable memory drains the stream first.
const WAITING: [&str; 19] = [
    "Synchronize",
    "Memcpy",
    "Memset(",
    "MemsetD32(",
    "Free",
    "Destroy",
    "Reset",
    "Finalize",
    "ProcessReport",
    "StreamAbort",
    "StreamWaitEvent",
    "DeviceTaskAbort",
    "HostUnregister",
    "UnmapMem",
    "ReleaseMemAddress",
    "IpcMemClose",
    "UnSubscribeReport",
    "BinaryUnLoad",
    "NotifyBatchReset",
];

/// Whether the GIL is released during the call of this C function.
pub fn waits(c: &str) -> bool {
    let rest = c.strip_prefix("aclrt").or_else(|| c.strip_prefix("acl")).unwrap_or(c);
    // A name that ends in `(` must not go on.
    let called = format!("{rest}(");
    WAITING.iter().any(|start| called.starts_with(start))
}

/// What `crates/python/src/known.rs` learns from a call, before and after it: which blocks Python allocated.
pub fn learns(c: &str) -> (&'static str, &'static str) {
    match c {
        "aclrtMalloc" | "aclrtMallocAlign32" | "aclrtMallocCached" => {
            ("", "    if ret == 0 {\n        known::allocated(out_ptr, size);\n    }\n")
        }
        "aclrtMallocHost" => {
            ("", "    if ret == 0 {\n        known::allocated(out_host_ptr, size);\n    }\n")
        }
        "aclrtFree" => ("    known::freed(ptr);\n", ""),
        "aclrtFreeHost" => ("    known::freed(host_ptr);\n", ""),
        "aclrtResetDevice" | "aclrtResetDeviceForce" | "aclFinalize" | "aclFinalizeReference" => {
            ("    known::forget_all();\n", "")
        }
        _ => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::waits;

    #[test]
    fn waiting_calls_release_the_gil() {
        for name in [
            "aclrtSynchronizeStream",
            "aclrtMemcpy",
            "aclrtMemcpyAsync",
            "aclrtMemset",
            "aclrtFree",
            "aclFinalize",
        ] {
            assert!(waits(name), "{name}");
        }
        for name in
            ["aclrtMemsetAsync", "aclrtMalloc", "aclrtRecordEvent", "aclrtGetMemcpyDescSize", "aclInit"]
        {
            assert!(!waits(name), "{name}");
        }
    }
}
