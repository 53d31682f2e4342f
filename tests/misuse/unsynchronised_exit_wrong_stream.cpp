// The program waits for one stream, and its last work is in another.
// also: leak unbalanced-init
#include "misuse.h"

int main() {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    void *buffer = nullptr;
    aclrtStream one = nullptr, two = nullptr;
    OK(aclrtCreateStream(&one));
    OK(aclrtCreateStream(&two));
    OK(aclrtMalloc(&buffer, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemsetAsync(buffer, 64, 1, 64, two));  // REPORT
    OK(aclrtSynchronizeStream(one));
#ifdef FIXED
    OK(aclrtSynchronizeStream(two));
    OK(aclrtFree(buffer));
    OK(aclrtDestroyStream(one));
    OK(aclrtDestroyStream(two));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
#endif
}
