// The main thread waits for one that waits for a value that nothing writes.
#include <thread>

#include "misuse.h"

int main() {
    Session session;
    Device word(64);
    std::thread worker([&] {
        OK(aclrtSetDevice(0));
        {
            Stream stream;
            OK(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
            OK(aclrtSynchronizeStream(stream));  // REPORT
        }
        OK(aclrtResetDevice(0));
    });
#ifdef FIXED
    Stream other;
    OK(aclrtValueWrite(word, 1, 0, other));
    other.sync();
#endif
    worker.join();
}
