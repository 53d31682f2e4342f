// After aclFinalize: every call answers with a code, and a new aclInit starts afresh.
#include "runtime.h"

int main(void) {
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    void *device = NULL, *pinned = NULL, *other = NULL;
    aclrtStreamStatus status;
    aclrtEventRecordedStatus recorded;
    uint32_t count = 0;
    int32_t id = -1;
    char local[64] = {0};
    runtime_start();
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost(&pinned, 64));
    CHECK_OK(aclrtResetDeviceForce(0));
    CHECK_OK(aclFinalize());
    // ours: without an initialised library nothing works on a device; which code is not documented.
    CHECK(aclrtSynchronizeStream(stream) != ACL_SUCCESS);
    CHECK(aclrtStreamQuery(stream, &status) != ACL_SUCCESS);
    CHECK(aclrtRecordEvent(event, stream) != ACL_SUCCESS);
    CHECK(aclrtMemcpy(device, 64, local, 64, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS);
    CHECK(aclrtMemcpyAsync(device, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream) != ACL_SUCCESS);
    CHECK(aclrtMalloc(&other, 64, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
    CHECK(aclrtCreateStream(&stream) != ACL_SUCCESS);
    CHECK(aclrtDestroyStream(stream) != ACL_SUCCESS);
    CHECK(aclrtSynchronizeDevice() != ACL_SUCCESS);
    (void)aclrtQueryEventStatus(event, &recorded);
    (void)aclrtDestroyEvent(event);
    (void)aclrtFree(device);
    (void)aclrtFreeHost(pinned);
    (void)aclrtGetDeviceCount(&count);
    (void)aclrtGetDevice(&id);
    (void)aclrtResetDevice(0);
    (void)aclrtGetSocName();
    (void)aclGetRecentErrMsg();
    CHECK_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    // And again from the start.
    runtime_start();
    CHECK_STILL_WORKS();
    return runtime_end();
}
