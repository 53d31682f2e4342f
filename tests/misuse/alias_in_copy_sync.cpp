// The device address of registered memory is given to a copy.
#include "misuse.h"

int main() {
    Session session;
    Device buffer(4096);
    Stream stream;
    void *host = std::aligned_alloc(4096, 4096), *alias = nullptr;
    std::memset(host, 0, 4096);
    OK(aclrtHostRegister(host, 4096, ACL_HOST_REGISTER_MAPPED, &alias));
#ifdef FIXED
    OK(aclrtMemcpy(host, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
#else
    REFUSED(aclrtMemcpy(alias, 4096, buffer, 4096, ACL_MEMCPY_DEVICE_TO_HOST));  // REPORT
#endif
    stream.sync();
    OK(aclrtHostUnregister(host));
    std::free(host);
}
