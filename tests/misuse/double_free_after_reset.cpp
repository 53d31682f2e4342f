// The device's reset has freed its memory already.
#include "misuse.h"

int main() {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    void *memory = nullptr;
    OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef FIXED
    OK(aclrtFree(memory));
#endif
    OK(aclrtResetDevice(0));
#ifndef FIXED
    REFUSED(aclrtFree(memory));  // REPORT
#endif
    OK(aclFinalize());
}
