// A pinned source is freed right after the copy out of it was queued.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Stream stream;
    void *host = nullptr;
    OK(aclrtMallocHost(&host, 4096));
    std::memset(host, 1, 4096);
    OK(aclrtMemcpyAsync(buffer, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef FIXED
    stream.sync();
#endif
    OK(aclrtFreeHost(host));  // REPORT
    stream.sync();
}
