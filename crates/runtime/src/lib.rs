//! The rules of the AscendCL runtime API, each once. Every front end comes in through the gate ([`call`]); one module per
//! chapter of the documentation holds that chapter's rules; the mechanism below is `toprope-engine`.
//!
//! Where to look: the C name without its prefix and noun is the function here (`aclrtStreamWaitEvent` is
//! [`stream`]`::wait_event` or [`event`]`::…`), and each check names the row of `spec/constraints*.csv` it comes from.

pub mod allocator;
pub mod buffer;
pub mod bytes;
pub mod call;
pub mod callback;
pub mod capability;
pub mod context;
pub mod copy;
pub mod device;
pub mod error;
pub mod event;
pub mod exception;
pub mod generated;
pub mod handle;
pub mod host;
pub mod init;
pub mod kernel;
pub mod label;
pub mod log;
pub mod managed;
pub mod memory;
pub mod notify;
pub mod observer;
pub mod pointer;
pub mod process;
pub mod profile;
pub mod second;
pub mod stand;
pub mod stream;
pub mod symbol;
pub mod system;
pub mod task;
pub mod thread;
pub mod timeout;
pub mod value;
pub mod version;

pub use error::{Error, Result};
pub use generated::api::Api;
pub use process::Runtime;
