// Two streams wait for an event; the first resets it after its own wait.
#include "misuse.h"

int main() {
    Session session;
    Stream producer, first, second;
    aclrtEvent ready = nullptr;
    OK(aclrtCreateEventWithFlag(&ready, ACL_EVENT_SYNC));
    Device a(64);
    OK(aclrtMemsetAsync(a, 64, 1, 64, producer));
    OK(aclrtRecordEvent(ready, producer));
    OK(aclrtStreamWaitEvent(first, ready));
    OK(aclrtStreamWaitEvent(second, ready));
#ifdef FIXED
    Device b(64);
    OK(aclrtMemsetAsync(b, 64, 1, 64, second));
    second.sync();
#endif
    OK(aclrtResetEvent(ready, first));  // REPORT
    first.sync();
    second.sync();
    producer.sync();
    OK(aclrtDestroyEvent(ready));
}
