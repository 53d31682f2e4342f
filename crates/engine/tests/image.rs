//! Device binaries, compiled here from C.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::undocumented_unsafe_blocks)]

use std::path::{Path, PathBuf};
use std::process::Command;
use toprope_engine::image::{Core, Image, Instance, Refused};
use toprope_engine::memory::{self, Layout, Owner, Space};

fn compile(name: &str, flags: &[&str]) -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let include = here.join("../../include");
    let mut command = Command::new("cc");
    command.args(["-O1", "-fPIC", "-I"]).arg(include).args(flags).arg("-o").arg(&output);
    assert!(command.arg(here.join("tests/image/device.c")).status().unwrap().success());
    std::fs::read(output).unwrap()
}

fn shared(name: &str) -> Vec<u8> {
    compile(name, &["-shared", "-Wl,-Bsymbolic"])
}

/// `struct toprope_block`
#[repr(C)]
struct Block {
    index: u32,
    count: u32,
    sub: [u32; 2],
    services: usize,
}

fn run(image: &Image, instance: &Instance, kernel: &str, arguments: *const u8, index: u32) {
    let at = image.kernel(kernel).unwrap();
    let entry = instance.base() + image.kernels[at].entry;
    let block = Block { index, count: 1, sub: [0, 1], services: 0 };
    let entry: unsafe extern "C" fn(*const u8, *const Block) = unsafe { std::mem::transmute(entry) };
    unsafe { entry(arguments, &block) };
}

fn add(image: &Image, instance: &Instance, by: i32) -> i32 {
    #[repr(C)]
    struct Arguments {
        by: i32,
        result: *mut i32,
    }
    let mut result = 0;
    let arguments = Arguments { by, result: &raw mut result };
    run(image, instance, "add", (&raw const arguments).cast(), 100);
    result
}

#[test]
fn the_tables_are_read() {
    let image = Image::new(&shared("tables.so")).unwrap();
    let [add, ask] = &image.kernels[..] else { panic!() };
    assert_eq!((add.name.as_str(), add.arguments, add.core), ("add", 16, Core::Vector));
    assert_eq!(add.params, [(0, 4), (8, 8)]);
    assert_eq!((ask.name.as_str(), ask.core, image.kernel("none")), ("ask", Core::Mix, None));
    assert!(add.code > 0 && ask.code > 0 && add.code < 4096);
    let sizes: Vec<_> = image.variables.iter().map(|v| (v.name.as_str(), v.size)).collect();
    assert_eq!(sizes, [("counter", 4), ("big", 12_000)]);
}

#[test]
fn each_instance_has_its_own_variables_from_the_start() {
    let image = Image::new(&shared("instances.so")).unwrap();
    let (one, two) = (image.load().unwrap(), image.load().unwrap());
    assert_ne!(one.base(), two.base());
    assert_eq!(add(&image, &one, 1), 108);
    assert_eq!(add(&image, &one, 1), 109);
    assert_eq!(add(&image, &two, 5), 112);
    drop(one);
    // A descriptor of the same number, perhaps: still a new instance.
    for _ in 0..20 {
        assert_eq!(add(&image, &image.load().unwrap(), 1), 108);
    }
    assert_eq!(add(&image, &two, 1), 113);
    let other = Image::new(&shared("instances.so")).unwrap();
    assert_eq!(add(&other, &other.load().unwrap(), 2), 109, "another image of the same bytes");
}

#[test]
fn nothing_runs_by_itself() {
    let image = Image::new(&shared("quiet.so")).unwrap();
    let instance = image.load().unwrap();
    let mut constructed = 5i32;
    let arguments = &raw mut constructed;
    run(&image, &instance, "ask", (&raw const arguments).cast(), 0);
    assert_eq!(constructed, 0);
    // Its exit code would trap.
    drop(instance);
}

#[test]
fn variables_are_memory_of_their_device() {
    let image = Image::new(&shared("space.so")).unwrap();
    let instance = image.load().unwrap();
    let layout = Layout {
        devices: 2,
        device_bytes: 1 << 30,
        pinned_bytes: 1 << 30,
        mirror_pinned: false,
        guard: false,
        managed_base: 0x900_0000_0000,
        managed_bytes: 1 << 30,
    };
    let space = Space::new(layout).unwrap();
    let [counter, big] = [0, 1].map(|n| {
        let variable = &image.variables[n];
        let at = instance.base() + variable.offset;
        assert_eq!(space.find(at), None);
        assert_eq!(space.inner(at), at);
        assert_ne!(instance.mirror(at), 0, "the variables have a second mapping");
        space.add_variable(1, at, variable.size, instance.mirror(at)).unwrap()
    });
    assert_eq!(counter.owner, Owner::Image(1));
    assert_eq!(space.find(big.base + 11_999), Some(big));
    assert_ne!(space.find(big.base + 12_000), Some(big));
    assert!(space.add_variable(0, big.base + 8, 4, 0).is_err());
    // The runtime's own mapping and the kernel's are the same bytes.
    let inner = space.inner(counter.base);
    assert_ne!(inner, counter.base);
    let value = 40i32;
    unsafe { memory::copy(inner, &raw const value as usize, 4) }.unwrap();
    assert_eq!(add(&image, &instance, 2), 142);
    let mut now = 0i32;
    unsafe { memory::copy(&raw mut now as usize, inner, 4) }.unwrap();
    assert_eq!(now, 42);
    assert_eq!(space.blocks(Owner::Image(1)), [], "a reset does not free them one by one");
    space.remove_variable(counter.base).unwrap();
    assert_eq!((space.find(counter.base), space.inner(counter.base)), (None, counter.base));
}

#[test]
fn what_is_no_device_binary_is_told_apart() {
    let why = |bytes: &[u8]| Image::new(bytes).err().unwrap();
    assert_eq!(why(b""), Refused::NotElf);
    assert_eq!(why(b"#!/bin/sh\n"), Refused::NotElf);
    let good = shared("good.so");
    let mut npu = good.clone();
    npu[18..20].copy_from_slice(&[0x29, 0x10]);
    assert_eq!(why(&npu), Refused::Npu(0x1029));
    assert!(why(&npu).to_string().contains("real NPU"), "{}", why(&npu));
    let mut arm = good.clone();
    arm[18..20].copy_from_slice(&[0xb7, 0]);
    assert_eq!(why(&arm), Refused::OtherHost("AArch64"));
    assert_eq!(why(&std::fs::read("/proc/self/exe").unwrap()), Refused::NoTable);
    assert_eq!(why(&compile("object.o", &["-c"])), Refused::NotLinked);
    let newer = compile("newer.so", &["-shared", "-DVERSION=9"]);
    assert_eq!(why(&newer), Refused::Newer(9));
    assert!(matches!(why(&good[..64]), Refused::Damaged(_)));
    assert!(matches!(why(&good[..good.len() / 2]), Refused::Damaged(_) | Refused::NoTable));
    let missing = compile("missing.so", &["-shared", "-DMISSING"]);
    let Refused::System(said) = why(&missing) else { panic!("{:?}", why(&missing)) };
    assert!(said.contains("nowhere"), "{said}");
}
