// Pinned memory is freed while a copy into it is pending, and allocated again: nothing keeps the new owner off it.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(65536, 1);
    Stream stream;
    void *host = nullptr, *again = nullptr;
    OK(aclrtMallocHost(&host, 65536));
    OK(aclrtMemcpyAsync(host, 65536, buffer, 65536, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    if (open_to_host(host)) std::abort();
#ifdef FIXED
    stream.sync();
#endif
    OK(aclrtFreeHost(host));  // REPORT
    OK(aclrtMallocHost(&again, 65536));
    if (!open_to_host(again)) std::abort();
    std::memset(again, 3, 65536);
    stream.sync();
    OK(aclrtFreeHost(again));
}
