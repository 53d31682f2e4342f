// Threads: each with its own streams, one context for all, threads without a device, threads that end.
#include "runtime.h"

#include <pthread.h>

enum { THREADS = 8, STREAMS = 4, ROUNDS = 100, SIZE = 512 };

static void *work(void *number) {
    aclrtStream streams[STREAMS];
    aclrtEvent events[STREAMS];
    unsigned char *device = NULL, *pinned = NULL;
    int i, round;
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtMalloc((void **)&device, SIZE * (STREAMS + 1), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&pinned, 2 * SIZE));
    for (i = 0; i < STREAMS; ++i) {
        CHECK_OK(aclrtCreateStream(&streams[i]));
        CHECK_OK(aclrtCreateEvent(&events[i]));
    }
    for (round = 0; round < ROUNDS; ++round) {
        check_fill(pinned, SIZE, (unsigned)(intptr_t)number * 1000u + (unsigned)round);
        memset(pinned + SIZE, 0, SIZE);
        CHECK_OK(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
        for (i = 0; i < STREAMS; ++i) {
            if (i) CHECK_OK(aclrtStreamWaitEvent(streams[i], events[i - 1]));
            CHECK_OK(aclrtMemcpyAsync(device + SIZE * (i + 1), SIZE, device + SIZE * i, SIZE,
                                      ACL_MEMCPY_DEVICE_TO_DEVICE, streams[i]));
            CHECK_OK(aclrtRecordEvent(events[i], streams[i]));
        }
        CHECK_OK(aclrtMemcpyAsync(pinned + SIZE, SIZE, device + SIZE * STREAMS, SIZE, ACL_MEMCPY_DEVICE_TO_HOST,
                                  streams[STREAMS - 1]));
        CHECK_OK(aclrtSynchronizeStream(streams[STREAMS - 1]));
        CHECK_BYTES(pinned + SIZE, pinned, SIZE);
    }
    for (i = 0; i < STREAMS; ++i) {
        CHECK_OK(aclrtDestroyEvent(events[i]));
        CHECK_OK(aclrtDestroyStream(streams[i]));
    }
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtResetDevice(0));
    return NULL;
}

// *#03 and the rules "no current context": a thread that set nothing owns nothing, whatever other threads did.
static void *without_a_device(void *unused) {
    void *memory = NULL;
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    int32_t device = 0;
    int local = 0;
    (void)unused;
    CHECK_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtCreateStreamWithConfig(&stream, 0, 0), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtCreateEvent(&event), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtSynchronizeDeviceWithTimeout(100), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtLaunchHostFunc(NULL, runtime_mark, &local), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtMemcpy(&local, 4, &device, 4, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_RT_CONTEXT_NULL);
    // And gets one by setting it.
    CHECK_OK(aclrtSetDevice(0));
    CHECK_STILL_WORKS();
    CHECK_OK(aclrtResetDevice(0));
    return NULL;
}

static aclrtStream shared_stream;
static int32_t *shared_pinned, *shared_device;

// Many threads on one stream.
static void *enqueue(void *context) {
    int i;
    CHECK_OK(aclrtSetCurrentContext((aclrtContext)context));
    for (i = 0; i < ROUNDS; ++i)
        CHECK_OK(aclrtMemcpyAsync(shared_device, 4, shared_pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, shared_stream));
    CHECK_OK(aclrtSynchronizeStream(shared_stream));
    return NULL;
}

static void run(void *(*body)(void *), void *shared) {
    pthread_t threads[THREADS];
    intptr_t i;
    for (i = 0; i < THREADS; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, body, shared ? shared : (void *)i), 0);
    for (i = 0; i < THREADS; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

int main(void) {
    aclrtContext context = NULL;
    runtime_start();
    run(work, NULL);
    run(without_a_device, NULL);
    CHECK_OK(aclrtGetCurrentContext(&context));
    CHECK_OK(aclrtCreateStream(&shared_stream));
    CHECK_OK(aclrtMalloc((void **)&shared_device, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&shared_pinned, 4));
    *shared_pinned = 815;
    run(enqueue, context);
    CHECK_DEVICE(shared_device, shared_pinned, 4);
    CHECK_OK(aclrtFreeHost(shared_pinned));
    CHECK_OK(aclrtFree(shared_device));
    CHECK_OK(aclrtDestroyStream(shared_stream));
    CHECK_STILL_WORKS();
    return runtime_end();
}
