// When asynchronous work touches memory, and what a synchronous call does and does not wait for.
#include "runtime.h"

enum { SIZE = 1024 };

static aclrtStream stream;
static unsigned char *device, *pinned, *pinned_too;
static unsigned char old_bytes[SIZE], new_bytes[SIZE];

// A synchronous copy does not wait for user streams: it reads what is there (aclrtMemcpy#09).
static void sync_copy_does_not_wait(void) {
    unsigned char back[SIZE];
    check_flag release = {0};
    CHECK_OK(aclrtMemcpy(device, SIZE, old_bytes, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    memcpy(pinned, new_bytes, SIZE);
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtMemcpy(back, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(back, old_bytes, SIZE);
    // aclrtMemset#07, aclrtMalloc#16, aclrtFree#03: nor do these.
    CHECK_OK(aclrtMemset(device, SIZE, 0, 16));
    {
        void *block = NULL;
        CHECK_OK(aclrtMalloc(&block, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK_OK(aclrtFree(block));
    }
    CHECK(!check_raised(&release));
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(device, new_bytes, SIZE);
}

// A pinned source is read when the copy runs, not when it is queued.
static void pinned_source_is_read_late(void) {
    check_flag release = {0};
    memcpy(pinned, old_bytes, SIZE);
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    memcpy(pinned, new_bytes, SIZE);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(device, new_bytes, SIZE);
}

// A pinned destination is written when the copy runs; a fill, too.
static void pinned_destination_is_written_late(void) {
    check_flag release = {0};
    CHECK_OK(aclrtMemcpy(device, SIZE, new_bytes, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    memcpy(pinned, old_bytes, SIZE);
    memcpy(pinned_too, old_bytes, SIZE);
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpyAsync(pinned, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK_OK(aclrtMemsetAsync(pinned_too, SIZE, 0x77, SIZE, stream));
    check_sleep_ms(2);
    CHECK_BYTES(pinned, old_bytes, SIZE);
    CHECK_BYTES(pinned_too, old_bytes, SIZE);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_BYTES(pinned, new_bytes, SIZE);
    CHECK_ALL(pinned_too, 0x77, SIZE);
}

// aclrtMemcpyAsync#12, #13: pageable memory. The call first drains the stream, and returns when the copy is done.
static void pageable_copies_are_done_on_return(void) {
    unsigned char *pageable = (unsigned char *)malloc(SIZE);
    check_flag done = {0};
    memcpy(pageable, old_bytes, SIZE);
    memcpy(pinned, new_bytes, SIZE);
    CHECK_OK(aclrtMemcpyAsync(device, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_mark, &done));
    CHECK_OK(aclrtMemcpyAsync(pageable, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK(check_raised(&done));
    CHECK_BYTES(pageable, new_bytes, SIZE);
    // And in the other direction: the buffer is free for other use at once.
    memcpy(pageable, old_bytes, SIZE);
    CHECK_OK(aclrtMemcpyAsync(device, SIZE, pageable, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    memset(pageable, 0, SIZE);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(device, old_bytes, SIZE);
    free(pageable);
}

// aclrtMemcpyAsync#19: this kind takes the bytes along at the call, so that the buffer may go at once. That is the
// point for a local buffer as well: the page's promise comes before #17, which lists no such kind for pageable memory.
static void staged_copies(unsigned char *buffer) {
    check_flag release = {0};
    memcpy(buffer, old_bytes, SIZE);
    CHECK_OK(aclrtMemset(device, SIZE, 0, SIZE));
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpyAsync(device, SIZE, buffer, SIZE, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
    memset(buffer, 0, SIZE);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(device, old_bytes, SIZE);
}

// Within one stream everything runs in order, whatever its size.
static void in_order_within_a_stream(void) {
    enum { BIG = 8 << 20 };
    unsigned char *big = NULL, *host = NULL;
    int i;
    CHECK_OK(aclrtMalloc((void **)&big, 2 * BIG, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&host, BIG));
    check_fill(host, BIG, 6);
    CHECK_OK(aclrtMemcpyAsync(big, BIG, host, BIG, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtMemcpyAsync(big + BIG, BIG, big, BIG, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    for (i = 0; i < 1000; ++i) CHECK_OK(aclrtMemsetAsync(big + BIG + i, 1, i, 1, stream));
    CHECK_OK(aclrtMemcpyAsync(host, BIG, big + BIG, BIG, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    for (i = 0; i < 1000; ++i) CHECK_EQ(host[i], i & 0xff);
    CHECK_DEVICE(big + 1000, host + 1000, BIG - 1000);
    CHECK_OK(aclrtFreeHost(host));
    CHECK_OK(aclrtFree(big));
}

// Freed or overwritten too early: nothing crashes, and the runtime goes on. aclrtFree#03, aclrtFreeWithDevSync#02.
static void freed_while_in_use(void) {
    check_flag release = {0};
    unsigned char *block = NULL, *buffer = NULL;
    CHECK_OK(aclrtMalloc((void **)&block, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&buffer, SIZE));
    memset(buffer, 3, SIZE);
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpyAsync(block, SIZE, buffer, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtFree(block));
    CHECK_OK(aclrtFreeHost(buffer));
    check_raise(&release);
    // Whether the copy still reports is not promised; that it ends, is.
    (void)aclrtSynchronizeStream(stream);
    CHECK_OK(aclrtDestroyStreamForce(stream));
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_STILL_WORKS();
    {
        check_flag done = {0};
        CHECK_OK(aclrtMalloc((void **)&block, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK_OK(aclrtMemsetAsync(block, SIZE, 1, SIZE, stream));
        CHECK_OK(aclrtLaunchHostFunc(stream, runtime_mark, &done));
        CHECK_OK(aclrtFreeWithDevSync(block));
        CHECK(check_raised(&done));
        done.raised = 0;
        CHECK_OK(aclrtMallocHost((void **)&buffer, SIZE));
        CHECK_OK(aclrtMemsetAsync(buffer, SIZE, 1, SIZE, stream));
        CHECK_OK(aclrtLaunchHostFunc(stream, runtime_mark, &done));
        CHECK_OK(aclrtFreeHostWithDevSync(buffer));
        CHECK(check_raised(&done));
    }
}

int main(void) {
    runtime_start();
    check_fill(old_bytes, SIZE, 1);
    check_fill(new_bytes, SIZE, 2);
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMalloc((void **)&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&pinned, SIZE));
    CHECK_OK(aclrtMallocHost((void **)&pinned_too, SIZE));
    sync_copy_does_not_wait();
    pinned_source_is_read_late();
    pinned_destination_is_written_late();
    pageable_copies_are_done_on_return();
    {
        unsigned char local[SIZE];
        staged_copies(pinned);
        staged_copies(local);
    }
    in_order_within_a_stream();
    freed_while_in_use();
    CHECK_OK(aclrtFreeHost(pinned_too));
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtDestroyStream(stream));
    return runtime_end();
}
