// Managed memory: one address for host and device; prefetch, advice, attributes, refusals.
#include "runtime.h"

#define PIECE ((size_t)2 << 20)

static aclrtMemManagedLocation on_device = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
static aclrtMemManagedLocation on_host = {ACL_MEM_LOCATIONTYPE_HOST, 0};

static void shared_address(void) {
    unsigned char *managed = NULL;
    unsigned char host[4096];
    void *device = NULL;
    aclrtStream stream = NULL;
    aclrtPtrAttributes attributes;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMemAllocManaged((void **)&managed, PIECE + 1, ACL_RT_MEM_ATTACH_GLOBAL));
    // aclrtPointerGetAttributes#06.
    CHECK_OK(aclrtPointerGetAttributes(managed, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_MANAGED);
    // aclrtMemAllocManaged#06: rounded up to 2 MiB, all of it there; the host reads and writes it.
    memset(managed, 0x31, 2 * PIECE);
    managed[2 * PIECE - 1] = 7;
    CHECK_EQ(managed[2 * PIECE - 1], 7);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // aclrtMemManagedPrefetchAsync#04: the window. (Sanitizers take that place for themselves.)
    CHECK((uintptr_t)managed >= 0x90000000000u && (uintptr_t)managed < 0x90000000000u + ((uint64_t)3 << 40));
#endif
    CHECK_OK(aclrtMemManagedPrefetchAsync(managed, PIECE, on_device, 0, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    // Through the device and back, synchronously and on a stream.
    CHECK_OK(aclrtMalloc(&device, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST));
    check_fill(managed, sizeof host, 3);
    CHECK_OK(aclrtMemcpy(device, sizeof host, managed, sizeof host, ACL_MEMCPY_DEVICE_TO_DEVICE));
    CHECK_DEVICE(device, managed, sizeof host);
    check_fill(host, sizeof host, 4);
    CHECK_OK(aclrtMemcpy(managed, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_BYTES(managed, host, sizeof host);
    CHECK_OK(aclrtMemset(managed, PIECE, 0x5e, 100));
    CHECK_ALL(managed, 0x5e, 100);
    CHECK_OK(aclrtMemManagedPrefetchAsync(managed, PIECE, on_host, 0, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_BYTES(managed + 100, host + 100, sizeof host - 100);
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtFree(managed)); // aclrtMemAllocManaged#08
    CHECK_EQ(aclrtFree(managed), BAD_ADDRESS);
    CHECK_OK(aclrtDestroyStream(stream));
}

static void batches(void) {
    enum { COUNT = 4 };
    unsigned char *managed = NULL;
    const void *pieces[COUNT];
    size_t sizes[COUNT], indexes[2] = {0, 2}, bad[2];
    aclrtMemManagedLocation places[2];
    aclrtStream stream = NULL;
    int i;
    places[0] = on_device;
    places[1] = on_host;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMemAllocManaged((void **)&managed, COUNT * PIECE, ACL_RT_MEM_ATTACH_GLOBAL));
    for (i = 0; i < COUNT; ++i) {
        pieces[i] = managed + (size_t)i * PIECE;
        sizes[i] = PIECE;
        memset(managed + (size_t)i * PIECE, i + 1, PIECE);
    }
    CHECK_OK(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, indexes, 2, 0, stream));
    CHECK_OK(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, indexes, 1, 0, NULL));
    CHECK_OK(aclrtSynchronizeDevice());
    for (i = 0; i < COUNT; ++i) CHECK_ALL(managed + (size_t)i * PIECE, i + 1, 4096);
    // aclrtMemManagedPrefetchBatchAsync#01 to #13.
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(NULL, sizes, COUNT, places, indexes, 2, 0, stream),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, NULL, COUNT, places, indexes, 2, 0, stream),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, NULL, indexes, 2, 0, stream),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, NULL, 2, 0, stream),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, 0, places, indexes, 2, 0, stream),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, indexes, 0, 0, stream),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, indexes, 2, 1, stream),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, 1, places, indexes, 2, 0, stream),
             ACL_ERROR_INVALID_PARAM);
    bad[0] = 1, bad[1] = 2;
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, bad, 2, 0, stream),
             ACL_ERROR_RT_PARAM_INVALID);
    bad[0] = 0, bad[1] = 0;
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, bad, 2, 0, stream),
             ACL_ERROR_RT_PARAM_INVALID);
    bad[0] = 0, bad[1] = COUNT;
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, bad, 2, 0, stream),
             ACL_ERROR_RT_PARAM_INVALID);
    pieces[3] = NULL;
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, indexes, 2, 0, stream),
             ACL_ERROR_RT_PARAM_INVALID);
    pieces[3] = managed + 3 * PIECE;
    places[0].id = 1000;
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, COUNT, places, indexes, 2, 0, stream),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtFree(managed));
    CHECK_OK(aclrtDestroyStream(stream));
}

static void refused(void) {
    unsigned char *managed = NULL, *device = NULL;
    aclrtMemManagedLocation nowhere = {ACL_MEM_LOCATIONTYPE_DEVICE, 1000};
    int32_t data = 0;
    // aclrtMemAllocManaged#01, #02 (before the size), #04.
    CHECK_EQ(aclrtMemAllocManaged(NULL, PIECE, ACL_RT_MEM_ATTACH_GLOBAL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemAllocManaged((void **)&managed, 0, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemAllocManaged((void **)&managed, PIECE, 2), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemAllocManaged((void **)&managed, 0, ACL_RT_MEM_ATTACH_GLOBAL), ACL_ERROR_RT_PARAM_INVALID);
    // #07: 3 TB. ours: the code of exhausted memory.
    CHECK_EQ(aclrtMemAllocManaged((void **)&managed, ((uint64_t)3 << 40) + 1, ACL_RT_MEM_ATTACH_GLOBAL),
             ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK_EQ(aclrtMemAllocManaged((void **)&managed, (uint64_t)1 << 63, ACL_RT_MEM_ATTACH_GLOBAL),
             ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK_EQ(aclrtMemAllocManaged((void **)&managed, UINT64_MAX, ACL_RT_MEM_ATTACH_GLOBAL),
             ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK_OK(aclrtMemAllocManaged((void **)&managed, 2 * PIECE, ACL_RT_MEM_ATTACH_GLOBAL));
    // aclrtMemManagedPrefetchAsync#01 to #03, #06.
    CHECK_EQ(aclrtMemManagedPrefetchAsync(NULL, PIECE, on_device, 0, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchAsync(managed, 0, on_device, 0, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchAsync(managed, PIECE, on_device, 1, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchAsync(managed, PIECE, nowhere, 0, NULL), ACL_ERROR_RT_PARAM_INVALID);
    // ours: the code for #04, #05, #09 (a size that is no multiple of 2 MiB, an address that is not managed).
    CHECK_EQ(aclrtMemManagedPrefetchAsync(managed, PIECE + 1, on_device, 0, NULL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtMemManagedPrefetchAsync(managed, 4 * PIECE, on_device, 0, NULL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtMemManagedPrefetchAsync(&data, PIECE, on_device, 0, NULL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtMalloc((void **)&device, PIECE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_EQ(aclrtMemManagedPrefetchAsync(device, PIECE, on_device, 0, NULL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtFree(device));
    // aclrtMemManagedAdvise#01, #02, #05, #06, #08.
    CHECK_EQ(aclrtMemManagedAdvise(NULL, PIECE, ACL_MEM_ADVISE_SET_READ_MOSTLY, on_device), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedAdvise(managed, 0, ACL_MEM_ADVISE_SET_READ_MOSTLY, on_device), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedAdvise(managed, PIECE, (aclrtMemManagedAdviseType)99, on_device),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtMemManagedAdvise(managed, PIECE, ACL_MEM_ADVISE_SET_ACCESSED_BY, nowhere),
             ACL_ERROR_RT_PARAM_INVALID);
    // aclrtMemManagedGetAttr#01 to #04, #08, #10.
    CHECK_OK(aclrtMemManagedAdvise(managed, PIECE, ACL_MEM_ADVISE_SET_READ_MOSTLY, on_device));
    CHECK_OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, PIECE, &data, sizeof data));
    CHECK_EQ(data, 1);
    CHECK_OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 2 * PIECE, &data, sizeof data));
    CHECK_EQ(data, 0);
    CHECK_EQ(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, NULL, PIECE, &data, sizeof data),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, PIECE, NULL, sizeof data),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 0, &data, sizeof data),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedGetAttr((aclrtMemManagedRangeAttribute)99, managed, PIECE, &data, sizeof data),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtFree(managed));
    CHECK_STILL_WORKS();
}

int main(void) {
    runtime_start();
    shared_address();
    batches();
    refused();
    return runtime_end();
}
