// A stream of one context is used while another is current.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(64);
    Stream stream;
    aclrtContext own = nullptr, other = nullptr;
    OK(aclrtGetCurrentContext(&own));
    OK(aclrtCreateContext(&other, 0));
#ifdef FIXED
    OK(aclrtSetCurrentContext(own));
    OK(aclrtMemsetAsync(buffer, 64, 1, 64, stream));
#else
    REFUSED(aclrtMemsetAsync(buffer, 64, 1, 64, stream));  // REPORT
#endif
    OK(aclrtSetCurrentContext(own));
    stream.sync();
    OK(aclrtDestroyContext(other));
}
