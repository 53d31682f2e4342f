// A few bytes, no whole page: that they changed is seen, not who changed them.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(64);
    Pinned host(64);
    Stream stream;
    OK(aclrtMemcpyAsync(buffer, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));  // REPORT
#ifdef FIXED
    stream.sync();
#endif
    static_cast<unsigned char *>(host.at)[5] = 7;
    stream.sync();
}
