/* What most test programs share: set-up, a way to hold a stream, and the proof that the runtime still works. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include "check.h"

#include "acl/acl.h"

/* ours: an address or range that no memory stands behind (unmapped, freed, beyond its block). No page names the code;
 * the copy pages only promise an error. */
#define BAD_ADDRESS ACL_ERROR_RT_PARAM_INVALID

/* A program that hands out bad addresses on purpose says WRONG_ADDRESSES: AddressSanitizer's own versions of memmove and
 * memset would stop it there, before the runtime can answer with a code. */
#if defined(WRONG_ADDRESSES) && defined(__SANITIZE_ADDRESS__)
#ifdef __cplusplus
extern "C"
#endif
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "replace_intrin=0"; }
#endif

/* An address that is mapped in no process (the first page), and one that is not even canonical. */
#define UNMAPPED ((void *)(uintptr_t)0x10)
#define NON_CANONICAL ((void *)(uintptr_t)0x00f0000000000000ULL)

/* Initialises the runtime and sets device 0 for this thread. */
CHECK_MAYBE_UNUSED static void runtime_start(void) {
    CHECK_OK(aclInit(NULL));
    CHECK_OK(aclrtSetDevice(0));
}

/* Undoes runtime_start and ends the program: the return value of main. */
CHECK_MAYBE_UNUSED static int runtime_end(void) {
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalize());
    return check_end();
}

/* A host function that keeps its stream until the check_flag is raised. */
CHECK_MAYBE_UNUSED static void runtime_hold(void *flag) { CHECK(check_await((const check_flag *)flag)); }

/* A host function that raises the check_flag. */
CHECK_MAYBE_UNUSED static void runtime_mark(void *flag) { check_raise((check_flag *)flag); }

/* Device memory that holds `size` bytes of `from`. */
CHECK_MAYBE_UNUSED static void *runtime_device(const void *from, size_t size) {
    void *device = NULL;
    CHECK_OK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemcpy(device, size, from, size, ACL_MEMCPY_HOST_TO_DEVICE));
    return device;
}

/* The bytes of device memory, checked against `want`. */
#define CHECK_DEVICE(device, want, size)                                                             \
    do {                                                                                             \
        unsigned char *back_ = (unsigned char *)malloc(size);                                        \
        CHECK_OK(aclrtMemcpy(back_, (size), (device), (size), ACL_MEMCPY_DEVICE_TO_HOST));           \
        CHECK_BYTES(back_, (want), (size));                                                          \
        free(back_);                                                                                 \
    } while (0)

/* After a refused call: everything else goes on working. */
CHECK_MAYBE_UNUSED static void runtime_still_works_(const char *file, int line) {
    unsigned char from[256], to[256];
    void *device = NULL, *pinned = NULL;
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    int good;
    check_fill(from, sizeof from, (unsigned)line);
    memset(to, 0, sizeof to);
    good = aclrtMalloc(&device, sizeof from, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS;
    good = good && aclrtMallocHost(&pinned, sizeof from) == ACL_SUCCESS;
    good = good && aclrtCreateStream(&stream) == ACL_SUCCESS && aclrtCreateEvent(&event) == ACL_SUCCESS;
    if (good) memcpy(pinned, from, sizeof from);
    good = good && aclrtMemcpyAsync(device, 256, pinned, 256, ACL_MEMCPY_HOST_TO_DEVICE, stream) == ACL_SUCCESS;
    good = good && aclrtRecordEvent(event, stream) == ACL_SUCCESS && aclrtSynchronizeEvent(event) == ACL_SUCCESS;
    good = good && aclrtMemcpy(to, 256, device, 256, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS;
    good = good && aclrtSynchronizeStream(stream) == ACL_SUCCESS;
    check_true(good, "the runtime still works: every call succeeds", file, line);
    check_bytes(to, from, sizeof from, "the runtime still works: what comes back", file, line);
    if (event) CHECK_OK(aclrtDestroyEvent(event));
    if (stream) CHECK_OK(aclrtDestroyStream(stream));
    if (pinned) CHECK_OK(aclrtFreeHost(pinned));
    if (device) CHECK_OK(aclrtFree(device));
}
#define CHECK_STILL_WORKS() runtime_still_works_(__FILE__, __LINE__)

/* The registration function that compiled device code calls for each device variable (spec/registration.csv). */
#ifdef __cplusplus
extern "C" {
#endif
void rtRegisterVariable(void *binHandle, const void *hostVar, const char *deviceVarName, size_t size, uint32_t flags,
                        void *reserve);
#ifdef __cplusplus
}
#endif

#endif
