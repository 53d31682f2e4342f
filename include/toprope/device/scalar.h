/* Scalar computation (Ascend C API, "scalar computation"). */
#ifndef TOPROPE_DEVICE_SCALAR_H
#define TOPROPE_DEVICE_SCALAR_H

#include "toprope/device/narrow.h"

#include <cmath>

namespace AscendC {

enum class RoundMode { CAST_NONE = 0, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD, CAST_HYBRID };

/* Bits of `value` that are `BIT`. */
template <int BIT> inline int64_t GetBitCount(uint64_t value)
{
    static_assert(BIT == 0 || BIT == 1, "a bit is 0 or 1");
    return __builtin_popcountll(BIT == 1 ? value : ~value);
}

/* Zeros before the first one of `value`; 64 for 0. */
inline int64_t CountLeadingZero(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }

/* Bits after the sign bit that equal it, up to the first that does not; -1 when all do. */
inline int64_t CountBitsCntSameAsSignBit(int64_t value)
{
    return value == 0 || value == -1 ? -1 : __builtin_clzll(static_cast<uint64_t>(value < 0 ? ~value : value)) - 1;
}

/* Place of the lowest bit of `value` that is `BIT`; -1 when none is. */
template <int BIT> inline int64_t GetSFFValue(uint64_t value)
{
    static_assert(BIT == 0 || BIT == 1, "a bit is 0 or 1");
    const uint64_t wanted = BIT == 1 ? value : ~value;
    return wanted == 0 ? -1 : __builtin_ctzll(wanted);
}

constexpr int32_t CeilDivision(int32_t number, int32_t divisor) { return (number + divisor - 1) / divisor; }

/* Passes `COUNT` cycles. */
template <int COUNT = 1> inline void Nop()
{
    for (int i = 0; i < COUNT; ++i) {
        __asm__ volatile("nop");
    }
}

inline bfloat16_t Cast(const float &value) { return bfloat16_t(value); }
inline float Cast(const bfloat16_t &value) { return static_cast<float>(value); }

} // namespace AscendC

namespace toprope {
namespace device {

/* The documented conversions of a scalar, by mode; another one does not compile. */
template <class TO, AscendC::RoundMode MODE> struct ScalarCast;

inline int32_t whole_number(double value)
{
    return value >= 2147483647.0 ? 2147483647 : value <= -2147483648.0 ? -2147483647 - 1 : static_cast<int32_t>(value);
}
template <> struct ScalarCast<int32_t, AscendC::RoundMode::CAST_ROUND> {
    static int32_t of(float value) { return whole_number(std::round(static_cast<double>(value))); }
};
template <> struct ScalarCast<int32_t, AscendC::RoundMode::CAST_CEIL> {
    static int32_t of(float value) { return whole_number(std::ceil(static_cast<double>(value))); }
};
template <> struct ScalarCast<int32_t, AscendC::RoundMode::CAST_FLOOR> {
    static int32_t of(float value) { return whole_number(std::floor(static_cast<double>(value))); }
};
template <> struct ScalarCast<int32_t, AscendC::RoundMode::CAST_RINT> {
    static int32_t of(float value) { return whole_number(std::nearbyint(static_cast<double>(value))); }
};
template <> struct ScalarCast<half, AscendC::RoundMode::CAST_ODD> {
    /* Toward zero, and an odd last digit unless the value fits. */
    static half of(float value)
    {
        const half nearest = static_cast<half>(value);
        const float back = static_cast<float>(nearest);
        if (!(back < value || back > value)) {
            return nearest;
        }
        uint16_t bits = bits_of<uint16_t>(nearest);
        if (std::fabs(back) > std::fabs(value)) {
            --bits;
        }
        return bits_of<half>(static_cast<uint16_t>(bits | 1u));
    }
};

} // namespace device
} // namespace toprope

namespace AscendC {

template <class T, class U, RoundMode roundMode> inline U Cast(T value)
{
    static_assert(std::is_same<T, float>::value, "a scalar is cast from float");
    return toprope::device::ScalarCast<U, roundMode>::of(value);
}

} // namespace AscendC

#endif
