// Order over three streams, a destroyed event, a reset event, and streams that are destroyed instead of synchronized.
#include "misuse.h"

int main() {
    Session session;
    for (int round = 0; round < 20; ++round) {
        Device a(4096), b(4096), c(4096);
        Pinned host(4096);
        {
            Stream one, two, three;
            aclrtEvent first = nullptr, second = nullptr;
            OK(aclrtCreateEventWithFlag(&first, ACL_EVENT_SYNC));
            OK(aclrtCreateEventExWithFlag(&second, ACL_EVENT_SYNC));
            OK(aclrtMemcpyAsync(a, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, one));
            OK(aclrtRecordEvent(first, one));
            OK(aclrtStreamWaitEvent(two, first));
            OK(aclrtResetEvent(first, two));
            OK(aclrtMemcpyAsync(b, 4096, a, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, two));
            OK(aclrtRecordEvent(second, two));
            OK(aclrtStreamWaitEvent(three, second));
            // The wait keeps what it has.
            OK(aclrtRecordEvent(second, one));
            OK(aclrtDestroyEvent(second));
            OK(aclrtMemsetAsync(a, 4096, 0, 4096, three));
            OK(aclrtMemcpyAsync(host, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_HOST, three));
            if (round % 2) {
                three.sync();
                OK(aclrtMemset(a, 4096, 1, 4096));
                OK(aclrtMemset(b, 4096, 1, 4096));
            }
            OK(aclrtDestroyEvent(first));
        }
    }
}
