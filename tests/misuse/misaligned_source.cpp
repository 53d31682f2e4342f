// env: TOPROPE_PRODUCT=inference TOPROPE_CANN=8
// Generation 8 wants multiples of 64 bytes.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Pinned host(4096);
    Stream stream;
#ifdef FIXED
    OK(aclrtMemcpyAsync(buffer + 64, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#else
    REFUSED(aclrtMemcpyAsync(buffer + 8, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));  // REPORT
#endif
    stream.sync();
}
