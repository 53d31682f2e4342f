// Registered host memory: both forms, the device pointer, refusals, and what registering does to copies.
#define WRONG_ADDRESSES
#include "runtime.h"

#include <sys/mman.h>

enum { PAGE = 4096, SIZE = 4 * PAGE };

static unsigned char *pages(void) {
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    check_fill(memory, SIZE, 1);
    return (unsigned char *)memory;
}

static void first_form(unsigned char *memory) {
    void *device = NULL, *again = NULL;
    CHECK_OK(aclrtHostRegister(memory, SIZE, ACL_HOST_REGISTER_MAPPED, &device));
    CHECK(device != NULL);
    CHECK_OK(aclrtHostGetDevicePointer(memory, &again, 0));
    CHECK_PTR(again, device);
    CHECK_OK(aclrtHostUnregister(memory));
    // aclrtHostUnregister#02: once.
    CHECK_EQ(aclrtHostUnregister(memory), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    // aclrtHostGetDevicePointer#06.
    CHECK_EQ(aclrtHostGetDevicePointer(memory, &again, 0), ACL_ERROR_RT_PARAM_INVALID);
    // Page-locked memory, too: aclrtHostRegister#04.
    {
        void *pinned = NULL, *block = NULL;
        CHECK_OK(aclrtMallocHost(&block, 2 * SIZE));
        pinned = (void *)(((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
        CHECK_OK(aclrtHostRegister(pinned, SIZE, ACL_HOST_REGISTER_MAPPED, &device));
        CHECK_OK(aclrtHostUnregister(pinned));
        CHECK_OK(aclrtFreeHost(block));
    }
}

static void second_form(unsigned char *memory) {
    void *device = NULL;
    aclrtPtrAttributes attributes;
    // aclrtHostRegisterV2#11.
    CHECK_OK(aclrtHostRegisterV2(memory, SIZE, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED));
    CHECK_OK(aclrtHostGetDevicePointer(memory, &device, 0));
    CHECK(device != NULL);
    CHECK_OK(aclrtPointerGetAttributes(memory, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST); // ours: registered memory is known host memory
    // #10: an overlap.
    CHECK_EQ(aclrtHostRegisterV2(memory, SIZE, ACL_HOST_REG_MAPPED), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    CHECK_EQ(aclrtHostRegisterV2(memory + PAGE, PAGE, ACL_HOST_REG_MAPPED), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    CHECK_OK(aclrtHostUnregister(memory));
    CHECK_OK(aclrtHostRegisterV2(memory, PAGE, ACL_HOST_REG_MAPPED));
    CHECK_OK(aclrtHostRegisterV2(memory + PAGE, PAGE, ACL_HOST_REG_MAPPED));
    CHECK_OK(aclrtHostUnregister(memory));
    CHECK_OK(aclrtHostUnregister(memory + PAGE));
    // Pinned without a mapping has no device pointer: aclrtHostGetDevicePointer#06.
    CHECK_OK(aclrtHostRegisterV2(memory, SIZE, ACL_HOST_REG_PINNED));
    CHECK_EQ(aclrtHostGetDevicePointer(memory, &device, 0), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtHostUnregister(memory));
}

// Pinned by registration: copies are queued, and read the memory when they run.
static void copies_become_asynchronous(unsigned char *memory) {
    aclrtStream stream = NULL;
    void *device = NULL;
    check_flag release = {0};
    unsigned char want[SIZE];
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtHostRegisterV2(memory, SIZE, ACL_HOST_REG_PINNED));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpyAsync(device, SIZE, memory, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    check_fill(memory, SIZE, 2);
    memcpy(want, memory, SIZE);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(device, want, SIZE);
    CHECK_OK(aclrtHostUnregister(memory));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtDestroyStream(stream));
}

static void refused(unsigned char *memory) {
    void *device = NULL, *pinned = NULL;
    // aclrtHostRegister#01, #02, #07, #08.
    CHECK_EQ(aclrtHostRegister(NULL, SIZE, ACL_HOST_REGISTER_MAPPED, &device), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtHostRegister(memory, 0, ACL_HOST_REGISTER_MAPPED, &device), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtHostRegister(memory, SIZE, ACL_HOST_REGISTER_MAPPED, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtHostRegister(memory, SIZE, (aclrtHostRegisterType)1, &device), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    // aclrtHostRegisterV2#01, #02, #07.
    CHECK_EQ(aclrtHostRegisterV2(NULL, SIZE, ACL_HOST_REG_MAPPED), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtHostRegisterV2(memory, 0, ACL_HOST_REG_MAPPED), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtHostRegisterV2(memory, SIZE, 0), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtHostRegisterV2(memory, SIZE, 1), ACL_ERROR_RT_PARAM_INVALID);
    // ours: the address is not a multiple of 4096 (#03 gives no code), is not mapped, or wraps around.
    CHECK_EQ(aclrtHostRegister(memory + 64, PAGE, ACL_HOST_REGISTER_MAPPED, &device), ACL_ERROR_RT_ADDR_UNALIGNED);
    CHECK_EQ(aclrtHostRegisterV2(memory + 64, PAGE, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_ADDR_UNALIGNED);
    CHECK_EQ(aclrtHostRegisterV2((void *)(uintptr_t)0x1000, PAGE, ACL_HOST_REG_MAPPED), BAD_ADDRESS);
    CHECK_EQ(aclrtHostRegisterV2(memory, UINT64_MAX, ACL_HOST_REG_MAPPED), BAD_ADDRESS);
    CHECK_EQ(aclrtHostRegisterV2(memory, (uint64_t)1 << 63, ACL_HOST_REG_MAPPED), BAD_ADDRESS);
    // ours: what is page-locked already is not locked again (#09 gives no code).
    CHECK_OK(aclrtMallocHost(&pinned, 2 * PAGE));
    CHECK_EQ(aclrtHostRegisterV2((void *)(((uintptr_t)pinned + PAGE - 1) & ~(uintptr_t)(PAGE - 1)), PAGE,
                                 ACL_HOST_REG_PINNED),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtFreeHost(pinned));
    // aclrtHostUnregister#01, #02, inside a registered range too.
    CHECK_EQ(aclrtHostUnregister(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtHostUnregister(memory), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    CHECK_OK(aclrtHostRegisterV2(memory, SIZE, ACL_HOST_REG_MAPPED));
    CHECK_EQ(aclrtHostUnregister(memory + PAGE), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    // aclrtHostGetDevicePointer#01 to #03.
    CHECK_EQ(aclrtHostGetDevicePointer(NULL, &device, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtHostGetDevicePointer(memory, NULL, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtHostGetDevicePointer(memory, &device, 1), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtHostUnregister(memory));
    CHECK_STILL_WORKS();
}

int main(void) {
    unsigned char *memory = pages();
    runtime_start();
    first_form(memory);
    second_form(memory);
    copies_become_asynchronous(memory);
    refused(memory);
    munmap(memory, SIZE);
    return runtime_end();
}
