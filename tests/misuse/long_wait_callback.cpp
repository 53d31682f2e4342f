// The thread that runs the callbacks is busy elsewhere for long.
// env: TOPROPE_CHECK_PATIENCE=1000
#include <pthread.h>

#include <atomic>
#include <thread>

#include "listen.h"
#include "misuse.h"

static void called(void *) {}

int main() {
    Session session;
    std::atomic<uint64_t> id{0};
    std::atomic<bool> subscribed{false};
#ifndef FIXED
    Listener listener;
#endif
    std::thread service([&] {
        OK(aclrtSetDevice(0));
        id = pthread_self();
        while (!subscribed) std::this_thread::yield();
#ifndef FIXED
        listener.hear("long-wait.md)");
#endif
        OK(aclrtProcessReport(-1));
        OK(aclrtResetDevice(0));
    });
    while (id == 0) std::this_thread::yield();
    {
        Stream stream;
        OK(aclrtSubscribeReport(id, stream));
        OK(aclrtLaunchCallback(called, nullptr, ACL_CALLBACK_BLOCK, stream));
        subscribed = true;
        OK(aclrtSynchronizeStream(stream));  // REPORT
        service.join();
        OK(aclrtUnSubscribeReport(id, stream));
    }
}
