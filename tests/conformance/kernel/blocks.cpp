// Many blocks: each knows itself and their number, and SyncAll makes what one wrote known to the others.
#include "kernel.h"

extern "C" __global__ __aicore__ void who(__gm__ int64_t *out) {
    const int64_t block = AscendC::GetBlockIdx();
    out[4 * block] = block_idx;
    out[4 * block + 1] = AscendC::GetBlockNum();
    out[4 * block + 2] = AscendC::GetSubBlockIdx();
    out[4 * block + 3] += get_block_num() == block_num;
}

// Prefix sums by doubling: after step k every block holds the sum of the 2^k values up to its own.
extern "C" __global__ __aicore__ void prefix(__gm__ uint32_t *values, __gm__ uint32_t *scratch) {
    const uint32_t me = block_idx, all = block_num;
    __gm__ uint32_t *from = values, *to = scratch;
    for (uint32_t step = 1; step < all; step *= 2) {
        to[me] = from[me] + (me >= step ? from[me - step] : 0);
        AscendC::SyncAll();
        __gm__ uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != values) values[me] = from[me];
}

// As many blocks as there are vector cores meet if the kernel is one for those, whichever way it says so; a mixed one has fewer.
__gm__ uint32_t met;

static __aicore__ void meet_all() {
    AscendC::SyncAll();
    if (block_idx == 0) met = met + 1;
}
extern "C" __global__ __vector__ void meet_vector() { meet_all(); }
extern "C" __global__ __aicore__ void meet_typed() {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    meet_all();
}
extern "C" __global__ __aicore__ void meet_mixed() {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    meet_all();
}

static void every_vector_core() {
    int64_t vector = 0, mixed = 0;
    CHECK_OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &vector));
    CHECK_OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &mixed));
    CHECK(vector > mixed);
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    meet_vector<<<uint32_t(vector), nullptr, stream>>>();
    meet_typed<<<uint32_t(vector), nullptr, stream>>>();
    meet_mixed<<<uint32_t(mixed), nullptr, stream>>>();
    CHECK_OK(aclrtSynchronizeStream(stream));
    uint32_t seen = 0;
    CHECK_OK(aclrtMemcpyFromSymbol(&seen, sizeof seen, &met, sizeof seen, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_EQ(seen, 3);
    meet_mixed<<<uint32_t(vector), nullptr, stream>>>();
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_TIMEOUT);
    CHECK_OK(aclrtDestroyStream(stream));
}

static void every_block_once(aclrtStream stream) {
    for (uint32_t blocks : {1u, 2u, 48u, 1000u, 65535u}) {
        int64_t *out = kernel_zeros<int64_t>(4 * blocks);
        who<<<blocks, nullptr, stream>>>(out);
        CHECK_OK(aclrtSynchronizeStream(stream));
        int64_t *seen = (int64_t *)malloc(32 * blocks);
        CHECK_OK(aclrtMemcpy(seen, 32 * blocks, out, 32 * blocks, ACL_MEMCPY_DEVICE_TO_HOST));
        uint32_t right = 0;
        for (int64_t i = 0; i < int64_t(blocks); ++i) {
            right += seen[4 * i] == i && seen[4 * i + 1] == blocks && seen[4 * i + 2] == 0 && seen[4 * i + 3] == 1;
        }
        CHECK_EQ(right, blocks);
        free(seen);
        CHECK_OK(aclrtFree(out));
    }
}

static void blocks_that_wait_for_each_other(aclrtStream stream) {
    for (uint32_t blocks : {1u, 2u, 7u, 24u}) {
        uint32_t values[24], want[24], sum = 0;
        for (uint32_t i = 0; i < blocks; ++i) {
            values[i] = 3 * i + 1;
            want[i] = sum += values[i];
        }
        uint32_t *device = (uint32_t *)runtime_device(values, blocks * 4), *scratch = kernel_zeros<uint32_t>(blocks);
        prefix<<<blocks, nullptr, stream>>>(device, scratch);
        CHECK_OK(aclrtSynchronizeStream(stream));
        CHECK_DEVICE(device, want, blocks * 4);
        CHECK_OK(aclrtFree(device));
        CHECK_OK(aclrtFree(scratch));
    }
}

// Two launches of blocks that wait for each other, on two streams at once.
static void two_streams() {
    aclrtStream streams[2];
    uint32_t *device[2], *scratch[2], ones[16], want[16];
    for (uint32_t i = 0; i < 16; ++i) {
        ones[i] = 1;
        want[i] = i + 1;
    }
    for (int s = 0; s < 2; ++s) {
        CHECK_OK(aclrtCreateStream(&streams[s]));
        device[s] = (uint32_t *)runtime_device(ones, sizeof ones);
        scratch[s] = kernel_zeros<uint32_t>(16);
    }
    for (int s = 0; s < 2; ++s) prefix<<<16, nullptr, streams[s]>>>(device[s], scratch[s]);
    for (int s = 0; s < 2; ++s) {
        CHECK_OK(aclrtSynchronizeStream(streams[s]));
        CHECK_DEVICE(device[s], want, sizeof want);
        CHECK_OK(aclrtDestroyStream(streams[s]));
        CHECK_OK(aclrtFree(device[s]));
        CHECK_OK(aclrtFree(scratch[s]));
    }
}

int main() {
    runtime_start();
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    every_block_once(stream);
    blocks_that_wait_for_each_other(stream);
    two_streams();
    every_vector_core();
    CHECK_OK(aclrtDestroyStream(stream));
    return runtime_end();
}
