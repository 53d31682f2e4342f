// A blocking callback on a thread of the program uses what its stream wrote, and writes what it reads next.
#include <atomic>
#include <thread>

#include "misuse.h"

static void *buffer, *other;
static std::atomic<bool> stop{false}, ready{false};
static std::atomic<int> called{0};

static void work(void *) {
    char host[4096];
    OK(aclrtMemcpy(host, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemset(other, 4096, 3, 4096));
    ++called;
}

int main() {
    Session session;
    Device a(4096), b(4096);
    buffer = a;
    other = b;
    Stream stream;
    pthread_t id = 0;
    std::thread thread([&] {
        OK(aclrtSetDevice(0));
        id = pthread_self();
        ready = true;
        while (!stop) (void)aclrtProcessReport(20);
        OK(aclrtResetDevice(0));
    });
    while (!ready) std::this_thread::yield();
    OK(aclrtSubscribeReport(static_cast<uint64_t>(id), stream));
    for (int round = 1; round <= 5; ++round) {
        OK(aclrtMemsetAsync(a, 4096, round, 4096, stream));
        OK(aclrtLaunchCallback(work, nullptr, ACL_CALLBACK_BLOCK, stream));
        OK(aclrtMemcpyAsync(a, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        stream.sync();
    }
    stop = true;
    thread.join();
    OK(aclrtUnSubscribeReport(static_cast<uint64_t>(id), stream));
    return called == 5 ? 0 : 1;
}
