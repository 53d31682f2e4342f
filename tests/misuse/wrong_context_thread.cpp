// A thread that set neither device nor context makes a stream.
#include <thread>

#include "misuse.h"

static void work() {
    aclrtStream stream = nullptr;
#ifdef FIXED
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
#else
    REFUSED(aclrtCreateStream(&stream));  // REPORT
#endif
}

int main() {
    Session session;
    std::thread thread(work);
    thread.join();
}
