// Device memory is freed twice.
#include "misuse.h"

int main() {
    Session session;
    void *memory = nullptr;
    OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(memory));
#ifndef FIXED
    REFUSED(aclrtFree(memory));  // REPORT
#endif
}
