// As many streams as the product has, all of them at work; then one more. aclrtCreateStream#03.
// env: TOPROPE_PRODUCT=a2
#include "runtime.h"

enum { LIMIT = 1984 };

int main(void) {
    static aclrtStream streams[LIMIT];
    static int32_t numbers[LIMIT];
    aclrtStream extra = NULL;
    uint32_t available = 0;
    int32_t *pinned = NULL;
    void *device = NULL;
    int created = 0, i;
    runtime_start();
    CHECK_OK(aclrtGetStreamAvailableNum(&available));
    // The default stream counts.
    CHECK_EQ(available, LIMIT - 1);
    while (created < LIMIT && aclrtCreateStream(&streams[created]) == ACL_SUCCESS) ++created;
    CHECK_EQ(created, LIMIT - 1);
    CHECK_EQ(aclrtCreateStream(&extra), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    CHECK_EQ(aclrtCreateStreamWithConfig(&extra, 7, 0), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    CHECK_OK(aclrtGetStreamAvailableNum(&available));
    CHECK_EQ(available, 0);

    CHECK_OK(aclrtMalloc(&device, sizeof numbers, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&pinned, 2 * sizeof numbers));
    for (i = 0; i < created; ++i) {
        pinned[i] = 3 * i + 1;
        CHECK_OK(aclrtMemcpyAsync((int32_t *)device + i, 4, pinned + i, 4, ACL_MEMCPY_HOST_TO_DEVICE, streams[i]));
        CHECK_OK(aclrtMemcpyAsync(pinned + LIMIT + i, 4, (int32_t *)device + i, 4, ACL_MEMCPY_DEVICE_TO_HOST, streams[i]));
    }
    CHECK_OK(aclrtSynchronizeDevice());
    for (i = 0; i < created; ++i) numbers[i] = 3 * i + 1;
    CHECK_BYTES(pinned + LIMIT, numbers, created * sizeof numbers[0]);

    // One given back is one to be had.
    CHECK_OK(aclrtDestroyStream(streams[17]));
    CHECK_OK(aclrtCreateStream(&streams[17]));
    for (i = 0; i < created; ++i) CHECK_OK(aclrtDestroyStream(streams[i]));
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
    CHECK_STILL_WORKS();
    return runtime_end();
}
