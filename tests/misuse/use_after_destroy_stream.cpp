// A stream is used after it was destroyed.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(64);
    aclrtStream stream = nullptr;
    OK(aclrtCreateStream(&stream));
#ifdef FIXED
    OK(aclrtMemsetAsync(buffer, 64, 1, 64, stream));
#endif
    OK(aclrtDestroyStream(stream));
#ifndef FIXED
    REFUSED(aclrtMemsetAsync(buffer, 64, 1, 64, stream));  // REPORT
#endif
}
