/* The 16-bit floating-point types of device code: half (IEEE binary16) and bfloat16_t.
 *
 * half is the compiler's _Float16 where it has one (g++ 12, clang++ 15 and later on x86-64). Elsewhere, and for bfloat16_t everywhere, it
 * is a structure of the same size and layout whose operations round to nearest even, one by one, as the type of the compiler does.
 */
#ifndef TOPROPE_DEVICE_NARROW_H
#define TOPROPE_DEVICE_NARROW_H

#include "toprope/device/qualifiers.h"

#include <string.h>
#include <type_traits>

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif
#if __cplusplus >= 201402L && __has_builtin(__builtin_bit_cast)
#define TOPROPE_CONSTEXPR constexpr
#else
#define TOPROPE_CONSTEXPR inline
#endif

namespace toprope {
namespace device {

template <class TO, class FROM> TOPROPE_CONSTEXPR TO bits_of(const FROM &from)
{
    static_assert(sizeof(TO) == sizeof(FROM), "the same bits, read otherwise");
#if __cplusplus >= 201402L && __has_builtin(__builtin_bit_cast)
    return __builtin_bit_cast(TO, from);
#else
    TO to;
    memcpy(&to, &from, sizeof to);
    return to;
#endif
}

/* A floating-point number of 16 bits, `EXPONENT` of them for the exponent. */
template <int EXPONENT> struct Narrow {
    uint16_t bits;

    Narrow() = default;
    template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
    TOPROPE_CONSTEXPR Narrow(T value) : bits(rounded(static_cast<double>(value)))
    {
    }
    template <int OTHER> explicit TOPROPE_CONSTEXPR Narrow(Narrow<OTHER> other) : Narrow(static_cast<float>(other)) {}

    TOPROPE_CONSTEXPR operator float() const { return widened(bits); }

    template <class T> TOPROPE_CONSTEXPR Narrow &operator+=(T other) { return *this = Narrow(*this + other); }
    template <class T> TOPROPE_CONSTEXPR Narrow &operator-=(T other) { return *this = Narrow(*this - other); }
    template <class T> TOPROPE_CONSTEXPR Narrow &operator*=(T other) { return *this = Narrow(*this * other); }
    template <class T> TOPROPE_CONSTEXPR Narrow &operator/=(T other) { return *this = Narrow(*this / other); }
    TOPROPE_CONSTEXPR Narrow &operator++() { return *this += 1; }
    TOPROPE_CONSTEXPR Narrow &operator--() { return *this -= 1; }
    TOPROPE_CONSTEXPR Narrow operator-() const { return from_bits(static_cast<uint16_t>(bits ^ 0x8000u)); }

    static TOPROPE_CONSTEXPR Narrow from_bits(uint16_t bits)
    {
        Narrow number = Narrow(0);
        number.bits = bits;
        return number;
    }

    static constexpr int FRACTION = 15 - EXPONENT;
    static constexpr int BIAS = (1 << (EXPONENT - 1)) - 1;
    static constexpr uint16_t INFINITE = ((1u << EXPONENT) - 1u) << FRACTION;

private:
    /* Round to nearest, ties to even, in one step from the widest type. */
    static TOPROPE_CONSTEXPR uint16_t rounded(double value)
    {
        const uint64_t wide = bits_of<uint64_t>(value);
        const uint16_t sign = static_cast<uint16_t>(wide >> 48 & 0x8000u);
        const int exponent = static_cast<int>(wide >> 52 & 0x7ffu);
        const uint64_t fraction = wide & 0xfffffffffffffu;
        if (exponent == 0x7ff) {
            const uint64_t quiet = fraction == 0 ? 0 : (1u << (FRACTION - 1)) | fraction >> (52 - FRACTION);
            return static_cast<uint16_t>(sign | INFINITE | quiet);
        }
        /* The exponent as the narrow type has it; below 1 the number is subnormal there, and loses further bits. */
        const int biased = exponent - 1023 + BIAS;
        const int shift = 52 - FRACTION + (biased < 1 ? 1 - biased : 0);
        if (exponent == 0 || shift > 54) {
            return sign;
        }
        const uint64_t whole = fraction | uint64_t(1) << 52;
        const uint64_t rest = whole & ((uint64_t(1) << shift) - 1);
        const uint64_t tie = uint64_t(1) << (shift - 1);
        uint64_t kept = whole >> shift;
        if (rest > tie || (rest == tie && (kept & 1) != 0)) {
            ++kept;
        }
        /* A carry out of the fraction counts the exponent up, which is right, up to infinity. */
        if (biased >= 1) {
            kept += static_cast<uint64_t>(biased - 1) << FRACTION;
        }
        return static_cast<uint16_t>(sign | (kept < INFINITE ? kept : INFINITE));
    }

    static TOPROPE_CONSTEXPR float widened(uint16_t bits)
    {
        const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
        const uint32_t exponent = (bits & INFINITE) >> FRACTION;
        const uint32_t fraction = bits & ((1u << FRACTION) - 1u);
        if (EXPONENT == 8) {
            return bits_of<float>(static_cast<uint32_t>(bits) << 16);
        }
        if (exponent == 0) {
            /* Subnormal here, an ordinary number there: 2^-24 for each unit of a half. */
            const float magnitude = static_cast<float>(fraction) * 5.9604644775390625e-8f;
            return sign == 0 ? magnitude : -magnitude;
        }
        const uint32_t wide = bits >= INFINITE && exponent == (1u << EXPONENT) - 1u ? 255u : exponent + 127u - BIAS;
        return bits_of<float>(sign | wide << 23 | fraction << (23 - FRACTION));
    }
};

/* As among the built-in types: with an integer the result stays narrow, with float and double it is theirs. */
#define TOPROPE_NARROW_OPERATOR(OPERATOR)                                                                                  \
    template <int E> TOPROPE_CONSTEXPR Narrow<E> operator OPERATOR(Narrow<E> left, Narrow<E> right)                        \
    {                                                                                                                      \
        return Narrow<E>(static_cast<float>(left) OPERATOR static_cast<float>(right));                                     \
    }                                                                                                                      \
    template <int E, class T, class = typename std::enable_if<std::is_integral<T>::value>::type>                           \
    TOPROPE_CONSTEXPR Narrow<E> operator OPERATOR(Narrow<E> left, T right)                                                 \
    {                                                                                                                      \
        return left OPERATOR Narrow<E>(right);                                                                             \
    }                                                                                                                      \
    template <int E, class T, class = typename std::enable_if<std::is_integral<T>::value>::type>                           \
    TOPROPE_CONSTEXPR Narrow<E> operator OPERATOR(T left, Narrow<E> right)                                                 \
    {                                                                                                                      \
        return Narrow<E>(left) OPERATOR right;                                                                             \
    }                                                                                                                      \
    template <int E, class T, class = typename std::enable_if<std::is_floating_point<T>::value>::type>                     \
    TOPROPE_CONSTEXPR T operator OPERATOR(Narrow<E> left, T right)                                                         \
    {                                                                                                                      \
        return static_cast<float>(left) OPERATOR right;                                                                    \
    }                                                                                                                      \
    template <int E, class T, class = typename std::enable_if<std::is_floating_point<T>::value>::type>                     \
    TOPROPE_CONSTEXPR T operator OPERATOR(T left, Narrow<E> right)                                                         \
    {                                                                                                                      \
        return left OPERATOR static_cast<float>(right);                                                                    \
    }
TOPROPE_NARROW_OPERATOR(+)
TOPROPE_NARROW_OPERATOR(-)
TOPROPE_NARROW_OPERATOR(*)
TOPROPE_NARROW_OPERATOR(/)
#undef TOPROPE_NARROW_OPERATOR

} // namespace device
} // namespace toprope

#ifdef __FLT16_MAX__
typedef _Float16 half;
#else
typedef toprope::device::Narrow<5> half;
#endif
typedef toprope::device::Narrow<8> bfloat16_t;

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2, "16 bits each");

#endif
