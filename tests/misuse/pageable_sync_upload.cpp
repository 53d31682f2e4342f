// An asynchronous copy of memory from malloc: it runs before the call returns.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Stream stream;
#ifdef FIXED
    Pinned memory(4096);
    void *host = memory;
#else
    void *host = std::calloc(1, 4096);
#endif
    OK(aclrtMemcpyAsync(buffer, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));  // REPORT
    stream.sync();
#ifndef FIXED
    std::free(host);
#endif
}
