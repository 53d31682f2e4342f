// A stream that waits for an event with a time limit: 0 is for ever, else milliseconds (the seed's unit).
#include "runtime.h"

int main(void) {
    aclrtStream stream = NULL, waiter = NULL;
    aclrtEvent event = NULL;
    check_flag release = {0}, done = {0};
    runtime_start();
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&waiter));
    CHECK_OK(aclrtCreateEvent(&event));
    // aclrtStreamWaitEventWithTimeout#01, #03.
    CHECK_EQ(aclrtStreamWaitEventWithTimeout(waiter, event, -1), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtStreamWaitEventWithTimeout(waiter, NULL, 10), ACL_ERROR_RT_PARAM_INVALID);

    // aclrtStreamWaitEvent<cpp>#03: 0 never expires.
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK_OK(aclrtStreamWaitEventWithTimeout(waiter, event, 0));
    CHECK_OK(aclrtLaunchHostFunc(waiter, runtime_mark, &done));
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(waiter, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK(!check_raised(&done));
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(waiter));
    CHECK(check_raised(&done));

    // A limit that is not reached.
    done.raised = 0;
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK_OK(aclrtStreamWaitEventWithTimeout(waiter, event, 60000));
    CHECK_OK(aclrtLaunchHostFunc(waiter, runtime_mark, &done));
    CHECK_OK(aclrtSynchronizeStream(waiter));
    CHECK(check_raised(&done));

    // aclrtStreamWaitEventWithTimeout#04: one that is; the synchronize tells.
    release.raised = 0;
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK_OK(aclrtStreamWaitEventWithTimeout(waiter, event, 5));
    // ours: the code; no page names it.
    CHECK_EQ(aclrtSynchronizeStream(waiter), ACL_ERROR_RT_WAIT_TIMEOUT);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtDestroyStreamForce(waiter));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_STILL_WORKS();
    return runtime_end();
}
