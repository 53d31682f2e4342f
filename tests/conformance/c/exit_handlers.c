// Calls from atexit handlers, of a program that never finalizes: codes, no crash, no hang.
#include "runtime.h"

static aclrtStream stream;
static void *device;

// Registered first, so it runs last: by then the other handler has called everything.
static void last(void) { _Exit(check_end()); }

static void late(void) {
    char local[64];
    aclrtStream another = NULL;
    // The runtime is up while handlers run that were registered after it was loaded.
    CHECK_OK(aclrtMemcpy(local, sizeof local, device, sizeof local, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_ALL(local, 0x42, sizeof local);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK_OK(aclrtCreateStream(&another));
    CHECK_OK(aclrtMemsetAsync(device, 64, 1, 64, another));
    CHECK_OK(aclrtDestroyStream(another));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalize());
    CHECK_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    (void)aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST);
}

int main(void) {
    atexit(last);
    runtime_start();
    atexit(late);
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(device, 64, 0x42, 64));
    return 0;
}
