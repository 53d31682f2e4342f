// Calls from constructors before main and from static destructors after it: codes, no crash.
#include "runtime.h"


namespace {

struct owner {
    aclrtStream stream = nullptr;
    void *device = nullptr;
    int32_t count_before_init = -1;

    owner() {
        uint32_t count = 0;
        // Before aclInit: whatever the code is, it comes back.
        count_before_init = static_cast<int32_t>(aclrtGetDeviceCount(&count));
        (void)aclGetRecentErrMsg();
    }

    ~owner() {
        // The program finalized in main. ours: a code, any but success for what needs a device.
        CHECK(aclrtSynchronizeStream(stream) != ACL_SUCCESS);
        CHECK(aclrtDestroyStream(stream) != ACL_SUCCESS);
        (void)aclrtFree(device);
        (void)aclrtResetDevice(0);
        CHECK_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    }
};

// Destroyed last, after `thing`: prints the verdict over everything above.
struct verdict {
    ~verdict() { _Exit(check_end()); }
} last;

owner thing;

} // namespace

int main() {
    runtime_start();
    CHECK_OK(aclrtCreateStream(&thing.stream));
    CHECK_OK(aclrtMalloc(&thing.device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemsetAsync(thing.device, 64, 1, 64, thing.stream));
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalize());
    return 0;
}
