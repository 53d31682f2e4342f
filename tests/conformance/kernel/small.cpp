// The small kernels that programs begin with: print, store, add, update, count for long, write and then read.
#include "kernel.h"

extern "C" __global__ __aicore__ void print_value(int value) { AscendC::printf("value %d\n", value); }

extern "C" __global__ __aicore__ void store(__gm__ int *at, int value) { *at = value; }

extern "C" __global__ __aicore__ void add_one(__gm__ uint32_t *values) { values[block_idx] += 1; }

extern "C" __global__ __aicore__ void twice(__gm__ uint32_t *values) { values[block_idx] *= 2; }

// Half-precision sum, each block its own part.
extern "C" __global__ __aicore__ void add_half(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count) {
    const uint32_t part = count / AscendC::GetBlockNum();
    const uint32_t first = part * AscendC::GetBlockIdx();
    AscendC::GlobalTensor<half> left, right, sum;
    left.SetGlobalBuffer((__gm__ half *)x + first, part);
    right.SetGlobalBuffer((__gm__ half *)y + first, part);
    sum.SetGlobalBuffer((__gm__ half *)z + first, part);
    for (uint32_t i = 0; i < sum.GetSize(); ++i) sum.SetValue(i, left.GetValue(i) + right(i));
}

// y = x + alpha * y
extern "C" __global__ __aicore__ void update(__gm__ const float *x, __gm__ float *y, float alpha, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) y[i] = x[i] + alpha * y[i];
}

// A congruential generator, so that no compiler shortens the loop.
extern "C" __global__ __aicore__ void long_loop(__gm__ uint64_t *state, uint32_t steps) {
    uint64_t value = *state;
    for (uint32_t i = 0; i < steps; ++i) value = value * 6364136223846793005ull + 1442695040888963407ull;
    *state = value;
}

extern "C" __global__ __aicore__ void print_stored(__gm__ int *at) { AscendC::printf("stored %d\n", at[block_idx]); }

static void prints(aclrtStream stream) {
    Captured output;
    print_value<<<1, nullptr, stream>>>(-7);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(output.end() == "value -7\n");
    Captured many;
    print_value<<<8, nullptr, stream>>>(3);
    CHECK_OK(aclrtSynchronizeStream(stream));
    std::string all;
    for (int i = 0; i < 8; ++i) all += "value 3\n";
    CHECK(many.end() == all);
}

static void write_then_read(aclrtStream stream) {
    int *at = kernel_zeros<int>(1);
    Captured output;
    store<<<1, nullptr, stream>>>(at, 123);
    print_stored<<<1, nullptr, stream>>>(at);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(output.end() == "stored 123\n");
    CHECK_EQ(kernel_value(at), 123);
    CHECK_OK(aclrtFree(at));
}

static void in_stream_order(aclrtStream stream) {
    uint32_t *values = kernel_zeros<uint32_t>(4);
    for (int i = 0; i < 5; ++i) {
        add_one<<<4, nullptr, stream>>>(values);
        twice<<<4, nullptr, stream>>>(values);
    }
    CHECK_OK(aclrtSynchronizeStream(stream));
    for (int i = 0; i < 4; ++i) CHECK_EQ(kernel_value(values, i), 62); // ((((1*2)+1)*2...)
    CHECK_OK(aclrtFree(values));
}

static void half_sum(aclrtStream stream) {
    const uint32_t count = 4096;
    static half x[count], y[count], want[count];
    for (uint32_t i = 0; i < count; ++i) {
        x[i] = half(0.1f * float(i));
        y[i] = half(1000.0f - float(i));
        want[i] = half(float(x[i]) + float(y[i]));
    }
    void *dx = runtime_device(x, sizeof x), *dy = runtime_device(y, sizeof y), *dz = kernel_zeros<half>(count);
    add_half<<<8, nullptr, stream>>>((GM_ADDR)dx, (GM_ADDR)dy, (GM_ADDR)dz, count);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(dz, want, sizeof want);
    for (void *block : {dx, dy, dz}) CHECK_OK(aclrtFree(block));
}

static void updates(aclrtStream stream) {
    float x[64], y[64], want[64];
    for (int i = 0; i < 64; ++i) {
        x[i] = float(i);
        y[i] = 2.0f * float(i);
        want[i] = x[i] + 0.5f * y[i];
    }
    float *dx = (float *)runtime_device(x, sizeof x), *dy = (float *)runtime_device(y, sizeof y);
    update<<<1, nullptr, stream>>>(dx, dy, 0.5f, 64);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(dy, want, sizeof want);
    CHECK_OK(aclrtFree(dx));
    CHECK_OK(aclrtFree(dy));
}

static void long_ones(aclrtStream stream) {
    const uint32_t steps = 20000000;
    uint64_t want = 42;
    for (uint32_t i = 0; i < steps; ++i) want = want * 6364136223846793005ull + 1442695040888963407ull;
    uint64_t start = 42;
    uint64_t *state = (uint64_t *)runtime_device(&start, sizeof start);
    long_loop<<<1, nullptr, stream>>>(state, steps);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(kernel_value(state) == want);
    CHECK_OK(aclrtFree(state));
}

// A program that ends its stream by force right after a launch: a card has begun the kernel by then.
static void forced_end() {
    int *at = kernel_zeros<int>(1);
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    store<<<1, nullptr, stream>>>(at, 9);
    CHECK_OK(aclrtDestroyStreamForce(stream));
    CHECK_EQ(kernel_value(at), 9);
    CHECK_OK(aclrtFree(at));
}

int main() {
    runtime_start();
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    prints(stream);
    write_then_read(stream);
    in_stream_order(stream);
    half_sum(stream);
    updates(stream);
    long_ones(stream);
    forced_end();
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_STILL_WORKS();
    return runtime_end();
}
