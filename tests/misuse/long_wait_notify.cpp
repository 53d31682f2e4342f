// The main thread waits for long for a notify that another thread records, late.
// env: TOPROPE_CHECK_PATIENCE=300
#include <thread>

#include "listen.h"
#include "misuse.h"

static aclrtNotify ready;

static void record() {
    OK(aclrtSetDevice(0));
    {
        Stream producer;
        OK(aclrtRecordNotify(ready, producer));
        producer.sync();
    }
    OK(aclrtResetDevice(0));
}

int main() {
    Session session;
    OK(aclrtCreateNotify(&ready, ACL_NOTIFY_DEFAULT));
    {
        Stream consumer;
        OK(aclrtWaitAndResetNotify(ready, consumer, 0));
#ifdef FIXED
        record();
#else
        Listener listener;
        std::thread late([&] {
            listener.hear("long-wait.md)");
            record();
        });
#endif
        OK(aclrtSynchronizeStream(consumer));  // REPORT
#ifndef FIXED
        late.join();
#endif
    }
    OK(aclrtDestroyNotify(ready));
}
