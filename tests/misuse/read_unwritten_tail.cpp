// More is copied back than was ever written.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096, -1);
    Pinned host(4096);
    Stream stream;
    OK(aclrtMemcpyAsync(buffer, 4096, host, 1000, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef FIXED
    const size_t size = 1000;
#else
    const size_t size = 1024;
#endif
    OK(aclrtMemcpyAsync(host, 4096, buffer, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));  // REPORT
    stream.sync();
}
