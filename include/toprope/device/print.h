/* printf and assert of device code (Ascend C API, "printf", "assert" and "ascendc_assert").
 *
 * An argument is printed by its own type, as the page has it: %d takes every signed width, %f takes float, half and bfloat16_t. A conversion
 * that has no argument, or one of another kind, is printed as it stands. The text of one call is at most 30 KiB: a longer one is not
 * printed at all. ASCENDC_DUMP=0 turns both off.
 */
#ifndef TOPROPE_DEVICE_PRINT_H
#define TOPROPE_DEVICE_PRINT_H

#include "toprope/device/block.h"
#include "toprope/device/narrow.h"

/* Before printf and assert become macros: what these declare must keep its names. */
#include <assert.h>
#include <cassert>
#include <cstdio>
#include <string.h>
#include <type_traits>

namespace toprope {
namespace device {

/* One argument of printf, with what is known of its type. */
struct Argument {
    enum Kind { SIGNED, UNSIGNED, FLOATING, TEXT, POINTER };

    Kind kind;
    uint32_t size; /* of an integer, in bytes */
    union {
        long long integer;
        unsigned long long natural;
        double real;
        const void *pointer;
    };

    template <class T, typename std::enable_if<std::is_integral<T>::value && std::is_signed<T>::value, int>::type = 0>
    Argument(T value) : kind(SIGNED), size(sizeof(T)), integer(value)
    {
    }
    template <class T, typename std::enable_if<std::is_integral<T>::value && !std::is_signed<T>::value, int>::type = 0>
    Argument(T value) : kind(UNSIGNED), size(sizeof(T)), natural(value)
    {
    }
    template <class T, typename std::enable_if<std::is_enum<T>::value, int>::type = 0>
    Argument(T value) : Argument(static_cast<typename std::underlying_type<T>::type>(value))
    {
    }
    template <class T, typename std::enable_if<std::is_floating_point<T>::value, int>::type = 0>
    Argument(T value) : kind(FLOATING), size(sizeof(double)), real(static_cast<double>(value))
    {
    }
    template <uint32_t toprope_block::*MEMBER>
    Argument(BlockValue<MEMBER> value) : Argument(static_cast<int64_t>(value))
    {
    }
#ifdef __FLT16_MAX__
    /* Not a floating-point type to every library. */
    Argument(_Float16 value) : kind(FLOATING), size(sizeof(double)), real(static_cast<double>(value)) {}
#endif
    template <int E> Argument(Narrow<E> value) : kind(FLOATING), size(sizeof(double)), real(static_cast<float>(value)) {}
    Argument(const char *text) : kind(TEXT), size(sizeof text), pointer(text) {}
    Argument(char *text) : kind(TEXT), size(sizeof text), pointer(text) {}
    Argument(const volatile void *address) : kind(POINTER), size(sizeof address), pointer(const_cast<const void *>(address)) {}
    Argument(decltype(nullptr)) : kind(POINTER), size(sizeof(void *)), pointer(nullptr) {}
};

/* What one call prints. */
class Text {
public:
    /* The limit of one call, in bytes. */
    static constexpr size_t LIMIT = 30 * 1024;

    Text() : length_(0), whole_(true) {}

    void add(const char *bytes, size_t length)
    {
        if (length > LIMIT - length_) {
            whole_ = false;
            return;
        }
        memcpy(bytes_ + length_, bytes, length);
        length_ += length;
    }
    void add(const char *text) { add(text, strlen(text)); }

    /* Adds `format` with its arguments filled in. */
    void add(const char *format, const Argument *arguments, size_t count)
    {
        while (*format != '\0') {
            const size_t plain = strcspn(format, "%");
            add(format, plain);
            format += plain;
            if (*format == '%') {
                const size_t length = conversion(format);
                if (format[length - 1] == '%' && length > 1) {
                    add("%", 1);
                } else if (count > 0 && fill(format, length, *arguments)) {
                    ++arguments;
                    --count;
                } else {
                    add(format, length);
                }
                format += length;
            }
        }
    }

    /* Hands the text over, unless it is too long; outside of a kernel, to `stream`. */
    void print(FILE *stream) const
    {
        const toprope_block *block = current();
        if (!whole_ || length_ == 0) {
            return;
        }
        if (block != nullptr) {
            block->services->print(block, bytes_, length_);
        } else {
            fwrite(bytes_, 1, length_, stream);
        }
    }

private:
    /* Bytes of the conversion that `format` begins with: %, flags, width, precision, length, letter. */
    static size_t conversion(const char *format)
    {
        const size_t before = 1 + strspn(format + 1, "-+ #0123456789.hlzjt");
        return before + (format[before] != '\0' ? 1 : 0);
    }

    /* Adds one argument; false when its kind is not the one that the letter asks for. */
    bool fill(const char *conversion, size_t length, const Argument &argument)
    {
        const char letter = conversion[length - 1];
        /* The letter's own length words are dropped: the argument knows its width. */
        char wanted[24];
        const size_t head = 1 + strspn(conversion + 1, "-+ #0123456789.");
        if (head + 4 > sizeof wanted) {
            return false;
        }
        memcpy(wanted, conversion, head);
        char *tail = wanted + head;
        /* Longest: a double with %f, 309 digits before the point, and a precision of up to three digits. */
        char written[1500];
        switch (letter) {
        case 'd':
        case 'i':
        case 'u':
        case 'x':
        case 'X':
        case 'c':
            if (argument.kind != Argument::SIGNED && argument.kind != Argument::UNSIGNED) {
                return false;
            }
            if (letter == 'c') {
                memcpy(tail, "c", 2);
                return added(written, sizeof written, snprintf(written, sizeof written, wanted, static_cast<int>(argument.integer)));
            }
            memcpy(tail, "ll", 2);
            tail[2] = letter;
            tail[3] = '\0';
            return added(written, sizeof written, snprintf(written, sizeof written, wanted, as_read(argument, letter)));
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
            if (argument.kind != Argument::FLOATING) {
                return false;
            }
            tail[0] = letter;
            tail[1] = '\0';
            return added(written, sizeof written, snprintf(written, sizeof written, wanted, argument.real));
        case 's':
            if (argument.kind != Argument::TEXT || argument.pointer == nullptr) {
                return false;
            }
            add(static_cast<const char *>(argument.pointer));
            return true;
        case 'p':
            if (argument.kind != Argument::POINTER && argument.kind != Argument::TEXT) {
                return false;
            }
            return added(written, sizeof written, snprintf(written, sizeof written, "%p", argument.pointer));
        default:
            return false;
        }
    }

    /* A signed number keeps its value under %d, and its bits, in its own width, under %u and %x. */
    static unsigned long long as_read(const Argument &argument, char letter)
    {
        if (letter == 'd' || letter == 'i' || argument.kind == Argument::UNSIGNED || argument.size >= sizeof(long long)) {
            return argument.natural;
        }
        const uint32_t bytes = argument.size < sizeof(int) ? static_cast<uint32_t>(sizeof(int)) : argument.size;
        return argument.natural & ((1ull << (8 * bytes)) - 1);
    }

    bool added(const char *written, size_t room, int length)
    {
        if (length < 0 || static_cast<size_t>(length) >= room) {
            return false;
        }
        add(written, static_cast<size_t>(length));
        return true;
    }

    size_t length_;
    bool whole_;
    char bytes_[LIMIT];
};

/* Large frames stay out of the functions that print. */
__attribute__((noinline)) inline void print_all(const char *format, const Argument *arguments, size_t count)
{
    Text text;
    text.add(format, arguments, count);
    text.print(stdout);
}

template <class... A> inline void print(const char *format, const A &...arguments)
{
    /* One more than needed, since there are no empty arrays. */
    const Argument all[] = {Argument(arguments)..., Argument(0)};
    print_all(format, all, sizeof...(arguments));
}

/* Reports an assertion that does not hold, in the form of the page, and stops the kernel; outside of one, the program. */
[[noreturn]] __attribute__((noinline)) inline void assertion_failed(
    const char *file, int line, const char *expression, const char *format, const Argument *arguments, size_t count)
{
    Text text;
    const Argument where[] = {Argument(file), Argument(line), Argument(expression)};
    text.add("[ASSERT] %s:%d: Assertion `%s' ", where, 3);
    text.add(format, arguments, count);
    if (*format == '\0' || format[strlen(format) - 1] != '\n') {
        text.add("\n");
    }
    text.print(stderr);
    if (current() == nullptr) {
        abort();
    }
    fault();
}

template <class... A>
[[noreturn]] inline void assertion_failed(const char *file, int line, const char *expression, const char *format, const A &...arguments)
{
    const Argument all[] = {Argument(arguments)..., Argument(0)};
    assertion_failed(file, line, expression, format, all, sizeof...(arguments));
}

/* The form without a message. The last argument of the macro below always is a null pointer. */
[[noreturn]] inline void assertion_failed(const char *file, int line, const char *expression, decltype(nullptr))
{
    assertion_failed(file, line, expression, "", nullptr, 0);
}

} // namespace device
} // namespace toprope

#if defined(ASCENDC_DUMP) && ASCENDC_DUMP == 0
#define TOPROPE_PRINTS 0
#else
#define TOPROPE_PRINTS 1
#endif

namespace AscendC {

/* Prints to the program's standard output, each call in one piece. */
template <class... A> inline void printf(const char *format, const A &...arguments)
{
    if (TOPROPE_PRINTS) {
        toprope::device::print(format, arguments...);
    }
}
template <class... A> inline void PRINTF(const char *format, const A &...arguments)
{
    if (TOPROPE_PRINTS) {
        toprope::device::print(format, arguments...);
    }
}

} // namespace AscendC

#define TOPROPE_FIRST(first, ...) first
#define TOPROPE_FIRST_TEXT(first, ...) #first
#define TOPROPE_REST(first, ...) __VA_ARGS__
#define TOPROPE_ASSERT(...)                                                                                                \
    ((TOPROPE_FIRST(__VA_ARGS__, 0)) ? static_cast<void>(0)                                                                \
                                     : ::toprope::device::assertion_failed(__FILE__, __LINE__,                             \
                                           TOPROPE_FIRST_TEXT(__VA_ARGS__, 0), TOPROPE_REST(__VA_ARGS__, nullptr)))

#if TOPROPE_PRINTS
#define ascendc_assert(...) TOPROPE_ASSERT(__VA_ARGS__)
#else
#define ascendc_assert(...) static_cast<void>(0)
#endif

#if defined(TOPROPE_COMPILER) || defined(TOPROPE_DEVICE)
/* assert takes a message in device code, which the host half is preprocessed with as well. */
#undef assert
#if TOPROPE_PRINTS && !defined(NDEBUG)
#define assert(...) TOPROPE_ASSERT(__VA_ARGS__)
#else
#define assert(...) static_cast<void>(0)
#endif
#endif

#ifdef TOPROPE_DEVICE
/* Plain printf too: device code must not write to the C library's stream, whose lock a kernel that faults would keep. Another name
 * behind it leaves AscendC::printf, std::printf and attributes that mention printf alone. */
namespace toprope {
namespace device {
template <class... A> inline int toprope_printf(const char *format, const A &...arguments)
{
    AscendC::printf(format, arguments...);
    return 0;
}
} // namespace device
} // namespace toprope
using toprope::device::toprope_printf;
namespace AscendC {
using toprope::device::toprope_printf;
}
namespace std {
using toprope::device::toprope_printf;
}
#define printf(...) toprope_printf(__VA_ARGS__)
#define PRINTF(...) toprope_printf(__VA_ARGS__)
#else
using AscendC::PRINTF;
#endif

#endif
