// Order between streams: chains and diamonds of events, what a wait captures, tasks of one stream, callbacks.
#include "runtime.h"

enum { LENGTH = 12, ROUNDS = 50, WIDTH = 8 };

// A counter in device memory that travels over all streams, one copy each: only the right order adds up.
static void chain(void) {
    aclrtStream streams[LENGTH];
    aclrtEvent events[LENGTH];
    unsigned char *device = NULL, *pinned = NULL;
    int i, round;
    CHECK_OK(aclrtMalloc((void **)&device, LENGTH + 1, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&pinned, 2));
    for (i = 0; i < LENGTH; ++i) {
        CHECK_OK(aclrtCreateStreamWithConfig(&streams[i], (uint32_t)(LENGTH - i) % 8, 0));
        CHECK_OK(aclrtCreateEvent(&events[i]));
    }
    for (round = 0; round < ROUNDS; ++round) {
        pinned[0] = (unsigned char)(round + 1);
        pinned[1] = 0;
        CHECK_OK(aclrtMemcpyAsync(device, 1, pinned, 1, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
        CHECK_OK(aclrtRecordEvent(events[0], streams[0]));
        for (i = 1; i < LENGTH; ++i) {
            CHECK_OK(aclrtStreamWaitEvent(streams[i], events[i - 1]));
            CHECK_OK(aclrtMemcpyAsync(device + i, 1, device + i - 1, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[i]));
            CHECK_OK(aclrtRecordEvent(events[i], streams[i]));
        }
        CHECK_OK(aclrtMemcpyAsync(pinned + 1, 1, device + LENGTH - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST,
                                  streams[LENGTH - 1]));
        CHECK_OK(aclrtSynchronizeStream(streams[LENGTH - 1]));
        CHECK_EQ(pinned[1], round + 1);
    }
    for (i = 0; i < LENGTH; ++i) {
        CHECK_OK(aclrtDestroyEvent(events[i]));
        CHECK_OK(aclrtDestroyStream(streams[i]));
    }
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
}

// One source, many branches, one sink that waits for all of them.
static void diamond(void) {
    aclrtStream source = NULL, sink = NULL, branches[WIDTH];
    aclrtEvent start = NULL, ends[WIDTH];
    unsigned char *device = NULL, *pinned = NULL;
    unsigned char want[WIDTH];
    int i, round;
    CHECK_OK(aclrtMalloc((void **)&device, 2 * WIDTH, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&pinned, 2 * WIDTH));
    CHECK_OK(aclrtCreateStream(&source));
    CHECK_OK(aclrtCreateStream(&sink));
    CHECK_OK(aclrtCreateEvent(&start));
    for (i = 0; i < WIDTH; ++i) {
        CHECK_OK(aclrtCreateStream(&branches[i]));
        CHECK_OK(aclrtCreateEvent(&ends[i]));
    }
    for (round = 0; round < ROUNDS; ++round) {
        check_fill(pinned, WIDTH, (unsigned)round);
        memcpy(want, pinned, WIDTH);
        memset(pinned + WIDTH, 0, WIDTH);
        CHECK_OK(aclrtMemcpyAsync(device, WIDTH, pinned, WIDTH, ACL_MEMCPY_HOST_TO_DEVICE, source));
        CHECK_OK(aclrtRecordEvent(start, source));
        for (i = 0; i < WIDTH; ++i) {
            CHECK_OK(aclrtStreamWaitEvent(branches[i], start));
            CHECK_OK(aclrtMemcpyAsync(device + WIDTH + i, 1, device + i, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, branches[i]));
            CHECK_OK(aclrtRecordEvent(ends[i], branches[i]));
            CHECK_OK(aclrtStreamWaitEvent(sink, ends[i]));
        }
        CHECK_OK(aclrtMemcpyAsync(pinned + WIDTH, WIDTH, device + WIDTH, WIDTH, ACL_MEMCPY_DEVICE_TO_HOST, sink));
        CHECK_OK(aclrtSynchronizeStream(sink));
        CHECK_BYTES(pinned + WIDTH, want, WIDTH);
    }
    for (i = 0; i < WIDTH; ++i) {
        CHECK_OK(aclrtDestroyEvent(ends[i]));
        CHECK_OK(aclrtDestroyStream(branches[i]));
    }
    CHECK_OK(aclrtDestroyEvent(start));
    CHECK_OK(aclrtDestroyStream(sink));
    CHECK_OK(aclrtDestroyStream(source));
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
}

// aclrtRecordEvent#07, #08: a wait keeps to the record that it saw, whatever is recorded later, and where.
static void recorded_again(int ex) {
    aclrtStream early = NULL, late = NULL, waiter = NULL;
    aclrtEvent event = NULL;
    check_flag release_early = {0}, release_late = {0}, done = {0}, done_late = {0};
    CHECK_OK(aclrtCreateStream(&early));
    CHECK_OK(aclrtCreateStream(&late));
    CHECK_OK(aclrtCreateStream(&waiter));
    CHECK_OK(ex ? aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC) : aclrtCreateEvent(&event));
    CHECK_OK(aclrtLaunchHostFunc(early, runtime_hold, &release_early));
    CHECK_OK(aclrtRecordEvent(event, early));
    CHECK_OK(aclrtLaunchHostFunc(late, runtime_hold, &release_late));
    CHECK_OK(aclrtStreamWaitEvent(waiter, event));
    CHECK_OK(aclrtLaunchHostFunc(waiter, runtime_mark, &done));
    // The second record is on a stream that is still held.
    CHECK_OK(aclrtRecordEvent(event, late));
    check_sleep_ms(2);
    CHECK(!check_raised(&done));
    check_raise(&release_early);
    CHECK(check_await(&done));
    CHECK_OK(aclrtSynchronizeStream(waiter));
    // A wait issued now sees the second record.
    CHECK_OK(aclrtStreamWaitEvent(waiter, event));
    CHECK_OK(aclrtLaunchHostFunc(waiter, runtime_mark, &done_late));
    check_sleep_ms(2);
    CHECK(!check_raised(&done_late));
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(event, 5), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    check_raise(&release_late);
    CHECK_OK(aclrtSynchronizeStream(waiter));
    CHECK(check_raised(&done_late));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(waiter));
    CHECK_OK(aclrtDestroyStream(late));
    CHECK_OK(aclrtDestroyStream(early));
}

// A wait for an event that was never recorded waits for nothing; one recorded after the wait does not count.
static void never_recorded(void) {
    aclrtStream stream = NULL, waiter = NULL;
    aclrtEvent event = NULL;
    check_flag release = {0}, done = {0};
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&waiter));
    CHECK_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    CHECK_OK(aclrtStreamWaitEvent(waiter, event));
    CHECK_OK(aclrtLaunchHostFunc(waiter, runtime_mark, &done));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK(check_await(&done));
    CHECK_OK(aclrtSynchronizeStream(waiter));
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(waiter));
    CHECK_OK(aclrtDestroyStream(stream));
}

// Streams run beside each other: a held one does not keep another, nor its own priority.
static void beside_each_other(void) {
    aclrtStream held = NULL, free_one = NULL;
    check_flag release = {0}, done = {0};
    CHECK_OK(aclrtCreateStreamWithConfig(&held, 0, 0));
    CHECK_OK(aclrtCreateStreamWithConfig(&free_one, 7, 0));
    CHECK_OK(aclrtLaunchHostFunc(held, runtime_hold, &release));
    CHECK_OK(aclrtLaunchHostFunc(free_one, runtime_mark, &done));
    // With no call at all, a program that only looks at memory sees progress.
    CHECK(check_await(&done));
    CHECK_OK(aclrtSynchronizeStream(free_one));
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(held));
    CHECK_OK(aclrtDestroyStream(free_one));
    CHECK_OK(aclrtDestroyStream(held));
}

// Host functions that wait for each other over as many streams as that takes: each needs a thread of its own.
static void host_functions_that_wait_for_each_other(void) {
    aclrtStream streams[WIDTH];
    static check_flag flags[WIDTH + 1];
    int i;
    memset(flags, 0, sizeof flags);
    for (i = 0; i < WIDTH; ++i) {
        CHECK_OK(aclrtCreateStream(&streams[i]));
        CHECK_OK(aclrtLaunchHostFunc(streams[i], runtime_hold, &flags[i + 1]));
        CHECK_OK(aclrtLaunchHostFunc(streams[i], runtime_mark, &flags[i]));
    }
    check_raise(&flags[WIDTH]);
    CHECK(check_await(&flags[0]));
    for (i = 0; i < WIDTH; ++i) {
        CHECK_OK(aclrtSynchronizeStream(streams[i]));
        CHECK_OK(aclrtDestroyStream(streams[i]));
    }
}

int main(void) {
    runtime_start();
    chain();
    diamond();
    recorded_again(0);
    recorded_again(1);
    never_recorded();
    beside_each_other();
    host_functions_that_wait_for_each_other();
    return runtime_end();
}
