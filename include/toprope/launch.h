/* Between a launch in host code and the kernel on a device. `toprope c++` includes this file in front of every source with device code;
 * no program includes it. C++11, and nothing of the C or C++ library: a source may still say which of their features it wants.
 *
 * `kernel<<<blocks, l2ctrl, stream>>>(arguments)` becomes a call of `kernel` with a Config waiting. In the host half, the body of every
 * kernel is replaced by one that takes the Config and enqueues the arguments, so that overloads, templates, default arguments and
 * pointers to kernels work as for any function. In the device half, the body gets a table of its parameters.
 */
#ifndef TOPROPE_LAUNCH_H
#define TOPROPE_LAUNCH_H

#include "toprope/device/words.h"

namespace toprope {
namespace launch {

#ifdef __clang__
/* Tells `toprope c++` whose attributes to write. */
struct toprope_made_by_clang;
#endif

typedef __SIZE_TYPE__ Size;
typedef __UINT32_TYPE__ U32;

/* Under other names, since a program may declare these functions itself, in its own words. */
extern "C" {
int toprope_kernel_launch(const void *, U32, void *, U32, void *, void *) __asm__("rtKernelLaunch");
long toprope_write(int, const void *, Size) __asm__("write");
}

template <class T> struct Plain {
    typedef T type;
    static constexpr bool reference = false;
};
template <class T> struct Plain<const T> : Plain<T> {};
template <class T> struct Plain<volatile T> : Plain<T> {};
template <class T> struct Plain<const volatile T> : Plain<T> {};
template <class T> struct Plain<T &> : Plain<T> {
    static constexpr bool reference = true;
};
template <class T> struct Plain<T &&> : Plain<T> {
    static constexpr bool reference = true;
};

template <class T> struct Element {
    typedef T type;
};
template <class T, Size N> struct Element<T[N]> : Element<T> {};

/* What can be copied to a device as bytes. */
template <class T> constexpr bool bytes()
{
    return !Plain<T>::reference && __is_trivially_copyable(typename Element<T>::type);
}

constexpr Size larger(Size a, Size b) { return a > b ? a : b; }
constexpr Size up(Size at, Size alignment) { return (at + alignment - 1) / alignment * alignment; }

/* Argument blocks (toprope/device_image.h): each parameter at its own alignment, at least 4. */
template <class T> constexpr Size alignment() { return larger(alignof(T), 4); }

template <Size... AT> struct Offsets {};

/* The parameters P from byte AT on; LARGEST: the largest alignment so far. */
template <Size AT, Size LARGEST, class Done, class... P> struct Block;
template <Size AT, Size LARGEST, Size... DONE> struct Block<AT, LARGEST, Offsets<DONE...>> {
    typedef Offsets<DONE...> offsets;
    static constexpr Size size = up(AT, LARGEST);
    static void pack(unsigned char *) {}
};
template <Size AT, Size LARGEST, Size... DONE, class First, class... Rest>
struct Block<AT, LARGEST, Offsets<DONE...>, First, Rest...> {
    static constexpr Size offset = up(AT, alignment<First>());
    typedef Block<offset + sizeof(First), larger(LARGEST, alignment<First>()), Offsets<DONE..., offset>, Rest...> Next;
    typedef typename Next::offsets offsets;
    static constexpr Size size = Next::size;
    static void pack(unsigned char *block, const First &first, const Rest &...rest)
    {
        __builtin_memcpy(block + offset, __builtin_addressof(first), sizeof(First));
        Next::pack(block, rest...);
    }
};
template <class... P> struct Arguments : Block<0, 4, Offsets<>, typename Plain<P>::type...> {};

template <bool...> struct Bools {};
template <class, class> struct Same {
    static constexpr bool value = false;
};
template <class T> struct Same<T, T> {
    static constexpr bool value = true;
};
template <class... P> constexpr bool all_bytes()
{
    return Same<Bools<true, bytes<P>()...>, Bools<bytes<P>()..., true>>::value;
}

#define TOPROPE_CHECK_PARAMETERS(P)                                                                                        \
    static_assert(::toprope::launch::all_bytes<P...>(),                                                                    \
        "the parameters of a kernel are copied to the device as bytes: none may be a reference, or of a type that is not "  \
        "trivially copyable")

/* A launch whose call has not begun yet: the newest of this thread. */
class Config {
public:
    template <class L2> Config(U32 blocks, L2, void *stream) : blocks_(blocks), stream_(stream), previous_(waiting()), taken_(false)
    {
        waiting() = this;
    }
    ~Config()
    {
        if (!taken_) {
            waiting() = previous_;
        }
    }
    Config(const Config &) = delete;
    Config &operator=(const Config &) = delete;

    /* Enqueues a kernel as the waiting launch says. What is wrong with it is told by aclrtGetLastError. */
    static void enqueue(const void *kernel, unsigned char *arguments, U32 size)
    {
        Config *const mine = waiting();
        if (mine == nullptr) {
            static const char text[] = "toprope: a kernel was called as a function; launch it with <<<blocks, l2ctrl, stream>>>\n";
            (void)!toprope_write(2, text, sizeof text - 1);
            __builtin_abort();
        }
        mine->taken_ = true;
        waiting() = mine->previous_;
        newest_code() = toprope_kernel_launch(kernel, mine->blocks_, arguments, size, nullptr, mine->stream_);
    }

    /* What the newest launch of this thread was answered: the value of a launch as an expression. */
    static int code() { return newest_code(); }

private:
    __attribute__((visibility("default"))) static int &newest_code()
    {
        static thread_local int code;
        return code;
    }

    __attribute__((visibility("default"))) static Config *&waiting()
    {
        static thread_local Config *newest;
        return newest;
    }

    U32 blocks_;
    void *stream_;
    Config *previous_;
    bool taken_;
};

/* The body of a kernel in the host half. */
template <class... P> inline void enqueue(const void *kernel, const P &...arguments)
{
    TOPROPE_CHECK_PARAMETERS(P);
    typedef Arguments<P...> Block;
    unsigned char block[Block::size + 1] = {};
    Block::pack(block, arguments...);
    Config::enqueue(kernel, block, static_cast<U32>(Block::size));
}

/* The device half of a kernel, read by `toprope c++` from the object file. */
typedef void (*Function)();
struct Parameter {
    U32 offset;
    U32 size;
};
template <Size COUNT> struct Record {
    U32 count;
    U32 size;
    U32 core; /* enum toprope_core */
    U32 reserved;
    void (*call)(Function, const void *);
    Parameter parameters[COUNT + 1];
};

template <class T> struct Load {
    static T from(const unsigned char *block)
    {
        union Slot {
            unsigned char bytes[sizeof(T)];
            T value;
            Slot() {}
            ~Slot() {}
        } slot;
        __builtin_memcpy(slot.bytes, block, sizeof(T));
        return slot.value;
    }
};
/* Only so that a reference is refused with one message. */
template <class T> struct Load<T &> {
    static T &from(const unsigned char *);
};
template <class T> struct Load<const T> : Load<T> {};

template <class Where, class... P> struct Call;
template <Size... AT, class... P> struct Call<Offsets<AT...>, P...> {
    static void call(Function kernel, const void *block)
    {
        const unsigned char *const from = static_cast<const unsigned char *>(block);
        (void)from;
        reinterpret_cast<void (*)(P...)>(kernel)(Load<P>::from(from + AT)...);
    }
    static constexpr Record<sizeof...(P)> record(U32 core)
    {
        return {static_cast<U32>(sizeof...(P)), static_cast<U32>(Arguments<P...>::size), core, 0, &call,
            {Parameter{static_cast<U32>(AT), static_cast<U32>(sizeof(P))}..., Parameter{0, 0}}};
    }
};
template <class... P> constexpr Record<sizeof...(P)> record(U32 core)
{
    TOPROPE_CHECK_PARAMETERS(P);
    return Call<typename Arguments<P...>::offsets, P...>::record(core);
}

/* A device variable, read by `toprope c++` from the assembly. */
struct Variable {
    const volatile void *address;
    Size size;
};

} // namespace launch
} // namespace toprope

#endif
