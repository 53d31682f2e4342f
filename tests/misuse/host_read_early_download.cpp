// What a copy to the host brings is summed up before the stream was synchronized.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(65536, 1);
    Pinned host(65536);
    Stream stream;
    OK(aclrtMemcpyAsync(host, 65536, buffer, 65536, ACL_MEMCPY_DEVICE_TO_HOST, stream));
#ifdef FIXED
    stream.sync();
#endif
    const unsigned char *bytes = static_cast<unsigned char *>(host.at);
    unsigned sum = 0;
    for (int i = 0; i < 65536; ++i) {
        sum += bytes[i];  // REPORT
    }
    stream.sync();
    std::printf("%u\n", sum);
}
