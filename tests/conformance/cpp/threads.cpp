// Eight std::threads with streams of their own, thread_local clean-up, and threads that come and go.
#include "runtime.h"

#include "acl/acl_rt_api.h"

#include <atomic>
#include <thread>
#include <vector>

namespace {

// Destroyed when its thread ends, as caches of streams are in real programs.
struct cache {
    aclrtStream stream = nullptr;
    float *pinned = nullptr;
    ~cache() {
        if (pinned) CHECK_OK(aclrtFreeHost(pinned));
        if (stream) CHECK_OK(aclrtDestroyStream(stream));
        CHECK_OK(aclrtResetDevice(0));
    }
};
thread_local cache mine;

void work(int number, std::atomic<int> *finished) {
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtCreateStream(&mine.stream, static_cast<uint32_t>(number % 8), 0));
    CHECK_OK(aclrtMallocHost(&mine.pinned, 256 * sizeof(float)));
    float *device = nullptr;
    CHECK_OK(aclrtMalloc(&device, 256 * sizeof(float)));
    for (int round = 0; round < 100; ++round) {
        const float want = static_cast<float>(number * 1000 + round);
        for (int i = 0; i < 128; ++i) mine.pinned[i] = want;
        CHECK_OK(aclrtMemcpyAsync(device, 1024, mine.pinned, 512, ACL_MEMCPY_HOST_TO_DEVICE, mine.stream));
        CHECK_OK(aclrtMemcpyAsync(device + 128, 512, device, 512, ACL_MEMCPY_DEVICE_TO_DEVICE, mine.stream));
        CHECK_OK(aclrtMemcpyAsync(mine.pinned + 128, 512, device + 128, 512, ACL_MEMCPY_DEVICE_TO_HOST, mine.stream));
        CHECK_OK(aclrtSynchronizeStream(mine.stream, -1));
        CHECK_BYTES(mine.pinned + 128, mine.pinned, 512);
    }
    CHECK_OK(aclrtFree(device));
    ++*finished;
}

} // namespace

int main() {
    runtime_start();
    std::atomic<int> finished(0);
    for (int generation = 0; generation < 3; ++generation) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i) threads.emplace_back(work, i, &finished);
        for (auto &thread : threads) thread.join();
    }
    CHECK_EQ(finished.load(), 24);
    CHECK_STILL_WORKS();
    return runtime_end();
}
