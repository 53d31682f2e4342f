// The input of a queued copy is overwritten by a synchronous fill.
#include "misuse.h"

int main() {
    Session session;
    Device input(4096), output(4096);
    Stream stream, other;
    OK(aclrtMemcpyAsync(output, 4096, input, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    // The wrong stream.
    other.sync();
#ifdef FIXED
    stream.sync();
#endif
    OK(aclrtMemset(input + 1024, 1024, 9, 1024));  // REPORT
    stream.sync();
}
