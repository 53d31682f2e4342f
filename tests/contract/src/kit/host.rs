//! The host's side: files and threads.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file with a text, removed at the end.
pub struct File(PathBuf);

impl File {
    /// A new one.
    pub fn new(text: &str) -> File {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("contract-{}-{number}.json", std::process::id()));
        if let Err(error) = std::fs::write(&path, text) {
            panic!("{}: {error}", path.display());
        }
        File(path)
    }

    /// Its path for C.
    pub fn path(&self) -> std::ffi::CString {
        super::c(&self.0.to_string_lossy())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // Gone already: fine.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The calling thread as aclrtSubscribeReport names it.
pub fn this_thread() -> u64 {
    unsafe { libc::pthread_self() }
}
