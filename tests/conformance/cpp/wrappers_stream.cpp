// Chapter 26, waiting and making: the seven plain overloads, beside the C functions of the same name.
#include "runtime.h"

#include "acl/acl_rt_api.h"

#include <cstdint>

static void synchronize() {
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    check_flag release = {0};
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtRecordEvent(event, stream));
    // aclrtSynchronizeStream<cpp>#03 and its kin: milliseconds; -1 is for ever.
    CHECK_EQ(aclrtSynchronizeStream(stream, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_EQ(aclrtSynchronizeEvent(event, 5), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    CHECK_EQ(aclrtSynchronizeDevice(5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK_EQ(aclrtSynchronizeStream(stream, -2), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSynchronizeEvent(event, -2), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSynchronizeDevice(-2), ACL_ERROR_RT_PARAM_INVALID);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeEvent(event, -1));
    CHECK_OK(aclrtSynchronizeStream(stream, -1));
    CHECK_OK(aclrtSynchronizeDevice(-1));
    CHECK_OK(aclrtSynchronizeStream(stream, 1000));
    CHECK_OK(aclrtSynchronizeEvent(event, 1000));
    CHECK_OK(aclrtSynchronizeDevice(1000));
    // The C functions are still there.
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtSynchronizeEvent(event));
    CHECK_OK(aclrtSynchronizeDevice());
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(stream));
}

static void create() {
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    std::uint32_t priority = 99;
    // aclrtCreateStream<cpp>#03: moved to the nearest bound.
    const struct {
        std::uint32_t asked, got;
    } cases[] = {{0, 0}, {5, 5}, {7, 7}, {8, 7}, {12345, 7}};
    for (const auto &one : cases) {
        CHECK_OK(aclrtCreateStream(&stream, one.asked, 0));
        CHECK_OK(aclrtStreamGetPriority(stream, &priority));
        CHECK_EQ(priority, one.got);
        CHECK_OK(aclrtDestroyStream(stream));
    }
    CHECK_EQ(aclrtCreateStream(nullptr, 0, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtCreateStream(&stream, 1, ACL_STREAM_FAST_LAUNCH));
    // aclrtCreateEvent<cpp>#03: a bitmap; IPC stands alone.
    CHECK_OK(aclrtCreateEvent(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE | ACL_EVENT_CAPTURE_STREAM_PROGRESS));
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK_OK(aclrtSynchronizeEvent(event));
    // It makes an Ex event: aclrtResetEvent#03.
    CHECK_EQ(aclrtResetEvent(event, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_EQ(aclrtCreateEvent(&event, ACL_EVENT_IPC | ACL_EVENT_SYNC), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtCreateEvent(&event, 0), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtCreateEvent(nullptr, ACL_EVENT_SYNC), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtDestroyStream(stream));
}

static void wait_event() {
    aclrtStream first = nullptr, second = nullptr;
    aclrtEvent event = nullptr;
    check_flag release = {0}, done = {0};
    CHECK_OK(aclrtCreateStream(&first, 0, 0));
    CHECK_OK(aclrtCreateStream(&second, 7, 0));
    CHECK_OK(aclrtCreateEvent(&event, ACL_EVENT_SYNC));
    CHECK_OK(aclrtLaunchHostFunc(first, runtime_hold, &release));
    CHECK_OK(aclrtRecordEvent(event, first));
    // aclrtStreamWaitEvent<cpp>#03: 0 never expires.
    CHECK_OK(aclrtStreamWaitEvent(second, event, 0));
    CHECK_OK(aclrtStreamWaitEvent(second, event, 60000));
    CHECK_OK(aclrtStreamWaitEvent(second, event));
    CHECK_OK(aclrtLaunchHostFunc(second, runtime_mark, &done));
    CHECK_EQ(aclrtSynchronizeStream(second, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK(!check_raised(&done));
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(second));
    CHECK(check_raised(&done));
    CHECK_EQ(aclrtStreamWaitEvent(second, event, -1), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(second));
    CHECK_OK(aclrtDestroyStream(first));
}

static void op_timeout() {
    std::uint64_t actual = 0;
    std::uint32_t milliseconds = 0;
    // aclrtSetOpExecuteTimeOut<cpp>#03, #04: microseconds, and what became of them.
    CHECK_OK(aclrtSetOpExecuteTimeOut(static_cast<std::uint64_t>(3000000), &actual));
    CHECK(actual >= 3000000);
    CHECK_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    CHECK_EQ(milliseconds, (actual + 999) / 1000); // ours: rounded up, so that it is never below the real limit
    CHECK_EQ(aclrtSetOpExecuteTimeOut(static_cast<std::uint64_t>(1000), nullptr), ACL_ERROR_INVALID_PARAM);
    // The C function counts seconds.
    CHECK_OK(aclrtSetOpExecuteTimeOut(4));
    CHECK_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    CHECK(milliseconds >= 4000);
}

int main() {
    runtime_start();
    synchronize();
    create();
    wait_event();
    op_timeout();
    return runtime_end();
}
