// A loop fills one staging buffer again while the copy out of it may not have begun.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(3 * 16384);
    Pinned host(16384);
    Stream stream;
    unsigned char *bytes = static_cast<unsigned char *>(host.at);
    for (int part = 0; part < 3; ++part) {
        for (int i = 0; i < 16384; ++i) {
            bytes[i] = static_cast<unsigned char>(part + i);  // REPORT
        }
        OK(aclrtMemcpyAsync(buffer + part * 16384, 16384, host, 16384, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef FIXED
        stream.sync();
#endif
    }
    stream.sync();
}
