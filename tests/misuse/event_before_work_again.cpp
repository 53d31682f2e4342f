// The event is recorded again for the second round, but only after the other stream was told to wait.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096), out(4096);
    Stream fill, copy;
    Event filled;
    OK(aclrtMemsetAsync(buffer, 4096, 1, 4096, fill));
    OK(aclrtRecordEvent(filled, fill));
    OK(aclrtStreamWaitEvent(copy, filled));
    OK(aclrtMemcpyAsync(out, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, copy));
    copy.sync();
    OK(aclrtMemsetAsync(buffer, 4096, 2, 4096, fill));
#ifdef FIXED
    OK(aclrtRecordEvent(filled, fill));
    OK(aclrtStreamWaitEvent(copy, filled));
#else
    OK(aclrtStreamWaitEvent(copy, filled));
    OK(aclrtRecordEvent(filled, fill));
#endif
    OK(aclrtMemcpyAsync(out, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, copy));  // REPORT
    copy.sync();
    fill.sync();
}
