//! Names of streams, signals and their positions.

/// A stream of the engine. The caller makes sure that it is not used after [`super::Engine::close`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(pub u32);

/// A signal of the engine that its owner advances: a counter that streams and hosts can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signal(pub u32);

/// A position of a stream or signal: "done" once the counter has reached it. One 64-bit word (index and position);
/// positions never restart when an index is used again, so a mark of a closed stream reads as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mark(pub u64);

/// Bits of a position: 2^46 tasks are two weeks of 50 million per second through one index.
const POSITION_BITS: u32 = 46;

/// Streams and signals that can be told apart.
pub(crate) const INDEXES: u32 = 1 << (64 - POSITION_BITS);

impl Mark {
    /// The mark that is always done.
    pub const NONE: Mark = Mark(0);

    #[inline]
    pub(crate) fn new(index: u32, position: u64) -> Mark {
        debug_assert!(index < INDEXES && position >> POSITION_BITS == 0);
        Mark((u64::from(index) << POSITION_BITS) | position)
    }

    #[inline]
    pub(crate) fn index(self) -> u32 {
        (self.0 >> POSITION_BITS) as u32
    }

    /// The position within the stream or signal.
    #[inline]
    pub fn position(self) -> u64 {
        self.0 & ((1 << POSITION_BITS) - 1)
    }
}
