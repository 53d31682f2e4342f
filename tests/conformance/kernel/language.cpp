// What kernels may be written with: templates, structures as arguments, classes, helper functions, function pointers, namespaces.
#include "kernel.h"

struct Shape {
    int32_t rows, columns;
    struct {
        double scale;
        uint8_t flag;
    } more;
};

template <class T> __aicore__ inline T square(T value) { return value * value; }

// One body, three element types.
template <class T> __global__ __aicore__ void squares(__gm__ T *values, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) values[i] = square(values[i]);
}

// A value as template argument.
template <class T, int N> __global__ __aicore__ void fill(__gm__ T *values) {
    for (int i = 0; i < N; ++i) values[i] = T(N);
}

extern "C" __global__ __aicore__ void by_structure(Shape shape, uint8_t first, __gm__ double *out, uint8_t last) {
    out[0] = shape.rows;
    out[1] = shape.columns;
    out[2] = shape.more.scale;
    out[3] = shape.more.flag;
    out[4] = first;
    out[5] = last;
}

class Accumulator {
public:
    __aicore__ inline Accumulator() {}
    __aicore__ inline void Init(GM_ADDR values, uint32_t count) {
        values_.SetGlobalBuffer((__gm__ int32_t *)values, count);
    }
    __aicore__ inline int32_t Process() const {
        int32_t sum = 0;
        for (uint64_t i = 0; i < values_.GetSize(); ++i) sum += values_.GetValue(i);
        return sum;
    }

private:
    AscendC::GlobalTensor<int32_t> values_;
};

namespace work {
__aicore__ inline int32_t up(int32_t value) { return value + 1; }
__aicore__ inline int32_t down(int32_t value) { return value - 1; }

__global__ __aicore__ void total(GM_ADDR values, uint32_t count, __gm__ int32_t *out, bool upwards) {
    Accumulator accumulator;
    accumulator.Init(values, count);
    int32_t (*step)(int32_t) = upwards ? up : down;
    *out = step(accumulator.Process());
}
} // namespace work

// Launches from a template function, and from inside another expression.
template <class T> static void check_squares(aclrtStream stream) {
    T values[5] = {T(1), T(2), T(3), T(4), T(5)}, want[5];
    for (int i = 0; i < 5; ++i) want[i] = values[i] * values[i];
    T *device = (T *)runtime_device(values, sizeof values);
    squares<T><<<1, nullptr, stream>>>(device, 5);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(device, want, sizeof want);
    CHECK_OK(aclrtFree(device));
}

int main() {
    runtime_start();
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));

    check_squares<int32_t>(stream);
    check_squares<float>(stream);
    check_squares<uint8_t>(stream);

    // A launch is worth the code that it was answered with.
    int32_t *one = kernel_zeros<int32_t>(1);
    const int32_t code = static_cast<int32_t>(squares<int32_t><<<1, nullptr, stream>>>(one, 1));
    CHECK_EQ(code, ACL_SUCCESS);
    CHECK((squares<int32_t><<<0, nullptr, stream>>>(one, 1)) != ACL_SUCCESS);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtFree(one));

    int16_t *filled = kernel_zeros<int16_t>(8);
    fill<int16_t, 6><<<1, nullptr, stream>>>(filled);
    CHECK_OK(aclrtSynchronizeStream(stream));
    for (int i = 0; i < 8; ++i) CHECK_EQ(kernel_value(filled, i), i < 6 ? 6 : 0);
    CHECK_OK(aclrtFree(filled));

    double *out = kernel_zeros<double>(6);
    Shape shape = {3, -4, {2.5, 9}};
    by_structure<<<1, nullptr, stream>>>(shape, 200, out, 255);
    shape.rows = 0; // a launch takes its arguments by value
    CHECK_OK(aclrtSynchronizeStream(stream));
    const double want[6] = {3, -4, 2.5, 9, 200, 255};
    CHECK_DEVICE(out, want, sizeof want);
    CHECK_OK(aclrtFree(out));

    int32_t values[4] = {10, 20, 30, 40};
    void *device = runtime_device(values, sizeof values);
    int32_t *total = kernel_zeros<int32_t>(1);
    work::total<<<1, nullptr, stream>>>((GM_ADDR)device, 4, total, true);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_EQ(kernel_value(total), 101);
    work::total<<<1, nullptr, stream>>>((GM_ADDR)device, 2 + 1, total, false);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_EQ(kernel_value(total), 59);
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtFree(total));

    CHECK_OK(aclrtDestroyStream(stream));
    return runtime_end();
}
