/* What the misuse programs share: each call must succeed unless it is the misuse itself. */
#ifndef MISUSE_H
#define MISUSE_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "acl/acl.h"

/* A call that succeeds. */
#define OK(call)                                                                   \
    do {                                                                           \
        const aclError code_ = (call);                                             \
        if (code_ != ACL_SUCCESS) {                                                \
            std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, code_); \
            std::exit(1);                                                          \
        }                                                                          \
    } while (0)

/* A call that is refused. */
#define REFUSED(call)                                                              \
    do {                                                                           \
        if ((call) == ACL_SUCCESS) {                                               \
            std::fprintf(stderr, "%s:%d: %s: not refused\n", __FILE__, __LINE__, #call); \
            std::exit(1);                                                          \
        }                                                                          \
    } while (0)

/* aclInit and device 0 at the start; the reverse at the end. */
struct Session {
    Session() {
        OK(aclInit(nullptr));
        OK(aclrtSetDevice(0));
    }
    ~Session() {
        OK(aclrtResetDevice(0));
        OK(aclFinalize());
    }
};

/* A stream that is destroyed at the end. */
struct Stream {
    aclrtStream handle = nullptr;
    Stream() { OK(aclrtCreateStream(&handle)); }
    ~Stream() { OK(aclrtDestroyStream(handle)); }
    operator aclrtStream() const { return handle; }
    void sync() const { OK(aclrtSynchronizeStream(handle)); }
};

/* An event that is destroyed at the end. */
struct Event {
    aclrtEvent handle = nullptr;
    Event() { OK(aclrtCreateEvent(&handle)); }
    ~Event() { OK(aclrtDestroyEvent(handle)); }
    operator aclrtEvent() const { return handle; }
};

/* Device memory that is freed at the end; filled with a byte at first, or not. */
struct Device {
    void *at = nullptr;
    explicit Device(size_t size, int fill = 0) {
        OK(aclrtMalloc(&at, size, ACL_MEM_MALLOC_HUGE_FIRST));
        if (fill >= 0) OK(aclrtMemset(at, size, fill, size));
    }
    ~Device() { OK(aclrtFree(at)); }
    operator void *() const { return at; }
    void *operator+(size_t offset) const { return static_cast<char *>(at) + offset; }
};

/* Pinned host memory that is freed at the end. */
struct Pinned {
    void *at = nullptr;
    explicit Pinned(size_t size) {
        OK(aclrtMallocHost(&at, size));
        std::memset(at, 0, size);
    }
    ~Pinned() { OK(aclrtFreeHost(at)); }
    operator void *() const { return at; }
};

/* Whether the system may read a byte: the kernel raises no signal for pages that are protected. */
inline bool open_to_host(const void *byte) {
    int ends[2];
    if (pipe(ends) != 0) std::exit(1);
    const bool open = write(ends[1], byte, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return open;
}

#endif
