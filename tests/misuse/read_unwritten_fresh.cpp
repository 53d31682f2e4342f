// Fresh device memory is copied to the host.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096, -1);
    char back[4096];
#ifdef FIXED
    OK(aclrtMemset(buffer, 4096, 0, 4096));
#endif
    OK(aclrtMemcpy(back, sizeof back, buffer, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));  // REPORT
}
