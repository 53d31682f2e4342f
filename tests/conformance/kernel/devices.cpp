// Device variables: each device has its own, they start again after a reset, and symbol calls reach them.
// env: TOPROPE_DEVICES=2
#include "kernel.h"

struct Setting {
    int level;
    float factor[3];
};

__gm__ int counter = 100;
__gm__ Setting setting = {1, {0.5f, 1.5f, 2.5f}};
__gm__ uint8_t table[16];

extern "C" __global__ __aicore__ void count(int by) { counter += by; }

extern "C" __global__ __aicore__ void see(__gm__ float *out) {
    out[0] = float(counter);
    out[1] = float(setting.level);
    out[2] = setting.factor[2];
    out[3] = float(table[15]);
}

// The variables of the current device, as a kernel sees them.
static void check_seen(float counter_, float level, float factor, float last) {
    float *out = kernel_zeros<float>(4);
    see<<<1, nullptr, nullptr>>>(out);
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    const float want[4] = {counter_, level, factor, last};
    CHECK_DEVICE(out, want, sizeof want);
    CHECK_OK(aclrtFree(out));
}

int main() {
    runtime_start();
    CHECK_OK(aclrtSetDevice(1));
    check_seen(100, 1, 2.5f, 0);
    CHECK_OK(aclrtSetDevice(0));
    count<<<3, nullptr, nullptr>>>(1);
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    check_seen(103, 1, 2.5f, 0);
    CHECK_OK(aclrtSetDevice(1));
    check_seen(100, 1, 2.5f, 0);

    // Symbol calls go to the current device's own.
    const uint8_t last = 77;
    CHECK_OK(aclrtMemcpyToSymbol(&table, &last, 1, 15, ACL_MEMCPY_HOST_TO_DEVICE));
    const Setting other = {8, {1, 2, 3}};
    CHECK_OK(aclrtMemcpyToSymbol(&setting, &other, sizeof other, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    check_seen(100, 8, 3, 77);
    CHECK_OK(aclrtSetDevice(0));
    check_seen(103, 1, 2.5f, 0);
    int value = 0;
    CHECK_OK(aclrtMemcpyFromSymbol(&value, sizeof value, &counter, sizeof value, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_EQ(value, 103);
    size_t size = 0;
    CHECK_OK(aclrtGetSymbolSize(&setting, &size));
    CHECK_EQ(size, sizeof(Setting));

    // Reset as often as set: initial values again, on this device alone.
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclrtSetDevice(0));
    check_seen(103, 1, 2.5f, 0);
    CHECK_OK(aclrtResetDeviceForce(0));
    CHECK_OK(aclrtSetDevice(0));
    check_seen(100, 1, 2.5f, 0);
    CHECK_OK(aclrtSetDevice(1));
    check_seen(100, 8, 3, 77);
    CHECK_OK(aclrtResetDevice(1));
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtResetDevice(0));
    return runtime_end();
}
