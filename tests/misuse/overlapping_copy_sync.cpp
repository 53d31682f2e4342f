// The same with a synchronous copy, towards lower addresses.
#include "misuse.h"

int main() {
    Session session;
    Device array(4096);
#ifdef FIXED
    const size_t count = 1024;
#else
    const size_t count = 1025;
#endif
    OK(aclrtMemcpy(array, 4096, array + 1024, count, ACL_MEMCPY_DEVICE_TO_DEVICE));  // REPORT
}
