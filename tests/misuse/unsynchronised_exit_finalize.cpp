// aclFinalize is called with a copy pending, and the memory is used afterwards: it is open again, and was written.
// also: leak unbalanced-init
#include "misuse.h"

int main() {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    void *buffer = nullptr, *host = nullptr;
    OK(aclrtMalloc(&buffer, 65536, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, 65536));
    OK(aclrtMemset(buffer, 65536, 1, 65536));
    OK(aclrtMemcpyAsync(host, 65536, buffer, 65536, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));  // REPORT
    if (open_to_host(host)) std::abort();
#ifdef FIXED
    OK(aclrtSynchronizeStream(nullptr));
    if (!open_to_host(host)) std::abort();
    OK(aclrtFreeHost(host));
    OK(aclrtFree(buffer));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
#else
    OK(aclFinalize());
    if (!open_to_host(host)) std::abort();
#endif
}
