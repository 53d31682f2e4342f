// Each function writes what a C++ program writes, so that the overload is chosen, and hands the code on.
#include "acl/acl_rt_api.h"

extern "C" {

aclError cpp_malloc(void **pointer, size_t size)
{
    float *typed = nullptr;
    const aclError code = pointer ? aclrtMalloc(&typed, size) : aclrtMalloc(static_cast<float **>(nullptr), size);
    if (pointer) {
        *pointer = typed;
    }
    return code;
}

aclError cpp_malloc_policy(void **pointer, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
    float *typed = nullptr;
    const aclError code = aclrtMalloc(pointer ? &typed : nullptr, size, policy, cfg);
    if (pointer) {
        *pointer = typed;
    }
    return code;
}

aclError cpp_malloc_host(void **pointer, size_t size, aclrtMallocConfig *cfg)
{
    float *typed = nullptr;
    const aclError code = aclrtMallocHost(pointer ? &typed : nullptr, size, cfg);
    if (pointer) {
        *pointer = typed;
    }
    return code;
}

aclError cpp_host_register(void *pointer, uint64_t size, aclrtHostRegisterType type, void **device)
{
    int *typed = nullptr;
    const aclError code = aclrtHostRegister(static_cast<int *>(pointer), size, type, device ? &typed : nullptr);
    if (device) {
        *device = typed;
    }
    return code;
}

aclError cpp_host_register_flag(void *pointer, uint64_t size, uint32_t flag)
{
    return aclrtHostRegister(static_cast<int *>(pointer), size, flag);
}

aclError cpp_host_get_device_pointer(void *pointer, void **device, uint32_t flag)
{
    int *typed = nullptr;
    const aclError code = aclrtHostGetDevicePointer(static_cast<int *>(pointer), device ? &typed : nullptr, flag);
    if (device) {
        *device = typed;
    }
    return code;
}

aclError cpp_host_unregister(void *pointer)
{
    return aclrtHostUnregister(static_cast<int *>(pointer));
}

aclError cpp_memcpy(void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind)
{
    return aclrtMemcpy(static_cast<int *>(dst), max, static_cast<const short *>(src), count, kind);
}

aclError cpp_memcpy_async(
    void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpyAsync(static_cast<int *>(dst), max, static_cast<const short *>(src), count, kind, stream);
}

aclError cpp_memcpy_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
    aclrtMemcpyKind kind)
{
    return aclrtMemcpy2d(
        static_cast<int *>(dst), dpitch, static_cast<const short *>(src), spitch, width, height, kind);
}

aclError cpp_memcpy_2d_async(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
    aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpy2dAsync(
        static_cast<int *>(dst), dpitch, static_cast<const short *>(src), spitch, width, height, kind, stream);
}

static int **ints(void **pointers)
{
    return reinterpret_cast<int **>(pointers);
}

aclError cpp_batch(void **dsts, size_t *maxs, void **srcs, size_t *sizes, size_t count, aclrtMemcpyBatchAttr *attrs,
    size_t *indexes, size_t number, size_t *fail)
{
    if (fail == nullptr) {
        return aclrtMemcpyBatch(ints(dsts), maxs, ints(srcs), sizes, count, attrs, indexes, number);
    }
    return aclrtMemcpyBatch(ints(dsts), maxs, ints(srcs), sizes, count, attrs, indexes, number, fail);
}

aclError cpp_batch_one(void **dsts, size_t *maxs, void **srcs, size_t *sizes, size_t count,
    const aclrtMemcpyBatchAttr *attr, size_t *fail)
{
    if (fail == nullptr) {
        return aclrtMemcpyBatch(ints(dsts), maxs, ints(srcs), sizes, count, *attr);
    }
    return aclrtMemcpyBatch(ints(dsts), maxs, ints(srcs), sizes, count, *attr, fail);
}

aclError cpp_batch_async(void **dsts, size_t *maxs, void **srcs, size_t *sizes, size_t count,
    aclrtMemcpyBatchAttr *attrs, size_t *indexes, size_t number, size_t *fail, aclrtStream stream)
{
    if (fail == nullptr) {
        return aclrtMemcpyBatchAsync(ints(dsts), maxs, ints(srcs), sizes, count, attrs, indexes, number, stream);
    }
    return aclrtMemcpyBatchAsync(ints(dsts), maxs, ints(srcs), sizes, count, attrs, indexes, number, fail, stream);
}

aclError cpp_batch_one_async(void **dsts, size_t *maxs, void **srcs, size_t *sizes, size_t count,
    const aclrtMemcpyBatchAttr *attr, size_t *fail, aclrtStream stream)
{
    if (fail == nullptr) {
        return aclrtMemcpyBatchAsync(ints(dsts), maxs, ints(srcs), sizes, count, *attr, stream);
    }
    return aclrtMemcpyBatchAsync(ints(dsts), maxs, ints(srcs), sizes, count, *attr, fail, stream);
}

} // extern "C"
