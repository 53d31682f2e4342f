//! Kernels and the binaries they come in: chapter 14, and the registration functions of compiled programs (`spec/registration.csv`).
//!
//! A binary ([`binary`]) is known to the process once it is loaded or registered; each device gets an instance of its own at the
//! first use there, which ends with the device's last reset. A function handle names a kernel of a binary, on whatever device. A launch ([`launch`])
//! packs its arguments ([`args`]) and becomes one task ([`run`]), which holds its kernel's place ([`site`]) and so the instance until it is done.
//!
//! Everything here works before `aclInit`, in constructors of the program, and at its exit.
//!
//! Lock order: a stub table, then a binary's `instances`, then the address table; all others are leaves. No lock of this chapter is
//! held while a kernel or a function of the program runs.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use toprope_engine::queue::{self, Failure};

use crate::handle::{Kind, Table};

pub mod args;
pub mod attribute;
pub mod binary;
pub mod config;
pub mod launch;
pub mod register;
pub mod run;
pub(crate) mod site;

use run::Report;

/// What the chapter keeps for a process.
pub struct Kernels {
    /// aclrtCreateBinary: data and length.
    pub(crate) descriptions: Table<binary::Description>,
    /// Loaded and registered binaries.
    pub(crate) binaries: Table<binary::Binary>,
    /// Kernels that have a handle.
    pub(crate) functions: Table<binary::Function>,
    /// Argument lists whose memory is the runtime's.
    pub(crate) lists: Table<Arc<args::List>>,
    /// Those in the program's memory, by the address of their handle.
    pub(crate) user_lists: Mutex<HashMap<u64, Arc<args::List>>>,
    /// Kernels by the addresses of their host functions.
    pub(crate) stubs: RwLock<register::Stubs>,
    /// What is known of kernels that ended too early, oldest first.
    reports: Mutex<VecDeque<(TaskKey, Arc<Report>)>>,
}

/// A task: the engine's stream and the position in it.
type TaskKey = (u32, u64);

/// Reports kept at most: for failures that nobody has asked for yet.
const KEPT: usize = 256;

impl Kernels {
    pub(crate) fn new() -> Kernels {
        Kernels {
            descriptions: Table::new(Kind::BinaryData),
            binaries: Table::new(Kind::Binary),
            functions: Table::new(Kind::Function),
            lists: Table::new(Kind::Args),
            user_lists: Mutex::default(),
            stubs: RwLock::default(),
            reports: Mutex::default(),
        }
    }

    fn note(&self, stream: queue::Stream, position: u64, report: Arc<Report>) {
        let mut reports = self.reports.lock();
        if reports.len() >= KEPT {
            reports.pop_front();
        }
        reports.push_back(((stream.0, position), report));
    }

    /// What is known of a task that failed, if it was a kernel that ended too early.
    pub(crate) fn report(&self, stream: queue::Stream, failure: Failure) -> Option<Arc<Report>> {
        let key = (stream.0, failure.position);
        let reports = self.reports.lock();
        // The newest: a stream's number and positions come again after it was closed.
        reports.iter().rev().find(|(at, _)| *at == key).map(|(_, report)| report.clone())
    }
}
