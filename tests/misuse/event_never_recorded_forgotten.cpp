// The record was forgotten: the wait waits for nothing.
#include "misuse.h"

int main() {
    Session session;
    Stream first, second;
    Event done;
    Device a(64), b(64);
    OK(aclrtMemsetAsync(a, 64, 1, 64, first));
#ifdef FIXED
    OK(aclrtRecordEvent(done, first));
#endif
    OK(aclrtStreamWaitEvent(second, done));  // REPORT
    OK(aclrtMemsetAsync(b, 64, 1, 64, second));
    second.sync();
    first.sync();
}
