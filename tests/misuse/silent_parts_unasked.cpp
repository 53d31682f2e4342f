// One array in chunks, which is right; the rule that could not tell was not asked for.
#include "misuse.h"

int main() {
    Session session;
    char host[1000] = {1};
    Device array(8000);
    for (size_t i = 0; i < 8; ++i) OK(aclrtMemcpy(array + i * 1000, 1000, host, 1000, ACL_MEMCPY_HOST_TO_DEVICE));
}
