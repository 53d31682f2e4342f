// An event for each round, destroyed by nobody.
#include "misuse.h"

static void round(aclrtStream stream) {
    aclrtEvent done = nullptr;
    OK(aclrtCreateEvent(&done));  // REPORT
    OK(aclrtRecordEvent(done, stream));
    OK(aclrtSynchronizeEvent(done));
#ifdef FIXED
    OK(aclrtDestroyEvent(done));
#endif
}

int main() {
    Session session;
    Stream stream;
    for (int i = 0; i < 4; ++i) round(stream);
}
