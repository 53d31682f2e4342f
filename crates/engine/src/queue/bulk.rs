//! Large copies and fills.

/// Large copies and fills look around (priorities, deadlines) after so many bytes.
pub(crate) const PIECE: usize = 1 << 20;
