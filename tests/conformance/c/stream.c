// Streams: creation forms, what they tell, synchronizing with a time limit, abort, failure mode, attributes.
#include "runtime.h"

static void creation(void) {
    static const struct {
        uint32_t asked, got;
    } priorities[] = {{0, 0}, {3, 3}, {7, 7}, {8, 7}, {1000, 7}, {0x7fffffffu, 7}, {0x80000000u, 0}, {0xffffffffu, 0}};
    size_t i;
    aclrtStream stream = NULL, other = NULL;
    uint32_t value = 99, free_before = 0, free_after = 0;
    int32_t id = -1, other_id = -1;
    // aclrtCreateStream#01, aclrtCreateStreamWithConfig#01.
    CHECK_EQ(aclrtCreateStream(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtCreateStreamWithConfig(NULL, 0, 0), ACL_ERROR_INVALID_PARAM);
    // aclrtCreateStreamWithConfig#03, #04; aclrtStreamGetPriority#03.
    for (i = 0; i < sizeof priorities / sizeof priorities[0]; ++i) {
        CHECK_OK(aclrtCreateStreamWithConfig(&stream, priorities[i].asked, 0));
        CHECK_OK(aclrtStreamGetPriority(stream, &value));
        CHECK_EQ(value, priorities[i].got);
        CHECK_OK(aclrtDestroyStream(stream));
    }
    // aclrtCreateStream#02.
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtStreamGetPriority(stream, &value));
    CHECK_EQ(value, 0);
    // aclrtStreamGetFlags#03.
    CHECK_OK(aclrtStreamGetFlags(stream, &value));
    CHECK_EQ(value, 0);
    CHECK_OK(aclrtCreateStreamWithConfig(&other, 5, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    CHECK_OK(aclrtStreamGetFlags(other, &value));
    CHECK_EQ(value, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC);
    // Ids differ.
    CHECK_OK(aclrtStreamGetId(stream, &id));
    CHECK_OK(aclrtStreamGetId(other, &other_id));
    CHECK(id >= 0 && other_id >= 0 && id != other_id);
    // aclrtStreamGetId#02, aclrtStreamGetPriority#02, aclrtStreamGetFlags#02: NULL is the default stream.
    {
        aclrtStream default_stream = NULL;
        int32_t default_id = -1, null_id = -2;
        CHECK_OK(aclrtCtxGetCurrentDefaultStream(&default_stream));
        CHECK_OK(aclrtStreamGetId(default_stream, &default_id));
        CHECK_OK(aclrtStreamGetId(NULL, &null_id));
        CHECK_EQ(null_id, default_id);
        CHECK_OK(aclrtStreamGetPriority(NULL, &value));
        CHECK_EQ(value, 0);
        CHECK_OK(aclrtStreamGetFlags(NULL, &value));
    }
    CHECK_EQ(aclrtStreamGetId(stream, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtStreamGetPriority(stream, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtStreamGetFlags(stream, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtGetStreamAvailableNum(&free_before));
    CHECK_OK(aclrtDestroyStream(other));
    CHECK_OK(aclrtGetStreamAvailableNum(&free_after));
    CHECK_EQ(free_after, free_before + 1);
    CHECK_EQ(aclrtGetStreamAvailableNum(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtDestroyStream(stream));
    // aclrtCreateStreamWithConfig#07: unknown flag bits change nothing; #10: this one stands alone.
    CHECK_OK(aclrtCreateStreamWithConfig(&stream, 0, 0x40000000u));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_EQ(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_FAST_SYNC),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_STILL_WORKS();
}

static void waiting(void) {
    aclrtStream stream = NULL;
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    check_flag release = {0};
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtStreamQuery(stream, &status));
    CHECK_EQ(status, ACL_STREAM_STATUS_COMPLETE);
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    // aclrtStreamQuery#02.
    CHECK_OK(aclrtStreamQuery(stream, &status));
    CHECK_EQ(status, ACL_STREAM_STATUS_NOT_READY);
    CHECK_EQ(aclrtStreamQuery(stream, NULL), ACL_ERROR_INVALID_PARAM);
    // aclrtSynchronizeStreamWithTimeout#05, aclrtSynchronizeDeviceWithTimeout#04: the time runs out.
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_EQ(aclrtSynchronizeDeviceWithTimeout(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    // #02, #03.
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, -2), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, INT32_MIN), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, 0), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSynchronizeDeviceWithTimeout(-2), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSynchronizeDeviceWithTimeout(0), ACL_ERROR_RT_PARAM_INVALID);
    check_raise(&release);
    // A time-out loses nothing: the stream goes on.
    CHECK_OK(aclrtSynchronizeStreamWithTimeout(stream, 30000));
    CHECK_OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
    CHECK_OK(aclrtSynchronizeDeviceWithTimeout(-1));
    CHECK_OK(aclrtSynchronizeDeviceWithTimeout(INT32_MAX));
    CHECK_OK(aclrtStreamQuery(stream, &status));
    CHECK_EQ(status, ACL_STREAM_STATUS_COMPLETE);
    CHECK_OK(aclrtDestroyStream(stream));
}

static void destruction(void) {
    aclrtStream stream = NULL;
    check_flag done = {0};
    // Not on this stack: nobody waits for the function that looks at it last.
    static check_flag release;
    // aclrtDestroyStream#02: waits for the work.
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_mark, &done));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK(check_raised(&done));
    // aclrtDestroyStreamForce#02: does not wait.
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtDestroyStreamForce(stream));
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    check_raise(&release);
    CHECK_STILL_WORKS();
}

// A stream that is forced away, and one that waits for it: the waiter is let go.
static void destruction_under_a_waiter(void) {
    aclrtStream stream = NULL, waiter = NULL;
    aclrtEvent event = NULL;
    check_flag done = {0};
    static check_flag release;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&waiter));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK_OK(aclrtStreamWaitEvent(waiter, event));
    CHECK_OK(aclrtLaunchHostFunc(waiter, runtime_mark, &done));
    CHECK_OK(aclrtDestroyStreamForce(stream));
    check_raise(&release);
    // ours: a dropped record counts as done, so that no stream hangs for ever.
    CHECK_OK(aclrtSynchronizeStreamWithTimeout(waiter, 20000));
    CHECK(check_raised(&done));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(waiter));
    CHECK_STILL_WORKS();
}

static void failure_mode_and_attributes(void) {
    aclrtStream stream = NULL;
    aclrtStreamAttrValue value;
    uint32_t flag = 99, priority = 99;
    CHECK_OK(aclrtCreateStream(&stream));
    // aclrtSetStreamFailureMode#01, #03, #04.
    CHECK_OK(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
    CHECK_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    CHECK_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    CHECK_EQ(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    // aclrtSetStreamOverflowSwitch#01, aclrtGetStreamOverflowSwitch#01, #02.
    CHECK_EQ(aclrtSetStreamOverflowSwitch(stream, 2), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetStreamOverflowSwitch(stream, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtSetStreamOverflowSwitch(stream, 1));
    CHECK_OK(aclrtGetStreamOverflowSwitch(stream, &flag));
    CHECK_EQ(flag, 1);
    CHECK_OK(aclrtSetStreamOverflowSwitch(stream, 0));
    CHECK_OK(aclrtGetStreamOverflowSwitch(stream, &flag));
    CHECK_EQ(flag, 0);
    // aclrtSetStreamAttribute#01, #02, #05, #06, #13; aclrtGetStreamAttribute#01, #02, #05.
    memset(&value, 0, sizeof value);
    CHECK_EQ(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtSetStreamAttribute(stream, (aclrtStreamAttr)99, &value), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtGetStreamAttribute(stream, (aclrtStreamAttr)99, &value), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSetStreamAttribute(NULL, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_PARAM_INVALID);
    value.streamPriority = 6;
    CHECK_OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
    memset(&value, 0, sizeof value);
    CHECK_OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
    CHECK_EQ(value.streamPriority, 6);
    CHECK_OK(aclrtStreamGetPriority(stream, &priority));
    CHECK_EQ(priority, 6);
    value.streamPriority = 100;
    CHECK_OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
    CHECK_OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
    CHECK_EQ(value.streamPriority, 7);
    CHECK_OK(aclrtDestroyStream(stream));
}

static void mark_late(void *flag) {
    check_sleep_ms(20);
    check_raise((check_flag *)flag);
}

static void abort_and_stop(void) {
    aclrtStream stream = NULL, other = NULL;
    static check_flag release, dropped;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_mark, &dropped));
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(check_raised(&dropped));
    dropped.raised = 0;
    release.raised = 0;
    // aclrtStreamAbort#01: queued tasks are dropped; #04: synchronize tells. The function that runs is released from
    // elsewhere, since the call may wait for it.
    CHECK_OK(aclrtCreateStream(&other));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_mark, &dropped));
    CHECK_OK(aclrtLaunchHostFunc(other, mark_late, &release));
    CHECK_OK(aclrtStreamAbort(stream));
    CHECK_OK(aclrtDestroyStream(other));
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_ABORT);
    CHECK(!check_raised(&dropped));
    CHECK_OK(aclrtDestroyStream(stream));
    // aclrtStreamStop#01.
    CHECK_EQ(aclrtStreamStop(NULL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_STILL_WORKS();
}

// The default stream, by NULL and by name.
static void default_stream(void) {
    aclrtStream stream = NULL;
    void *device = NULL, *pinned = NULL;
    CHECK_OK(aclrtCtxGetCurrentDefaultStream(&stream));
    CHECK_OK(aclrtMalloc(&device, 128, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost(&pinned, 128));
    // aclrtMemcpyAsync#21, aclrtMemsetAsync#06, aclrtSynchronizeStream#02.
    CHECK_OK(aclrtMemsetAsync(device, 128, 0x11, 128, NULL));
    CHECK_OK(aclrtMemsetAsync(device, 128, 0x22, 64, stream));
    CHECK_OK(aclrtMemcpyAsync(pinned, 128, device, 128, ACL_MEMCPY_DEVICE_TO_HOST, NULL));
    CHECK_OK(aclrtSynchronizeStream(NULL));
    CHECK_ALL(pinned, 0x22, 64);
    CHECK_ALL((char *)pinned + 64, 0x11, 64);
    CHECK_OK(aclrtSynchronizeStreamWithTimeout(NULL, 1000));
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
}

int main(void) {
    runtime_start();
    creation();
    waiting();
    destruction();
    destruction_under_a_waiter();
    failure_mode_and_attributes();
    abort_and_stop();
    default_stream();
    return runtime_end();
}
