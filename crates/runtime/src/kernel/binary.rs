//! Binaries: loading, unloading, and what is in them.

use std::sync::Arc;

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::image::{Image, Instance, Kernel};
use toprope_engine::memory::Block;

use super::config::Loading;
use super::site::Site;
use crate::error::Result;
use crate::handle::{Kind, Pin, describe};
use crate::process::Runtime;
use crate::{bytes, observer, refuse, thread};

/// `aclrtOpExceptionCallback`
pub type OpExceptionFn = unsafe extern "C" fn(*mut sys::aclrtExceptionInfo, *mut std::ffi::c_void);

/// aclrtCreateBinary#03: the data stays the program's.
pub struct Description {
    data: usize,
    len: usize,
}

/// A binary.
pub struct Binary {
    pub(crate) image: Arc<Image>,
    /// aclrtBinaryUnLoad#03: it came from aclrtBinaryLoad, in a context.
    in_context: bool,
    /// aclrtBinaryGetDevAddress#06: loaded to a device at the first use there.
    lazy: bool,
    instances: Mutex<Vec<Loaded>>,
    /// Handles of kernels, by their place in the image; 0: none yet.
    functions: Mutex<Vec<u64>>,
    /// aclrtBinarySetExceptionCallback#05: the last one; with the program's word.
    pub(crate) callback: Mutex<Option<(OpExceptionFn, usize)>>,
}

/// An instance on a device.
struct Loaded {
    device: u16,
    instance: Arc<Instance>,
    variables: Vec<Block>,
    /// Kernels that were launched, by their place in the image.
    sites: Vec<Option<Arc<Site>>>,
}

/// A kernel's handle.
pub struct Function {
    /// Its binary's handle.
    pub binary: u64,
    /// Its place in the image.
    pub index: usize,
    pub(crate) image: Arc<Image>,
}

impl Function {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.image.kernels[self.index]
    }
}

impl Binary {
    fn new(image: Image, in_context: bool, lazy: bool) -> Binary {
        let functions = Mutex::new(vec![0; image.kernels.len()]);
        Binary {
            image: Arc::new(image),
            in_context,
            lazy,
            instances: Mutex::default(),
            functions,
            callback: Mutex::new(None),
        }
    }

    /// The instance on a device, if there is one.
    pub(crate) fn loaded(&self, device: u16) -> Option<Arc<Instance>> {
        let instances = self.instances.lock();
        instances.iter().find(|loaded| loaded.device == device).map(|loaded| loaded.instance.clone())
    }

    /// A kernel on a device that has an instance. None if that has not, or once the binary (whose handle is `binary`) has ended.
    pub(crate) fn site(&self, rt: &Runtime, binary: u64, device: u16, index: usize) -> Option<Arc<Site>> {
        let mut instances = self.instances.lock();
        let loaded = instances.iter_mut().find(|loaded| loaded.device == device)?;
        let place = loaded.sites.get_mut(index)?;
        if place.is_none() {
            let function = self.handle_of(rt, binary, index)?;
            let site = Site::new(rt, (&self.image, index), (&loaded.instance, device), (function, binary));
            *place = Some(Arc::new(site));
        }
        place.clone()
    }

    /// The instance on a device, loaded if need be.
    pub(crate) fn load(&self, rt: &Runtime, device: u16) -> Result<Arc<Instance>> {
        let mut instances = self.instances.lock();
        if let Some(loaded) = instances.iter().find(|loaded| loaded.device == device) {
            return Ok(loaded.instance.clone());
        }
        let instance = match self.image.load() {
            Ok(instance) => Arc::new(instance),
            Err(why) => {
                return refuse!(
                    sys::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                    "ours: a binary is loaded to each device at its first use there",
                    "device {device}: {why}"
                );
            }
        };
        if let Some(pages) = instance.guardable() {
            rt.space.guard_pages(pages.start, pages.len());
        }
        let mut variables = Vec::new();
        for variable in &self.image.variables {
            let at = instance.base() + variable.offset;
            // One that overlaps another is the same memory under a second name.
            if let Ok(block) = rt.space.add_variable(device, at, variable.size, instance.mirror(at)) {
                observer::tell(|o| o.allocated(&block));
                variables.push(block);
            }
        }
        let sites = vec![None; self.image.kernels.len()];
        instances.push(Loaded { device, instance: instance.clone(), variables, sites });
        Ok(instance)
    }

    /// Ends the instances on a device, or all; their code stays while a kernel runs in it, or has just run (`toprope_engine::queue::Kernel`).
    fn forget(&self, rt: &Runtime, device: Option<u16>) {
        let mut ended = Vec::new();
        self.instances.lock().retain_mut(|loaded| {
            let ends = device.is_none_or(|device| device == loaded.device);
            if ends {
                loaded.sites.iter().flatten().for_each(|site| site.end());
                ended.push((loaded.instance.clone(), std::mem::take(&mut loaded.variables)));
            }
            !ends
        });
        for block in ended.iter().flat_map(|(_, variables)| variables) {
            // Nobody else removes them.
            if rt.space.remove_variable(block.base).is_ok() {
                observer::tell(|o| o.freed(block));
            }
        }
    }
}

/// aclrtResetDevice#03: a device that was reset starts with fresh variables.
pub(crate) fn forget_device(rt: &Runtime, device: u16) {
    for binary in rt.kernels.binaries.all() {
        binary.forget(rt, Some(device));
    }
}

/// aclrtCreateBinary (#02: the length is looked at later).
pub fn create(rt: &Runtime, data: usize, len: usize) -> Result<u64> {
    if data == 0 {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, "aclrtCreateBinary#01", "data: must not be null");
    }
    let handle = rt.kernels.descriptions.insert(Description { data, len });
    observer::tell(|o| o.born(Kind::BinaryData, handle));
    Ok(handle)
}

/// aclrtDestroyBinary (#02, #03).
pub fn destroy(rt: &Runtime, handle: u64) -> Result<()> {
    if rt.kernels.descriptions.remove(handle).is_none() {
        return no_description(handle);
    }
    observer::tell(|o| o.died(Kind::BinaryData, handle));
    Ok(())
}

fn no_description<T>(handle: u64) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_INVALID_HANDLE,
        "ours: as aclrtBinaryUnLoad#02",
        "binary: {}",
        describe(handle, Kind::BinaryData)
    )
}

/// aclrtBinaryLoad (#06: to the device of the current context).
pub fn load(rt: &Runtime, description: u64) -> Result<u64> {
    let Some(description) = rt.kernels.descriptions.pin(description) else {
        return no_description(description);
    };
    load_bytes(rt, description.data, description.len, "aclrtBinaryLoad")
}

/// A binary in memory, to the device of the current context, which must be there.
pub(crate) fn load_bytes(rt: &Runtime, data: usize, len: usize, rule: &'static str) -> Result<u64> {
    if len == 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtBinaryLoad#03",
            "binary: its data has no bytes"
        );
    }
    let device = thread::current(rt)?.device;
    let image = read(data, len, rule)?;
    adopt(rt, Binary::new(image, true, false), Some(device))
}

/// aclrtBinaryLoadFromFile.
pub fn load_from_file(rt: &Runtime, path: &[u8], loading: Loading) -> Result<u64> {
    use std::os::unix::ffi::OsStrExt;
    const RULE: &str = "aclrtBinaryLoadFromFile#05";
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(path));
    let data = match path.canonicalize().and_then(std::fs::read) {
        Ok(data) => data,
        Err(error) => {
            return refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, RULE, "binPath: {}: {error}", path.display());
        }
    };
    let image = parse(&data, "binPath", "aclrtBinaryLoadFromFile#06")?;
    loaded_now(rt, image, loading)
}

/// aclrtBinaryLoadFromData.
pub fn load_from_data(rt: &Runtime, data: usize, len: usize, loading: Loading) -> Result<u64> {
    loaded_now(rt, read(data, len, "aclrtBinaryLoadFromData#05")?, loading)
}

/// aclrtBinaryLoadFromFile#12, aclrtBinaryLoadFromData#12: by the call, to the device of the current context. ours: without a
/// context there is nothing to load to yet (aclrtBinaryUnLoad#04 needs none either).
fn loaded_now(rt: &Runtime, image: Image, loading: Loading) -> Result<u64> {
    let device = if loading.lazy { None } else { thread::current(rt).ok().map(|context| context.device) };
    adopt(rt, Binary::new(image, false, loading.lazy), device)
}

/// A binary that start-up code registers: loaded to a device at the first use there.
pub(crate) fn register(rt: &Runtime, data: usize, len: usize, rule: &'static str) -> Result<u64> {
    adopt(rt, Binary::new(read(data, len, rule)?, false, true), None)
}

fn adopt(rt: &Runtime, binary: Binary, device: Option<u16>) -> Result<u64> {
    if let Some(device) = device {
        binary.load(rt, device)?;
    }
    let handle = rt.kernels.binaries.insert(binary);
    observer::tell(|o| o.born(Kind::Binary, handle));
    Ok(handle)
}

/// A binary in the program's memory.
fn read(data: usize, len: usize, rule: &'static str) -> Result<Image> {
    match bytes::read_all::<u8>(data, len) {
        Ok(data) => parse(&data, "data", rule),
        Err(bytes::Unmapped(at)) => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rule,
            "data: {len} bytes from {data:#x}, but there is no memory at {at:#x}"
        ),
    }
}

fn parse(data: &[u8], name: &str, rule: &'static str) -> Result<Image> {
    match Image::new(data) {
        Ok(image) => Ok(image),
        Err(why) => refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "{name}: {why}"),
    }
}

/// The binary of a handle.
pub(crate) fn resolve<'a>(rt: &'a Runtime, handle: u64, rule: &'static str) -> Result<Pin<'a, Binary>> {
    match rt.kernels.binaries.pin(handle) {
        Some(binary) => Ok(binary),
        None => {
            refuse!(sys::ACL_ERROR_RT_INVALID_HANDLE, rule, "binHandle: {}", describe(handle, Kind::Binary))
        }
    }
}

/// The kernel of a handle.
pub(crate) fn function<'a>(rt: &'a Runtime, handle: u64, rule: &'static str) -> Result<Pin<'a, Function>> {
    match rt.kernels.functions.pin(handle) {
        Some(function) => Ok(function),
        None => {
            refuse!(sys::ACL_ERROR_RT_INVALID_HANDLE, rule, "func: {}", describe(handle, Kind::Function))
        }
    }
}

/// aclrtBinaryUnLoad. #06: its functions' handles end with it; kernels that were launched already still run.
pub fn unload(rt: &Runtime, handle: u64) -> Result<()> {
    let binary = resolve(rt, handle, "aclrtBinaryUnLoad#02")?;
    if binary.in_context
        && let Err(error) = thread::current(rt)
    {
        return refuse!(error.code(), "aclrtBinaryUnLoad#03", "{}", error.text());
    }
    drop(binary);
    end(rt, handle, "aclrtBinaryUnLoad#02")
}

/// Ends a binary on every device.
pub(crate) fn end(rt: &Runtime, handle: u64, rule: &'static str) -> Result<()> {
    let Some(binary) = rt.kernels.binaries.remove(handle) else {
        return resolve(rt, handle, rule).map(drop);
    };
    observer::tell(|o| o.died(Kind::Binary, handle));
    for function in std::mem::take(&mut *binary.functions.lock()) {
        rt.kernels.functions.remove(function);
    }
    binary.forget(rt, None);
    Ok(())
}

impl Binary {
    /// aclrtBinaryGetFunction#09: one handle for each kernel. None once the binary has ended.
    pub(crate) fn handle_of(&self, rt: &Runtime, binary: u64, index: usize) -> Option<u64> {
        let mut functions = self.functions.lock();
        let place = functions.get_mut(index)?;
        if *place == 0 {
            *place = rt.kernels.functions.insert(Function { binary, index, image: self.image.clone() });
        }
        Some(*place)
    }
}

/// aclrtBinaryGetFunction (#08: loads the binary to the current device).
pub fn get_function(rt: &Runtime, handle: u64, name: &[u8]) -> Result<u64> {
    let binary = resolve(rt, handle, "aclrtBinaryGetFunction#04")?;
    let index = std::str::from_utf8(name).ok().and_then(|name| binary.image.kernel(name));
    let Some(index) = index else {
        let known: Vec<_> = binary.image.kernels.iter().take(8).map(|kernel| kernel.name.as_str()).collect();
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtBinaryGetFunction#05",
            "kernelName: {} is no kernel of the binary, which has {} ({})",
            String::from_utf8_lossy(name),
            binary.image.kernels.len(),
            known.join(", ")
        );
    };
    found(rt, &binary, index, "aclrtBinaryGetFunction#06")
}

/// aclrtBinaryGetFunctionByEntry. ours: a kernel's entry is the number that its name ends with, as tiling keys are written.
pub fn get_function_by_entry(rt: &Runtime, handle: u64, entry: u64) -> Result<u64> {
    let binary = resolve(rt, handle, "aclrtBinaryGetFunctionByEntry#03")?;
    let key = |kernel: &Kernel| kernel.name.rsplit_once('_').and_then(|(_, key)| key.parse::<u64>().ok());
    let index = binary.image.kernels.iter().position(|kernel| key(kernel) == Some(entry));
    let Some(index) = index else {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtBinaryGetFunctionByEntry#05",
            "funcEntry: no kernel of the binary has the entry {entry}"
        );
    };
    found(rt, &binary, index, "aclrtBinaryGetFunction#06")
}

fn found(rt: &Runtime, binary: &Pin<'_, Binary>, index: usize, rule: &'static str) -> Result<u64> {
    let device = match thread::current(rt) {
        Ok(context) => context.device,
        // The page's code, not the usual one.
        Err(error) => return refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "{}", error.text()),
    };
    binary.load(rt, device)?;
    match binary.handle_of(rt, binary.handle(), index) {
        Some(handle) => Ok(handle),
        None => resolve(rt, binary.handle(), "aclrtBinaryGetFunction#04").map(|_| 0),
    }
}

/// aclrtBinaryGetDevAddress: where the binary lies on the current device, and its bytes (#08). #06: null for one that is loaded
/// later; #07 is the same question for one that is there.
pub fn get_dev_address(rt: &Runtime, handle: u64) -> Result<(usize, usize)> {
    let binary = resolve(rt, handle, "aclrtBinaryGetDevAddress#04")?;
    let device = current(rt, "aclrtBinaryGetDevAddress#05")?;
    let at = match binary.loaded(device) {
        Some(instance) => instance.base(),
        None if binary.lazy => 0,
        None => binary.load(rt, device)?.base(),
    };
    Ok((at, binary.image.size()))
}

/// aclrtBinaryGetGlobal: address on the current device and bytes (#10) of a variable. #09: loads the binary.
pub fn get_global(rt: &Runtime, handle: u64, name: &[u8]) -> Result<(usize, usize)> {
    let binary = resolve(rt, handle, "aclrtBinaryGetGlobal#05")?;
    let device = current(rt, "aclrtBinaryGetGlobal#07")?;
    let index = std::str::from_utf8(name).ok().and_then(|name| binary.image.variable(name));
    let Some(index) = index else {
        return refuse!(
            sys::ACL_ERROR_RT_SYMBOL_NOT_FOUND,
            "aclrtBinaryGetGlobal#08",
            "name: {} is no variable of the binary, which has {}",
            String::from_utf8_lossy(name),
            binary.image.variables.len()
        );
    };
    let variable = &binary.image.variables[index];
    Ok((binary.load(rt, device)?.base() + variable.offset, variable.size))
}

/// The device of the current context.
pub(crate) fn current(rt: &Runtime, rule: &'static str) -> Result<u16> {
    match thread::current_device(rt) {
        Ok(device) => Ok(device),
        Err(error) => refuse!(error.code(), rule, "{}", error.text()),
    }
}

/// aclrtBinarySetExceptionCallback.
pub fn set_exception_callback(rt: &Runtime, handle: u64, func: OpExceptionFn, word: usize) -> Result<()> {
    let binary = resolve(rt, handle, "aclrtBinarySetExceptionCallback#04")?;
    *binary.callback.lock() = Some((func, word));
    Ok(())
}

/// aclrtRegisterCpuFunc (#06): there are no AI CPU binaries, so this is not one.
pub fn register_cpu_func(rt: &Runtime, handle: u64) -> Result<u64> {
    resolve(rt, handle, "aclrtRegisterCpuFunc#05")?;
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        "aclrtRegisterCpuFunc#06",
        "handle: the binary is one of AI Core kernels, not of AI CPU kernels"
    )
}
