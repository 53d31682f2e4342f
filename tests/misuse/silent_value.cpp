// Order by a word of device memory that one stream writes and another waits for.
#include "misuse.h"

int main() {
    Session session;
    Device a(4096), b(4096), words(64);
    Stream one, two;
    for (int round = 1; round <= 20; ++round) {
        OK(aclrtValueWait(words, static_cast<uint64_t>(round), ACL_STREAM_WAIT_VALUE_GEQ, two));
        OK(aclrtMemcpyAsync(b, 4096, a, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, two));
        OK(aclrtMemsetAsync(a, 4096, round, 4096, one));
        OK(aclrtValueWrite(words, static_cast<uint64_t>(round), 0, one));
        two.sync();
    }
    one.sync();
}
