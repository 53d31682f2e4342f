// A thread that is cancelled while it waits: the wait is no cancellation point, so it ends as it would have, the thread dies at its next
// cancellation point, and nothing of the runtime is left half done. (ours: the pages do not speak of cancellation.)
#include "runtime.h"

#include <pthread.h>

static check_flag go, waiting;
static aclrtStream held;
static int returned;

static void *waiter(void *nothing) {
    CHECK_OK(aclrtSetDevice(0));
    check_raise(&waiting);
    CHECK_OK(aclrtSynchronizeStream(held));
    returned = 1;
    for (;;) {
        pthread_testcancel();
    }
    return nothing;
}

int main(void) {
    pthread_t thread;
    void *end = NULL;
    runtime_start();
    CHECK_OK(aclrtCreateStream(&held));
    CHECK_OK(aclrtLaunchHostFunc(held, runtime_hold, &go));
    CHECK_EQ(pthread_create(&thread, NULL, waiter, NULL), 0);
    CHECK(check_await(&waiting));
    CHECK_EQ(pthread_cancel(thread), 0);
    check_raise(&go);
    CHECK_EQ(pthread_join(thread, &end), 0);
    CHECK(end == PTHREAD_CANCELED);
    CHECK_EQ(returned, 1);

    // The stream and the device are as good as before.
    {
        unsigned char bytes[64];
        void *device;
        memset(bytes, 7, sizeof bytes);
        device = runtime_device(bytes, sizeof bytes);
        CHECK_OK(aclrtMemsetAsync(device, sizeof bytes, 9, sizeof bytes, held));
        CHECK_OK(aclrtSynchronizeStream(held));
        memset(bytes, 9, sizeof bytes);
        CHECK_DEVICE(device, bytes, sizeof bytes);
        CHECK_OK(aclrtFree(device));
    }
    CHECK_OK(aclrtDestroyStream(held));
    // The thread had set the device, too.
    CHECK_OK(aclrtResetDevice(0));
    return runtime_end();
}
