// While one thread is inside a long call, another one finishes work on a buffer and says so; then the first one uses and frees it.
#include <atomic>
#include <thread>
#include <vector>

#include "misuse.h"

int main() {
    Session session;
    const size_t large = 32 << 20;
    Device from(large), to(large);
    Stream stream;
    for (int round = 0; round < 5; ++round) {
        void *buffer = nullptr, *pinned = nullptr;
        OK(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMallocHost(&pinned, 4096));
        std::atomic<int> step{0};
        std::thread other([&] {
            OK(aclrtSetDevice(0));
            while (step.load() == 0) std::this_thread::yield();
            OK(aclrtMemsetAsync(buffer, 4096, round, 4096, stream));
            OK(aclrtMemcpyAsync(pinned, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));
            stream.sync();
            step = 2;
            OK(aclrtResetDevice(0));
        });
        step = 1;
        OK(aclrtMemcpy(to, large, from, large, ACL_MEMCPY_DEVICE_TO_DEVICE));
        while (step.load() != 2) std::this_thread::yield();
        OK(aclrtFree(buffer));
        OK(aclrtFreeHost(pinned));
        other.join();
    }
}
