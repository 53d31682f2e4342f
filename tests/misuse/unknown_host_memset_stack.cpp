// aclrtMemset of a local array.
#include "misuse.h"

int main() {
    Session session;
    char local[256];
#ifdef FIXED
    std::memset(local, 1, sizeof local);
#else
    OK(aclrtMemset(local, sizeof local, 1, sizeof local));  // REPORT
#endif
    return local[0] == 1 ? 0 : 1;
}
