//! Gives the library its true name and keeps it mapped for the life of the process.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Programs ask for this name; a library that is closed while its workers run would take their code away.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libascendcl.so");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
