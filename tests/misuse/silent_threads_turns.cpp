// Threads work on the same buffers at the same time and are right: parts of one array, readers together, a mutex, turns by an atomic, a pool
// that hands a buffer on, and readers and a writer.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "misuse.h"

static constexpr size_t SIZE = 4096;

template <class Work> static void threads(int count, Work work) {
    std::vector<std::thread> all;
    for (int i = 0; i < count; ++i) {
        all.emplace_back([&work, i] {
            OK(aclrtSetDevice(0));
            work(i);
            OK(aclrtResetDevice(0));
        });
    }
    for (auto &thread : all) thread.join();
}

static void put(void *at, int value, size_t size = SIZE) { OK(aclrtMemset(at, size, value, size)); }

static int get(void *at) {
    char back[SIZE];
    OK(aclrtMemcpy(back, SIZE, at, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    return back[7];
}

int main() {
    Session session;
    Device array(4 * SIZE), source(SIZE, 3), shared(SIZE);
    // Each its own part, side by side; all read one source.
    threads(4, [&](int i) {
        for (int round = 0; round < 20; ++round) {
            void *part = array + i * SIZE;
            OK(aclrtMemcpy(part, SIZE, source, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
            put(part, i);
            if (get(part) != i || get(source) != 3) std::exit(2);
        }
    });
    // One at a time.
    std::mutex mutex;
    threads(3, [&](int i) {
        for (int round = 0; round < 20; ++round) {
            std::lock_guard<std::mutex> lock(mutex);
            put(shared, i);
            if (get(shared) != i) std::exit(3);
        }
    });
    // In turns, by an atomic that no tool sees.
    std::atomic<int> turn{0};
    threads(2, [&](int i) {
        for (int round = 0; round < 20; ++round) {
            while (turn.load(std::memory_order_acquire) % 2 != i) std::this_thread::yield();
            put(shared, i);
            turn.fetch_add(1, std::memory_order_release);
        }
    });
    // Readers together, a writer alone.
    std::shared_timed_mutex book;
    threads(3, [&](int i) {
        for (int round = 0; round < 20; ++round) {
            if (i == 0) {
                std::lock_guard<std::shared_timed_mutex> lock(book);
                put(shared, round);
            } else {
                std::shared_lock<std::shared_timed_mutex> lock(book);
                (void)get(shared);
            }
        }
    });
    // A pool: who takes a buffer out has it alone.
    std::deque<void *> pool{array + 0, array + SIZE};
    std::condition_variable returned;
    threads(4, [&](int i) {
        for (int round = 0; round < 20; ++round) {
            std::unique_lock<std::mutex> lock(mutex);
            returned.wait(lock, [&] { return !pool.empty(); });
            void *mine = pool.front();
            pool.pop_front();
            lock.unlock();
            put(mine, i);
            if (get(mine) != i) std::exit(4);
            lock.lock();
            pool.push_back(mine);
            returned.notify_one();
        }
    });
}
