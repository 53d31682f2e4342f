// A buffer is freed right after the copy into it was queued.
#include "misuse.h"

int main() {
    Session session;
    Pinned host(4096);
    Stream stream;
    void *buffer = nullptr;
    OK(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpyAsync(buffer, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef FIXED
    stream.sync();
#endif
    OK(aclrtFree(buffer));  // REPORT
    stream.sync();
}
