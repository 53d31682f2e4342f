// A program that ends with everything still open, and work still queued: it ends all the same, with its own status.
#include "runtime.h"

#include <pthread.h>

static check_flag never;

static void hold_for_ever(void *flag) {
    // Longer than the test's time limit; the end of the process must not wait for it.
    while (!check_raised((const check_flag *)flag)) check_sleep_ms(50);
}

static void *other_thread(void *unused) {
    (void)unused;
    (void)aclrtSetDevice(0);
    (void)aclrtSynchronizeDevice();
    return NULL;
}

int main(void) {
    aclrtStream stream = NULL, waiter = NULL;
    aclrtEvent event = NULL;
    void *device = NULL, *pinned = NULL;
    pthread_t thread;
    runtime_start();
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&waiter));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtMalloc(&device, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost(&pinned, 1 << 20));
    CHECK_OK(aclrtLaunchHostFunc(stream, hold_for_ever, &never));
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK_OK(aclrtStreamWaitEvent(waiter, event));
    CHECK_OK(aclrtMemcpyAsync(device, 1 << 20, pinned, 1 << 20, ACL_MEMCPY_HOST_TO_DEVICE, waiter));
    CHECK_EQ(pthread_create(&thread, NULL, other_thread, NULL), 0);
    check_sleep_ms(5);
    return check_end();
}
