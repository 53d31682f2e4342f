// The main thread looks at a result that a worker has not finished writing.
#include <atomic>
#include <thread>

#include "misuse.h"

int main() {
    Session session;
    Device result(1 << 16);
    std::atomic<int> finished{0};
    std::thread worker([&] {
        static char rows[1 << 16];
        OK(aclrtSetDevice(0));
        for (int round = 1; round <= 30; ++round) {
            std::memset(rows, round, sizeof rows);
            OK(aclrtMemcpy(result, sizeof rows, rows, sizeof rows, ACL_MEMCPY_HOST_TO_DEVICE));  // REPORT
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        finished = 1;
        OK(aclrtResetDevice(0));
    });
#ifdef FIXED
    worker.join();
#endif
    static char shown[1 << 16];
    do {
        OK(aclrtMemcpy(shown, sizeof shown, result, sizeof shown, ACL_MEMCPY_DEVICE_TO_HOST));
    } while (finished.load() == 0);
#ifndef FIXED
    worker.join();
#endif
}
