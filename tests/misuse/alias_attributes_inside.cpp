// A copy function of the program asks each address where it lies, one inside the device's window of registered memory too.
#include "misuse.h"

static bool on_device(const void *address) {
    aclrtPtrAttributes attributes = {};
    const aclError code = aclrtPointerGetAttributes(address, &attributes);  // REPORT
    return code == ACL_SUCCESS && attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

int main() {
    Session session;
    Device buffer(4096);
    void *host = std::aligned_alloc(4096, 8192), *alias = nullptr;
    OK(aclrtHostRegisterV2(host, 8192, ACL_HOST_REG_MAPPED));
    OK(aclrtHostGetDevicePointer(host, &alias, 0));
    if (!on_device(buffer)) return 2;
    char heap[64];
    if (on_device(heap)) return 3;
#ifdef FIXED
    char *const base = static_cast<char *>(host);
#else
    char *const base = static_cast<char *>(alias);
#endif
    if (on_device(base + 4096)) return 4;
    OK(aclrtHostUnregister(host));
    std::free(host);
}
