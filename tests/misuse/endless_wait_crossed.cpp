// Two streams wait for each other: each records its notify behind its wait for the other's.
#include "misuse.h"

int main() {
    Session session;
    aclrtNotify here = nullptr, there = nullptr;
    OK(aclrtCreateNotify(&here, ACL_NOTIFY_DEFAULT));
    OK(aclrtCreateNotify(&there, ACL_NOTIFY_DEFAULT));
    {
        Stream one, two;
#ifdef FIXED
        OK(aclrtRecordNotify(here, one));
        OK(aclrtWaitAndResetNotify(there, one, 0));
#else
        OK(aclrtWaitAndResetNotify(there, one, 0));
        OK(aclrtRecordNotify(here, one));
#endif
        OK(aclrtWaitAndResetNotify(here, two, 0));
        OK(aclrtRecordNotify(there, two));
        OK(aclrtSynchronizeDevice());  // REPORT
    }
    OK(aclrtDestroyNotify(here));
    OK(aclrtDestroyNotify(there));
}
