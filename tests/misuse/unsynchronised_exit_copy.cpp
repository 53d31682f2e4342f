// The program ends with a copy queued that nobody waits for.
// also: leak unbalanced-init
#include "misuse.h"

int main() {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    void *buffer = nullptr, *host = nullptr;
    aclrtStream stream = nullptr;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&buffer, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, 64));
    std::memset(host, 0, 64);
    OK(aclrtMemcpyAsync(buffer, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));  // REPORT
#ifdef FIXED
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyStream(stream));
    OK(aclrtFree(buffer));
    OK(aclrtFreeHost(host));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
#endif
}
