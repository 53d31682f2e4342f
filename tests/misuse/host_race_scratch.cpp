// Two workers use one scratch buffer, each with its own numbers.
#include <mutex>
#include <thread>

#include "misuse.h"

static std::mutex scratch_mutex;

static void work(void *scratch, int number) {
    OK(aclrtSetDevice(0));
    for (int round = 0; round < 40; ++round) {
        char back[4096];
        {
#ifdef FIXED
            std::lock_guard<std::mutex> lock(scratch_mutex);
#endif
            OK(aclrtMemset(scratch, sizeof back, number, sizeof back));  // REPORT
            OK(aclrtMemcpy(back, sizeof back, scratch, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));
        }
        // What is made of the numbers takes a while.
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    OK(aclrtResetDevice(0));
}

int main() {
    Session session;
    Device scratch(4096);
    std::thread one(work, scratch.at, 1), two(work, scratch.at, 2);
    one.join();
    two.join();
}
