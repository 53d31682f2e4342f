// Wrong arguments of the memory calls: each gets its code, and nothing else changes.
#define WRONG_ADDRESSES
#include "runtime.h"

enum { SIZE = 256 };

static const size_t huge_sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 31, SIZE_MAX - 63, (size_t)1 << 63,
                                    ((size_t)1 << 63) - 1};
enum { HUGE_COUNT = sizeof huge_sizes / sizeof huge_sizes[0] };

static void allocation(void) {
    void *memory = NULL;
    size_t i;
    // aclrtMalloc#01, #02 and the same rules of its kin.
    CHECK_EQ(aclrtMalloc(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocAlign32(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocAlign32(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocCached(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocCached(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocWithCfg(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocWithCfg(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocForTaskScheduler(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocForTaskScheduler(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocHost(NULL, 64), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocHost(&memory, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocHostWithCfg(NULL, 64, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMallocHostWithCfg(&memory, 0, NULL), ACL_ERROR_INVALID_PARAM);
    // aclrtMalloc#07: with the padding they wrap around. Half of the address space only exhausts memory.
    CHECK_EQ(aclrtMalloc(&memory, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMalloc(&memory, SIZE_MAX - 31, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMalloc(&memory, (size_t)1 << 63, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    for (i = 0; i < HUGE_COUNT; ++i) {
        CHECK(aclrtMalloc(&memory, huge_sizes[i], ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
        CHECK(aclrtMallocAlign32(&memory, huge_sizes[i], ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
        CHECK(aclrtMallocCached(&memory, huge_sizes[i], ACL_MEM_MALLOC_NORMAL_ONLY) != ACL_SUCCESS);
        CHECK(aclrtMallocWithCfg(&memory, huge_sizes[i], ACL_MEM_MALLOC_HUGE_ONLY, NULL) != ACL_SUCCESS);
        CHECK(aclrtMallocHost(&memory, huge_sizes[i]) != ACL_SUCCESS);
        CHECK(aclrtMallocHostWithCfg(&memory, huge_sizes[i], NULL) != ACL_SUCCESS);
    }
    CHECK_STILL_WORKS();
}

static void freeing(void) {
    void *device = NULL, *pinned = NULL, *heap = malloc(SIZE);
    CHECK_OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost(&pinned, SIZE));
    // aclrtFree#01, aclrtFreeWithDevSync#01, aclrtFreeHost#01, aclrtFreeHostWithDevSync#01.
    CHECK_EQ(aclrtFree(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtFreeWithDevSync(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtFreeHost(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtFreeHostWithDevSync(NULL), ACL_ERROR_INVALID_PARAM);
    // ours: not the start of a block of that kind. aclrtFree#04, aclrtFreeHost#03 only forbid it.
    CHECK_EQ(aclrtFree(heap), BAD_ADDRESS);
    CHECK_EQ(aclrtFree(pinned), BAD_ADDRESS);
    CHECK_EQ(aclrtFree((char *)device + 64), BAD_ADDRESS);
    CHECK_EQ(aclrtFree(UNMAPPED), BAD_ADDRESS);
    CHECK_EQ(aclrtFree(NON_CANONICAL), BAD_ADDRESS);
    CHECK_EQ(aclrtFreeWithDevSync(heap), BAD_ADDRESS);
    CHECK_EQ(aclrtFreeHost(heap), BAD_ADDRESS);
    CHECK_EQ(aclrtFreeHost(device), BAD_ADDRESS);
    CHECK_EQ(aclrtFreeHost((char *)pinned + 64), BAD_ADDRESS);
    CHECK_EQ(aclrtFreeHost(UNMAPPED), BAD_ADDRESS);
    CHECK_EQ(aclrtFreeHost(NON_CANONICAL), BAD_ADDRESS);
    CHECK_EQ(aclrtFreeHostWithDevSync(heap), BAD_ADDRESS);
    memset(pinned, 1, SIZE);
    CHECK_OK(aclrtMemset(device, SIZE, 2, SIZE));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtFreeHost(pinned));
    // Twice.
    CHECK_EQ(aclrtFree(device), BAD_ADDRESS);
    CHECK_EQ(aclrtFreeWithDevSync(device), BAD_ADDRESS);
    CHECK_EQ(aclrtFreeHost(pinned), BAD_ADDRESS);
    // A freed device block is nobody's memory.
    CHECK_EQ(aclrtMemset(device, SIZE, 0, SIZE), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpy(device, SIZE, heap, SIZE, ACL_MEMCPY_HOST_TO_DEVICE), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpy(heap, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST), BAD_ADDRESS);
    free(heap);
    CHECK_STILL_WORKS();
}

static void copying(void) {
    unsigned char host[SIZE];
    unsigned char *device = NULL;
    size_t i;
    check_fill(host, SIZE, 1);
    device = (unsigned char *)runtime_device(host, SIZE);
    // aclrtMemcpy#01: nothing to copy, nothing is looked at.
    CHECK_OK(aclrtMemcpy(NULL, 0, NULL, 0, (aclrtMemcpyKind)99));
    // #02 to #07.
    CHECK_EQ(aclrtMemcpy(NULL, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpy(device, SIZE, NULL, SIZE, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpy(device, SIZE, host, SIZE, (aclrtMemcpyKind)6), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpy(device, SIZE, host, SIZE, (aclrtMemcpyKind)0x7fffffff), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpy(device, SIZE - 1, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtMemcpy(device, 0, host, 1, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtMemcpy(host, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_HOST));
    CHECK_OK(aclrtMemcpy(device, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
    // ours: nothing is mapped there, or not so much.
    CHECK_EQ(aclrtMemcpy(UNMAPPED, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpy(device, SIZE, UNMAPPED, SIZE, ACL_MEMCPY_HOST_TO_DEVICE), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpy(NON_CANONICAL, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpy(device, SIZE, NON_CANONICAL, SIZE, ACL_MEMCPY_HOST_TO_DEVICE), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpy(device, 65536, host, 65536, ACL_MEMCPY_HOST_TO_DEVICE), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpy(device - 4096, 65536, host, 64, ACL_MEMCPY_HOST_TO_DEVICE), BAD_ADDRESS);
    for (i = 0; i < HUGE_COUNT; ++i) {
        CHECK_EQ(aclrtMemcpy(device, huge_sizes[i], host, huge_sizes[i], ACL_MEMCPY_HOST_TO_DEVICE), BAD_ADDRESS);
        CHECK_EQ(aclrtMemcpy(host, huge_sizes[i], device, huge_sizes[i], ACL_MEMCPY_DEVICE_TO_HOST), BAD_ADDRESS);
        CHECK_EQ(aclrtMemcpy(device, SIZE, host, huge_sizes[i], ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
        CHECK_EQ(aclrtMemset(device, huge_sizes[i], 0, huge_sizes[i]), BAD_ADDRESS);
        CHECK_EQ(aclrtMemset(device, SIZE, 0, huge_sizes[i]), ACL_ERROR_RT_PARAM_INVALID);
    }
    // aclrtMemset#01 to #03.
    CHECK_OK(aclrtMemset(NULL, 0, 0, 0));
    CHECK_EQ(aclrtMemset(NULL, SIZE, 0, SIZE), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemset(device, SIZE - 1, 0, SIZE), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtMemset(UNMAPPED, SIZE, 0, SIZE), BAD_ADDRESS);
    CHECK_EQ(aclrtMemset(NON_CANONICAL, SIZE, 0, SIZE), BAD_ADDRESS);
    // None of this wrote a byte.
    CHECK_DEVICE(device, host, SIZE);
    CHECK_OK(aclrtFree(device));
    CHECK_STILL_WORKS();
}

static void copying_asynchronously(void) {
    unsigned char host[SIZE];
    unsigned char *device = NULL, *pinned = NULL, *pinned_too = NULL;
    aclrtStream stream = NULL, gone = NULL;
    aclrtEvent event = NULL;
    size_t i;
    check_fill(host, SIZE, 1);
    device = (unsigned char *)runtime_device(host, SIZE);
    CHECK_OK(aclrtMallocHost((void **)&pinned, SIZE));
    CHECK_OK(aclrtMallocHost((void **)&pinned_too, SIZE));
    memcpy(pinned, host, SIZE);
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&gone));
    CHECK_OK(aclrtDestroyStream(gone));
    CHECK_OK(aclrtCreateEvent(&event));
    // aclrtMemcpyAsync#01 to #05, #07, #08.
    CHECK_OK(aclrtMemcpyAsync(NULL, 0, NULL, 0, (aclrtMemcpyKind)99, stream));
    CHECK_EQ(aclrtMemcpyAsync(NULL, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE, NULL, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, (aclrtMemcpyKind)6, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE - 1, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtMemcpyAsync(pinned_too, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_HOST, stream),
             ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtMemcpyAsync(pinned_too, SIZE, pinned, SIZE, ACL_MEMCPY_DEFAULT, stream),
             ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    // aclrtMemcpyAsync#16: a wrong kind is mended where the runtime knows both sides.
    CHECK_OK(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK_OK(aclrtMemcpyAsync(pinned_too, SIZE, device, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_BYTES(pinned_too, host, SIZE);
    // #17, #18: and not where it does not.
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtMemcpyAsync(host, SIZE, device, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CHECK_OK(aclrtMemcpyAsync(host, SIZE, device, SIZE, ACL_MEMCPY_DEFAULT, stream));
    // *#01: handles that are no streams.
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, gone),
             ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, (aclrtStream)event),
             ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, (aclrtStream)(uintptr_t)1),
             ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, (aclrtStream)host),
             ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_EQ(aclrtMemsetAsync(device, SIZE, 0, SIZE, gone), ACL_ERROR_RT_INVALID_HANDLE);
    // ours: addresses and ranges, refused at the call.
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE, UNMAPPED, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpyAsync(UNMAPPED, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpyAsync(device, SIZE, NON_CANONICAL, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpyAsync(device, 65536, pinned, 65536, ACL_MEMCPY_HOST_TO_DEVICE, stream), BAD_ADDRESS);
    for (i = 0; i < HUGE_COUNT; ++i) {
        CHECK_EQ(aclrtMemcpyAsync(device, huge_sizes[i], pinned, huge_sizes[i], ACL_MEMCPY_HOST_TO_DEVICE, stream),
                 BAD_ADDRESS);
        CHECK_EQ(aclrtMemcpyAsync(device, SIZE, pinned, huge_sizes[i], ACL_MEMCPY_HOST_TO_DEVICE, stream),
                 ACL_ERROR_RT_PARAM_INVALID);
        CHECK_EQ(aclrtMemsetAsync(device, huge_sizes[i], 0, huge_sizes[i], stream), BAD_ADDRESS);
    }
    // aclrtMemsetAsync#01 to #03.
    CHECK_OK(aclrtMemsetAsync(NULL, 0, 0, 0, stream));
    CHECK_EQ(aclrtMemsetAsync(NULL, SIZE, 0, SIZE, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemsetAsync(device, SIZE - 1, 0, SIZE, stream), ACL_ERROR_RT_PARAM_INVALID);
    // The stream has taken no harm, and no byte was written.
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(device, host, SIZE);
    // A fill of memory that the runtime does not know is looked at when it runs; the synchronize tells.
    // (ours: the code; aclrtMemsetAsync#04 leaves all of it open.)
    CHECK_OK(aclrtMemsetAsync(UNMAPPED, SIZE, 0, SIZE, stream));
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SYS_DMA);
    CHECK_OK(aclrtDestroyStreamForce(stream));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtFreeHost(pinned_too));
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
    CHECK_STILL_WORKS();
}

int main(void) {
    runtime_start();
    allocation();
    freeing();
    copying();
    copying_asynchronously();
    return runtime_end();
}
