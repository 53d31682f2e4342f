// env: TOPROPE_PRODUCT=inference TOPROPE_CANN=8
// Memory from the C library in an asynchronous copy: undefined in generation 8.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Stream stream;
#ifdef FIXED
    Pinned memory(4096);
    void *host = memory;
#else
    void *host = std::aligned_alloc(64, 4096);
    std::memset(host, 0, 4096);
#endif
    OK(aclrtMemcpyAsync(buffer, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));  // REPORT
    stream.sync();
#ifndef FIXED
    std::free(host);
#endif
}
