// A vector as the destination of an asynchronous copy.
#include <vector>

#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Stream stream;
    std::vector<char> host(4096);
#ifdef FIXED
    stream.sync();
    OK(aclrtMemcpy(host.data(), host.size(), buffer, host.size(), ACL_MEMCPY_DEVICE_TO_HOST));
#else
    OK(aclrtMemcpyAsync(host.data(), host.size(), buffer, host.size(), ACL_MEMCPY_DEVICE_TO_HOST, stream));  // REPORT
#endif
    stream.sync();
}
