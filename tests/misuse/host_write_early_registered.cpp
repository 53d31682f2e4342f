// Registered memory of the program is written to while a copy out of it may still read.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(1 << 20);
    Stream stream;
    void *host = std::aligned_alloc(4096, 1 << 20);
    std::memset(host, 1, 1 << 20);
    OK(aclrtHostRegisterV2(host, 1 << 20, ACL_HOST_REG_PINNED));
    OK(aclrtMemcpyAsync(buffer, 1 << 20, host, 1 << 20, ACL_MEMCPY_HOST_TO_DEVICE, stream));  // REPORT
#ifdef FIXED
    stream.sync();
#endif
    std::memset(host, 2, 1 << 20);
    stream.sync();
    OK(aclrtHostUnregister(host));
    std::free(host);
}
