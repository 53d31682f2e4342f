// Order by a notify, whether the record or the wait is added first; and by a counting one.
#include "misuse.h"

int main() {
    Session session;
    Device a(4096), b(4096);
    Stream one, two;
    aclrtNotify ready = nullptr, back = nullptr;
    OK(aclrtCreateNotify(&ready, ACL_NOTIFY_DEFAULT));
    OK(aclrtCreateNotify(&back, ACL_NOTIFY_DEFAULT));
    for (int round = 0; round < 20; ++round) {
        OK(aclrtWaitAndResetNotify(ready, two, 0));
        OK(aclrtMemcpyAsync(b, 4096, a, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, two));
        OK(aclrtRecordNotify(back, two));
        OK(aclrtMemsetAsync(a, 4096, round, 4096, one));
        OK(aclrtRecordNotify(ready, one));
        OK(aclrtWaitAndResetNotify(back, one, 0));
        OK(aclrtMemsetAsync(a, 4096, round, 4096, one));
        if (round % 4 == 0) one.sync();
        if (round % 4 == 0) OK(aclrtMemset(b, 4096, 0, 4096));
    }
    one.sync();
    two.sync();
    OK(aclrtDestroyNotify(ready));
    OK(aclrtDestroyNotify(back));
}
