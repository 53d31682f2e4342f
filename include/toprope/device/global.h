/* Global memory: GlobalTensor and the data cache (Ascend C API, "GlobalTensor", "DataCacheCleanAndInvalid").
 *
 * The processors below keep one coherent cache, so cleaning and invalidating move no data: each is a memory fence, and a value read
 * after it is read again.
 */
#ifndef TOPROPE_DEVICE_GLOBAL_H
#define TOPROPE_DEVICE_GLOBAL_H

#include "toprope/device/block.h"

/* Modes of the built-in cache instruction. */
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

inline void dcci(const volatile void *, uint64_t) { __sync_synchronize(); }
inline void dcci(const volatile void *, uint64_t, uint64_t) { __sync_synchronize(); }

namespace AscendC {

enum class CacheMode : uint8_t { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL = 1, CACHE_MODE_PERSISTENT = 4 };
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : uint64_t { ALL = 0, DDR, UB, SEQ };

/* A view of values in global memory; the bounds are the caller's. */
template <class T> class GlobalTensor {
public:
    using PrimType = T;

    GlobalTensor() = default;

    /* Views `size` values, or, without a size, as many as the caller knows of; GetSize then is 0. */
    void SetGlobalBuffer(__gm__ T *buffer, uint64_t size)
    {
        address_ = buffer;
        size_ = size;
    }
    void SetGlobalBuffer(__gm__ T *buffer) { SetGlobalBuffer(buffer, 0); }

    const __gm__ T *GetPhyAddr() const { return address_; }
    __gm__ T *GetPhyAddr(uint64_t offset) const { return address_ + offset; }

    T GetValue(uint64_t offset) const { return address_[offset]; }
    void SetValue(uint64_t offset, T value) { address_[offset] = value; }
    __gm__ T &operator()(uint64_t offset) const { return address_[offset]; }

    /* The view that begins `offset` values further on. */
    GlobalTensor operator[](uint64_t offset) const
    {
        GlobalTensor rest = *this;
        rest.address_ = address_ + offset;
        rest.size_ = size_ > offset ? size_ - offset : 0;
        return rest;
    }

    uint64_t GetSize() const { return size_; }

    /* The same bytes as values of another type. */
    template <class OTHER> GlobalTensor<OTHER> ReinterpretCast() const
    {
        GlobalTensor<OTHER> other;
        other.SetGlobalBuffer(reinterpret_cast<__gm__ OTHER *>(address_), size_ * sizeof(T) / sizeof(OTHER));
        return other;
    }

    /* Which level of cache keeps the values changes no result. */
    template <CacheRwMode = CacheRwMode::RW> void SetL2CacheHint(CacheMode) {}

private:
    __gm__ T *address_ = nullptr;
    uint64_t size_ = 0;
};

template <class T, CacheLine> inline void DataCacheCleanAndInvalid(const GlobalTensor<T> &)
{
    __sync_synchronize();
}
template <class T, CacheLine, DcciDst> inline void DataCacheCleanAndInvalid(const GlobalTensor<T> &)
{
    __sync_synchronize();
}
template <class T> inline void DataCachePreload(const GlobalTensor<T> &, int64_t) {}

template <MemDsbT> inline void DataSyncBarrier() { __sync_synchronize(); }

/* One value, past the data cache. */
template <class T> inline T ReadGmByPassDCache(__gm__ T *address)
{
    T value;
    __atomic_load(address, &value, __ATOMIC_SEQ_CST);
    return value;
}
template <class T> inline void WriteGmByPassDCache(__gm__ T *address, T value)
{
    __atomic_store(address, &value, __ATOMIC_SEQ_CST);
}

} // namespace AscendC

#endif
