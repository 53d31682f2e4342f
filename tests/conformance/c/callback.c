// Host functions and the older callbacks: order, threads, blocking, subscription, refusals, calls from inside.
#include "runtime.h"

#include <pthread.h>

enum { COUNT = 200 };

static int seen[COUNT], seen_count;
static pthread_t main_thread;

static void append(void *number) {
    if (seen_count < COUNT) seen[seen_count++] = (int)(intptr_t)number;
    // aclrtLaunchHostFunc#03: in a thread of the runtime.
    CHECK(!pthread_equal(pthread_self(), main_thread));
}

// aclrtLaunchHostFunc#04, #05: in order, one at a time, between the other tasks of the stream.
static void host_functions(void) {
    aclrtStream stream = NULL;
    int i;
    CHECK_OK(aclrtCreateStream(&stream));
    seen_count = 0;
    for (i = 0; i < COUNT; ++i) CHECK_OK(aclrtLaunchHostFunc(stream, append, (void *)(intptr_t)i));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_EQ(seen_count, COUNT);
    for (i = 0; i < COUNT; ++i) CHECK_EQ(seen[i], i);
    // #08: the default stream.
    seen_count = 0;
    CHECK_OK(aclrtLaunchHostFunc(NULL, append, (void *)(intptr_t)42));
    CHECK_OK(aclrtSynchronizeStream(NULL));
    CHECK_EQ(seen_count, 1);
    CHECK_EQ(seen[0], 42);
    // #01, #11.
    CHECK_EQ(aclrtLaunchHostFunc(stream, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_EQ(aclrtLaunchHostFunc(stream, append, NULL), ACL_ERROR_RT_INVALID_HANDLE);
}

static check_flag stop;
static int reports;
static pthread_t report_thread;

static void *process_reports(void *unused) {
    (void)unused;
    while (!check_raised(&stop)) {
        aclError code = aclrtProcessReport(20);
        // Not subscribed yet, or no more: that is not the thread's fault.
        if (code != ACL_SUCCESS && code != ACL_ERROR_RT_REPORT_TIMEOUT) CHECK_EQ(code, ACL_ERROR_RT_THREAD_SUBSCRIBE);
        if (code == ACL_ERROR_RT_THREAD_SUBSCRIBE) check_sleep_ms(1);
    }
    return NULL;
}

static void report(void *number) {
    // aclrtLaunchCallback#07: in the subscribed thread.
    CHECK(pthread_equal(pthread_self(), report_thread));
    CHECK_EQ((int)(intptr_t)number, __atomic_load_n(&reports, __ATOMIC_ACQUIRE));
    __atomic_fetch_add(&reports, 1, __ATOMIC_ACQ_REL);
}

static int await_reports(int count) {
    int i;
    for (i = 0; i < 10000 && __atomic_load_n(&reports, __ATOMIC_ACQUIRE) < count; ++i) check_sleep_ms(1);
    return __atomic_load_n(&reports, __ATOMIC_ACQUIRE);
}

static void subscribed_callbacks(void) {
    aclrtStream stream = NULL, other = NULL;
    int i;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&other));
    // aclrtProcessReport#02, #03.
    CHECK_EQ(aclrtProcessReport(0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtProcessReport(-2), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtProcessReport(10), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    // aclrtLaunchCallback#01, #02, #04; aclrtUnSubscribeReport#01.
    CHECK_EQ(aclrtLaunchCallback(report, NULL, (aclrtCallbackBlockType)2, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtLaunchCallback(report, NULL, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_STREAM_NO_CB_REG);
    CHECK_EQ(aclrtUnSubscribeReport((uint64_t)main_thread, stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);

    CHECK_EQ(pthread_create(&report_thread, NULL, process_reports, NULL), 0);
    CHECK_OK(aclrtSubscribeReport((uint64_t)report_thread, stream));
    // aclrtSubscribeReport#01, #02.
    CHECK_EQ(aclrtSubscribeReport((uint64_t)report_thread, stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    CHECK_OK(aclrtSubscribeReport((uint64_t)report_thread, other));
    // aclrtLaunchHostFunc#02: the two mechanisms do not mix.
    CHECK_EQ(aclrtLaunchHostFunc(stream, append, NULL), ACL_ERROR_RT_STREAM_SUBSCRIBE);

    for (i = 0; i < COUNT; ++i)
        CHECK_OK(aclrtLaunchCallback(report, (void *)(intptr_t)i, i % 2 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK,
                                     stream));
    CHECK_EQ(await_reports(COUNT), COUNT);
    CHECK_OK(aclrtSynchronizeStream(stream));
    // #08: a blocking one is over before what follows it.
    CHECK_OK(aclrtLaunchCallback(report, (void *)(intptr_t)COUNT, ACL_CALLBACK_BLOCK, other));
    CHECK_OK(aclrtSynchronizeStream(other));
    CHECK_EQ(__atomic_load_n(&reports, __ATOMIC_ACQUIRE), COUNT + 1);

    // aclrtUnSubscribeReport#02, #03.
    CHECK_EQ(aclrtUnSubscribeReport((uint64_t)main_thread, stream), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    CHECK_OK(aclrtUnSubscribeReport((uint64_t)report_thread, stream));
    CHECK_EQ(aclrtLaunchCallback(report, NULL, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_STREAM_NO_CB_REG);
    CHECK_OK(aclrtUnSubscribeReport((uint64_t)report_thread, other));
    check_raise(&stop);
    CHECK_EQ(pthread_join(report_thread, NULL), 0);

    // A stream that had host functions takes no subscription: aclrtSubscribeReport#06.
    CHECK_OK(aclrtDestroyStream(other));
    CHECK_OK(aclrtCreateStream(&other));
    CHECK_OK(aclrtLaunchHostFunc(other, append, NULL));
    CHECK_OK(aclrtSynchronizeStream(other));
    CHECK_EQ(aclrtSubscribeReport((uint64_t)main_thread, other), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    CHECK_EQ(aclrtLaunchCallback(report, NULL, ACL_CALLBACK_BLOCK, other), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    CHECK_OK(aclrtDestroyStream(other));
    CHECK_OK(aclrtDestroyStream(stream));
}

static aclrtStream own_stream;

// aclrtLaunchHostFunc#07 forbids all this; here it gets codes, and the process goes on.
static void calls_from_inside(void *flag) {
    void *memory = NULL;
    aclrtStream stream = NULL;
    aclrtContext context = NULL;
    // ours: a thread of the runtime has no context of its own.
    CHECK_EQ(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    // Waiting for oneself cannot end well; it has to end.
    CHECK(aclrtSynchronizeStreamWithTimeout(own_stream, 20) != ACL_SUCCESS);
    check_raise((check_flag *)flag);
}

static void from_inside(void) {
    check_flag done = {0};
    CHECK_OK(aclrtCreateStream(&own_stream));
    CHECK_OK(aclrtLaunchHostFunc(own_stream, calls_from_inside, &done));
    CHECK_OK(aclrtSynchronizeStream(own_stream));
    CHECK(check_raised(&done));
    CHECK_OK(aclrtDestroyStream(own_stream));
    CHECK_STILL_WORKS();
}

int main(void) {
    main_thread = pthread_self();
    runtime_start();
    host_functions();
    subscribed_callbacks();
    from_inside();
    return runtime_end();
}
