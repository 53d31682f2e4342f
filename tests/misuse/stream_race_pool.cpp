// A pool hands a buffer from one stream to another as soon as the host has no more use for it.
#include "misuse.h"

static void use(void *scratch, void *out, aclrtStream stream) {
    OK(aclrtMemsetAsync(scratch, 1024, 3, 1024, stream));  // REPORT
    OK(aclrtMemcpyAsync(out, 1024, scratch, 1024, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

int main() {
    Session session;
    Device pool(4096), first(1024), second(1024);
    Stream one, two;
    use(pool, first, one);
#ifdef FIXED
    one.sync();
#endif
    use(pool, second, two);
    one.sync();
    two.sync();
}
