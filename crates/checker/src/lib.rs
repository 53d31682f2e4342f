//! The checker: an observer of the runtime that finds ordering and lifetime mistakes which every call answers with success, at
//! the first run and whatever the scheduling. Findings are judged by what is ordered before what, never by what happened first.
//!
//! [`model`] knows what happened before what, [`shadow`] who touched which bytes, [`rule`] what is wrong (one file and one page
//! in `docs/rules` for each), [`finding`] and [`output`] say it, [`site`], [`python`] and
//! [`symbol`] say where.

pub mod blocks;
pub mod checker;
pub mod clock;
pub mod finding;
pub mod here;
pub mod judge;
pub mod model;
pub mod news;
pub mod output;
pub mod python;
pub mod rule;
pub mod settings;
pub mod shadow;
pub mod site;
pub mod stuck;
pub mod suppress;
pub mod symbol;
pub mod threads;
pub mod touch;
pub mod traits;
pub mod watcher;

pub use checker::install;
