//! From random words to numbers of a distribution.

use std::f64::consts::TAU;

use ascendcl_sys as sys;

use super::philox::Philox;
use crate::task::number::{Brain, Format, Half};

/// A type of random numbers. aclrtRandomNumAsync#03
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    I32,
    I64,
    U32,
    U64,
    Half,
    Brain,
    Float,
}

impl Type {
    pub(super) fn of(data_type: sys::aclDataType) -> Option<Type> {
        Some(match data_type {
            sys::ACL_INT32 => Type::I32,
            sys::ACL_INT64 => Type::I64,
            sys::ACL_UINT32 => Type::U32,
            sys::ACL_UINT64 => Type::U64,
            sys::ACL_FLOAT16 => Type::Half,
            sys::ACL_BF16 => Type::Brain,
            sys::ACL_FLOAT => Type::Float,
            _ => return None,
        })
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Type::Half | Type::Brain => 2,
            Type::I32 | Type::U32 | Type::Float => 4,
            Type::I64 | Type::U64 => 8,
        }
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(self, Type::I32 | Type::I64 | Type::U32 | Type::U64)
    }

    /// A parameter of a floating-point type.
    fn float(self, bytes: [u8; 8]) -> f32 {
        let [a, b, c, d, ..] = bytes;
        match self {
            Type::Half => Half(u16::from_le_bytes([a, b])).widen(),
            Type::Brain => Brain(u16::from_le_bytes([a, b])).widen(),
            _ => f32::from_le_bytes([a, b, c, d]),
        }
    }

    /// A parameter of an integer type.
    fn integer(self, bytes: [u8; 8]) -> i128 {
        let word = u64::from_le_bytes(bytes);
        match self {
            Type::I32 => i128::from(word as u32 as i32),
            Type::U32 => i128::from(word as u32),
            Type::I64 => i128::from(word as i64),
            _ => i128::from(word),
        }
    }

    /// A number as it is stored, rounded to the type.
    fn store(self, value: f64) -> u32 {
        match self {
            Type::Half => Half::narrow(value as f32).0.into(),
            Type::Brain => Brain::narrow(value as f32).0.into(),
            _ => (value as f32).to_bits(),
        }
    }

    /// The number below, as it is stored: of a finite one.
    fn below(self, bits: u32) -> u32 {
        let sign = 1 << (8 * self.bytes() - 1);
        match bits {
            0 => sign | 1,
            _ if bits == sign => sign | 1,
            _ if bits & sign == 0 => bits - 1,
            _ => bits + 1,
        }
    }
}

/// A distribution with its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Draw {
    /// From `min`, over `span` values.
    Integers {
        of: Type,
        min: i128,
        span: u64,
    },
    /// In [min, max).
    Floats {
        of: Type,
        min: f64,
        max: f64,
    },
    Normal {
        of: Type,
        mean: f64,
        deviation: f64,
    },
    Truncated {
        of: Type,
        mean: f64,
        deviation: f64,
    },
    /// Below this word a bit is 0.
    Mask {
        dropped_below: u64,
    },
}

impl Draw {
    /// None: the parameters make no sense.
    pub(super) fn new(
        of: Type,
        func_type: sys::aclrtRandomNumFuncType,
        first: [u8; 8],
        second: [u8; 8],
    ) -> Option<Draw> {
        let [a, b] = [first, second].map(|bytes| f64::from(of.float(bytes)));
        Some(match func_type {
            sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK => {
                let sensible = (0.0..=1.0).contains(&a);
                Draw::Mask { dropped_below: sensible.then_some((a * 2f64.powi(32)) as u64)? }
            }
            sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS if of.is_integer() => {
                let (min, max) = (of.integer(first), of.integer(second));
                Draw::Integers { of, min, span: u64::try_from(max - min).ok()? }
            }
            sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS => {
                (a <= b && a.is_finite() && b.is_finite()).then_some(Draw::Floats { of, min: a, max: b })?
            }
            sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS => Draw::Normal { of, mean: a, deviation: b },
            _ => Draw::Truncated { of, mean: a, deviation: b },
        })
    }

    /// Fills a piece; of a mask, `bits` bits.
    pub(super) fn fill(self, source: &mut Philox, piece: &mut [u8], bits: u64) {
        match self {
            Draw::Integers { of: of @ (Type::I64 | Type::U64), min, span } => {
                each(piece, of, || {
                    let offset = (u128::from(source.double()) * u128::from(span)) >> 64;
                    (min as u64).wrapping_add(offset as u64)
                });
            }
            Draw::Integers { of, min, span } => each(piece, of, || {
                let offset = (u64::from(source.word()) * span) >> 32;
                (min as u64).wrapping_add(offset)
            }),
            Draw::Floats { of, min, max } => {
                let end = of.store(max);
                each(piece, of, || {
                    let value = min + (max - min) * part(source);
                    let bits = of.store(value);
                    // Rounding may reach the end, which does not belong to the range unless it is all of it.
                    u64::from(if bits == end && min < max { of.below(end) } else { bits })
                });
            }
            Draw::Normal { of, mean, deviation } => {
                let mut second = None;
                each(piece, of, || {
                    let value = second.take().unwrap_or_else(|| {
                        let (first, other) = box_muller(source.word(), source.word());
                        second = Some(other);
                        first
                    });
                    of.store(mean + deviation * value).into()
                });
            }
            Draw::Truncated { of, mean, deviation } => {
                each(piece, of, || of.store(mean + deviation * truncated(source.word())).into());
            }
            Draw::Mask { dropped_below } => {
                for (byte, at) in piece.iter_mut().zip(0_u64..) {
                    *byte = 0;
                    for bit in (0..8).take_while(|bit| 8 * at + bit < bits) {
                        *byte |= u8::from(u64::from(source.word()) >= dropped_below) << bit;
                    }
                }
            }
        }
    }
}

fn each(piece: &mut [u8], of: Type, mut next: impl FnMut() -> u64) {
    for number in piece.chunks_exact_mut(of.bytes()) {
        let bytes = next().to_le_bytes();
        number.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    }
}

/// In [0, 1), of 24 bits.
fn part(source: &mut Philox) -> f64 {
    f64::from(source.word() >> 8) * 2f64.powi(-24)
}

/// Two independent normal numbers.
fn box_muller(a: u32, b: u32) -> (f64, f64) {
    // In (0, 1], so that the logarithm is finite.
    let radius = (-2.0 * ((f64::from(a) + 1.0) * 2f64.powi(-32)).ln()).sqrt();
    let (sin, cos) = (f64::from(b) * 2f64.powi(-32) * TAU).sin_cos();
    (radius * cos, radius * sin)
}

/// A normal number between -2 and 2.
fn truncated(word: u32) -> f64 {
    /// The distribution function at -2.
    const LOW: f64 = 0.022_750_131_948_179_21;
    let u = (f64::from(word) + 0.5) * 2f64.powi(-32);
    inverse(LOW + (1.0 - 2.0 * LOW) * u).clamp(-2.0, 2.0)
}

/// The inverse of the normal distribution function, to about 1e-7 (Wichura, "Algorithm AS 241", 1988; for 0.02 < p < 0.98).
fn inverse(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        let above = ((59.109_374_720 * r + 159.291_132_02) * r + 50.434_271_938) * r + 3.387_132_717_9;
        let below = ((67.187_563_600 * r + 78.757_757_664) * r + 17.895_169_469) * r + 1.0;
        return q * above / below;
    }
    let r = (-p.min(1.0 - p).ln()).sqrt() - 1.6;
    let above = ((0.170_238_211_03 * r + 1.306_728_481_6) * r + 2.756_815_390_0) * r + 1.423_437_277_7;
    let below = (0.120_211_329_75 * r + 0.737_001_642_50) * r + 1.0;
    (above / below).copysign(q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_one() {
        // Quantiles from tables of the normal distribution.
        for (p, x) in [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196),
            (0.9, 1.281_551_565_545),
            (0.95, 1.644_853_626_951),
            (0.975, 1.959_963_984_540),
            (0.841_344_746_069, 1.0),
            (0.977_249_868_052, 2.0),
        ] {
            assert!((inverse(p) - x).abs() < 1e-6 && (inverse(1.0 - p) + x).abs() < 1e-6, "{p}");
        }
        assert!(truncated(0) >= -2.0 && truncated(u32::MAX) <= 2.0 && truncated(1 << 31).abs() < 1e-6);
    }

    #[test]
    fn the_number_below() {
        let half = |value| u32::from(Half::narrow(value).0);
        assert_eq!(Type::Half.below(half(2.0)), half(2.0 - 1.0 / 1024.0));
        assert_eq!(Type::Half.below(half(-2.0)), half(-2.0 - 1.0 / 512.0));
        assert_eq!((Type::Half.below(0), Type::Half.below(0x8000)), (0x8001, 0x8001));
        assert_eq!(Type::Float.below(1f32.to_bits()), 1f32.next_down().to_bits());
        assert_eq!(Type::Float.below((-1f32).to_bits()), (-1f32).next_down().to_bits());
    }

    #[test]
    fn parameters_that_make_no_sense() {
        let uniform = sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
        let mask = sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK;
        let float = |value: f32| u64::from(value.to_bits()).to_le_bytes();
        assert!(Draw::new(Type::Float, uniform, float(2.0), float(1.0)).is_none());
        assert!(Draw::new(Type::Float, uniform, float(f32::NAN), float(1.0)).is_none());
        assert!(Draw::new(Type::Float, uniform, float(1.0), float(1.0)).is_some());
        assert!(Draw::new(Type::I32, uniform, 5_i64.to_le_bytes(), (-5_i64).to_le_bytes()).is_none());
        assert!(Draw::new(Type::U32, uniform, 5_i64.to_le_bytes(), (-5_i64).to_le_bytes()).is_some());
        assert!(Draw::new(Type::I64, uniform, i64::MIN.to_le_bytes(), i64::MAX.to_le_bytes()).is_some());
        for (ratio, good) in [(-0.1, false), (0.0, true), (1.0, true), (1.1, false), (f32::NAN, false)] {
            assert_eq!(Draw::new(Type::Float, mask, float(ratio), [0; 8]).is_some(), good, "{ratio}");
        }
    }
}
