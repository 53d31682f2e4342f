// aclrtMemset of memory from the C library.
#include "misuse.h"

int main() {
    Session session;
#ifdef FIXED
    Pinned memory(4096);
    void *host = memory;
#else
    void *host = std::malloc(4096);
#endif
    OK(aclrtMemset(host, 4096, 0, 4096));  // REPORT
#ifndef FIXED
    std::free(host);
#endif
}
