/* Random call sequences on the C ABI against a small model.
 *
 * A stream of bytes is turned into calls: good ones, whose results the model foretells byte for byte, and bad ones
 * (null, stale, foreign and invented handles, unmapped addresses, absurd sizes), which have to be refused and change
 * nothing. Every so often everything is synchronized and all memory compared with the model.
 *
 * The bytes come from the file named as the first argument (for a fuzzer), or else from a generator:
 * SEQUENCES_RUNS calls from SEQUENCES_SEED. A finding prints the number of the call and both of these. */
#define WRONG_ADDRESSES
#include "runtime.h"

enum { BUFFERS = 12, STREAMS = 6, EVENTS = 6, MAX_SIZE = 4096 };

/* ---- Where the bytes come from ---- */

static unsigned char *input;
static size_t input_size, input_at;
static uint64_t generator, step, seed;

static uint32_t byte(void) {
    if (input != NULL) return input_at < input_size ? input[input_at++] : 0;
    generator ^= generator << 13;
    generator ^= generator >> 7;
    generator ^= generator << 17;
    return (uint32_t)(generator >> 33) & 0xff;
}

static size_t number(void) { return byte() | byte() << 8 | byte() << 16; }

static void found(const char *what, long long got, long long want) {
    fprintf(stderr, "call %" PRIu64 " of seed %" PRIu64 ": %s: got %lld, expected %lld\n", step, seed, what, got, want);
    exit(1);
}

static void expect(const char *what, aclError got, aclError want) {
    check_note(1);
    if (got != want) found(what, got, want);
}

static void expect_refusal(const char *what, aclError got) {
    check_note(1);
    if (got == ACL_SUCCESS) found(what, got, -1);
}

/* ---- The model ----
 * A buffer knows its bytes as they will be once all queued work is done. Work on several streams is ordered by making
 * each stream that touches a buffer wait for the one that touched it last: with that, the order of the calls is the
 * order of the effects, and the model is a plain array. */

typedef struct {
    unsigned char *memory; /* NULL: free slot */
    size_t size;
    int pinned;
    int last_stream; /* the stream that used it last, or -1 */
    unsigned char model[MAX_SIZE];
} buffer;

static buffer buffers[BUFFERS];
static aclrtStream streams[STREAMS], stale_stream;
static aclrtEvent events[EVENTS], stale_event;
static void *stale_device;

static aclrtStream stream_of(int index) { return index < 0 ? NULL : streams[index]; }

/* Stream `to` waits for all that was queued on stream `from` so far. */
static void order(int from, int to) {
    aclrtEvent event = events[byte() % EVENTS];
    if (from == to) return;
    expect("record", aclrtRecordEvent(event, stream_of(from)), ACL_SUCCESS);
    expect("wait", aclrtStreamWaitEvent(stream_of(to), event), ACL_SUCCESS);
}

static int claim(buffer *used, int stream) {
    if (used->last_stream != stream) order(used->last_stream, stream);
    return used->last_stream = stream;
}

static void settle(buffer *used) {
    expect("synchronize", aclrtSynchronizeStream(stream_of(used->last_stream)), ACL_SUCCESS);
}

static void compare(buffer *used) {
    unsigned char back[MAX_SIZE];
    const unsigned char *bytes = used->memory;
    settle(used);
    if (!used->pinned) {
        expect("read back", aclrtMemcpy(back, sizeof back, used->memory, used->size, ACL_MEMCPY_DEVICE_TO_HOST),
               ACL_SUCCESS);
        bytes = back;
    }
    check_note(1);
    if (memcmp(bytes, used->model, used->size) != 0) {
        size_t i = 0;
        while (bytes[i] == used->model[i]) ++i;
        fprintf(stderr, "buffer %d (%s, %zu bytes) differs at byte %zu\n", (int)(used - buffers),
                used->pinned ? "page-locked" : "device", used->size, i);
        found("memory", bytes[i], used->model[i]);
    }
}

static void allocate(buffer *slot) {
    slot->size = 1 + number() % MAX_SIZE;
    slot->pinned = byte() % 3 == 0;
    if (slot->pinned)
        expect("malloc host", aclrtMallocHost((void **)&slot->memory, slot->size), ACL_SUCCESS);
    else
        expect("malloc", aclrtMalloc((void **)&slot->memory, slot->size, (aclrtMemMallocPolicy)(byte() % 3)),
               ACL_SUCCESS);
    slot->last_stream = -1;
    memset(slot->model, (int)(byte() & 0xff), slot->size);
    expect("fill", aclrtMemset(slot->memory, slot->size, slot->model[0], slot->size), ACL_SUCCESS);
}

static void release(buffer *slot) {
    compare(slot);
    if (slot->pinned) {
        expect("free host", aclrtFreeHost(slot->memory), ACL_SUCCESS);
    } else {
        expect("free", aclrtFree(slot->memory), ACL_SUCCESS);
        stale_device = slot->memory;
    }
    slot->memory = NULL;
}

static buffer *some_buffer(void) {
    buffer *slot = &buffers[byte() % BUFFERS];
    if (slot->memory == NULL) allocate(slot);
    return slot;
}

/* ---- Good calls ---- */

static void copy(void) {
    buffer *to = some_buffer(), *from = some_buffer();
    size_t most = to->size < from->size ? to->size : from->size;
    size_t count = number() % (most + 1), to_at = number() % (to->size - count + 1);
    size_t from_at = number() % (from->size - count + 1);
    aclrtMemcpyKind kind = (aclrtMemcpyKind)(byte() % 5);
    int stream = (int)(byte() % (STREAMS + 1)) - 1;
    if (to == from) return; /* overlapping ranges have no promised result */
    if (byte() % 2) {
        settle(to);
        settle(from);
        expect("copy", aclrtMemcpy(to->memory + to_at, to->size - to_at, from->memory + from_at, count, kind), ACL_SUCCESS);
    } else {
        aclError want = ACL_SUCCESS;
        if (count != 0 && ((to->pinned && from->pinned) || kind == ACL_MEMCPY_HOST_TO_HOST))
            want = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        claim(to, stream);
        claim(from, stream);
        expect("copy async",
               aclrtMemcpyAsync(to->memory + to_at, to->size - to_at, from->memory + from_at, count, kind,
                                stream_of(stream)),
               want);
        if (want != ACL_SUCCESS) return;
    }
    memcpy(to->model + to_at, from->model + from_at, count);
}

static void fill(void) {
    buffer *to = some_buffer();
    size_t at = number() % to->size, count = number() % (to->size - at + 1);
    int value = (int)byte(), stream = (int)(byte() % (STREAMS + 1)) - 1;
    if (byte() % 2) {
        settle(to);
        expect("fill", aclrtMemset(to->memory + at, to->size - at, value, count), ACL_SUCCESS);
    } else {
        claim(to, stream);
        expect("fill async", aclrtMemsetAsync(to->memory + at, to->size - at, value, count, stream_of(stream)),
               ACL_SUCCESS);
    }
    memset(to->model + at, value, count);
}

static void from_pageable(void) {
    unsigned char bytes[MAX_SIZE];
    buffer *to = some_buffer();
    size_t count = number() % (to->size + 1);
    int stream = (int)(byte() % (STREAMS + 1)) - 1;
    if (to->pinned) return;
    check_fill(bytes, count, byte());
    claim(to, stream);
    expect("copy async from pageable memory",
           aclrtMemcpyAsync(to->memory, to->size, bytes, count, ACL_MEMCPY_HOST_TO_DEVICE, stream_of(stream)),
           ACL_SUCCESS);
    memcpy(to->model, bytes, count);
    memset(bytes, 0, sizeof bytes); /* the call has taken them along */
}

static void replace_stream(void) {
    int index = (int)(byte() % STREAMS), i;
    expect("destroy stream", aclrtDestroyStream(streams[index]), ACL_SUCCESS);
    for (i = 0; i < BUFFERS; ++i)
        if (buffers[i].memory != NULL && buffers[i].last_stream == index) buffers[i].last_stream = -1;
    stale_stream = streams[index];
    expect("create stream", aclrtCreateStreamWithConfig(&streams[index], byte(), 0), ACL_SUCCESS);
}

static void replace_event(void) {
    int index = (int)(byte() % EVENTS);
    expect("destroy event", aclrtDestroyEvent(events[index]), ACL_SUCCESS);
    stale_event = events[index];
    expect("create event",
           byte() % 2 ? aclrtCreateEventExWithFlag(&events[index], ACL_EVENT_SYNC)
                      : aclrtCreateEventWithFlag(&events[index], ACL_EVENT_SYNC),
           ACL_SUCCESS);
}

static void look(void) {
    aclrtStreamStatus status;
    aclrtEventRecordedStatus recorded;
    aclrtPtrAttributes attributes;
    buffer *used = some_buffer();
    expect("query stream", aclrtStreamQuery(streams[byte() % STREAMS], &status), ACL_SUCCESS);
    expect("query event", aclrtQueryEventStatus(events[byte() % EVENTS], &recorded), ACL_SUCCESS);
    expect("attributes", aclrtPointerGetAttributes(used->memory + number() % used->size, &attributes), ACL_SUCCESS);
    if ((attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST) != (used->pinned != 0))
        found("location", (long long)attributes.location.type, used->pinned);
}

/* ---- Bad calls ---- */

static void *no_handle(void) {
    switch (byte() % 6) {
    case 0: return stale_stream;
    case 1: return stale_event;
    case 2: return buffers[byte() % BUFFERS].model;
    case 3: return (void *)(uintptr_t)(1 + number());
    case 4: return (void *)~(uintptr_t)0;
    default: return (void *)((uintptr_t)number() << 40 | number() << 16 | byte());
    }
}

static int is_known(const void *handle) {
    int i;
    for (i = 0; i < STREAMS; ++i)
        if (handle == streams[i] || handle == events[i]) return 1;
    return handle == NULL;
}

/* Freed memory, unless its place was given to a new buffer. */
static void *freed(void *memory) {
    int i;
    for (i = 0; i < BUFFERS; ++i)
        if (buffers[i].memory != NULL && buffers[i].memory - 64 <= (unsigned char *)memory &&
            (unsigned char *)memory < buffers[i].memory + buffers[i].size + 64)
            return UNMAPPED;
    return memory == NULL ? UNMAPPED : memory;
}

static void *no_address(void) {
    switch (byte() % 6) {
    case 4: return freed(stale_device);
    case 5: return UNMAPPED; /* not freed pinned memory: synchronous calls take that as memory of the host */
    case 0: return UNMAPPED;
    case 1: return NON_CANONICAL;
    case 2: return (void *)(uintptr_t)(1 + number() % 4000);
    default: return (void *)~(uintptr_t)(number() % 4000);
    }
}

static size_t absurd(void) {
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, (size_t)1 << 63, ((size_t)1 << 63) - 1, (size_t)1 << 48};
    return sizes[byte() % 5] - byte() % 2;
}

static void bad(void) {
    /* First the buffer: made later, it could be given the place of freed memory. */
    buffer *used = some_buffer();
    void *handle = no_handle(), *address = no_address(), *memory = NULL;
    size_t size = absurd();
    aclrtStream stream = streams[byte() % STREAMS];
    aclrtStreamStatus status;
    int32_t id;
    uint32_t which = byte() % 20;
    if (is_known(handle)) handle = (void *)(uintptr_t)1;
    switch (which) {
    case 0: expect_refusal("destroy stream", aclrtDestroyStream(handle)); break;
    case 1: expect_refusal("destroy event", aclrtDestroyEvent(handle)); break;
    case 2: expect_refusal("synchronize", aclrtSynchronizeStream(handle)); break;
    case 3: expect_refusal("record", aclrtRecordEvent(handle, stream)); break;
    case 4: expect_refusal("record on", aclrtRecordEvent(events[0], handle)); break;
    case 5: expect_refusal("wait", aclrtStreamWaitEvent(stream, handle)); break;
    case 6: expect_refusal("wait on", aclrtStreamWaitEvent(handle, events[0])); break;
    case 7: expect_refusal("query", aclrtStreamQuery(handle, &status)); break;
    case 8: expect_refusal("id", aclrtStreamGetId(handle, &id)); break;
    case 9: expect_refusal("fill", aclrtMemset(address, 16, 0, 16)); break;
    case 10: expect_refusal("copy async", aclrtMemcpyAsync(used->memory, 64, address, 1, ACL_MEMCPY_DEFAULT, stream)); break;
    case 11: expect_refusal("copy to", aclrtMemcpy(address, 64, used->memory, 1, ACL_MEMCPY_DEFAULT)); break;
    case 12: expect_refusal("copy from", aclrtMemcpy(used->memory, 64, address, 1, ACL_MEMCPY_DEFAULT)); break;
    case 13: expect_refusal("too much", aclrtMemset(used->memory, size, 0, size)); break;
    case 14: expect_refusal("too much", aclrtMemcpy(used->memory, size, used->model, size, ACL_MEMCPY_DEFAULT)); break;
    case 15: expect_refusal("over the end", aclrtMemset(used->memory, used->size, 0, used->size + 1)); break;
    case 16: expect_refusal("malloc", aclrtMalloc(&memory, size, (aclrtMemMallocPolicy)byte())); break;
    case 17: expect_refusal("malloc host", aclrtMallocHost(&memory, size)); break;
    case 18:
        expect_refusal("free", byte() % 2 ? aclrtFree(address) : aclrtFreeHost(address));
        expect_refusal("free inside", used->pinned ? aclrtFreeHost(used->memory + 1) : aclrtFree(used->memory + 1));
        expect_refusal("free as the other", used->pinned ? aclrtFree(used->memory) : aclrtFreeHost(used->memory));
        break;
    default:
        expect_refusal("kind", aclrtMemcpy(used->memory, 1, used->model, 1, (aclrtMemcpyKind)(6 + byte())));
        expect_refusal("timeout", aclrtSynchronizeStreamWithTimeout(stream, -2 - (int32_t)byte()));
        break;
    }
}

static void one_call(void) {
    uint32_t choice = byte() % 32;
    int i;
    if (choice < 9) copy();
    else if (choice < 14) fill();
    else if (choice < 16) from_pageable();
    else if (choice < 18) release(some_buffer());
    else if (choice == 18) replace_stream();
    else if (choice == 19) replace_event();
    else if (choice < 22) look();
    else if (choice < 24) compare(some_buffer());
    else if (choice < 31) bad();
    else if (byte() % 16 == 0) {
        expect("synchronize device", aclrtSynchronizeDevice(), ACL_SUCCESS);
        for (i = 0; i < BUFFERS; ++i)
            if (buffers[i].memory != NULL) compare(&buffers[i]);
    }
}

static void read_input(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    input = (unsigned char *)malloc(1 << 20);
    input_size = fread(input, 1, 1 << 20, file);
    fclose(file);
}

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

int main(int count, char **arguments) {
    uint64_t runs = setting("SEQUENCES_RUNS", 20000);
    int i;
    if (count > 1) read_input(arguments[1]);
    seed = setting("SEQUENCES_SEED", 1);
    generator = seed * 0x9e3779b97f4a7c15ull + 1;
    runtime_start();
    for (i = 0; i < STREAMS; ++i) expect("create", aclrtCreateStream(&streams[i]), ACL_SUCCESS);
    for (i = 0; i < EVENTS; ++i) expect("create", aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC), ACL_SUCCESS);
    stale_stream = streams[0];
    stale_event = events[0];
    for (step = 1; input != NULL ? input_at < input_size : step <= runs; ++step) one_call();
    for (i = 0; i < BUFFERS; ++i)
        if (buffers[i].memory != NULL) release(&buffers[i]);
    for (i = 0; i < EVENTS; ++i) expect("destroy", aclrtDestroyEvent(events[i]), ACL_SUCCESS);
    for (i = 0; i < STREAMS; ++i) expect("destroy", aclrtDestroyStream(streams[i]), ACL_SUCCESS);
    free(input);
    return runtime_end();
}
