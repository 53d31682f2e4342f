// Events: the three ways to make one, what each kind may do, record, query, wait, times.
#include "runtime.h"

// aclrtQueryEvent is deprecated, and stays.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void creation(void) {
    static const uint32_t refused[] = {0, 0x80, 0xffffffffu, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC,
                                       ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_SYNC};
    static const uint32_t refused_ex[] = {0, 0x80, 0xffffffffu, ACL_EVENT_EXTERNAL, ACL_EVENT_DEVICE_USE_ONLY,
                                          ACL_EVENT_IPC | ACL_EVENT_SYNC};
    static const uint32_t taken[] = {ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE, ACL_EVENT_CAPTURE_STREAM_PROGRESS,
                                     ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE,
                                     ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE | ACL_EVENT_CAPTURE_STREAM_PROGRESS};
    aclrtEvent event = NULL;
    size_t i;
    CHECK_EQ(aclrtCreateEvent(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtCreateEventWithFlag(NULL, ACL_EVENT_SYNC), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtCreateEventExWithFlag(NULL, ACL_EVENT_SYNC), ACL_ERROR_INVALID_PARAM);
    // aclrtCreateEventWithFlag#06, #07; aclrtCreateEventExWithFlag#07, #08.
    for (i = 0; i < sizeof refused / sizeof refused[0]; ++i)
        CHECK_EQ(aclrtCreateEventWithFlag(&event, refused[i]), ACL_ERROR_RT_PARAM_INVALID);
    for (i = 0; i < sizeof refused_ex / sizeof refused_ex[0]; ++i)
        CHECK_EQ(aclrtCreateEventExWithFlag(&event, refused_ex[i]), ACL_ERROR_RT_PARAM_INVALID);
    for (i = 0; i < sizeof taken / sizeof taken[0]; ++i) {
        CHECK_OK(aclrtCreateEventWithFlag(&event, taken[i]));
        CHECK_OK(aclrtDestroyEvent(event));
        CHECK_OK(aclrtCreateEventExWithFlag(&event, taken[i]));
        CHECK_OK(aclrtDestroyEvent(event));
    }
    CHECK_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
    CHECK_OK(aclrtDestroyEvent(event));
}

// Query, in its three forms, before, during and after.
static void queries(void) {
    aclrtStream stream = NULL, waiter = NULL;
    aclrtEvent plain = NULL, ex = NULL;
    aclrtEventStatus old_status;
    aclrtEventRecordedStatus status;
    aclrtEventWaitStatus wait_status;
    check_flag release = {0};
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&waiter));
    CHECK_OK(aclrtCreateEventWithFlag(&plain, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    CHECK_OK(aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    // aclrtRecordEvent#09: an Ex event that was never recorded is complete.
    CHECK_OK(aclrtQueryEventStatus(ex, &status));
    CHECK_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    // Null arguments.
    CHECK_EQ(aclrtQueryEventStatus(NULL, &status), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtQueryEventStatus(plain, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtQueryEvent(NULL, &old_status), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtQueryEvent(plain, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtQueryEventWaitStatus(NULL, &wait_status), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtQueryEventWaitStatus(plain, NULL), ACL_ERROR_INVALID_PARAM);
    // Ex events: aclrtQueryEvent#05, aclrtQueryEventWaitStatus#03, aclrtResetEvent#03.
    CHECK_EQ(aclrtQueryEvent(ex, &old_status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtQueryEventWaitStatus(ex, &wait_status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtResetEvent(ex, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);

    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtRecordEvent(plain, stream));
    CHECK_OK(aclrtRecordEvent(ex, stream));
    CHECK_OK(aclrtStreamWaitEvent(waiter, plain));
    // aclrtQueryEventStatus#03: complete is 1 here, and 0 in the older forms.
    CHECK_OK(aclrtQueryEventStatus(plain, &status));
    CHECK_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    CHECK_OK(aclrtQueryEventStatus(ex, &status));
    CHECK_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    CHECK_OK(aclrtQueryEvent(plain, &old_status));
    CHECK_EQ(old_status, ACL_EVENT_STATUS_NOT_READY);
    CHECK_OK(aclrtQueryEventWaitStatus(plain, &wait_status));
    CHECK_EQ(wait_status, ACL_EVENT_WAIT_STATUS_NOT_READY);
    // aclrtSynchronizeEventWithTimeout#06, #02, #03, #05.
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(plain, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(ex, 1), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(plain, -2), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(NULL, -2), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(plain, 0), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(NULL, 10), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtSynchronizeEvent(NULL), ACL_ERROR_INVALID_PARAM);
    // aclrtEventElapsedTime#06: not complete yet.
    {
        float milliseconds = 0;
        CHECK_EQ(aclrtEventElapsedTime(&milliseconds, plain, plain), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    }
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeEvent(plain));
    CHECK_OK(aclrtSynchronizeEventWithTimeout(ex, 30000));
    CHECK_OK(aclrtSynchronizeStream(waiter));
    CHECK_OK(aclrtQueryEventStatus(plain, &status));
    CHECK_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK_OK(aclrtQueryEventStatus(ex, &status));
    CHECK_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK_OK(aclrtQueryEvent(plain, &old_status));
    CHECK_EQ(old_status, ACL_EVENT_STATUS_COMPLETE);
    CHECK_OK(aclrtQueryEventWaitStatus(plain, &wait_status));
    CHECK_EQ(wait_status, ACL_EVENT_WAIT_STATUS_COMPLETE);
    CHECK_OK(aclrtDestroyEvent(ex));
    CHECK_OK(aclrtDestroyEvent(plain));
    CHECK_OK(aclrtDestroyStream(waiter));
    CHECK_OK(aclrtDestroyStream(stream));
}

static void kinds(void) {
    aclrtStream stream = NULL;
    aclrtEvent no_sync = NULL, no_sync_ex = NULL, sync = NULL;
    uint32_t id = 99, other = 99, free_before = 0, free_after = 0;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateEventWithFlag(&no_sync, ACL_EVENT_TIME_LINE));
    CHECK_OK(aclrtCreateEventExWithFlag(&no_sync_ex, ACL_EVENT_TIME_LINE));
    CHECK_OK(aclrtCreateEventWithFlag(&sync, ACL_EVENT_SYNC));
    // aclrtStreamWaitEvent#06, aclrtCreateEventExWithFlag#15, aclrtResetEvent#04.
    CHECK_OK(aclrtRecordEvent(no_sync, stream));
    CHECK_OK(aclrtRecordEvent(no_sync_ex, stream));
    CHECK_EQ(aclrtStreamWaitEvent(stream, no_sync), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtStreamWaitEvent(stream, no_sync_ex), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtResetEvent(no_sync, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    // aclrtResetEvent#02: one of aclrtCreateEvent is taken.
    {
        aclrtEvent created = NULL;
        CHECK_OK(aclrtCreateEvent(&created));
        CHECK_OK(aclrtRecordEvent(created, stream));
        CHECK_OK(aclrtStreamWaitEvent(stream, created));
        CHECK_OK(aclrtResetEvent(created, stream));
        CHECK_OK(aclrtSynchronizeStream(stream));
        CHECK_OK(aclrtDestroyEvent(created));
    }
    // aclrtResetEvent#01, #05: record, wait, reset, and again.
    CHECK_EQ(aclrtResetEvent(NULL, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtRecordEvent(sync, stream));
    CHECK_OK(aclrtStreamWaitEvent(stream, sync));
    CHECK_OK(aclrtResetEvent(sync, stream));
    CHECK_OK(aclrtRecordEvent(sync, stream));
    CHECK_OK(aclrtSynchronizeEvent(sync));
    CHECK_OK(aclrtSynchronizeStream(stream));
    // Ids differ; aclrtGetEventId#01, #02.
    CHECK_OK(aclrtGetEventId(sync, &id));
    CHECK_OK(aclrtGetEventId(no_sync, &other));
    CHECK(id != other);
    CHECK_EQ(aclrtGetEventId(NULL, &id), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetEventId(sync, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtGetEventAvailNum(&free_before));
    CHECK_OK(aclrtDestroyEvent(sync));
    CHECK_OK(aclrtGetEventAvailNum(&free_after));
    CHECK(free_after > free_before);
    CHECK_EQ(aclrtGetEventAvailNum(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtDestroyEvent(no_sync_ex));
    CHECK_OK(aclrtDestroyEvent(no_sync));
    CHECK_OK(aclrtDestroyStream(stream));
    // IPC events come with sharing between processes, which is not built yet. Then they are made here, and
    // aclrtCreateEventExWithFlag#12 holds: reset, both queries, elapsed time, timestamp and id are refused.
    CHECK_EQ(aclrtCreateEventExWithFlag(&sync, ACL_EVENT_IPC), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

static void times(void) {
    aclrtStream stream = NULL;
    aclrtEvent begin = NULL, end = NULL, never = NULL;
    float milliseconds = -1, backwards = 1;
    uint64_t first = 0, second = 0;
    int slept = 5;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateEventWithFlag(&begin, ACL_EVENT_TIME_LINE));
    CHECK_OK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));
    CHECK_OK(aclrtCreateEventWithFlag(&never, ACL_EVENT_TIME_LINE));
    CHECK_OK(aclrtRecordEvent(begin, stream));
    CHECK_OK(aclrtSynchronizeEvent(begin));
    check_sleep_ms(slept);
    CHECK_OK(aclrtRecordEvent(end, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds >= (float)slept);
    // aclrtEventElapsedTime#10: backwards is negative; #01 to #03, #05.
    CHECK_OK(aclrtEventElapsedTime(&backwards, end, begin));
    CHECK(backwards == -milliseconds);
    CHECK_EQ(aclrtEventElapsedTime(NULL, begin, end), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtEventElapsedTime(&milliseconds, NULL, end), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtEventElapsedTime(&milliseconds, begin, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtEventElapsedTime(&milliseconds, begin, never), ACL_ERROR_RT_INTERNAL_ERROR);
    CHECK_EQ(aclrtEventElapsedTime(&milliseconds, never, end), ACL_ERROR_RT_INTERNAL_ERROR);
    // aclrtEventGetTimestamp#01 to #03: microseconds.
    CHECK_EQ(aclrtEventGetTimestamp(begin, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtEventGetTimestamp(NULL, &first), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtEventGetTimestamp(begin, &first));
    CHECK_OK(aclrtEventGetTimestamp(end, &second));
    CHECK(first != 0 && second - first >= 1000u * (unsigned)slept);
    CHECK(second - first < 60u * 1000 * 1000);
    CHECK_OK(aclrtDestroyEvent(never));
    CHECK_OK(aclrtDestroyEvent(end));
    CHECK_OK(aclrtDestroyEvent(begin));
    CHECK_OK(aclrtDestroyStream(stream));
}

// aclrtDestroyEvent#02: destroyed while a stream still has to wait for it.
static void destroyed_while_awaited(void) {
    aclrtStream stream = NULL, waiter = NULL;
    aclrtEvent event = NULL;
    check_flag release = {0}, done = {0};
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&waiter));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK_OK(aclrtStreamWaitEvent(waiter, event));
    CHECK_OK(aclrtLaunchHostFunc(waiter, runtime_mark, &done));
    CHECK_OK(aclrtDestroyEvent(event));
    check_sleep_ms(2);
    CHECK(!check_raised(&done));
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(waiter));
    CHECK(check_raised(&done));
    CHECK_OK(aclrtDestroyStream(waiter));
    CHECK_OK(aclrtDestroyStream(stream));
}

int main(void) {
    runtime_start();
    creation();
    queries();
    kinds();
    times();
    destroyed_while_awaited();
    CHECK_STILL_WORKS();
    return runtime_end();
}
