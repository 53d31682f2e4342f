// Handles that are null, stale, of another kind, or invented, in every call that takes one.
#include "runtime.h"

// aclrtQueryEvent is deprecated, and stays.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { KINDS = 8 };

static aclrtStream stream;
static aclrtEvent event;
static aclrtContext context;

// Things that are no streams, and things that are no events; never null.
static void invent(void *no_streams[KINDS], void *no_events[KINDS]) {
    static int local;
    aclrtStream stale_stream = NULL;
    aclrtEvent stale_event = NULL;
    int i;
    void *common[KINDS];
    CHECK_OK(aclrtCreateStream(&stale_stream));
    CHECK_OK(aclrtCreateEvent(&stale_event));
    CHECK_OK(aclrtDestroyStream(stale_stream));
    CHECK_OK(aclrtDestroyEvent(stale_event));
    common[0] = stale_stream;
    common[1] = stale_event;
    common[2] = context;
    common[3] = &local;
    common[4] = (void *)(uintptr_t)1;
    common[5] = (void *)~(uintptr_t)0;
    common[6] = (void *)((uintptr_t)1 << 62);
    for (i = 0; i < KINDS - 1; ++i) no_streams[i] = no_events[i] = common[i];
    no_streams[KINDS - 1] = event;
    no_events[KINDS - 1] = stream;
}

// *#01, and the rules "…: stream that was already destroyed (or never existed)": 107017 before anything else.
static void no_stream(aclrtStream bad) {
    aclrtStreamStatus status;
    uint32_t number = 0;
    int32_t id = 0;
    check_flag never = {0};
    const aclError want = ACL_ERROR_RT_INVALID_HANDLE;
    CHECK_EQ(aclrtDestroyStream(bad), want);
    CHECK_EQ(aclrtDestroyStreamForce(bad), want);
    CHECK_EQ(aclrtSynchronizeStream(bad), want);
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(bad, 10), want);
    CHECK_EQ(aclrtStreamQuery(bad, &status), want);
    CHECK_EQ(aclrtStreamGetId(bad, &id), want);
    CHECK_EQ(aclrtStreamGetPriority(bad, &number), want);
    CHECK_EQ(aclrtStreamGetFlags(bad, &number), want);
    CHECK_EQ(aclrtStreamAbort(bad), want);
    CHECK_EQ(aclrtStreamStop(bad), want);
    CHECK_EQ(aclrtRecordEvent(event, bad), want);
    CHECK_EQ(aclrtStreamWaitEvent(bad, event), want);
    CHECK_EQ(aclrtStreamWaitEventWithTimeout(bad, event, 10), want);
    CHECK_EQ(aclrtResetEvent(event, bad), want);
    CHECK_EQ(aclrtLaunchHostFunc(bad, runtime_mark, &never), want);
    CHECK_EQ(aclrtSubscribeReport(1, bad), want);
    CHECK_EQ(aclrtUnSubscribeReport(1, bad), want);
    CHECK_EQ(aclrtLaunchCallback(runtime_mark, &never, ACL_CALLBACK_BLOCK, bad), want);
    CHECK_EQ(aclrtSetStreamFailureMode(bad, ACL_STOP_ON_FAILURE), want);
    CHECK_EQ(aclrtSetStreamOverflowSwitch(bad, 1), want);
    CHECK_EQ(aclrtGetStreamOverflowSwitch(bad, &number), want);
    CHECK(!check_raised(&never));
}

static void no_event(aclrtEvent bad) {
    aclrtEventStatus old_status;
    aclrtEventRecordedStatus status;
    aclrtEventWaitStatus wait_status;
    float milliseconds = 0;
    uint64_t time = 0;
    uint32_t id = 0;
    const aclError want = ACL_ERROR_RT_INVALID_HANDLE;
    CHECK_EQ(aclrtDestroyEvent(bad), want);
    CHECK_EQ(aclrtRecordEvent(bad, stream), want);
    CHECK_EQ(aclrtResetEvent(bad, stream), want);
    CHECK_EQ(aclrtQueryEvent(bad, &old_status), want);
    CHECK_EQ(aclrtQueryEventStatus(bad, &status), want);
    CHECK_EQ(aclrtQueryEventWaitStatus(bad, &wait_status), want);
    CHECK_EQ(aclrtSynchronizeEvent(bad), want);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(bad, 10), want);
    CHECK_EQ(aclrtStreamWaitEvent(stream, bad), want);
    CHECK_EQ(aclrtStreamWaitEventWithTimeout(stream, bad, 10), want);
    CHECK_EQ(aclrtEventElapsedTime(&milliseconds, bad, event), want);
    CHECK_EQ(aclrtEventElapsedTime(&milliseconds, event, bad), want);
    CHECK_EQ(aclrtEventGetTimestamp(bad, &time), want);
    CHECK_EQ(aclrtGetEventId(bad, &id), want);
}

static void null_handles(void) {
    // aclrtDestroyStream#01, aclrtDestroyStreamForce#01, aclrtDestroyEvent#01, aclrtRecordEvent#01,
    // aclrtStreamWaitEvent#01.
    CHECK_EQ(aclrtDestroyStream(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtDestroyStreamForce(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtDestroyEvent(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtRecordEvent(NULL, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtStreamWaitEvent(stream, NULL), ACL_ERROR_INVALID_PARAM);
}

// A slot that is used again does not bring its old handle back to life.
static void slots_used_again(void) {
    enum { ROUNDS = 2000 };
    aclrtStream first = NULL, now = NULL;
    aclrtEvent first_event = NULL, event_now = NULL;
    int i;
    CHECK_OK(aclrtCreateStream(&first));
    CHECK_OK(aclrtDestroyStream(first));
    CHECK_OK(aclrtCreateEvent(&first_event));
    CHECK_OK(aclrtDestroyEvent(first_event));
    for (i = 0; i < ROUNDS; ++i) {
        CHECK_OK(aclrtCreateStream(&now));
        CHECK_OK(aclrtCreateEvent(&event_now));
        if (now == first || event_now == first_event) CHECK_EQ(i, ROUNDS);
        if (i % 100 == 0) {
            CHECK_EQ(aclrtSynchronizeStream(first), ACL_ERROR_RT_INVALID_HANDLE);
            CHECK_EQ(aclrtSynchronizeEvent(first_event), ACL_ERROR_RT_INVALID_HANDLE);
        }
        CHECK_OK(aclrtDestroyStream(now));
        CHECK_OK(aclrtDestroyEvent(event_now));
    }
}

int main(void) {
    void *no_streams[KINDS], *no_events[KINDS];
    int i;
    runtime_start();
    CHECK_OK(aclrtGetCurrentContext(&context));
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    invent(no_streams, no_events);
    for (i = 0; i < KINDS; ++i) no_stream(no_streams[i]);
    CHECK_STILL_WORKS();
    for (i = 0; i < KINDS; ++i) no_event(no_events[i]);
    CHECK_STILL_WORKS();
    null_handles();
    slots_used_again();
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_STILL_WORKS();
    return runtime_end();
}
