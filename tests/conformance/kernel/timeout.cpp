// The operator's time limit ends a kernel that never returns.
#include "kernel.h"

extern "C" __global__ __aicore__ void forever(__gm__ int *go_on) {
    while (AscendC::ReadGmByPassDCache(go_on) != 0) {
    }
}

extern "C" __global__ __aicore__ void store(__gm__ int *at, int value) { *at = value; }

int main() {
    runtime_start();
    // aclrtSetOpExecuteTimeOutV2#10: rounded up to the interval.
    uint64_t actual = 0;
    CHECK_OK(aclrtSetOpExecuteTimeOutV2(100000, &actual));
    CHECK(actual >= 100000);
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    int one = 1;
    int *go_on = (int *)runtime_device(&one, sizeof one), *at = kernel_zeros<int>(1);
    forever<<<1, nullptr, stream>>>(go_on);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_TIMEOUT);
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtCreateStream(&stream));
    store<<<1, nullptr, stream>>>(at, 5);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_EQ(kernel_value(at), 5);
    // Lets the kernel's thread go, whoever owns it by now.
    CHECK_OK(aclrtMemset(go_on, 4, 0, 4));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_STILL_WORKS();
    return runtime_end();
}
