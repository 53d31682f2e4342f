// Where memory lies is asked with the address that aclrtHostRegister gave for kernels.
#include "misuse.h"

int main() {
    Session session;
    void *host = std::aligned_alloc(4096, 4096), *alias = nullptr;
    aclrtPtrAttributes attributes;
    OK(aclrtHostRegister(host, 4096, ACL_HOST_REGISTER_MAPPED, &alias));
#ifdef FIXED
    OK(aclrtPointerGetAttributes(host, &attributes));
#else
    REFUSED(aclrtPointerGetAttributes(alias, &attributes));  // REPORT
#endif
    OK(aclrtHostUnregister(host));
    std::free(host);
}
