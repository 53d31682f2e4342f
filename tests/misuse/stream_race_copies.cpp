// One stream fills a buffer, another copies it out; nothing tells the second to wait.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Pinned host(4096);
    Stream fill, copy;
    Event filled;
    OK(aclrtMemsetAsync(buffer, 4096, 7, 4096, fill));
#ifdef FIXED
    OK(aclrtRecordEvent(filled, fill));
    OK(aclrtStreamWaitEvent(copy, filled));
#endif
    OK(aclrtMemcpyAsync(host, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_HOST, copy));  // REPORT
    copy.sync();
    fill.sync();
}
