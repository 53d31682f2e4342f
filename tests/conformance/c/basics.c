// The whole round of a small program, in strict C99: init, device, memory, copies, streams, events, callbacks,
// contexts, a device variable, tear-down.
#include "runtime.h"

#include <pthread.h>

enum { SIZE = 4096 };

static void copies_in_all_directions(void) {
    unsigned char from[SIZE], to[SIZE];
    void *a = NULL, *b = NULL, *pinned = NULL, *pinned_too = NULL;
    check_fill(from, SIZE, 1);
    CHECK_OK(aclrtMalloc(&a, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMalloc(&b, SIZE, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK_OK(aclrtMallocHost(&pinned, SIZE));
    CHECK_OK(aclrtMallocHost(&pinned_too, SIZE));

    // aclrtMemcpy#14: all four directions.
    CHECK_OK(aclrtMemcpy(pinned, SIZE, from, SIZE, ACL_MEMCPY_HOST_TO_HOST));
    CHECK_OK(aclrtMemcpy(a, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpy(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
    memset(to, 0, SIZE);
    CHECK_OK(aclrtMemcpy(to, SIZE, b, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(to, from, SIZE);
    CHECK_OK(aclrtMemcpy(pinned_too, SIZE, b, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(pinned_too, from, SIZE);

    // aclrtMemcpy#13: the kind has no say, the addresses decide.
    check_fill(from, SIZE, 2);
    CHECK_OK(aclrtMemcpy(a, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_DEVICE(a, from, SIZE);
    CHECK_OK(aclrtMemcpy(b, SIZE, a, SIZE, ACL_MEMCPY_DEFAULT));
    CHECK_DEVICE(b, from, SIZE);

    // A part in the middle; the rest stays.
    CHECK_OK(aclrtMemset(a, SIZE, 0, SIZE));
    CHECK_OK(aclrtMemcpy((char *)a + 100, SIZE - 100, from + 7, 1001, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpy(to, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_ALL(to, 0, 100);
    CHECK_BYTES(to + 100, from + 7, 1001);
    CHECK_ALL(to + 1101, 0, SIZE - 1101);

    // aclrtMemset#04: the low 8 bits count; #05: host memory as well.
    CHECK_OK(aclrtMemset(b, SIZE, 0x1a5, 300));
    CHECK_OK(aclrtMemcpy(to, SIZE, b, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_ALL(to, 0xa5, 300);
    CHECK_BYTES(to + 300, from + 300, SIZE - 300);
    CHECK_OK(aclrtMemset(pinned, SIZE, 0x5a, SIZE));
    CHECK_ALL(pinned, 0x5a, SIZE);

    CHECK_OK(aclrtFreeHost(pinned_too));
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(b));
    CHECK_OK(aclrtFree(a));
}

static void streams_and_events(void) {
    aclrtStream stream = NULL;
    aclrtEvent begin = NULL, end = NULL;
    void *device = NULL, *in = NULL, *out = NULL;
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    float milliseconds = -1.0f;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK(stream != NULL);
    CHECK_OK(aclrtCreateEvent(&begin));
    CHECK_OK(aclrtCreateEvent(&end));
    CHECK_OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost(&in, SIZE));
    CHECK_OK(aclrtMallocHost(&out, SIZE));
    check_fill(in, SIZE, 3);

    CHECK_OK(aclrtRecordEvent(begin, stream));
    CHECK_OK(aclrtMemcpyAsync(device, SIZE, in, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtMemsetAsync((char *)device + 64, SIZE - 64, 7, 64, stream));
    CHECK_OK(aclrtMemcpyAsync(out, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK_OK(aclrtRecordEvent(end, stream));
    CHECK_OK(aclrtSynchronizeEvent(end));
    CHECK_BYTES(out, in, 64);
    CHECK_ALL((char *)out + 64, 7, 64);
    CHECK_BYTES((char *)out + 128, (char *)in + 128, SIZE - 128);

    CHECK_OK(aclrtQueryEventStatus(end, &recorded));
    CHECK_EQ(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtStreamQuery(stream, &status));
    CHECK_EQ(status, ACL_STREAM_STATUS_COMPLETE);
    CHECK_OK(aclrtEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds >= 0.0f && milliseconds < 60000.0f);
    CHECK_OK(aclrtSynchronizeDevice());

    CHECK_OK(aclrtFreeHost(out));
    CHECK_OK(aclrtFreeHost(in));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtDestroyEvent(end));
    CHECK_OK(aclrtDestroyEvent(begin));
    CHECK_OK(aclrtDestroyStream(stream));
}

static void *thread_with_a_context(void *context) {
    aclrtContext current = NULL;
    unsigned char from[64];
    void *device;
    // aclrtGetCurrentContext#03: nothing is current on a new thread.
    CHECK_EQ(aclrtGetCurrentContext(&current), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_OK(aclrtSetCurrentContext((aclrtContext)context));
    CHECK_OK(aclrtGetCurrentContext(&current));
    CHECK_PTR(current, context);
    check_fill(from, sizeof from, 4);
    device = runtime_device(from, sizeof from);
    CHECK_DEVICE(device, from, sizeof from);
    CHECK_OK(aclrtFree(device));
    return NULL;
}

static void contexts_on_threads(void) {
    aclrtContext original = NULL, extra = NULL, current = NULL;
    pthread_t threads[4];
    int i;
    CHECK_OK(aclrtGetCurrentContext(&original));
    CHECK_OK(aclrtCreateContext(&extra, 0));
    // aclrtCreateContext#04: the new one is current.
    CHECK_OK(aclrtGetCurrentContext(&current));
    CHECK_PTR(current, extra);
    for (i = 0; i < 4; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, thread_with_a_context, extra), 0);
    for (i = 0; i < 4; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_OK(aclrtSetCurrentContext(original));
    CHECK_OK(aclrtDestroyContext(extra));
}

static float weights[3] = {1.5f, -2.0f, 4.25f};

static void device_variable(void) {
    float back[3] = {0, 0, 0}, other[2] = {8.0f, 9.0f};
    size_t size = 0;
    void *address = NULL;
    CHECK_OK(aclrtGetSymbolSize(weights, &size));
    CHECK_EQ(size, sizeof weights);
    CHECK_OK(aclrtGetSymbolAddress(weights, &address));
    CHECK(address != NULL && address != (void *)weights);
    CHECK_OK(aclrtMemcpyFromSymbol(back, sizeof back, weights, sizeof back, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(back, weights, sizeof back);
    CHECK_OK(aclrtMemcpyToSymbol(weights, other, sizeof other, sizeof(float), ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpyFromSymbol(back, sizeof back, weights, sizeof back, 0, ACL_MEMCPY_DEFAULT));
    CHECK(back[0] == 1.5f && back[1] == 8.0f && back[2] == 9.0f);
    // The host variable is only the shadow.
    CHECK(weights[1] == -2.0f && weights[2] == 4.25f);
}

int main(void) {
    uint32_t count = 0;
    int32_t device = -1;
    aclrtRunMode mode = ACL_DEVICE;
    rtRegisterVariable(NULL, weights, "weights", sizeof weights, 0, NULL);
    runtime_start();
    CHECK_OK(aclrtGetDeviceCount(&count));
    CHECK(count >= 1);
    CHECK_OK(aclrtGetDevice(&device));
    CHECK_EQ(device, 0);
    CHECK_OK(aclrtGetRunMode(&mode));
    CHECK_EQ(mode, ACL_HOST);
    CHECK(aclrtGetSocName() != NULL);
    copies_in_all_directions();
    streams_and_events();
    contexts_on_threads();
    device_variable();
    return runtime_end();
}
