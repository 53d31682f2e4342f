// A product without the extra 32 bytes (aclrtMalloc#14): parts may lie side by side.
// env: TOPROPE_CHECK_RULES=sub-division TOPROPE_PRODUCT=950pr
#include "misuse.h"

int main() {
    Session session;
    char host[1024] = {1};
    Device block(4096);
    for (size_t i = 0; i < 4; ++i) OK(aclrtMemcpy(block + i * 1024, 1024, host, 1024, ACL_MEMCPY_HOST_TO_DEVICE));
}
