// Many host functions in two streams, with copies between them: functions of one stream hand work to functions of the other and to
// the host, by atomics.
#include <atomic>
#include <thread>

#include "misuse.h"

static std::atomic<int> made{0}, used{0};

static void make(void *) { ++made; }
static void await_made(void *round) {
    while (made.load() < static_cast<int>(reinterpret_cast<intptr_t>(round))) std::this_thread::yield();
}
static void use(void *) { ++used; }
static void nothing(void *) {}

int main() {
    Session session;
    Device a(64 * 4096), b(64 * 4096);
    char host[4096];
    Stream one, two;
    for (intptr_t round = 1; round <= 60; ++round) {
        void *from = a + round * 4096, *to = b + round * 4096;
        OK(aclrtMemsetAsync(from, 4096, 1, 4096, one));
        OK(aclrtLaunchHostFunc(one, make, nullptr));
        OK(aclrtLaunchHostFunc(one, nothing, nullptr));
        OK(aclrtLaunchHostFunc(two, nothing, nullptr));
        OK(aclrtLaunchHostFunc(two, await_made, reinterpret_cast<void *>(round)));
        OK(aclrtMemcpyAsync(to, 4096, from, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, two));
        OK(aclrtLaunchHostFunc(two, use, nullptr));
        OK(aclrtMemsetAsync(b, 4096, 3, 4096, two));
        if (round % 7 == 0) {
            while (used.load() < round) std::this_thread::yield();
            OK(aclrtMemcpy(host, 4096, to, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
            OK(aclrtMemset(from, 4096, 2, 4096));
        }
    }
    one.sync();
    two.sync();
}
