// The host waits for an event, but it was recorded before the copy; the copy itself is done by then, by luck.
#include <unistd.h>

#include "misuse.h"

int main() {
    Session session;
    Device buffer(1 << 20, 1);
    Pinned host(1 << 20);
    Pinned result(1 << 20);
    Stream stream;
    Event done;
#ifndef FIXED
    OK(aclrtRecordEvent(done, stream));
#endif
    OK(aclrtMemcpyAsync(host, 1 << 20, buffer, 1 << 20, ACL_MEMCPY_DEVICE_TO_HOST, stream));
#ifdef FIXED
    OK(aclrtRecordEvent(done, stream));
#endif
    OK(aclrtSynchronizeEvent(done));
    usleep(20000);
    std::memcpy(result, host, 1 << 20);  // REPORT
    stream.sync();
}
