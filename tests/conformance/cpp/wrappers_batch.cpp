// Chapter 26, batches: the two synchronous and the four asynchronous forms, with page-locked and pageable memory.
#include "runtime.h"

#include "acl/acl_rt_api.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

const std::size_t kCount = 5, kBytes = 96;

aclrtMemcpyBatchAttr attribute(aclrtMemLocationType to, aclrtMemLocationType from) {
    aclrtMemcpyBatchAttr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.dstLoc.type = to;
    attr.srcLoc.type = from;
    return attr;
}

const aclrtMemcpyBatchAttr kDown = attribute(ACL_MEM_LOCATION_TYPE_DEVICE, ACL_MEM_LOCATION_TYPE_HOST);
const aclrtMemcpyBatchAttr kUp = attribute(ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_LOCATION_TYPE_DEVICE);

struct buffers {
    bool pinned;
    std::uint8_t *devices[kCount];
    std::uint32_t *from[kCount], *back[kCount];
    std::size_t sizes[kCount], maxima[kCount];

    explicit buffers(bool page_locked) : pinned(page_locked) {
        for (std::size_t i = 0; i < kCount; ++i) {
            sizes[i] = kBytes - 8 * i;
            maxima[i] = kBytes;
            CHECK_OK(aclrtMalloc(&devices[i], kBytes));
            if (pinned) {
                CHECK_OK(aclrtMallocHost(&from[i], kBytes));
                CHECK_OK(aclrtMallocHost(&back[i], kBytes));
            } else {
                from[i] = static_cast<std::uint32_t *>(std::malloc(kBytes));
                back[i] = static_cast<std::uint32_t *>(std::malloc(kBytes));
            }
            clear(i);
        }
    }

    ~buffers() {
        for (std::size_t i = 0; i < kCount; ++i) {
            CHECK_OK(aclrtFree(devices[i]));
            if (pinned) {
                CHECK_OK(aclrtFreeHost(from[i]));
                CHECK_OK(aclrtFreeHost(back[i]));
            } else {
                std::free(from[i]);
                std::free(back[i]);
            }
        }
    }

    buffers(const buffers &) = delete;
    buffers &operator=(const buffers &) = delete;

    void clear(std::size_t i) {
        check_fill(from[i], kBytes, static_cast<unsigned>(i + 1));
        std::memset(back[i], 0, kBytes);
        CHECK_OK(aclrtMemset(devices[i], kBytes, 0, kBytes));
    }

    void check() {
        for (std::size_t i = 0; i < kCount; ++i) {
            CHECK_BYTES(back[i], from[i], sizes[i]);
            CHECK_ALL(reinterpret_cast<std::uint8_t *>(back[i]) + sizes[i], 0, kBytes - sizes[i]);
            clear(i);
        }
    }
};

void synchronous(bool pinned) {
    buffers b(pinned);
    aclrtMemcpyBatchAttr down[2] = {kDown, kDown}, up[2] = {kUp, kUp};
    std::size_t indexes[2] = {0, 3}, fail = 77;
    // One attribute for all: aclrtMemcpyBatch<cpp>#03.
    CHECK_OK(aclrtMemcpyBatch(b.devices, b.maxima, b.from, b.sizes, kCount, kDown));
    CHECK_OK(aclrtMemcpyBatch(b.back, b.maxima, b.devices, b.sizes, kCount, kUp));
    b.check();
    // An array: #04.
    CHECK_OK(aclrtMemcpyBatch(b.devices, b.maxima, b.from, b.sizes, kCount, down, indexes, std::size_t(2)));
    CHECK_OK(aclrtMemcpyBatch(b.back, b.maxima, b.devices, b.sizes, kCount, up, indexes, std::size_t(2)));
    b.check();
    // With a place for the failing number. ours: it is filled (#05 says that the header ignores it).
    CHECK_OK(aclrtMemcpyBatch(b.devices, b.maxima, b.from, b.sizes, kCount, kDown, &fail));
    CHECK_EQ(fail, SIZE_MAX);
    fail = 77;
    CHECK_OK(aclrtMemcpyBatch(b.back, b.maxima, b.devices, b.sizes, kCount, up, indexes, std::size_t(2), &fail));
    CHECK_EQ(fail, SIZE_MAX);
    b.check();
    down[1] = kUp;
    fail = 77;
    CHECK_EQ(aclrtMemcpyBatch(b.devices, b.maxima, b.from, b.sizes, kCount, down, indexes, std::size_t(2), &fail),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(fail, 3);
    CHECK_EQ(aclrtMemcpyBatch(b.devices, b.maxima, b.from, b.sizes, std::size_t(0), kDown), ACL_ERROR_INVALID_PARAM);
}

void asynchronous(bool pinned) {
    buffers b(pinned);
    aclrtMemcpyBatchAttr down[2] = {kDown, kDown}, up[2] = {kUp, kUp};
    std::size_t indexes[2] = {0, 3}, fail = 77;
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    // aclrtMemcpyBatchAsync<cpp>#06: pageable memory is done on return.
    const auto finish = [&]() {
        if (pinned) CHECK_OK(aclrtSynchronizeStream(stream));
        b.check();
    };
    CHECK_OK(aclrtMemcpyBatchAsync(b.devices, b.maxima, b.from, b.sizes, kCount, kDown, stream));
    CHECK_OK(aclrtMemcpyBatchAsync(b.back, b.maxima, b.devices, b.sizes, kCount, kUp, stream));
    finish();
    CHECK_OK(aclrtMemcpyBatchAsync(b.devices, b.maxima, b.from, b.sizes, kCount, down, indexes, 2, stream));
    CHECK_OK(aclrtMemcpyBatchAsync(b.back, b.maxima, b.devices, b.sizes, kCount, up, indexes, 2, stream));
    finish();
    // aclrtMemcpyBatchAsync#22: the failing number.
    CHECK_OK(aclrtMemcpyBatchAsync(b.devices, b.maxima, b.from, b.sizes, kCount, kDown, &fail, stream));
    CHECK_EQ(fail, SIZE_MAX);
    fail = 77;
    CHECK_OK(aclrtMemcpyBatchAsync(b.back, b.maxima, b.devices, b.sizes, kCount, kUp, &fail, stream));
    CHECK_EQ(fail, SIZE_MAX);
    finish();
    fail = 77;
    CHECK_OK(aclrtMemcpyBatchAsync(b.devices, b.maxima, b.from, b.sizes, kCount, down, indexes, 2, &fail, stream));
    CHECK_EQ(fail, SIZE_MAX);
    CHECK_OK(aclrtMemcpyBatchAsync(b.back, b.maxima, b.devices, b.sizes, kCount, up, indexes, 2, &fail, stream));
    finish();
    down[1] = kUp;
    fail = 77;
    CHECK_EQ(aclrtMemcpyBatchAsync(b.devices, b.maxima, b.from, b.sizes, kCount, down, indexes, 2, &fail, stream),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(fail, 3);
    fail = 77;
    CHECK_EQ(aclrtMemcpyBatchAsync(b.devices, b.maxima, b.from, b.sizes, kCount, kUp, &fail, stream),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(fail, 0);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtDestroyStream(stream));
}

} // namespace

int main() {
    runtime_start();
    synchronous(true);
    synchronous(false);
    asynchronous(true);
    asynchronous(false);
    CHECK_STILL_WORKS();
    return runtime_end();
}
