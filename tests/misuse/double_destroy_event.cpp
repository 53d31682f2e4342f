// An event is destroyed twice.
#include "misuse.h"

int main() {
    Session session;
    aclrtEvent event = nullptr;
    OK(aclrtCreateEvent(&event));
    OK(aclrtDestroyEvent(event));
#ifndef FIXED
    REFUSED(aclrtDestroyEvent(event));  // REPORT
#endif
}
