// The count is more than the call itself says that there is room.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Pinned host(4096);
    Stream stream;
#ifdef FIXED
    OK(aclrtMemcpyAsync(buffer, 4096, host, 2048, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#else
    REFUSED(aclrtMemcpyAsync(buffer, 1024, host, 2048, ACL_MEMCPY_HOST_TO_DEVICE, stream));  // REPORT
#endif
    stream.sync();
}
