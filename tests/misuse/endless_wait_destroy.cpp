// The thread that runs a stream's callbacks destroys the stream, which waits for them; an event carries the wait to another stream.
#include <pthread.h>

#include "misuse.h"

static void called(void *) {}

int main() {
    Session session;
    Event reached;
    const uint64_t self = pthread_self();
    aclrtStream first = nullptr, second = nullptr;
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtSubscribeReport(self, first));
    OK(aclrtLaunchCallback(called, nullptr, ACL_CALLBACK_BLOCK, first));
    OK(aclrtRecordEvent(reached, first));
    OK(aclrtStreamWaitEvent(second, reached));
#ifdef FIXED
    OK(aclrtProcessReport(-1));
#endif
    OK(aclrtDestroyStream(second));  // REPORT
    OK(aclrtUnSubscribeReport(self, first));
    OK(aclrtDestroyStream(first));
}
