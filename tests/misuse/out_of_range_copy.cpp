// A copy runs past the end of its destination.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(1024);
    static char host[4096];
#ifdef FIXED
    OK(aclrtMemcpy(buffer, 1024, host, 1024, ACL_MEMCPY_HOST_TO_DEVICE));
#else
    REFUSED(aclrtMemcpy(buffer, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE));  // REPORT
#endif
}
