// An arena gives out parts of one block, and rounds their sizes up to too little.
// env: TOPROPE_CHECK_RULES=sub-division
#include "misuse.h"

struct Arena {
    Device block{1 << 16};
    size_t used = 0;

    void *take(size_t size) {
        void *part = block + used;
#ifdef FIXED
        used += ((size + 31) / 32 * 32 + 32 + 63) / 64 * 64;
#else
        used += (size + 31) / 32 * 32;
#endif
        return part;
    }
};

int main() {
    Session session;
    Arena arena;
    char host[1000] = {1};
    for (int i = 0; i < 8; ++i) {
        void *part = arena.take(sizeof host);
        OK(aclrtMemcpy(part, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE));  // REPORT
    }
}
