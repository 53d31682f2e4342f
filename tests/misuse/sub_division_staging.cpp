// One pinned block holds what goes up and, right behind it, what comes down.
// env: TOPROPE_CHECK_RULES=sub-division TOPROPE_PRODUCT=950pr
#include "misuse.h"

int main() {
    Session session;
    const size_t size = 1024;
#ifdef FIXED
    const size_t down = size + 64;
#else
    const size_t down = size;
#endif
    Device device(size);
    Pinned staging(2 * size + 64);
    Stream stream;
    char *const host = static_cast<char *>(staging.at);
    OK(aclrtMemcpyAsync(device, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(host + down, size, device, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));  // REPORT
    stream.sync();
}
