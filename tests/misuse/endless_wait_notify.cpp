// A stream waits for a notify that nobody records, and the only thread for the stream.
#include "misuse.h"

int main() {
    Session session;
    aclrtNotify ready = nullptr;
    OK(aclrtCreateNotify(&ready, ACL_NOTIFY_DEFAULT));
    {
        Stream producer, consumer;
        OK(aclrtWaitAndResetNotify(ready, consumer, 0));
#ifdef FIXED
        OK(aclrtRecordNotify(ready, producer));
#endif
        OK(aclrtSynchronizeStream(consumer));  // REPORT
        OK(aclrtSynchronizeStream(producer));
    }
    OK(aclrtDestroyNotify(ready));
}
