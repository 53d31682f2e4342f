//! Addresses of the linked runtime's functions.

// The build script writes it from spec/functions.csv.
include!(concat!(env!("OUT_DIR"), "/symbols.rs"));
