// Registered memory is unregistered while a copy into it is queued.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Stream stream;
    void *host = std::aligned_alloc(4096, 4096);
    void *device = nullptr;
    OK(aclrtHostRegister(host, 4096, ACL_HOST_REGISTER_MAPPED, &device));
    OK(aclrtMemcpyAsync(host, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));
#ifdef FIXED
    Event done;
    OK(aclrtRecordEvent(done, stream));
    OK(aclrtSynchronizeEvent(done));
#endif
    OK(aclrtHostUnregister(host));  // REPORT
    stream.sync();
    std::free(host);
}
