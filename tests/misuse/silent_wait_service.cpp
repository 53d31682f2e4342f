// A thread that only serves callbacks waits for them for ever, while the others sleep, compute and wait for each other.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "misuse.h"

static std::atomic<int> called{0};

static void work(void *) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    ++called;
}

int main() {
    Session session;
    std::atomic<uint64_t> id{0};
    std::atomic<bool> subscribed{false};
    std::thread service([&] {
        OK(aclrtSetDevice(0));
        id = pthread_self();
        while (!subscribed) std::this_thread::yield();
        // The last one ends with the subscription.
        while (aclrtProcessReport(-1) == ACL_SUCCESS) {
        }
        OK(aclrtResetDevice(0));
    });
    while (id == 0) std::this_thread::yield();
    Stream stream, kept;
    OK(aclrtSubscribeReport(id, stream));
    subscribed = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    for (int round = 0; round < 2; ++round) {
        OK(aclrtLaunchCallback(work, nullptr, ACL_CALLBACK_BLOCK, stream));
        OK(aclrtSynchronizeStream(stream));
    }
    OK(aclrtUnSubscribeReport(id, stream));
    service.join();
    return called == 2 ? 0 : 1;
}
