// An array is moved by some elements within its own memory.
#include "misuse.h"

int main() {
    Session session;
    Device array(4096), scratch(4096);
    Stream stream;
#ifdef FIXED
    OK(aclrtMemcpyAsync(scratch, 4096, array, 2048, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync(array + 64, 4032, scratch, 2048, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
#else
    OK(aclrtMemcpyAsync(array + 64, 4032, array, 2048, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));  // REPORT
#endif
    stream.sync();
}
