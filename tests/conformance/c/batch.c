// Copies in batches: the four forms, attributes by index, the failing entry, refusals.
#include "runtime.h"

enum { COUNT = 6, SIZE = 200 };

static aclrtMemLocation device_location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
static aclrtMemLocation host_location = {0, ACL_MEM_LOCATION_TYPE_HOST};

static aclrtMemcpyBatchAttr attribute(aclrtMemLocation to, aclrtMemLocation from) {
    aclrtMemcpyBatchAttr attr;
    memset(&attr, 0, sizeof attr);
    attr.dstLoc = to;
    attr.srcLoc = from;
    return attr;
}

static void *devices[COUNT], *hosts[COUNT], *backs[COUNT];
static size_t sizes[COUNT], maxima[COUNT];
static aclrtStream stream;

static void prepare(int pinned) {
    int i;
    for (i = 0; i < COUNT; ++i) {
        sizes[i] = (size_t)(SIZE - 7 * i);
        maxima[i] = SIZE;
        CHECK_OK(aclrtMalloc(&devices[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK_OK(aclrtMemset(devices[i], SIZE, 0, SIZE));
        if (pinned) {
            CHECK_OK(aclrtMallocHost(&hosts[i], SIZE));
            CHECK_OK(aclrtMallocHost(&backs[i], SIZE));
        } else {
            hosts[i] = malloc(SIZE);
            backs[i] = malloc(SIZE);
        }
        check_fill(hosts[i], SIZE, (unsigned)i + 10);
        memset(backs[i], 0, SIZE);
    }
}

static void put_away(int pinned) {
    int i;
    for (i = 0; i < COUNT; ++i) {
        CHECK_OK(aclrtFree(devices[i]));
        if (pinned) {
            CHECK_OK(aclrtFreeHost(hosts[i]));
            CHECK_OK(aclrtFreeHost(backs[i]));
        } else {
            free(hosts[i]);
            free(backs[i]);
        }
    }
}

static void check_backs(void) {
    int i;
    for (i = 0; i < COUNT; ++i) {
        CHECK_BYTES(backs[i], hosts[i], sizes[i]);
        CHECK_ALL((char *)backs[i] + sizes[i], 0, SIZE - sizes[i]);
        memset(backs[i], 0, SIZE);
        CHECK_OK(aclrtMemset(devices[i], SIZE, 0, SIZE));
    }
}

static void all_forms(int pinned) {
    aclrtMemcpyBatchAttr down[2], up[2];
    size_t indexes[2] = {0, 4};
    size_t fail = 77;
    down[0] = down[1] = attribute(device_location, host_location);
    up[0] = up[1] = attribute(host_location, device_location);
    prepare(pinned);
    // aclrtMemcpyBatch#18, #22.
    CHECK_OK(aclrtMemcpyBatch(devices, maxima, hosts, sizes, COUNT, down, indexes, 2, &fail));
    CHECK_EQ(fail, SIZE_MAX);
    fail = 77;
    CHECK_OK(aclrtMemcpyBatch(backs, maxima, devices, sizes, COUNT, up, indexes, 1, &fail));
    CHECK_EQ(fail, SIZE_MAX);
    check_backs();
    CHECK_OK(aclrtMemcpyBatchV2(devices, maxima, hosts, sizes, COUNT, down, indexes, 1));
    CHECK_OK(aclrtMemcpyBatchV2(backs, maxima, devices, sizes, COUNT, up, indexes, 2));
    check_backs();
    fail = 77;
    CHECK_OK(aclrtMemcpyBatchAsync(devices, maxima, hosts, sizes, COUNT, down, indexes, 2, &fail, stream));
    CHECK_EQ(fail, SIZE_MAX);
    CHECK_OK(aclrtMemcpyBatchAsync(backs, maxima, devices, sizes, COUNT, up, indexes, 2, &fail, stream));
    if (pinned) CHECK_OK(aclrtSynchronizeStream(stream)); // aclrtMemcpyBatchAsync#23: else done on return
    check_backs();
    CHECK_OK(aclrtMemcpyBatchAsyncV2(devices, maxima, hosts, sizes, COUNT, down, indexes, 1, stream));
    CHECK_OK(aclrtMemcpyBatchAsyncV2(backs, maxima, devices, sizes, COUNT, up, indexes, 1, stream));
    if (pinned) CHECK_OK(aclrtSynchronizeStream(stream));
    check_backs();
    // aclrtMemcpyBatchAsync#25: the default stream.
    CHECK_OK(aclrtMemcpyBatchAsyncV2(devices, maxima, hosts, sizes, COUNT, down, indexes, 1, NULL));
    CHECK_OK(aclrtMemcpyBatchAsyncV2(backs, maxima, devices, sizes, COUNT, up, indexes, 1, NULL));
    CHECK_OK(aclrtSynchronizeStream(NULL));
    check_backs();
    put_away(pinned);
}

// A batch of page-locked memory is read when it runs.
static void read_late(void) {
    aclrtMemcpyBatchAttr down = attribute(device_location, host_location);
    size_t index = 0, fail = 77;
    check_flag release = {0};
    int i;
    prepare(1);
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpyBatchAsync(devices, maxima, hosts, sizes, COUNT, &down, &index, 1, &fail, stream));
    for (i = 0; i < COUNT; ++i) check_fill(hosts[i], SIZE, (unsigned)i + 90);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    for (i = 0; i < COUNT; ++i) CHECK_DEVICE(devices[i], hosts[i], sizes[i]);
    put_away(1);
}

typedef aclError (*batch)(void **, size_t *, void **, size_t *, size_t, aclrtMemcpyBatchAttr *, size_t *, size_t,
                          size_t *);

static aclError batch_async(void **dsts, size_t *maxs, void **srcs, size_t *lengths, size_t count,
                            aclrtMemcpyBatchAttr *attrs, size_t *indexes, size_t numbers, size_t *fail) {
    return aclrtMemcpyBatchAsync(dsts, maxs, srcs, lengths, count, attrs, indexes, numbers, fail, stream);
}

static aclError batch_v2(void **dsts, size_t *maxs, void **srcs, size_t *lengths, size_t count,
                         aclrtMemcpyBatchAttr *attrs, size_t *indexes, size_t numbers, size_t *fail) {
    (void)fail;
    return aclrtMemcpyBatchV2(dsts, maxs, srcs, lengths, count, attrs, indexes, numbers);
}

static aclError batch_async_v2(void **dsts, size_t *maxs, void **srcs, size_t *lengths, size_t count,
                               aclrtMemcpyBatchAttr *attrs, size_t *indexes, size_t numbers, size_t *fail) {
    (void)fail;
    return aclrtMemcpyBatchAsyncV2(dsts, maxs, srcs, lengths, count, attrs, indexes, numbers, stream);
}

// The numbers are those of aclrtMemcpyBatch; the other three have the same rules.
static void refused(batch copy, int has_fail_index) {
    aclrtMemcpyBatchAttr down[3], wrong;
    size_t indexes[3] = {0, 2, 4}, one = 0, fail = 77, bad[3], zeros[COUNT] = {0};
    int i;
    for (i = 0; i < 3; ++i) down[i] = attribute(device_location, host_location);
    prepare(1);
    // #01, #02, #04 to #08, #21.
    CHECK_EQ(copy(devices, maxima, hosts, NULL, COUNT, down, indexes, 1, &fail), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(devices, maxima, hosts, sizes, 0, down, indexes, 1, &fail), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(NULL, maxima, hosts, sizes, COUNT, down, indexes, 1, &fail), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(devices, NULL, hosts, sizes, COUNT, down, indexes, 1, &fail), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(devices, maxima, NULL, sizes, COUNT, down, indexes, 1, &fail), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, NULL, indexes, 1, &fail), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, NULL, 1, &fail), ACL_ERROR_INVALID_PARAM);
    if (has_fail_index)
        CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, indexes, 1, NULL), ACL_ERROR_INVALID_PARAM);
    // #03: nothing to copy.
    fail = 77;
    CHECK_OK(copy(NULL, NULL, NULL, zeros, COUNT, NULL, NULL, 0, &fail));
    if (has_fail_index) CHECK_EQ(fail, SIZE_MAX);
    // #09.
    maxima[2] = sizes[2] - 1;
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, indexes, 1, &fail), ACL_ERROR_INVALID_PARAM);
    maxima[2] = SIZE;
    // #10.
    wrong = down[0];
    wrong.rsv[3] = 1;
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, &wrong, &one, 1, &fail), ACL_ERROR_INVALID_PARAM);
    // #11 to #15.
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, indexes, 0, &fail), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(copy(devices, maxima, hosts, sizes, 2, down, indexes, 3, &fail), ACL_ERROR_RT_PARAM_INVALID);
    bad[0] = 1, bad[1] = 2, bad[2] = 3;
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, bad, 3, &fail), ACL_ERROR_RT_PARAM_INVALID);
    bad[0] = 0, bad[1] = 3, bad[2] = 3;
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, bad, 3, &fail), ACL_ERROR_RT_PARAM_INVALID);
    bad[0] = 0, bad[1] = 3, bad[2] = 2;
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, bad, 3, &fail), ACL_ERROR_RT_PARAM_INVALID);
    bad[0] = 0, bad[1] = 2, bad[2] = COUNT;
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, bad, 3, &fail), ACL_ERROR_RT_PARAM_INVALID);
    // #19, #22: the location is not where the memory is; the entry is named.
    down[1] = attribute(host_location, device_location);
    fail = 77;
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, indexes, 3, &fail), ACL_ERROR_RT_PARAM_INVALID);
    if (has_fail_index) CHECK_EQ(fail, 2);
    down[1] = attribute(device_location, host_location);
    down[2].dstLoc.id = 5;
    fail = 77;
    CHECK_EQ(copy(devices, maxima, hosts, sizes, COUNT, down, indexes, 3, &fail), ACL_ERROR_RT_PARAM_INVALID);
    if (has_fail_index) CHECK_EQ(fail, 4);
    down[2].dstLoc.id = 0;
    // #24: the same side twice.
    wrong = attribute(host_location, host_location);
    CHECK_EQ(copy(backs, maxima, hosts, sizes, COUNT, &wrong, &one, 1, &fail), ACL_ERROR_RT_PARAM_INVALID);
    wrong = attribute(device_location, device_location);
    CHECK_EQ(copy(devices, maxima, devices, sizes, COUNT, &wrong, &one, 1, &fail), ACL_ERROR_RT_PARAM_INVALID);
    // #23.
    {
        enum { MANY = 4097 };
        static void *to[MANY], *from[MANY];
        static size_t lengths[MANY];
        for (i = 0; i < MANY; ++i) to[i] = devices[0], from[i] = hosts[0], lengths[i] = 1;
        CHECK_EQ(copy(to, lengths, from, lengths, MANY, down, &one, 1, &fail), ACL_ERROR_RT_PARAM_INVALID);
        CHECK_OK(copy(to, lengths, from, lengths, MANY - 1, down, &one, 1, &fail));
    }
    CHECK_OK(aclrtSynchronizeStream(stream));
    put_away(1);
    CHECK_STILL_WORKS();
}

int main(void) {
    runtime_start();
    CHECK_OK(aclrtCreateStream(&stream));
    all_forms(1);
    all_forms(0);
    read_late();
    refused(aclrtMemcpyBatch, 1);
    refused(batch_async, 1);
    refused(batch_v2, 0);
    refused(batch_async_v2, 0);
    CHECK_OK(aclrtDestroyStream(stream));
    return runtime_end();
}
