// The event is recorded before the fill that it should cover.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Pinned host(4096);
    Stream fill, copy;
    Event filled;
#ifndef FIXED
    OK(aclrtRecordEvent(filled, fill));
#endif
    OK(aclrtMemsetAsync(buffer, 4096, 7, 4096, fill));
#ifdef FIXED
    OK(aclrtRecordEvent(filled, fill));
#endif
    OK(aclrtStreamWaitEvent(copy, filled));
    OK(aclrtMemcpyAsync(host, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_HOST, copy));  // REPORT
    copy.sync();
    fill.sync();
}
