// Contexts: current ones, default streams, strangers' streams, destruction; options of the context and the process.
#include "runtime.h"

#include <pthread.h>

static void current_and_destroyed(void) {
    aclrtContext first = NULL, a = NULL, b = NULL, current = NULL;
    int32_t device = -1;
    CHECK_OK(aclrtGetCurrentContext(&first));
    // aclrtCreateContext#01, #02.
    CHECK_EQ(aclrtCreateContext(NULL, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtCreateContext(&a, -1), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(aclrtCreateContext(&a, 1000), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_OK(aclrtCreateContext(&a, 0));
    CHECK_OK(aclrtCreateContext(&b, 0));
    CHECK(a != b && a != first);
    CHECK_OK(aclrtGetCurrentContext(&current));
    CHECK_PTR(current, b);
    CHECK_OK(aclrtSetCurrentContext(a));
    CHECK_OK(aclrtGetCurrentContext(&current));
    CHECK_PTR(current, a);
    CHECK_OK(aclrtGetDevice(&device));
    CHECK_EQ(device, 0);
    CHECK_STILL_WORKS();
    // aclrtSetDevice#08: back to the default context.
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtGetCurrentContext(&current));
    CHECK_PTR(current, first);
    CHECK_OK(aclrtResetDevice(0));
    // aclrtSetCurrentContext#01, aclrtGetCurrentContext#01, aclrtDestroyContext#01, #03.
    CHECK_EQ(aclrtSetCurrentContext(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetCurrentContext(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtDestroyContext(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtDestroyContext(first), ACL_ERROR_RT_CONTEXT_NULL);
    // aclrtDestroyContext#05, aclrtSetCurrentContext#02.
    CHECK_OK(aclrtDestroyContext(a));
    CHECK_EQ(aclrtDestroyContext(a), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtSetCurrentContext(a), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSetCurrentContext((aclrtContext)(uintptr_t)0x1234), ACL_ERROR_RT_PARAM_INVALID);
    // aclrtDestroyContext#07: the thread is left without an explicit one.
    CHECK_OK(aclrtSetCurrentContext(b));
    CHECK_OK(aclrtDestroyContext(b));
    CHECK_OK(aclrtSetCurrentContext(first));
    CHECK_STILL_WORKS();
}

static void strangers(void) {
    aclrtContext first = NULL, other = NULL;
    aclrtStream mine = NULL, theirs = NULL, theirs_default = NULL, my_default = NULL;
    aclrtEvent event = NULL;
    void *device = NULL, *pinned = NULL;
    check_flag done = {0};
    CHECK_OK(aclrtGetCurrentContext(&first));
    CHECK_OK(aclrtCreateStream(&mine));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost(&pinned, 64));
    // aclrtCtxGetCurrentDefaultStream#01, #02.
    CHECK_EQ(aclrtCtxGetCurrentDefaultStream(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtCtxGetCurrentDefaultStream(&my_default));
    CHECK(my_default != NULL);
    CHECK_OK(aclrtCreateContext(&other, 0));
    CHECK_OK(aclrtCreateStream(&theirs));
    CHECK_OK(aclrtCtxGetCurrentDefaultStream(&theirs_default));
    CHECK(theirs_default != NULL && theirs_default != my_default);
    CHECK_OK(aclrtSetCurrentContext(first));
    // A stream of another context: aclrtRecordEvent#04, aclrtStreamWaitEvent#08, aclrtMemcpyAsync#23,
    // aclrtMemsetAsync#07, aclrtLaunchHostFunc#09, aclrtDestroyStream#04, aclrtDestroyStreamForce#03,
    // aclrtSetStreamFailureMode#10.
    CHECK_EQ(aclrtRecordEvent(event, theirs), ACL_ERROR_RT_STREAM_CONTEXT);
    CHECK_EQ(aclrtStreamWaitEvent(theirs, event), ACL_ERROR_RT_STREAM_CONTEXT);
    CHECK_EQ(aclrtMemcpyAsync(device, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, theirs), ACL_ERROR_RT_STREAM_CONTEXT);
    CHECK_EQ(aclrtMemsetAsync(device, 64, 0, 64, theirs), ACL_ERROR_RT_STREAM_CONTEXT);
    CHECK_EQ(aclrtLaunchHostFunc(theirs, runtime_mark, &done), ACL_ERROR_RT_STREAM_CONTEXT);
    CHECK_EQ(aclrtSetStreamFailureMode(theirs, ACL_STOP_ON_FAILURE), ACL_ERROR_RT_STREAM_CONTEXT);
    CHECK_EQ(aclrtDestroyStream(theirs), ACL_ERROR_RT_STREAM_CONTEXT);
    CHECK_EQ(aclrtDestroyStreamForce(theirs), ACL_ERROR_RT_STREAM_CONTEXT);
    CHECK(!check_raised(&done));
    // aclrtSynchronizeStream#04: waiting for it is allowed, and the context stays.
    CHECK_OK(aclrtSynchronizeStream(theirs));
    {
        aclrtContext current = NULL;
        CHECK_OK(aclrtGetCurrentContext(&current));
        CHECK_PTR(current, first);
    }
    CHECK_STILL_WORKS();
    // The refused work left nothing behind: the stream still does its own.
    CHECK_OK(aclrtSetCurrentContext(other));
    CHECK_OK(aclrtLaunchHostFunc(theirs, runtime_mark, &done));
    CHECK_OK(aclrtSynchronizeStream(theirs));
    CHECK(check_raised(&done));
    CHECK_OK(aclrtDestroyStream(theirs));
    CHECK_OK(aclrtDestroyContext(other));
    CHECK_OK(aclrtSetCurrentContext(first));
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(mine));
}

static void options(void) {
    int64_t value = -1;
    // aclrtCtxGetSysParamOpt#01, #02, #04, #05; aclrtCtxSetSysParamOpt#01, #02, #04, #05.
    CHECK_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    CHECK_EQ(aclrtCtxGetSysParamOpt((aclSysParamOpt)99, &value), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtCtxSetSysParamOpt((aclSysParamOpt)99, 1), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 4), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, 2), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    CHECK_OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK_EQ(value, 1);
    // aclrtGetSysParamOpt#01 to #04, aclrtSetSysParamOpt#03: the process has its own.
    CHECK_OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK_EQ(value, 0);
    CHECK_EQ(aclrtGetSysParamOpt((aclSysParamOpt)99, &value), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 4), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2));
    CHECK_OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK_EQ(value, 2);
}

int main(void) {
    runtime_start();
    current_and_destroyed();
    strangers();
    options();
    return runtime_end();
}
