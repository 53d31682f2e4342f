/*
 * C++ interface of the runtime (chapter 26): overloads that save a suffix, and templates that save a cast.
 * Header only; each function calls the C function named above it, whose rules hold. In C this header is acl_rt.h.
 *
 * acl/acl.h does not include it (see there why).
 *
 * The C functions stay visible, and win where their parameters fit exactly: `aclrtMalloc((void **)&p, ...)` and
 * `aclrtMemcpy(void *, ...)` call C.
 */
#ifndef TOPROPE_ACL_ACL_RT_API_H_
#define TOPROPE_ACL_ACL_RT_API_H_

#include "acl_rt.h"

#ifdef __cplusplus

/* Programs include C headers inside extern "C"; templates must not end up there. */
extern "C++" {

#include <cstddef>
#include <type_traits>

namespace aclrt_api_detail {

/* `T **` as C's `void **`: where to write an address, or an array of addresses. */
template <typename T>
inline void **Untyped(T **pointer)
{
    return static_cast<void **>(static_cast<void *>(pointer));
}

/* Address of a variable of any type, arrays, qualifiers and an overloaded operator& included. */
template <typename T>
inline const void *AddressOf(const T &variable)
{
    const volatile void *address = &reinterpret_cast<const volatile char &>(variable);
    return const_cast<const void *>(address);
}

/* nullptr, NULL or 0 as an argument: what a temporary of these types can only be. */
template <typename T>
using IfNull =
    typename std::enable_if<std::is_same<T, std::nullptr_t>::value || std::is_integral<T>::value, int>::type;

} // namespace aclrt_api_detail

/* ---- Waiting ---- */

/* aclrtSynchronizeDeviceWithTimeout; milliseconds, -1 is for ever. */
inline aclError aclrtSynchronizeDevice(int32_t timeout)
{
    return aclrtSynchronizeDeviceWithTimeout(timeout);
}

/* aclrtSynchronizeStreamWithTimeout; milliseconds, -1 is for ever. */
inline aclError aclrtSynchronizeStream(aclrtStream stream, int32_t timeout)
{
    return aclrtSynchronizeStreamWithTimeout(stream, timeout);
}

/* aclrtSynchronizeEventWithTimeout; milliseconds, -1 is for ever. */
inline aclError aclrtSynchronizeEvent(aclrtEvent event, int32_t timeout)
{
    return aclrtSynchronizeEventWithTimeout(event, timeout);
}

/* aclrtStreamWaitEventWithTimeout; milliseconds, 0 is for ever. */
inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    return aclrtStreamWaitEventWithTimeout(stream, event, timeout);
}

/* aclrtSetOpExecuteTimeOutV2; microseconds, 0 is the longest there is. */
inline aclError aclrtSetOpExecuteTimeOut(uint64_t timeout, uint64_t *actualTimeout)
{
    return aclrtSetOpExecuteTimeOutV2(timeout, actualTimeout);
}

/* ---- Making streams and events ---- */

/* aclrtCreateStreamWithConfig; priority 0 (highest) to 7, others are moved to the nearest of these. */
inline aclError aclrtCreateStream(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    return aclrtCreateStreamWithConfig(stream, priority, flag);
}

/* aclrtCreateEventExWithFlag; flag is an OR of ACL_EVENT_ macros. */
inline aclError aclrtCreateEvent(aclrtEvent *event, uint32_t flag)
{
    return aclrtCreateEventExWithFlag(event, flag);
}

/* ---- Allocation; sizes are in bytes ---- */

/* aclrtMallocWithCfg with ACL_MEM_MALLOC_HUGE_FIRST. */
template <typename T>
inline aclError aclrtMalloc(T **devPtr, size_t size, aclrtMallocConfig *cfg = nullptr)
{
    return aclrtMallocWithCfg(aclrt_api_detail::Untyped(devPtr), size, ACL_MEM_MALLOC_HUGE_FIRST, cfg);
}

/* aclrtMallocWithCfg. */
template <typename T>
inline aclError aclrtMalloc(T **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg = nullptr)
{
    return aclrtMallocWithCfg(aclrt_api_detail::Untyped(devPtr), size, policy, cfg);
}

/* aclrtMallocHostWithCfg. */
template <typename T>
inline aclError aclrtMallocHost(T **hostPtr, size_t size, aclrtMallocConfig *cfg = nullptr)
{
    return aclrtMallocHostWithCfg(aclrt_api_detail::Untyped(hostPtr), size, cfg);
}

/* aclrtMemAllocManaged. */
template <typename T>
inline aclError aclrtMemAllocManaged(T **devPtr, size_t size, uint32_t flags = ACL_RT_MEM_ATTACH_GLOBAL)
{
    return aclrtMemAllocManaged(aclrt_api_detail::Untyped(devPtr), static_cast<uint64_t>(size), flags);
}

/* aclrtPointerGetAttributes. */
template <typename T>
inline aclError aclrtPointerGetAttributes(const T *ptr, aclrtPtrAttributes *attributes)
{
    return aclrtPointerGetAttributes(static_cast<const void *>(ptr), attributes);
}

/* ---- Copies; sizes and pitches are in bytes. A destination of const type does not compile. ---- */

/* aclrtMemcpy. */
template <typename T, typename U>
inline aclError aclrtMemcpy(T *dst, size_t destMax, const U *src, size_t count, aclrtMemcpyKind kind)
{
    return aclrtMemcpy(static_cast<void *>(dst), destMax, static_cast<const void *>(src), count, kind);
}

/* aclrtMemcpyAsync. */
template <typename T, typename U>
inline aclError aclrtMemcpyAsync(
    T *dst, size_t destMax, const U *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpyAsync(static_cast<void *>(dst), destMax, static_cast<const void *>(src), count, kind, stream);
}

/* aclrtMemcpy2d. */
template <typename T, typename U>
inline aclError aclrtMemcpy2d(
    T *dst, size_t dpitch, const U *src, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind)
{
    return aclrtMemcpy2d(
        static_cast<void *>(dst), dpitch, static_cast<const void *>(src), spitch, width, height, kind);
}

/* aclrtMemcpy2dAsync. */
template <typename T, typename U>
inline aclError aclrtMemcpy2dAsync(T *dst, size_t dpitch, const U *src, size_t spitch, size_t width, size_t height,
    aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpy2dAsync(
        static_cast<void *>(dst), dpitch, static_cast<const void *>(src), spitch, width, height, kind, stream);
}

/*
 * ---- Batches ----
 * With one attribute it holds for all copies; with an array, attrs[k] holds for the copies attrsIndexes[k] up to the
 * next index. failIndex, where given, takes the number of the copy that was refused.
 */

/* aclrtMemcpyBatchV2; with a failIndex, which V2 has not, aclrtMemcpyBatch. */
template <typename T, typename U>
inline aclError aclrtMemcpyBatch(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex = nullptr)
{
    static_assert(!std::is_const<T>::value, "the destinations are written to");
    if (failIndex == nullptr) {
        return aclrtMemcpyBatchV2(aclrt_api_detail::Untyped(dsts), destMaxs, aclrt_api_detail::Untyped(srcs), sizes,
            numBatches, attrs, attrsIndexes, numAttrs);
    }
    return aclrtMemcpyBatch(aclrt_api_detail::Untyped(dsts), destMaxs, aclrt_api_detail::Untyped(srcs), sizes,
        numBatches, attrs, attrsIndexes, numAttrs, failIndex);
}

/* As above. */
template <typename T, typename U>
inline aclError aclrtMemcpyBatch(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr attr, size_t *failIndex = nullptr)
{
    size_t first = 0;
    return aclrtMemcpyBatch<T, U>(dsts, destMaxs, srcs, sizes, numBatches, &attr, &first, 1, failIndex);
}

/* aclrtMemcpyBatchAsyncV2. */
template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, aclrtStream stream)
{
    static_assert(!std::is_const<T>::value, "the destinations are written to");
    return aclrtMemcpyBatchAsyncV2(aclrt_api_detail::Untyped(dsts), destMaxs, aclrt_api_detail::Untyped(srcs), sizes,
        numBatches, attrs, attrsIndexes, numAttrs, stream);
}

/* aclrtMemcpyBatchAsyncV2. */
template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr attr, aclrtStream stream)
{
    static_assert(!std::is_const<T>::value, "the destinations are written to");
    size_t first = 0;
    return aclrtMemcpyBatchAsyncV2(aclrt_api_detail::Untyped(dsts), destMaxs, aclrt_api_detail::Untyped(srcs), sizes,
        numBatches, &attr, &first, 1, stream);
}

/* aclrtMemcpyBatchAsync. */
template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex, aclrtStream stream)
{
    static_assert(!std::is_const<T>::value, "the destinations are written to");
    return aclrtMemcpyBatchAsync(aclrt_api_detail::Untyped(dsts), destMaxs, aclrt_api_detail::Untyped(srcs), sizes,
        numBatches, attrs, attrsIndexes, numAttrs, failIndex, stream);
}

/* aclrtMemcpyBatchAsync. */
template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T **dsts, size_t *destMaxs, U **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr attr, size_t *failIndex, aclrtStream stream)
{
    static_assert(!std::is_const<T>::value, "the destinations are written to");
    size_t first = 0;
    return aclrtMemcpyBatchAsync(aclrt_api_detail::Untyped(dsts), destMaxs, aclrt_api_detail::Untyped(srcs), sizes,
        numBatches, &attr, &first, 1, failIndex, stream);
}

/* ---- Registered host memory ---- */

/* aclrtHostRegister. */
template <typename T>
inline aclError aclrtHostRegister(T *ptr, uint64_t size, aclrtHostRegisterType type, T **devPtr)
{
    return aclrtHostRegister(static_cast<void *>(ptr), size, type, aclrt_api_detail::Untyped(devPtr));
}

/* aclrtHostRegisterV2; flag is an OR of ACL_HOST_REG_ macros. */
template <typename T>
inline aclError aclrtHostRegister(T *ptr, uint64_t size, uint32_t flag)
{
    return aclrtHostRegisterV2(static_cast<void *>(ptr), size, flag);
}

/* aclrtHostGetDevicePointer. */
template <typename T>
inline aclError aclrtHostGetDevicePointer(T *pHost, T **pDevice, uint32_t flag)
{
    return aclrtHostGetDevicePointer(static_cast<void *>(pHost), aclrt_api_detail::Untyped(pDevice), flag);
}

/* aclrtHostUnregister. */
template <typename T>
inline aclError aclrtHostUnregister(T *ptr)
{
    return aclrtHostUnregister(static_cast<void *>(ptr));
}

/* ---- Managed memory ---- */

/* aclrtMemManagedPrefetchAsync. */
template <typename T>
inline aclError aclrtMemManagedPrefetchAsync(
    const T *ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags, aclrtStream stream)
{
    return aclrtMemManagedPrefetchAsync(static_cast<const void *>(ptr), size, location, flags, stream);
}

/* aclrtMemManagedPrefetchBatchAsync; prefetchLocs[k] holds from prefetchLocIdxs[k] up to the next index. */
template <typename T>
inline aclError aclrtMemManagedPrefetchBatchAsync(const T **ptrs, size_t *sizes, size_t count,
    aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags,
    aclrtStream stream)
{
    const void **untyped = static_cast<const void **>(static_cast<void *>(ptrs));
    return aclrtMemManagedPrefetchBatchAsync(
        untyped, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream);
}

/* aclrtMemManagedPrefetchBatchAsync with one location for all. */
template <typename T>
inline aclError aclrtMemManagedPrefetchBatchAsync(const T **ptrs, size_t *sizes, size_t count,
    aclrtMemManagedLocation prefetchLoc, uint64_t flags, aclrtStream stream)
{
    size_t first = 0;
    return aclrtMemManagedPrefetchBatchAsync<T>(ptrs, sizes, count, &prefetchLoc, &first, 1, flags, stream);
}

/*
 * ---- Device variables ----
 * Each of the six functions has three forms, so that both ways of writing the symbol work:
 *
 *   f(variable, ...)   an lvalue is the device variable itself, whatever its type: scalar, struct, array, pointer;
 *   f(&variable, ...)  a pointer that is no lvalue is the variable's address, as in C;
 *   f(nullptr, ...)    no variable: the C function's answer to NULL.
 *
 * One pointer lvalue is an address all the same: one of type `const void *` fits the C function exactly, and C++ takes
 * that function. A wrapper that hands on a `const void *symbol` parameter therefore works. An lvalue of type `void *`
 * is a device variable.
 */

template <typename T>
inline aclError aclrtGetSymbolAddress(const T &symbol, void **devPtr)
{
    return aclrtGetSymbolAddress(aclrt_api_detail::AddressOf(symbol), devPtr);
}

template <typename T>
inline aclError aclrtGetSymbolAddress(T *&&symbol, void **devPtr)
{
    return aclrtGetSymbolAddress(static_cast<const void *>(symbol), devPtr);
}

template <typename T, aclrt_api_detail::IfNull<T> = 0>
inline aclError aclrtGetSymbolAddress(T &&, void **devPtr)
{
    return aclrtGetSymbolAddress(static_cast<const void *>(nullptr), devPtr);
}

template <typename T>
inline aclError aclrtGetSymbolSize(const T &symbol, size_t *size)
{
    return aclrtGetSymbolSize(aclrt_api_detail::AddressOf(symbol), size);
}

template <typename T>
inline aclError aclrtGetSymbolSize(T *&&symbol, size_t *size)
{
    return aclrtGetSymbolSize(static_cast<const void *>(symbol), size);
}

template <typename T, aclrt_api_detail::IfNull<T> = 0>
inline aclError aclrtGetSymbolSize(T &&, size_t *size)
{
    return aclrtGetSymbolSize(static_cast<const void *>(nullptr), size);
}

template <typename T>
inline aclError aclrtMemcpyFromSymbol(
    void *dst, size_t dstMax, const T &symbol, size_t count, size_t offset, aclrtMemcpyKind kind)
{
    return aclrtMemcpyFromSymbol(dst, dstMax, aclrt_api_detail::AddressOf(symbol), count, offset, kind);
}

template <typename T>
inline aclError aclrtMemcpyFromSymbol(
    void *dst, size_t dstMax, T *&&symbol, size_t count, size_t offset, aclrtMemcpyKind kind)
{
    return aclrtMemcpyFromSymbol(dst, dstMax, static_cast<const void *>(symbol), count, offset, kind);
}

template <typename T, aclrt_api_detail::IfNull<T> = 0>
inline aclError aclrtMemcpyFromSymbol(
    void *dst, size_t dstMax, T &&, size_t count, size_t offset, aclrtMemcpyKind kind)
{
    return aclrtMemcpyFromSymbol(dst, dstMax, static_cast<const void *>(nullptr), count, offset, kind);
}

template <typename T>
inline aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax, const T &symbol, size_t count, size_t offset,
    aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpyFromSymbolAsync(dst, dstMax, aclrt_api_detail::AddressOf(symbol), count, offset, kind, stream);
}

template <typename T>
inline aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax, T *&&symbol, size_t count, size_t offset,
    aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpyFromSymbolAsync(dst, dstMax, static_cast<const void *>(symbol), count, offset, kind, stream);
}

template <typename T, aclrt_api_detail::IfNull<T> = 0>
inline aclError aclrtMemcpyFromSymbolAsync(
    void *dst, size_t dstMax, T &&, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpyFromSymbolAsync(dst, dstMax, static_cast<const void *>(nullptr), count, offset, kind, stream);
}

template <typename T>
inline aclError aclrtMemcpyToSymbol(
    const T &symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind)
{
    return aclrtMemcpyToSymbol(aclrt_api_detail::AddressOf(symbol), src, count, offset, kind);
}

template <typename T>
inline aclError aclrtMemcpyToSymbol(T *&&symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind)
{
    return aclrtMemcpyToSymbol(static_cast<const void *>(symbol), src, count, offset, kind);
}

template <typename T, aclrt_api_detail::IfNull<T> = 0>
inline aclError aclrtMemcpyToSymbol(T &&, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind)
{
    return aclrtMemcpyToSymbol(static_cast<const void *>(nullptr), src, count, offset, kind);
}

template <typename T>
inline aclError aclrtMemcpyToSymbolAsync(
    const T &symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpyToSymbolAsync(aclrt_api_detail::AddressOf(symbol), src, count, offset, kind, stream);
}

template <typename T>
inline aclError aclrtMemcpyToSymbolAsync(
    T *&&symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpyToSymbolAsync(static_cast<const void *>(symbol), src, count, offset, kind, stream);
}

template <typename T, aclrt_api_detail::IfNull<T> = 0>
inline aclError aclrtMemcpyToSymbolAsync(
    T &&, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpyToSymbolAsync(static_cast<const void *>(nullptr), src, count, offset, kind, stream);
}

} // extern "C++"

#endif /* __cplusplus */

#endif /* TOPROPE_ACL_ACL_RT_API_H_ */
