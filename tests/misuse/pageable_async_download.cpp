// env: TOPROPE_PRODUCT=inference TOPROPE_CANN=5
// Memory from the C library in an asynchronous copy: undefined in generation 5.
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
    OK(aclrtMemcpyAsync(host, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));  // REPORT
    stream.sync();
#ifndef FIXED
    std::free(host);
#endif
}
