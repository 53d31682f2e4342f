// Threads hand one buffer on by an atomic, by a mutex with a condition variable, and by join.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "misuse.h"

static void fill_and_wait(void *buffer, int value) {
    OK(aclrtSetDevice(0));
    {
        Stream stream;
        OK(aclrtMemsetAsync(buffer, 4096, value, 4096, stream));
        stream.sync();
        OK(aclrtMemset(buffer, 64, value, 64));
    }
    OK(aclrtResetDevice(0));
}

int main() {
    Session session;
    Device buffer(4096);
    for (int round = 0; round < 5; ++round) {
        std::atomic<int> turn{0};
        std::mutex mutex;
        std::condition_variable changed;
        int step = 0;
        std::thread one([&] {
            fill_and_wait(buffer, 1);
            turn = 1;
        });
        std::thread two([&] {
            while (turn.load() != 1) std::this_thread::yield();
            fill_and_wait(buffer, 2);
            std::lock_guard<std::mutex> lock(mutex);
            step = 1;
            changed.notify_all();
        });
        std::thread three([&] {
            std::unique_lock<std::mutex> lock(mutex);
            changed.wait(lock, [&] { return step == 1; });
            lock.unlock();
            fill_and_wait(buffer, 3);
        });
        one.join();
        two.join();
        three.join();
        fill_and_wait(buffer, 4);
    }
}
