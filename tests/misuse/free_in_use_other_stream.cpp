// One stream was waited for, but the buffer is still in use on another. The next block gets its place.
#include "misuse.h"

int main() {
    Session session;
    Device out(4096);
    Stream one, two;
    void *buffer = nullptr;
    OK(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(buffer, 4096, 1, 4096));
    OK(aclrtMemcpyAsync(out, 2048, buffer, 2048, ACL_MEMCPY_DEVICE_TO_DEVICE, one));
    OK(aclrtMemcpyAsync(out + 2048, 2048, static_cast<char *>(buffer) + 2048, 2048, ACL_MEMCPY_DEVICE_TO_DEVICE, two));
    one.sync();
#ifdef FIXED
    two.sync();
#endif
    OK(aclrtFree(buffer));  // REPORT
    Device next(4096);
    one.sync();
    two.sync();
}
