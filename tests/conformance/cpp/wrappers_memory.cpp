// Chapter 26, allocation and copies: typed pointers in, the right bytes out.
#include "runtime.h"

#include "acl/acl_rt_api.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

struct point {
    float x, y;
    std::int32_t tag;
};

static void allocate() {
    float *device = nullptr;
    point *points = nullptr;
    std::uint16_t *host = nullptr;
    void *untyped = nullptr;
    aclrtPtrAttributes attributes;
    aclrtMallocConfig config = {nullptr, 0};
    // Both forms of aclrtMalloc, with and without a configuration. aclrtMalloc<cpp>#03, #04, #06.
    CHECK_OK(aclrtMalloc(&device, 1000 * sizeof(float)));
    CHECK(device != nullptr && reinterpret_cast<std::uintptr_t>(device) % 64 == 0);
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtMalloc(&device, 1000 * sizeof(float), &config));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtMalloc(&points, 10 * sizeof(point), ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK_OK(aclrtPointerGetAttributes(points, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    CHECK_EQ(attributes.pageSize, 4096);
    CHECK_OK(aclrtFree(points));
    CHECK_OK(aclrtMalloc(&points, 10 * sizeof(point), ACL_MEM_MALLOC_HUGE_ONLY, &config));
    CHECK_OK(aclrtPointerGetAttributes(points + 9, &attributes));
    CHECK_EQ(attributes.pageSize, 2097152);
    CHECK_OK(aclrtFree(points));
    CHECK_OK(aclrtMalloc(&untyped, 100));
    CHECK_OK(aclrtFree(untyped));
    CHECK_EQ(aclrtMalloc(&device, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMalloc(static_cast<float **>(nullptr), 64), ACL_ERROR_INVALID_PARAM);
    // aclrtMallocHost<cpp>#03.
    CHECK_OK(aclrtMallocHost(&host, 77 * sizeof(std::uint16_t)));
    CHECK(reinterpret_cast<std::uintptr_t>(host) % 64 == 0);
    host[76] = 9;
    // aclrtPointerGetAttributes, the typed form, for host and unknown memory.
    const std::uint16_t *constant = host + 76;
    CHECK_OK(aclrtPointerGetAttributes(constant, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    CHECK_OK(aclrtPointerGetAttributes(&config, &attributes));
    CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    CHECK_EQ(aclrtPointerGetAttributes(static_cast<const float *>(nullptr), &attributes), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtFreeHost(host));
    CHECK_OK(aclrtMallocHost(&host, 64, &config));
    CHECK_OK(aclrtFreeHost(host));
    CHECK_EQ(aclrtMallocHost(&host, 0), ACL_ERROR_INVALID_PARAM);
}

static void copy() {
    std::vector<float> numbers(1000), back(1000, -1.0f);
    std::iota(numbers.begin(), numbers.end(), 0.5f);
    const std::size_t bytes = numbers.size() * sizeof(float);
    float *device = nullptr, *other = nullptr;
    CHECK_OK(aclrtMalloc(&device, bytes));
    CHECK_OK(aclrtMalloc(&other, bytes));
    CHECK_OK(aclrtMemcpy(device, bytes, numbers.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpy(other, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
    CHECK_OK(aclrtMemcpy(back.data(), bytes, other, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(back.data(), numbers.data(), bytes);
    // Different types on both sides, and a part.
    point somewhere = {0, 0, 0};
    CHECK_OK(aclrtMemcpy(&somewhere, sizeof somewhere, device + 4, sizeof somewhere, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(&somewhere, numbers.data() + 4, sizeof somewhere);
    const point put = {7.0f, 8.0f, 9};
    CHECK_OK(aclrtMemcpy(device + 4, bytes - 16, &put, sizeof put, ACL_MEMCPY_DEFAULT));
    CHECK_OK(aclrtMemcpy(&somewhere, sizeof somewhere, device + 4, sizeof somewhere, ACL_MEMCPY_DEFAULT));
    CHECK(somewhere.x == 7.0f && somewhere.y == 8.0f && somewhere.tag == 9);
    CHECK_EQ(aclrtMemcpy(device, bytes - 1, numbers.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtFree(other));
    CHECK_OK(aclrtFree(device));
}

static void copy_async() {
    const std::size_t count = 513, bytes = count * sizeof(std::int32_t);
    std::int32_t *device = nullptr, *pinned = nullptr;
    std::vector<std::int32_t> pageable(count), back(count);
    std::iota(pageable.begin(), pageable.end(), -100);
    aclrtStream stream = nullptr;
    check_flag release = {0};
    CHECK_OK(aclrtCreateStream(&stream, 3, 0));
    CHECK_OK(aclrtMalloc(&device, bytes));
    CHECK_OK(aclrtMallocHost(&pinned, 2 * bytes));
    // aclrtMemcpyAsync<cpp>#03: page-locked memory is queued and read when the copy runs, …
    std::memset(pinned, 0, 2 * bytes);
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpyAsync(device, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtMemcpyAsync(pinned + count, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    std::memcpy(pinned, pageable.data(), bytes);
    CHECK_ALL(pinned + count, 0, bytes);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream, -1));
    CHECK_BYTES(pinned + count, pageable.data(), bytes);
    // … pageable memory is done on return.
    pageable[7] = 77;
    CHECK_OK(aclrtMemcpyAsync(device, bytes, pageable.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    pageable[7] = 78;
    CHECK_OK(aclrtMemcpyAsync(back.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK_EQ(back[7], 77);
    pageable[7] = 77;
    CHECK_BYTES(back.data(), pageable.data(), bytes);
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtDestroyStream(stream));
}

static void copy_2d() {
    const std::size_t columns = 20, rows = 30, host_pitch = 24 * sizeof(float), device_pitch = 128;
    const std::size_t width = columns * sizeof(float);
    std::vector<float> from(24 * rows), back(24 * rows, -1.0f), untouched = back;
    std::iota(from.begin(), from.end(), 1.0f);
    std::uint8_t *device = nullptr;
    float *pinned = nullptr;
    aclrtStream stream = nullptr;
    const auto same = [&](const float *got) {
        for (std::size_t y = 0; y < rows; ++y) {
            CHECK_BYTES(got + 24 * y, from.data() + 24 * y, width);
            CHECK_BYTES(got + 24 * y + columns, untouched.data(), host_pitch - width);
        }
    };
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMalloc(&device, device_pitch * rows));
    CHECK_OK(aclrtMallocHost(&pinned, host_pitch * rows));
    CHECK_OK(aclrtMemcpy2d(device, device_pitch, from.data(), host_pitch, width, rows, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpy2d(back.data(), host_pitch, device, device_pitch, width, rows, ACL_MEMCPY_DEVICE_TO_HOST));
    same(back.data());
    // Asynchronous, with page-locked memory, and with pageable memory.
    std::iota(from.begin(), from.end(), 5000.0f);
    std::memcpy(pinned, from.data(), host_pitch * rows);
    CHECK_OK(aclrtMemcpy2dAsync(device, device_pitch, pinned, host_pitch, width, rows, ACL_MEMCPY_HOST_TO_DEVICE,
                                stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    std::memcpy(pinned, untouched.data(), host_pitch * rows);
    for (std::size_t i = 0; i < 24 * rows; ++i) pinned[i] = -1.0f;
    CHECK_OK(aclrtMemcpy2dAsync(pinned, host_pitch, device, device_pitch, width, rows, ACL_MEMCPY_DEVICE_TO_HOST,
                                stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    same(pinned);
    std::iota(from.begin(), from.end(), 9000.0f);
    back = untouched;
    CHECK_OK(aclrtMemcpy2dAsync(device, device_pitch, from.data(), host_pitch, width, rows, ACL_MEMCPY_HOST_TO_DEVICE,
                                stream));
    CHECK_OK(aclrtMemcpy2dAsync(back.data(), host_pitch, device, device_pitch, width, rows, ACL_MEMCPY_DEVICE_TO_HOST,
                                stream));
    same(back.data());
    // aclrtMemcpy2dAsync<cpp>#03, #04.
    CHECK_EQ(aclrtMemcpy2dAsync(device, 16, from.data(), host_pitch, width, rows, ACL_MEMCPY_HOST_TO_DEVICE, stream),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpy2d(device, 16, from.data(), host_pitch, width, rows, ACL_MEMCPY_HOST_TO_DEVICE),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpy2dAsync(device, device_pitch, from.data(), host_pitch, width, 5242881,
                                ACL_MEMCPY_HOST_TO_DEVICE, stream),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtDestroyStream(stream));
}

int main() {
    runtime_start();
    allocate();
    copy();
    copy_async();
    copy_2d();
    CHECK_STILL_WORKS();
    return runtime_end();
}
