// Managed memory and pointer attributes: what a C++ program writes, so that the overload is chosen.
#include "acl/acl_rt_api.h"

extern "C" {

aclError cpp_alloc_managed(void **pointer, size_t size)
{
    double *typed = nullptr;
    const aclError code = aclrtMemAllocManaged(pointer ? &typed : nullptr, size);
    if (pointer) {
        *pointer = typed;
    }
    return code;
}

aclError cpp_alloc_managed_flags(void **pointer, size_t size, uint32_t flags)
{
    double *typed = nullptr;
    const aclError code = aclrtMemAllocManaged(pointer ? &typed : nullptr, size, flags);
    if (pointer) {
        *pointer = typed;
    }
    return code;
}

aclError cpp_pointer_attributes(const void *pointer, aclrtPtrAttributes *attributes)
{
    return aclrtPointerGetAttributes(static_cast<const double *>(pointer), attributes);
}

aclError cpp_prefetch(
    const void *pointer, size_t size, aclrtMemManagedLocation location, uint32_t flags, aclrtStream stream)
{
    return aclrtMemManagedPrefetchAsync(static_cast<const double *>(pointer), size, location, flags, stream);
}

static const double **doubles(const void **pointers)
{
    return reinterpret_cast<const double **>(pointers);
}

aclError cpp_prefetch_batch(const void **pointers, size_t *sizes, size_t count, aclrtMemManagedLocation *locations,
    size_t *indexes, size_t number, uint64_t flags, aclrtStream stream)
{
    return aclrtMemManagedPrefetchBatchAsync(
        doubles(pointers), sizes, count, locations, indexes, number, flags, stream);
}

aclError cpp_prefetch_batch_one(const void **pointers, size_t *sizes, size_t count, aclrtMemManagedLocation location,
    uint64_t flags, aclrtStream stream)
{
    return aclrtMemManagedPrefetchBatchAsync(doubles(pointers), sizes, count, location, flags, stream);
}

} // extern "C"
