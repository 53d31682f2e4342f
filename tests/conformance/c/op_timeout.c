// Time limits of operators: setting, rounding, reading back.
#include "runtime.h"

int main(void) {
    uint64_t interval = 0, actual = 0;
    uint32_t milliseconds = 0;
    runtime_start();
    // aclrtGetOpExecuteTimeout#01, #02: the product's default. aclrtSetOpExecuteTimeOut#04: 1091 s.
    CHECK_EQ(aclrtGetOpExecuteTimeout(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    CHECK_EQ(milliseconds / 1000, 1091);
    // aclrtGetOpTimeOutInterval#01, #05: limits are multiples of it, at most 254 times.
    CHECK_EQ(aclrtGetOpTimeOutInterval(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtGetOpTimeOutInterval(&interval));
    CHECK(interval > 0);
    // aclrtSetOpExecuteTimeOutV2#01, #10.
    CHECK_EQ(aclrtSetOpExecuteTimeOutV2(1000, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtSetOpExecuteTimeOutV2(interval, &actual));
    CHECK_EQ(actual, interval);
    CHECK_OK(aclrtSetOpExecuteTimeOutV2(interval + 1, &actual));
    CHECK_EQ(actual, 2 * interval);
    CHECK_OK(aclrtSetOpExecuteTimeOutV2(1, &actual));
    CHECK_EQ(actual, interval);
    CHECK_OK(aclrtSetOpExecuteTimeOutV2(UINT64_MAX, &actual));
    CHECK_EQ(actual, 254 * interval);
    CHECK_OK(aclrtSetOpExecuteTimeOutV2(2000000, &actual));
    CHECK(actual >= 2000000 && actual < 2000000 + interval);
    CHECK_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    CHECK_EQ(milliseconds, (actual + 999) / 1000); // ours: rounded up, so that it is never below the real limit
    // aclrtSetOpExecuteTimeOut#01, #02: seconds; the last call counts.
    CHECK_OK(aclrtSetOpExecuteTimeOut(3));
    CHECK_OK(aclrtGetOpExecuteTimeout(&milliseconds));
    CHECK(milliseconds >= 3000 && milliseconds < 3000 + interval / 1000 + 1);
    CHECK_OK(aclrtSetOpExecuteTimeOut(0));
    // aclrtSetOpExecuteTimeOutWithMs#02: no product has it.
    CHECK_EQ(aclrtSetOpExecuteTimeOutWithMs(10), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    // aclrtSetOpWaitTimeout#01.
    CHECK_OK(aclrtSetOpWaitTimeout(100));
    CHECK_OK(aclrtSetOpWaitTimeout(0));
    CHECK_STILL_WORKS();
    return runtime_end();
}
