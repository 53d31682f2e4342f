// Device variables of every kind on two devices: `toprope run examples/device_variables`
//
// A variable is declared with __gm__. On the host its address names it; each device has its own copy, with its own value.
#include <acl/acl.h>
#include <cstdio>

#include "kernel_operator.h"

struct Settings {
    int32_t step;
    float scale;
};

extern __gm__ int32_t limit; // defined in second.cpp
__aicore__ int32_t twice(int32_t value);

__gm__ int32_t counter = 10;                       // a basic type
__gm__ float weights[4] = {0.5f, 1.0f, 1.5f, 2.0f}; // an array
__gm__ Settings settings = {3, 2.0f};               // a structure
__gm__ int32_t (*change)(int32_t) = twice;          // a pointer to a scalar function
static __gm__ int32_t calls;                        // known in this file only

__global__ __aicore__ void step(__gm__ int32_t *result)
{
    calls += 1;
    counter = change(counter) + settings.step;
    if (counter > limit) {
        counter = limit;
    }
    result[0] = counter;
    result[1] = static_cast<int32_t>(weights[3] * settings.scale);
    result[2] = calls;
}

#define CHECK(call)                                                                                                        \
    do {                                                                                                                   \
        const aclError code = (call);                                                                                      \
        if (code != ACL_SUCCESS) {                                                                                         \
            const char *why = aclGetRecentErrMsg();                                                                        \
            std::fprintf(stderr, "%s: %d %s\n", #call, code, why == nullptr ? "" : why);                                   \
            return 1;                                                                                                      \
        }                                                                                                                  \
    } while (0)

int main()
{
    CHECK(aclInit(nullptr));
    const int32_t expected[2][3] = {{23, 4, 1}, {40, 4, 1}};
    for (int32_t device = 0; device < 2; ++device) {
        CHECK(aclrtSetDevice(device));
        aclrtStream stream;
        CHECK(aclrtCreateStream(&stream));
        if (device == 1) {
            const int32_t start = 1000;
            CHECK(aclrtMemcpyToSymbol(&counter, &start, sizeof start, 0, ACL_MEMCPY_HOST_TO_DEVICE));
        }
        void *result = nullptr;
        CHECK(aclrtMalloc(&result, 3 * sizeof(int32_t), ACL_MEM_MALLOC_HUGE_FIRST));
        step<<<1, nullptr, stream>>>(static_cast<int32_t *>(result));
        CHECK(aclrtSynchronizeStream(stream));
        int32_t got[3] = {};
        CHECK(aclrtMemcpy(got, sizeof got, result, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
        int32_t value = 0;
        CHECK(aclrtMemcpyFromSymbol(&value, sizeof value, &counter, sizeof value, 0, ACL_MEMCPY_DEVICE_TO_HOST));
        std::printf("device %d: counter %d, scaled weight %d, calls %d\n", device, got[0], got[1], got[2]);
        for (int at = 0; at < 3; ++at) {
            if (got[at] != expected[device][at] || value != expected[device][0]) {
                return 2;
            }
        }
        size_t size = 0;
        CHECK(aclrtGetSymbolSize(weights, &size));
        if (size != sizeof weights) {
            return 3;
        }
        CHECK(aclrtFree(result));
        CHECK(aclrtDestroyStream(stream));
        CHECK(aclrtResetDevice(device));
    }
    CHECK(aclFinalize());
    return 0;
}
