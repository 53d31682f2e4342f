// A function that a stream calls waits for a second stream, which waits for what the first does after the function.
#include "misuse.h"

static aclrtStream second;

static void wait_there(void *) {
#ifndef FIXED
    OK(aclrtSynchronizeStream(second));
#endif
}

int main() {
    Session session;
    Stream first, other;
    second = other;
    Event after;
    Device word(64);
    OK(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, other));
    OK(aclrtLaunchHostFunc(first, wait_there, nullptr));
    OK(aclrtValueWrite(word, 1, 0, first));
    OK(aclrtSynchronizeStream(first));  // REPORT
    OK(aclrtSynchronizeStream(other));
}
