//! A toolkit tree with version files, and what a row prints.

use std::io::{Read as _, Seek as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A tree that `ASCEND_HOME_PATH` names; for rows with a process of their own. Removed at the end.
pub struct Tree(PathBuf);

impl Tree {
    /// An empty one.
    pub fn new() -> Tree {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("contract-{}-tree-{number}", std::process::id()));
        // SAFETY: the row has the process to itself, and nobody else reads the environment now.
        unsafe { std::env::set_var("ASCEND_HOME_PATH", &path) };
        Tree(path)
    }

    /// Puts a package's version file into it.
    pub fn package(&self, folder: &str, text: &str) {
        let folder = self.0.join("share/info").join(folder);
        let made =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join("version.info"), text));
        if let Err(error) = made {
            panic!("{}: {error}", folder.display());
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Nothing was put in: fine.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What `body` writes to the standard output; for rows with a process of their own.
pub fn printed(body: impl FnOnce()) -> String {
    let file = super::File::new("");
    let open =
        std::fs::OpenOptions::new().read(true).write(true).open(file.path().to_string_lossy().as_ref());
    let mut sink = match open {
        Ok(sink) => sink,
        Err(error) => panic!("{error}"),
    };
    let before = unsafe { libc::dup(1) };
    unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&sink), 1) };
    body();
    unsafe { libc::dup2(before, 1) };
    unsafe { libc::close(before) };
    let mut text = String::new();
    let read = sink.rewind().and_then(|()| sink.read_to_string(&mut text));
    assert!(read.is_ok(), "{read:?}");
    text
}
