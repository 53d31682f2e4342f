//! aclrtRandomNumAsync. The numbers are a function of seed and counter alone: element after element takes words of
//! Philox4x32-10 (the algorithm that the sample of the vendor names), with the seed as its key and block after block counted
//! from the 128 bits at `randomCounterAddr`, which the task reads and leaves as they are. Which words become which number is
//! ours; no page tells, so that the values are not a card's, but their distribution is.
//!
//! | distribution | words | number |
//! |---|---|---|
//! | uniform, floating point | 1 | min + (max - min) · u, u of 24 bits in [0, 1); never max |
//! | uniform, integer | 1 or 2 | min + ⌊(max - min) · u⌋; never max |
//! | normal | 2 for 2 | Box-Muller |
//! | truncated normal | 1 | the inverse of the distribution between -2 and 2 standard deviations |
//! | dropout bitmask | 1 per bit | 1 (kept) unless u is below the ratio; lowest bit first, the last byte filled up with 0 |

mod draw;
mod philox;

use ascendcl_sys as sys;
use toprope_engine::memory;

use self::draw::{Draw, Type};
use self::philox::Philox;
use super::on_device;
use crate::copy::{self, FAULT_CODE};
use crate::error::Result;
use crate::generated::api::Api;
use crate::observer::Range;
use crate::process::Runtime;
use crate::stream::Stream;
use crate::{refuse, stream};

/// What the program asks for, as it lies in its memory.
pub struct Ask {
    /// `dataType`
    pub data_type: sys::aclDataType,
    /// `funcType`
    pub func_type: sys::aclrtRandomNumFuncType,
    /// The two parameters of the distribution; the dropout ratio is the first.
    pub params: [Field; 2],
    /// `randomParaAddr`
    pub param_addr: usize,
    /// `randomResultAddr`
    pub result_addr: usize,
    /// `randomCounterAddr`
    pub counter_addr: usize,
    /// `randomSeed`
    pub seed: Field,
    /// `randomNum`
    pub num: Field,
}

/// aclrtRandomParaInfo: a value, or where in device memory it is.
#[derive(Clone, Copy)]
pub struct Field {
    /// `isAddr`
    pub is_addr: bool,
    /// `valueOrAddr`
    pub bytes: [u8; 8],
    /// `size`: how many of the bytes count.
    pub size: u8,
}

/// Bytes of a counter. Source: README of the vendor's sample 1_random_num_task.
const COUNTER: usize = 16;

/// A field whose place was checked.
#[derive(Clone, Copy)]
enum Value {
    Here([u8; 8]),
    At(usize, usize),
}

impl Value {
    /// The bytes; the rest is 0.
    fn get(self) -> std::result::Result<[u8; 8], u32> {
        match self {
            Value::Here(bytes) => Ok(bytes),
            Value::At(inner, len) => read(inner, len),
        }
    }
}

fn read<const N: usize>(inner: usize, len: usize) -> std::result::Result<[u8; N], u32> {
    let mut bytes = [0; N];
    // SAFETY: at most `N` bytes into this thread's own array; the source may be gone, which is reported.
    unsafe { memory::copy(bytes.as_mut_ptr() as usize, inner, len.min(N)) }.map_err(|_| FAULT_CODE)?;
    Ok(bytes)
}

/// aclrtRandomNumAsync. Only fields that the distribution uses are looked at.
pub fn random_num_async(rt: &Runtime, ask: &Ask, reserve: usize, stream: u64) -> Result<()> {
    // aclrtRandomNumAsync#02. ours: the types that #03 lists are the known ones.
    let Some(of) = Type::of(ask.data_type) else {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtRandomNumAsync#02, #03",
            "dataType: {} is none of int32, int64, uint32, uint64, bfloat16, float16 and float",
            sys::enums::aclDataType.show(ask.data_type)
        );
    };
    let known = stream::known(rt, stream)?;
    if reserve != 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtRandomNumAsync#04",
            "reserve: {reserve:#x} was given, it must be null"
        );
    }
    let count = params_of(ask, of)?;
    let stream = copy::own(rt, known, "aclrtRandomNumAsync#07")?;
    let mut reads = Vec::new();
    let mut field = |name, field, len| locate(rt, &stream, name, field, len, &mut reads);
    let first = field("first parameter", ask.params[0], of.bytes())?;
    let second = if count == 2 { field("second parameter", ask.params[1], of.bytes())? } else { first };
    let seed = field("randomSeed", ask.seed, 8)?;
    let num = field("randomNum", ask.num, 8)?;
    if ask.param_addr != 0 {
        // The place for the parameters, on the device; here they travel with the task.
        on_device(rt, &stream, &"randomParaAddr", ask.param_addr, 1, RULE)?;
    }
    let counter = on_device(rt, &stream, &"randomCounterAddr", ask.counter_addr, COUNTER, RULE)?;
    reads.push(counter.range());
    let plan = Plan { of, func_type: ask.func_type, params: [first, second], seed, num, room: 0 };
    // A number of elements that is only known when the task runs must fit into the rest of the block.
    let now = match num {
        Value::Here(bytes) => plan.bytes(u64::from_le_bytes(bytes)),
        Value::At(..) => Some(1),
    };
    let Some(len) = now else {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            RULE,
            "randomNum: the numbers are more than an address space holds"
        );
    };
    let result = on_device(rt, &stream, &"randomResultAddr", ask.result_addr, len.max(1), RULE)?;
    let plan = match num {
        Value::Here(_) => {
            // Parameters that are known now are looked at now.
            if let (Value::Here(a), Value::Here(b)) = (first, second)
                && Draw::new(of, ask.func_type, a, b).is_none()
            {
                return refuse!(
                    sys::ACL_ERROR_RT_PARAM_INVALID,
                    "ours: parameters of a distribution",
                    "randomNumFuncParaInfo: min must not be above max, and a dropout ratio lies in [0, 1]"
                );
            }
            Plan { room: len, ..plan }
        }
        Value::At(..) => Plan { room: rest_of_block(rt, ask.result_addr), ..plan },
    };
    let (to, from) = (result.inner(), counter.inner());
    let write = Range { start: ask.result_addr, len: plan.room };
    let task = copy::work(plan.room.saturating_mul(32), 1, move || plan.run(to, from));
    copy::enqueue(rt, Api::aclrtRandomNumAsync, &stream, task, &reads, &[write]);
    Ok(())
}

/// The pages demand device memory and name no code.
const RULE: &str = "ours: what aclrtRandomNumTaskInfo demands";

/// How many parameters the distribution has.
fn params_of(ask: &Ask, of: Type) -> Result<usize> {
    let (count, floats) = match ask.func_type {
        sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK => (1, true),
        sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS => (2, false),
        sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS
        | sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS => (2, true),
        other => {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: aclrtRandomNumFuncType",
                "funcType: {}; wanted is 0 to 3",
                sys::enums::aclrtRandomNumFuncType.show(other)
            );
        }
    };
    if floats && of.is_integer() {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "ours: only the uniform distribution has integers",
            "dataType: {} does not go with function type {}",
            sys::enums::aclDataType.show(ask.data_type),
            sys::enums::aclrtRandomNumFuncType.show(ask.func_type)
        );
    }
    Ok(count)
}

/// A field's value, or its place in memory that the device reaches.
fn locate(
    rt: &Runtime,
    stream: &Stream,
    name: &'static str,
    field: Field,
    len: usize,
    reads: &mut Vec<Range>,
) -> Result<Value> {
    if !field.is_addr {
        let mut bytes = field.bytes;
        // ours: a size that is out of range counts as that of the type.
        let used = match usize::from(field.size) {
            size if (1..=len).contains(&size) => size,
            _ => len,
        };
        if let Some(rest) = bytes.get_mut(used..) {
            rest.fill(0);
        }
        return Ok(Value::Here(bytes));
    }
    let addr = u64::from_le_bytes(field.bytes) as usize;
    let span = on_device(rt, stream, &name, addr, len, RULE)?;
    reads.push(span.range());
    Ok(Value::At(span.inner(), len))
}

fn rest_of_block(rt: &Runtime, addr: usize) -> usize {
    rt.space.find(addr).map_or(0, |block| block.usable - (addr - block.base))
}

/// A task.
struct Plan {
    of: Type,
    func_type: sys::aclrtRandomNumFuncType,
    params: [Value; 2],
    seed: Value,
    num: Value,
    /// Bytes that may be written.
    room: usize,
}

/// Bytes at a time; whole blocks of each distribution.
const PIECE: usize = 4096;

impl Plan {
    /// Bytes of `num` numbers.
    fn bytes(&self, num: u64) -> Option<usize> {
        let num = usize::try_from(num).ok()?;
        if self.func_type == sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK {
            return Some(num.div_ceil(8));
        }
        num.checked_mul(self.of.bytes())
    }

    fn run(&self, result: usize, counter: usize) -> std::result::Result<(), u32> {
        const WRONG: u32 = sys::ACL_ERROR_RT_PARAM_INVALID as u32;
        let num = u64::from_le_bytes(self.num.get()?);
        let len = self.bytes(num).filter(|len| *len <= self.room).ok_or(WRONG)?;
        let [first, second] = [self.params[0].get()?, self.params[1].get()?];
        let draw = Draw::new(self.of, self.func_type, first, second).ok_or(WRONG)?;
        let mut source = Philox::new(u64::from_le_bytes(self.seed.get()?), read(counter, COUNTER)?);
        let mut piece = [0_u8; PIECE];
        for at in (0..len).step_by(PIECE) {
            let n = PIECE.min(len - at);
            // Bits of a mask beyond the last one asked for are 0.
            let bits = num.saturating_sub(8 * at as u64);
            if let Some(piece) = piece.get_mut(..n) {
                draw.fill(&mut source, piece, bits);
            }
            // SAFETY: `n` bytes of this thread's buffer, and an inner address of a block that the call checked; one that is
            // gone meanwhile is reported.
            unsafe { memory::copy(result + at, piece.as_ptr() as usize, n) }.map_err(|_| FAULT_CODE)?;
        }
        Ok(())
    }
}
