// An event is asked for its state after it was destroyed.
#include "misuse.h"

int main() {
    Session session;
    Stream stream;
    aclrtEvent event = nullptr;
    aclrtEventRecordedStatus status;
    OK(aclrtCreateEvent(&event));
    OK(aclrtRecordEvent(event, stream));
#ifdef FIXED
    OK(aclrtQueryEventStatus(event, &status));
#endif
    OK(aclrtDestroyEvent(event));
#ifndef FIXED
    REFUSED(aclrtQueryEventStatus(event, &status));  // REPORT
#endif
    (void)status;
}
