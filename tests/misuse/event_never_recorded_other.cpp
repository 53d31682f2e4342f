// Another event is recorded than the one that is waited for.
#include "misuse.h"

int main() {
    Session session;
    Stream first, second;
    Event events[2];
    Device a(64);
    OK(aclrtMemsetAsync(a, 64, 1, 64, first));
    OK(aclrtRecordEvent(events[0], first));
#ifdef FIXED
    const int which = 0;
#else
    const int which = 1;
#endif
    OK(aclrtStreamWaitEvent(second, events[which]));  // REPORT
    second.sync();
    first.sync();
}
