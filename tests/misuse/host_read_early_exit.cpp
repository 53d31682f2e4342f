// A handler that runs at exit reads the destination of a copy that nobody waited for. No call of the runtime follows.
// also: leak unbalanced-init unsynchronised-exit
#include "misuse.h"

static void *buffer = nullptr, *host = nullptr;

static void at_exit() {
#ifdef FIXED
    OK(aclrtSynchronizeStream(nullptr));
#endif
    std::printf("%d\n", static_cast<char *>(host)[4096]);  // REPORT
#ifdef FIXED
    OK(aclrtFreeHost(host));
    OK(aclrtFree(buffer));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
#endif
}

int main() {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    std::atexit(at_exit);
    OK(aclrtMalloc(&buffer, 65536, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, 65536));
    OK(aclrtMemset(buffer, 65536, 1, 65536));
    OK(aclrtMemcpyAsync(host, 65536, buffer, 65536, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
}
