//! Arithmetic of the device's number types: integers of two's complement that wrap (ours), IEEE 754 halves and floats, and
//! bfloat16. Sums of the two short formats are made as floats, which is exact enough that the second rounding changes
//! nothing, and rounded to nearest, ties to even.

/// What becomes of a floating-point result that is not finite. Source: 25-02 aclrtFloatOverflowMode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// It stays.
    InfNan,
    /// Infinity becomes the largest number of its sign, NaN becomes 0.
    Saturate,
}

/// One element.
pub(crate) trait Number: Copy {
    /// Its size in bytes.
    const BYTES: usize;
    /// From memory.
    fn load(bytes: &[u8]) -> Self;
    /// To memory.
    fn store(self, bytes: &mut [u8]);
    /// The sum.
    fn sum(self, other: Self, overflow: Overflow) -> Self;
    /// The greater one; NaN if either is (ours), and 0 is above -0.
    fn greater(self, other: Self) -> Self;
    /// The smaller one; NaN if either is (ours), and -0 is below 0.
    fn smaller(self, other: Self) -> Self;
    /// 1 if they are equal, else 0.
    fn equal(self, other: Self) -> Self;
}

fn read<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

macro_rules! integer {
    ($($t:ty)*) => {$(
        impl Number for $t {
            const BYTES: usize = size_of::<$t>();
            fn load(bytes: &[u8]) -> Self {
                Self::from_le_bytes(read(bytes))
            }
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
            fn sum(self, other: Self, _: Overflow) -> Self {
                self.wrapping_add(other)
            }
            fn greater(self, other: Self) -> Self {
                self.max(other)
            }
            fn smaller(self, other: Self) -> Self {
                self.min(other)
            }
            fn equal(self, other: Self) -> Self {
                Self::from(self == other)
            }
        }
    )*};
}

integer!(i8 i16 i32 u32);

/// A floating-point format that is stored in fewer bits than it is computed with.
pub(crate) trait Format: Copy {
    /// Exact.
    fn widen(self) -> f32;
    /// To nearest, ties to even; too large is infinity.
    fn narrow(value: f32) -> Self;
    /// The largest finite number.
    const LARGEST: f32;
}

/// IEEE 754 binary16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half(pub u16);

/// The upper half of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brain(pub u16);

impl Format for Half {
    const LARGEST: f32 = 65504.0;

    fn widen(self) -> f32 {
        let magnitude = match (self.0 >> 10 & 0x1f, self.0 & 0x3ff) {
            (0x1f, 0) => f32::INFINITY,
            (0x1f, _) => return f32::NAN,
            (0, fraction) => f32::from(fraction) * 2f32.powi(-24),
            (exponent, fraction) => f32::from(fraction + 0x400) * 2f32.powi(i32::from(exponent) - 25),
        };
        if self.0 >> 15 == 1 { -magnitude } else { magnitude }
    }

    fn narrow(value: f32) -> Half {
        let sign = (value.to_bits() >> 16) as u16 & 0x8000;
        let magnitude = value.abs();
        let bits = if value.is_nan() {
            0x7e00
        } else if magnitude >= 65520.0 {
            0x7c00
        } else {
            // A number of this size has steps of a half's last place: adding it rounds, to nearest and ties to even.
            let exponent = ((magnitude.to_bits() >> 23) as i32 - 127).max(-14);
            let steps = (magnitude * 2f32.powi(10 - exponent)).round_ties_even() as u32;
            // A carry out of the fraction is a step of the exponent.
            (((exponent + 14) as u32) << 10).wrapping_add(steps) as u16
        };
        Half(sign | bits)
    }
}

impl Format for Brain {
    const LARGEST: f32 = f32::from_bits(0x7f7f_0000);

    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    fn narrow(value: f32) -> Brain {
        let bits = value.to_bits();
        if value.is_nan() {
            return Brain(0x7fc0);
        }
        let odd = bits >> 16 & 1;
        Brain((bits.wrapping_add(0x7fff + odd) >> 16) as u16)
    }
}

impl Format for f32 {
    const LARGEST: f32 = f32::MAX;

    fn widen(self) -> f32 {
        self
    }

    fn narrow(value: f32) -> f32 {
        value
    }
}

fn settle<F: Format>(value: F, overflow: Overflow) -> F {
    let wide = value.widen();
    match overflow {
        Overflow::Saturate if wide.is_nan() => F::narrow(0.0),
        Overflow::Saturate if wide.is_infinite() => F::narrow(F::LARGEST.copysign(wide)),
        _ => value,
    }
}

/// -1 comes first, then 0, then 1: whether `a` is above `b`; zeros by their sign.
fn above(a: f32, b: f32) -> bool {
    a > b || (a == b && b.is_sign_negative() && a.is_sign_positive())
}

macro_rules! float {
    ($($t:ty, $bits:ty, $to:expr, $from:expr;)*) => {$(
        impl Number for $t {
            const BYTES: usize = size_of::<$t>();
            fn load(bytes: &[u8]) -> Self {
                $from(<$bits>::from_le_bytes(read(bytes)))
            }
            fn store(self, bytes: &mut [u8]) {
                let bits: $bits = $to(self);
                bytes.copy_from_slice(&bits.to_le_bytes());
            }
            fn sum(self, other: Self, overflow: Overflow) -> Self {
                settle(Self::narrow(self.widen() + other.widen()), overflow)
            }
            fn greater(self, other: Self) -> Self {
                if self.widen().is_nan() || (!other.widen().is_nan() && above(self.widen(), other.widen())) {
                    self
                } else {
                    other
                }
            }
            fn smaller(self, other: Self) -> Self {
                if self.widen().is_nan() || (!other.widen().is_nan() && above(other.widen(), self.widen())) {
                    self
                } else {
                    other
                }
            }
            fn equal(self, other: Self) -> Self {
                Self::narrow(f32::from(u8::from(self.widen() == other.widen())))
            }
        }
    )*};
}

float! {
    Half, u16, |half: Half| half.0, Half;
    Brain, u16, |brain: Brain| brain.0, Brain;
    f32, u32, f32::to_bits, f32::from_bits;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives() {
        for bits in 0..=u16::MAX {
            let wide = Half(bits).widen();
            let back = Half::narrow(wide);
            if wide.is_nan() {
                assert!(back.widen().is_nan() && bits & 0x7c00 == 0x7c00 && bits & 0x3ff != 0, "{bits:#x}");
            } else {
                assert_eq!(back, Half(bits));
            }
            let wide = Brain(bits).widen();
            if !wide.is_nan() {
                assert_eq!(Brain::narrow(wide), Brain(bits));
            }
        }
    }

    /// Between each two neighbours the middle goes to the even one, and what is beside it to the nearer one.
    #[test]
    fn narrowing_rounds_to_nearest_even() {
        fn check<F: Format + PartialEq + std::fmt::Debug>(of: fn(u16) -> F, infinite: u16) {
            for bits in 0..infinite {
                let low = f64::from(of(bits).widen());
                let next = if bits + 1 == infinite {
                    // As if the format went on.
                    2.0 * low - f64::from(of(bits - 1).widen())
                } else {
                    f64::from(of(bits + 1).widen())
                };
                let middle = ((low + next) / 2.0) as f32;
                let even = if bits % 2 == 0 { bits } else { bits + 1 };
                assert_eq!(F::narrow(middle), of(even), "{bits:#x}");
                assert_eq!(F::narrow(middle.next_down()), of(bits), "{bits:#x}");
                assert_eq!(F::narrow(middle.next_up()), of(bits + 1), "{bits:#x}");
                assert_eq!(F::narrow(-middle.next_up()), of((bits + 1) | 0x8000), "{bits:#x}");
            }
        }
        check(Half, 0x7c00);
        check(Brain, 0x7f80);
    }

    #[test]
    fn sums_and_comparisons() {
        use Overflow::{InfNan, Saturate};
        let half = Half::narrow;
        assert_eq!(half(1.5).sum(half(2.25), InfNan), half(3.75));
        // 2048 + 1: the middle of 2048 and 2050.
        assert_eq!(half(2048.0).sum(half(1.0), InfNan), half(2048.0));
        assert_eq!(half(2050.0).sum(half(1.0), InfNan), half(2052.0));
        assert_eq!(Half(0x7bff).sum(Half(0x7bff), InfNan), Half(0x7c00));
        assert_eq!(Half(0x7bff).sum(Half(0x7bff), Saturate), Half(0x7bff));
        assert_eq!(Half(0xfbff).sum(Half(0xfbff), Saturate), Half(0xfbff));
        assert_eq!(Half(0x7c00).sum(Half(0xfc00), Saturate), Half(0));
        assert!(Half(0x7c00).sum(Half(0xfc00), InfNan).widen().is_nan());
        let brain = Brain::narrow;
        assert_eq!(brain(256.0).sum(brain(1.0), InfNan), brain(256.0));
        assert_eq!(brain(1.5).sum(brain(2.5), InfNan), brain(4.0));
        assert_eq!(Brain(0x7f7f).sum(Brain(0x7f7f), Saturate), Brain(0x7f7f));
        assert_eq!(f32::MAX.sum(f32::MAX, InfNan), f32::INFINITY);
        assert_eq!(f32::MAX.sum(f32::MAX, Saturate), f32::MAX);
        assert_eq!(127_i8.sum(1, Saturate), -128);
        assert_eq!((half(-1.0).greater(half(2.0)), half(-1.0).smaller(half(2.0))), (half(2.0), half(-1.0)));
        assert_eq!((0f32.greater(-0.0).to_bits(), 0f32.smaller(-0.0).to_bits()), (0, 1 << 31));
        assert!(f32::NAN.greater(1.0).is_nan() && 1f32.greater(f32::NAN).is_nan());
        assert!(f32::NAN.smaller(1.0).is_nan() && 1f32.smaller(f32::NAN).is_nan());
        assert_eq!((half(3.0).equal(half(3.0)), half(3.0).equal(half(2.0))), (Half(0x3c00), Half(0)));
        assert_eq!((5_u32.equal(5), (-5_i16).equal(5)), (1, 0));
        assert_eq!(Brain(0x7fc0).equal(Brain(0x7fc0)), Brain(0));
    }
}
