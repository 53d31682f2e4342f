// A thread waits for a stream whose callback only it would run. That another thread lives changes nothing.
#include <unistd.h>

#include <thread>

#include "misuse.h"

static void called(void *) {}

int main() {
    Session session;
    int end[2];
    if (pipe(end) != 0) return 1;
    std::thread other([&] {
        char byte;
        (void)!read(end[0], &byte, 1);
    });
    const uint64_t self = pthread_self();
    {
        Stream stream;
        OK(aclrtSubscribeReport(self, stream));
        OK(aclrtLaunchCallback(called, nullptr, ACL_CALLBACK_BLOCK, stream));
#ifdef FIXED
        OK(aclrtProcessReport(-1));
#endif
        OK(aclrtSynchronizeStream(stream));  // REPORT
        OK(aclrtUnSubscribeReport(self, stream));
    }
    close(end[1]);
    other.join();
}
