//! Starts the checker before the first call, if the environment asks for it.

/// Run when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    toprope_checker::install();
}
