// Host functions that hand work to the host by an atomic, and wait for the host by another.
#include <atomic>
#include <thread>

#include "misuse.h"

static std::atomic<int> reached{0}, go{0};

static void tell(void *) { ++reached; }
static void hold(void *round) {
    while (go.load() < static_cast<int>(reinterpret_cast<intptr_t>(round))) std::this_thread::yield();
}

int main() {
    Session session;
    Device a(4096), b(4096);
    char host[4096];
    Stream stream;
    for (intptr_t round = 1; round <= 10; ++round) {
        OK(aclrtMemsetAsync(a, 4096, 1, 4096, stream));
        OK(aclrtLaunchHostFunc(stream, tell, nullptr));
        OK(aclrtLaunchHostFunc(stream, hold, reinterpret_cast<void *>(round)));
        // Added now, done after the host has written to `b`.
        OK(aclrtMemcpyAsync(a, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        while (reached.load() < round) std::this_thread::yield();
        OK(aclrtMemcpy(host, 4096, a, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
        OK(aclrtMemset(b, 4096, 2, 4096));
        go = static_cast<int>(round);
        stream.sync();
    }
}
