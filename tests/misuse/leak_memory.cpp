// Pinned and managed memory outlive the program.
#include "misuse.h"

int main() {
    Session session;
    for (int i = 0; i < 3; ++i) {
        void *memory = nullptr;
        OK(aclrtMallocHost(&memory, 4096));  // REPORT
#ifdef FIXED
        OK(aclrtFreeHost(memory));
#endif
    }
}
