// The stream that recorded the event resets it, while another has yet to wait for it.
#include "misuse.h"

int main() {
    Session session;
    Stream producer, consumer;
    aclrtEvent ready = nullptr;
    OK(aclrtCreateEventWithFlag(&ready, ACL_EVENT_SYNC));
    Device a(64);
    OK(aclrtMemsetAsync(a, 64, 1, 64, producer));
    OK(aclrtRecordEvent(ready, producer));
    OK(aclrtStreamWaitEvent(consumer, ready));
#ifdef FIXED
    OK(aclrtResetEvent(ready, consumer));
#else
    OK(aclrtResetEvent(ready, producer));  // REPORT
#endif
    consumer.sync();
    producer.sync();
    OK(aclrtDestroyEvent(ready));
}
