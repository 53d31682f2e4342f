// A kernel that was ended (by an abort, by force, by its time limit) writes no memory from then on and takes no processor time.
#include "kernel.h"

#include <time.h>

constexpr int BLOCKS = 8;

extern "C" __global__ __aicore__ void count(__gm__ volatile int64_t *out) {
    for (;;) out[AscendC::GetBlockIdx()] = out[AscendC::GetBlockIdx()] + 1;
}

// All blocks at the same time.
extern "C" __global__ __aicore__ void count_together(__gm__ volatile int64_t *out) {
    AscendC::SyncAll();
    for (;;) out[AscendC::GetBlockIdx()] = out[AscendC::GetBlockIdx()] + 1;
}

// One of them waits for the others, which never come again.
extern "C" __global__ __aicore__ void count_and_wait(__gm__ volatile int64_t *out) {
    AscendC::SyncAll();
    if (AscendC::GetBlockIdx() == 0) AscendC::SyncAll();
    for (;;) out[AscendC::GetBlockIdx()] = out[AscendC::GetBlockIdx()] + 1;
}

static double cpu_ms() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) / 1e6;
}

static void read_all(const int64_t *device, int64_t (&values)[BLOCKS]) {
    CHECK_OK(aclrtMemcpy(values, sizeof values, device, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
}

static void wait_until_counted(const int64_t *device, int block) {
    int64_t values[BLOCKS] = {};
    while (values[block] == 0) {
        usleep(1000);
        read_all(device, values);
    }
}

static void check_still(const int64_t *device) {
    int64_t before[BLOCKS], after[BLOCKS];
    read_all(device, before);
    usleep(20000);
    read_all(device, after);
    for (int i = 0; i < BLOCKS; ++i) CHECK_EQ(before[i], after[i]);
}

int main() {
    runtime_start();
    int64_t *out = kernel_zeros<int64_t>(BLOCKS);
    aclrtStream stream = nullptr;
    auto fresh = [&] {
        CHECK_OK(aclrtCreateStream(&stream));
        CHECK_OK(aclrtMemset(out, BLOCKS * sizeof *out, 0, BLOCKS * sizeof *out));
    };
    auto begin = [&](int round) {
        fresh();
        if (round == 0) count<<<1, nullptr, stream>>>(out);
        if (round == 1) count_together<<<BLOCKS, nullptr, stream>>>(out);
        if (round == 2) count_and_wait<<<BLOCKS, nullptr, stream>>>(out);
        wait_until_counted(out, round == 0 ? 0 : BLOCKS - 1);
    };

    for (int round = 0; round < 3; ++round) {
        begin(round);
        // aclrtStreamAbort#01
        CHECK_OK(aclrtStreamAbort(stream));
        check_still(out);
        CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_ABORT);
        CHECK_OK(aclrtDestroyStream(stream));

        begin(round);
        // The memory may be somebody else's then.
        CHECK_OK(aclrtDestroyStreamForce(stream));
        check_still(out);
    }

    uint64_t actual = 0;
    CHECK_OK(aclrtSetOpExecuteTimeOutV2(100000, &actual));
    fresh();
    count_together<<<BLOCKS, nullptr, stream>>>(out);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_TIMEOUT);
    check_still(out);
    CHECK_OK(aclrtDestroyStream(stream));

    // None of the threads of all these goes on.
    double before = cpu_ms();
    usleep(300000);
    CHECK(cpu_ms() - before < 100);
    CHECK_OK(aclrtFree(out));
    CHECK_STILL_WORKS();
    return runtime_end();
}
