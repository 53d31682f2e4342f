// env: TOPROPE_PRODUCT=inference TOPROPE_CANN=5
// Generation 5 too.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Pinned host(4096);
    Stream stream;
    char *to = static_cast<char *>(host.at);
#ifdef FIXED
    OK(aclrtMemcpyAsync(to + 128, 64, buffer, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
#else
    REFUSED(aclrtMemcpyAsync(to + 100, 64, buffer, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));  // REPORT
#endif
    stream.sync();
}
