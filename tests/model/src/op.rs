//! What a sequence is drawn from: calls over small index spaces, with bad ones mixed in. One [`Op`] takes [`STEP`] bytes, so
//! that leaving some out or making them smaller leaves the other calls as they are.

use arbitrary::{Arbitrary, Result, Unstructured};

/// Bytes of one [`Turn`].
pub const STEP: usize = 16;

/// An op, and the host thread that makes the call.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Index of the thread.
    pub thread: usize,
    /// The op.
    pub op: Op,
    /// Decides between the ways to order streams that would race.
    pub mend: u8,
}

/// Picks one of what there is: mostly something live, now and then null, dead, foreign or invented.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Pick(pub u8);

/// Picks a number from a list of plain and bad ones.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Any(pub u8);

/// Picks bytes of a buffer.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Part {
    /// Which buffer.
    pub buffer: Pick,
    /// Where it begins, in 256ths.
    pub start: u8,
}

/// How two ends are copied.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Ends {
    /// Destination.
    pub dst: Part,
    /// Source.
    pub src: Part,
    /// How much of what fits.
    pub len: Any,
    /// The kind, if it is not the right one.
    pub kind: Any,
    /// What is wrong with the call, if anything.
    pub twist: u8,
}

/// What there is to call. Arguments are chosen from what exists when its turn comes.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are the arguments of the calls")]
pub enum Op {
    Init,
    Finalize,
    FinalizeReference,
    SetDevice(Any),
    ResetDevice(Any),
    ResetDeviceForce(Any),
    Ask(Any),
    CreateContext(Any),
    DestroyContext(Pick),
    SetCurrentContext(Pick),
    CreateStream(Any, Any),
    DestroyStream(Pick, bool),
    Synchronize(Pick, Any),
    SynchronizeDevice(Any),
    StreamQuery(Pick),
    StreamGetPriority(Pick),
    StreamAbort(Pick),
    CreateEvent(Any, Any),
    DestroyEvent(Pick),
    RecordEvent(Pick, Pick),
    ResetEvent(Pick, Pick),
    StreamWaitEvent(Pick, Pick, Any),
    QueryEvent(Pick, bool),
    SynchronizeEvent(Pick, Any),
    EventElapsedTime(Pick, Pick),
    Allocate(Any, Any),
    Free(Pick, Any),
    Memcpy(Ends),
    MemcpyAsync(Ends, Pick, bool),
    Memcpy2d(Ends, Any, Any),
    Memcpy2dAsync(Ends, Any, Any, Pick),
    Memset(Part, Any, u8, u8, bool),
    MemsetAsync(Part, Any, u8, u8, bool, Pick),
    HostWrite(Part, Any, u8),
    Mark(Pick),
    Gate(Pick),
    Store(Pick, Part, Any, u8),
    Observe(Pick, Part, Any),
    NoFunction(Pick),
    Release(u8),
    NullOut(Any),
    Register(Pick, Any),
    Peer(Any, Any),
    AskSymbol(Any),
    Symbol(Any, Part, Any, Any, Any, Pick),
}

impl Op {
    /// Reads an op. Calm ones are mostly tasks and what orders them.
    fn read(u: &mut Unstructured<'_>, calm: bool) -> Result<Op> {
        let choice = match u.arbitrary::<u8>()? {
            choice @ 0..61 if calm && choice % 4 != 0 => 162 + choice,
            choice => choice,
        };
        // How often each comes, of 256.
        Ok(match choice {
            0..2 => Op::Init,
            2 => Op::Finalize,
            3 => Op::FinalizeReference,
            4..12 => Op::SetDevice(u.arbitrary()?),
            12..15 => Op::ResetDevice(u.arbitrary()?),
            15 => Op::ResetDeviceForce(u.arbitrary()?),
            16..19 => Op::Ask(u.arbitrary()?),
            19..23 => Op::CreateContext(u.arbitrary()?),
            23..25 => Op::DestroyContext(u.arbitrary()?),
            25..31 => Op::SetCurrentContext(u.arbitrary()?),
            31..39 => Op::CreateStream(u.arbitrary()?, u.arbitrary()?),
            39..43 => Op::DestroyStream(u.arbitrary()?, u.arbitrary()?),
            43..57 => Op::Synchronize(u.arbitrary()?, u.arbitrary()?),
            57..61 => Op::SynchronizeDevice(u.arbitrary()?),
            61..66 => Op::StreamQuery(u.arbitrary()?),
            66 => Op::StreamGetPriority(u.arbitrary()?),
            67 => Op::StreamAbort(u.arbitrary()?),
            68..74 => Op::CreateEvent(u.arbitrary()?, u.arbitrary()?),
            74..77 => Op::DestroyEvent(u.arbitrary()?),
            77..91 => Op::RecordEvent(u.arbitrary()?, u.arbitrary()?),
            91..93 => Op::ResetEvent(u.arbitrary()?, u.arbitrary()?),
            93..107 => Op::StreamWaitEvent(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            107..112 => Op::QueryEvent(u.arbitrary()?, u.arbitrary()?),
            112..116 => Op::SynchronizeEvent(u.arbitrary()?, u.arbitrary()?),
            116..118 => Op::EventElapsedTime(u.arbitrary()?, u.arbitrary()?),
            118..136 => Op::Allocate(u.arbitrary()?, u.arbitrary()?),
            136..142 => Op::Free(u.arbitrary()?, u.arbitrary()?),
            142..145 => Op::Register(u.arbitrary()?, u.arbitrary()?),
            145 => Op::Peer(u.arbitrary()?, u.arbitrary()?),
            146 => Op::AskSymbol(u.arbitrary()?),
            147..153 => {
                let (which, part) = (u.arbitrary()?, u.arbitrary()?);
                Op::Symbol(which, part, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?)
            }
            153..162 => Op::Memcpy(u.arbitrary()?),
            162..188 => Op::MemcpyAsync(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            188..192 => Op::Memcpy2d(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            192..198 => Op::Memcpy2dAsync(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            198..203 => {
                let (part, len) = (u.arbitrary()?, u.arbitrary()?);
                Op::Memset(part, len, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?)
            }
            203..213 => {
                let (part, len, value) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
                Op::MemsetAsync(part, len, value, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?)
            }
            213..223 => Op::HostWrite(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            223..227 => Op::Mark(u.arbitrary()?),
            227..235 => Op::Gate(u.arbitrary()?),
            235..240 => Op::Store(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            240..245 => Op::Observe(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            245 => Op::NoFunction(u.arbitrary()?),
            246..254 => Op::Release(u.arbitrary()?),
            254.. => Op::NullOut(u.arbitrary()?),
        })
    }
}

impl Turn {
    fn read(u: &mut Unstructured<'_>, calm: bool) -> Result<Turn> {
        // Thread 0 makes most calls.
        let thread = match u.arbitrary::<u8>()? {
            0..200 => 0,
            _ if calm => 0,
            200..240 => 1,
            240.. => 2,
        };
        let mend = u.arbitrary()?;
        Ok(Turn { thread, mend, op: Op::read(u, calm)? })
    }
}

/// The ops of a byte string; any bytes will do.
pub fn decode(bytes: &[u8], calm: bool) -> Vec<Turn> {
    bytes.chunks(STEP).filter_map(|step| Turn::read(&mut Unstructured::new(step), calm).ok()).collect()
}
