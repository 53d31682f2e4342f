// First steps with AscendCL: a device, page-locked memory, two streams ordered by an event, a 2D copy, a device
// variable. Needs no NPU:
//
//     cargo run --release -- run examples/first_steps.cpp
//
// Nothing in it is special to toprope. On a machine with a card the vendor's tools build it; there the device
// variable is declared `__gm__ float gain[4]`, and the compiler writes the line that registers it.

#include "acl/acl.h"
#include "acl/acl_rt_api.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

// What the compiler of mixed host and device code calls for each device variable.
extern "C" void rtRegisterVariable(void *binHandle, const void *hostVar, const char *deviceVarName, size_t size,
                                   uint32_t flags, void *reserve);

namespace {

float gain[4] = {1.0f, 2.0f, 3.0f, 4.0f};

// Says which call failed, where, with which code, and what the runtime has to say about it.
void check(aclError code, const char *call, int line) {
    if (code == ACL_SUCCESS) return;
    const char *message = aclGetRecentErrMsg();
    std::fprintf(stderr, "line %d: %s: error %d\n%s\n", line, call, code, message ? message : "");
    std::exit(1);
}
#define CHECK(call) check((call), #call, __LINE__)

void require(bool good, const char *what) {
    if (good) return;
    std::fprintf(stderr, "wrong result: %s\n", what);
    std::exit(1);
}

// One stream fills the pipeline, another drains it; an event between them keeps the order.
void two_streams() {
    const size_t count = 1 << 20, bytes = count * sizeof(float);
    aclrtStream upload = nullptr, download = nullptr;
    aclrtEvent begin = nullptr, uploaded = nullptr, end = nullptr;
    float *device = nullptr, *in = nullptr, *out = nullptr;
    CHECK(aclrtCreateStream(&upload, 0, ACL_STREAM_FAST_LAUNCH)); // priority 0 is the highest, 7 the lowest
    CHECK(aclrtCreateStream(&download, 7, ACL_STREAM_FAST_LAUNCH));
    CHECK(aclrtCreateEvent(&begin, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    CHECK(aclrtCreateEvent(&uploaded, ACL_EVENT_SYNC));
    CHECK(aclrtCreateEvent(&end, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    CHECK(aclrtMalloc(&device, bytes));
    CHECK(aclrtMallocHost(&in, bytes)); // page-locked: copies from and to it are really asynchronous
    CHECK(aclrtMallocHost(&out, bytes));
    for (size_t i = 0; i < count; ++i) in[i] = static_cast<float>(i) * 0.5f;

    CHECK(aclrtRecordEvent(begin, upload));
    CHECK(aclrtMemcpyAsync(device, bytes, in, bytes, ACL_MEMCPY_HOST_TO_DEVICE, upload));
    CHECK(aclrtRecordEvent(uploaded, upload));
    CHECK(aclrtStreamWaitEvent(download, uploaded)); // without this line the download may read old data
    CHECK(aclrtMemcpyAsync(out, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, download));
    CHECK(aclrtRecordEvent(end, download));
    CHECK(aclrtSynchronizeStream(download, 10000)); // milliseconds

    float milliseconds = 0;
    CHECK(aclrtEventElapsedTime(&milliseconds, begin, end));
    for (size_t i = 0; i < count; ++i) require(out[i] == in[i], "what comes back from the device");
    std::printf("two streams:     %zu MiB to the device and back in %.2f ms\n", bytes >> 20, milliseconds);

    CHECK(aclrtFreeHost(out));
    CHECK(aclrtFreeHost(in));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyEvent(end));
    CHECK(aclrtDestroyEvent(uploaded));
    CHECK(aclrtDestroyEvent(begin));
    CHECK(aclrtDestroyStream(download));
    CHECK(aclrtDestroyStream(upload));
}

// A matrix whose rows lie further apart on the device than on the host.
void matrix() {
    const size_t columns = 30, rows = 4, width = columns * sizeof(float), pitch = 128;
    std::vector<float> from(columns * rows), back(columns * rows);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
    char *device = nullptr;
    CHECK(aclrtMalloc(&device, pitch * rows));
    CHECK(aclrtMemcpy2d(device, pitch, from.data(), width, width, rows, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy2d(back.data(), width, device, pitch, width, rows, ACL_MEMCPY_DEVICE_TO_HOST));
    require(back == from, "the matrix");
    std::printf("2D copy:         %zu rows of %zu bytes, %zu bytes apart on the device\n", rows, width, pitch);
    CHECK(aclrtFree(device));
}

// A variable that lives on the device, reached by its name.
void device_variable() {
    const float fresh[2] = {30.0f, 40.0f};
    float back[4] = {};
    size_t size = 0;
    CHECK(aclrtGetSymbolSize(gain, &size));
    CHECK(aclrtMemcpyToSymbol(gain, fresh, sizeof fresh, 2 * sizeof(float), ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpyFromSymbol(back, sizeof back, gain, sizeof back, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    require(back[0] == 1.0f && back[1] == 2.0f && back[2] == 30.0f && back[3] == 40.0f, "the device variable");
    std::printf("device variable: gain (%zu bytes) is {%g, %g, %g, %g} on the device\n", size, back[0], back[1],
                back[2], back[3]);
}

} // namespace

int main() {
    rtRegisterVariable(nullptr, gain, "gain", sizeof gain, 0, nullptr);
    uint32_t devices = 0;
    CHECK(aclInit(nullptr));
    CHECK(aclrtGetDeviceCount(&devices));
    CHECK(aclrtSetDevice(0));
    std::printf("device:          %s, number 0 of %u\n", aclrtGetSocName(), devices);
    two_streams();
    matrix();
    device_variable();
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    std::printf("done\n");
    return 0;
}
