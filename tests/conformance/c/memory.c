// Allocation of device and host memory: policies, pages, alignment, freeing; fills; what kind an address is.
#define WRONG_ADDRESSES
#include "runtime.h"

#define MIB ((size_t)1 << 20)

static void policies(void) {
    static const struct {
        size_t size;
        uint32_t policy, page;
    } cases[] = {
        {4096, ACL_MEM_MALLOC_NORMAL_ONLY, 4096},
        {4096, ACL_MEM_MALLOC_HUGE_ONLY, 2097152},
        {4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST, 2097152},
        {4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY, 4096},
        {4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST_P2P, 2097152},
        {4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY_P2P, 2097152},
        {4096, ACL_MEM_MALLOC_NORMAL_ONLY_P2P, 4096},
        // aclrtMalloc<cpp>#06, aclrtMalloc#06: outside the enumeration, from 2 MiB huge pages, else normal ones.
        {2 * MIB, 0x7777, 2097152},
        {2 * MIB - 1, 0x7777, 4096},
    };
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        void *memory = NULL;
        aclrtPtrAttributes attributes;
        memset(&attributes, 0xff, sizeof attributes);
        CHECK_OK(aclrtMalloc(&memory, cases[i].size, (aclrtMemMallocPolicy)cases[i].policy));
        // aclrtMalloc#08.
        CHECK(memory != NULL && (uintptr_t)memory % 64 == 0);
        CHECK_OK(aclrtPointerGetAttributes(memory, &attributes));
        CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
        CHECK_EQ(attributes.location.id, 0);
        CHECK_EQ(attributes.pageSize, cases[i].page);
        // All of it is there, to the last byte.
        CHECK_OK(aclrtMemset(memory, cases[i].size, 0x3c, cases[i].size));
        CHECK_OK(aclrtFree(memory));
    }
}

static void every_way_to_allocate(void) {
    void *memory = NULL;
    CHECK_OK(aclrtMallocAlign32(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(memory, 100, 1, 100));
    CHECK_OK(aclrtFree(memory));
    CHECK_OK(aclrtMallocCached(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(memory, 100, 1, 100));
    // aclrtMemFlush#04, aclrtMemInvalidate#04.
    CHECK_OK(aclrtMemFlush(memory, 100));
    CHECK_OK(aclrtMemInvalidate(memory, 100));
    CHECK_EQ(aclrtMemFlush(NULL, 100), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemFlush(memory, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemInvalidate(NULL, 100), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemInvalidate(memory, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtFree(memory));
    CHECK_OK(aclrtMallocWithCfg(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
    CHECK(((uintptr_t)memory % 64) == 0);
    CHECK_OK(aclrtFree(memory));
    CHECK_OK(aclrtMallocForTaskScheduler(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
    CHECK_OK(aclrtFree(memory));
    CHECK_OK(aclrtMallocHostWithCfg(&memory, 100, NULL));
    CHECK(((uintptr_t)memory % 64) == 0);
    memset(memory, 1, 100);
    CHECK_OK(aclrtFreeHost(memory));
    {
        aclrtMallocConfig config;
        config.attrs = NULL;
        config.numAttrs = 1;
        // aclrtMallocWithCfg#08.
        CHECK_EQ(aclrtMallocWithCfg(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST, &config), ACL_ERROR_INVALID_PARAM);
        config.numAttrs = 0;
        CHECK_OK(aclrtMallocWithCfg(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST, &config));
        CHECK_OK(aclrtFree(memory));
    }
}

static void host_memory(void) {
    void *memory = NULL;
    aclrtPtrAttributes attributes;
    int local = 0;
    void *heap = malloc(64);
    CHECK_OK(aclrtMallocHost(&memory, 1000));
    // aclrtMallocHost#04.
    CHECK(memory != NULL && (uintptr_t)memory % 64 == 0);
    memset(memory, 9, 1000);
    CHECK_OK(aclrtPointerGetAttributes(memory, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    CHECK_OK(aclrtPointerGetAttributes((char *)memory + 999, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    // aclrtPointerGetAttributes#05: memory that is not the runtime's.
    CHECK_OK(aclrtPointerGetAttributes(&local, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    CHECK_OK(aclrtPointerGetAttributes(heap, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    CHECK_OK(aclrtPointerGetAttributes(UNMAPPED, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    CHECK_EQ(aclrtPointerGetAttributes(NULL, &attributes), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtPointerGetAttributes(memory, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtFreeHost(memory));
    CHECK_OK(aclrtPointerGetAttributes(memory, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED); // ours: freed is not the runtime's
    free(heap);
}

static void fills(void) {
    enum { N = 300 };
    uint32_t *pinned = NULL, want[N];
    void *device = NULL;
    aclrtStream stream = NULL;
    check_flag release = {0};
    int i;
    for (i = 0; i < N; ++i) want[i] = i < 200 ? 0xdeadbeefu : 0x01020304u;
    CHECK_OK(aclrtMalloc(&device, sizeof want, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&pinned, sizeof want));
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMemsetD32(device, sizeof want, 0x01020304u, N));
    CHECK_OK(aclrtMemsetD32(device, sizeof want, 0xdeadbeefu, 200));
    CHECK_DEVICE(device, want, sizeof want);
    CHECK_OK(aclrtMemsetD32(pinned, sizeof want, 0x01020304u, N));
    CHECK_OK(aclrtMemsetD32(pinned, sizeof want, 0xdeadbeefu, 200));
    CHECK_BYTES(pinned, want, sizeof want);
    // aclrtMemsetD32Async#09: queued on the stream for device memory; #10: done at once for host memory.
    CHECK_OK(aclrtMemset(device, sizeof want, 0, sizeof want));
    memset(pinned, 0, sizeof want);
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemsetD32Async(device, sizeof want, 0x55555555u, N, stream));
    CHECK_OK(aclrtMemsetD32Async(pinned, sizeof want, 0x66666666u, N, stream));
    CHECK_ALL(pinned, 0x66, sizeof want);
    CHECK_OK(aclrtMemcpy(pinned, sizeof want, device, sizeof want, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_ALL(pinned, 0, sizeof want);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtMemcpy(pinned, sizeof want, device, sizeof want, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_ALL(pinned, 0x55, sizeof want);
    // aclrtMemsetD32#01 to #04, #06.
    CHECK_OK(aclrtMemsetD32(NULL, 0, 1, 0));
    CHECK_EQ(aclrtMemsetD32(NULL, 4, 1, 1), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemsetD32((char *)device + 2, 64, 1, 1), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemsetD32(device, 4, 1, 2), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemsetD32(device, sizeof want, 1, SIZE_MAX / 2), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemsetD32(want, sizeof want, 1, 1), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemsetD32Async(want, sizeof want, 1, 1, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtMemsetD32Async(NULL, 0, 1, 0, stream));
    CHECK_EQ(aclrtMemsetD32Async(NULL, 4, 1, 1, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
}

static void kinds_of_address(void) {
    void *list[2], *device = NULL, *other = NULL;
    int local = 0;
    uint32_t result = 99;
    CHECK_OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMalloc(&other, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    list[0] = device;
    list[1] = other;
    // aclrtCheckMemType#01 to #04, #06, #08.
    CHECK_OK(aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_DEV, &result, 0));
    CHECK_EQ(result, 1);
    list[1] = &local;
    CHECK_OK(aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_DEV, &result, 0));
    CHECK_EQ(result, 0);
    CHECK_EQ(aclrtCheckMemType(NULL, 2, ACL_RT_MEM_TYPE_DEV, &result, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_DEV, NULL, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtCheckMemType(list, 0, ACL_RT_MEM_TYPE_DEV, &result, 0), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_DEV, &result, 1), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtCheckMemType(list, 2, 0x100, &result, 0), ACL_ERROR_RT_PARAM_INVALID);
    // #05 against #07: the page and the header name this bit, so it is taken.
    list[1] = other;
    CHECK_OK(aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_RSVD, &result, 0));
    CHECK_EQ(result, 0);
    CHECK_OK(aclrtFree(other));
    CHECK_OK(aclrtFree(device));
}

// Blocks do not overlap, and what is freed is used again.
static void many_blocks(void) {
    enum { COUNT = 400 };
    static unsigned char *blocks[COUNT];
    static unsigned char bytes[2048];
    size_t i;
    int round;
    for (round = 0; round < 3; ++round) {
        for (i = 0; i < COUNT; ++i) {
            size_t size = 1 + (i * 37 + (size_t)round * 11) % sizeof bytes;
            CHECK_OK(aclrtMalloc((void **)&blocks[i], size, ACL_MEM_MALLOC_HUGE_FIRST));
            CHECK_OK(aclrtMemset(blocks[i], size, (int)i, size));
        }
        for (i = 0; i < COUNT; ++i) {
            size_t size = 1 + (i * 37 + (size_t)round * 11) % sizeof bytes;
            CHECK_OK(aclrtMemcpy(bytes, sizeof bytes, blocks[i], size, ACL_MEMCPY_DEVICE_TO_HOST));
            CHECK_ALL(bytes, (unsigned char)i, size);
        }
        for (i = 0; i < COUNT; ++i) CHECK_OK(aclrtFree(blocks[(i * 7) % COUNT]));
    }
}

// More than the device has. aclrtMalloc#05.
static void exhausted(void) {
    size_t unused = 0, total = 0;
    void *memory = NULL, *rest = NULL;
    CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total));
    CHECK_EQ(aclrtMalloc(&memory, total + 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK_EQ(aclrtMalloc(&memory, (size_t)1 << 47, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_ERROR_RT_MEMORY_ALLOCATION);
#if defined(__SANITIZE_THREAD__)
    (void)rest; // ThreadSanitizer leaves too little of the address space for whole devices
    return;
#endif
    CHECK_OK(aclrtMalloc(&memory, unused / 2, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_EQ(aclrtMalloc(&rest, unused / 2 + 4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK_STILL_WORKS();
    CHECK_OK(aclrtFree(memory));
    CHECK_OK(aclrtMalloc(&memory, unused / 2 + 4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtFree(memory));
}

int main(void) {
    runtime_start();
    policies();
    every_way_to_allocate();
    host_memory();
    fills();
    kinds_of_address();
    many_blocks();
    exhausted();
    return runtime_end();
}
