/* Checks for the test programs, in C99 and C++11: each failure is one line with file and line, none of them ends the
 * program, and check_end() prints `ok` as the last line when there was none. May be used from any thread. */
#ifndef CHECK_H
#define CHECK_H

/* Strict C99 hides threads, sleeping and mapping otherwise. Included first, this holds for the whole source. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__GNUC__)
#define CHECK_MAYBE_UNUSED __attribute__((unused))
#else
#define CHECK_MAYBE_UNUSED
#endif

/* Counts of this source; a test program is one source. */
static long check_failures CHECK_MAYBE_UNUSED = 0;
static long check_count CHECK_MAYBE_UNUSED = 0;

static int check_note(int good) {
    __atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED);
    if (!good) __atomic_fetch_add(&check_failures, 1, __ATOMIC_RELAXED);
    return good;
}

CHECK_MAYBE_UNUSED static int check_equal(long long got, long long want, const char *text, const char *file, int line) {
    if (check_note(got == want)) return 1;
    fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", file, line, text, got, want);
    return 0;
}

CHECK_MAYBE_UNUSED static int check_pointer(const void *got, const void *want, const char *text, const char *file,
                                            int line) {
    if (check_note(got == want)) return 1;
    fprintf(stderr, "%s:%d: %s is %p, expected %p\n", file, line, text, got, want);
    return 0;
}

CHECK_MAYBE_UNUSED static int check_true(int good, const char *text, const char *file, int line) {
    if (check_note(good)) return 1;
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, text);
    return 0;
}

/* Byte for byte; names the first byte that differs. */
CHECK_MAYBE_UNUSED static int check_bytes(const void *got, const void *want, size_t size, const char *text,
                                          const char *file, int line) {
    const unsigned char *g = (const unsigned char *)got, *w = (const unsigned char *)want;
    size_t i = 0;
    if (!check_true(g != NULL && w != NULL, text, file, line)) return 0;
    while (i < size && g[i] == w[i]) ++i;
    if (check_note(i == size)) return 1;
    fprintf(stderr, "%s:%d: %s differs at byte %zu of %zu: 0x%02x, expected 0x%02x\n", file, line, text, i, size, g[i],
            w[i]);
    return 0;
}

CHECK_MAYBE_UNUSED static int check_all(const void *got, unsigned char want, size_t size, const char *text,
                                        const char *file, int line) {
    const unsigned char *g = (const unsigned char *)got;
    size_t i = 0;
    if (!check_true(g != NULL, text, file, line)) return 0;
    while (i < size && g[i] == want) ++i;
    if (check_note(i == size)) return 1;
    fprintf(stderr, "%s:%d: byte %zu of %s is 0x%02x, expected 0x%02x\n", file, line, i, text, g[i], want);
    return 0;
}

/* Two integers or codes are equal. */
#define CHECK_EQ(got, want) check_equal((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
/* A call succeeds. */
#define CHECK_OK(call) check_equal((long long)(call), 0, #call, __FILE__, __LINE__)
/* Two pointers are equal. */
#define CHECK_PTR(got, want) check_pointer((const void *)(got), (const void *)(want), #got, __FILE__, __LINE__)
/* Something holds. */
#define CHECK(condition) check_true(!!(condition), #condition, __FILE__, __LINE__)
/* Two ranges hold the same bytes. */
#define CHECK_BYTES(got, want, size) check_bytes((got), (want), (size), #got, __FILE__, __LINE__)
/* Every byte of a range has one value. */
#define CHECK_ALL(got, value, size) check_all((got), (unsigned char)(value), (size), #got, __FILE__, __LINE__)

/* The end of a program: the exit status, and `ok` as the last line when nothing failed. */
CHECK_MAYBE_UNUSED static int check_end(void) {
    long failures = __atomic_load_n(&check_failures, __ATOMIC_RELAXED);
    long count = __atomic_load_n(&check_count, __ATOMIC_RELAXED);
    fflush(stderr);
    if (failures != 0 || count == 0) {
        printf("%ld of %ld checks failed\n", failures, count);
        return 1;
    }
    printf("%ld checks\nok\n", count);
    fflush(stdout);
    return 0;
}

/* Sleeps; for giving something the chance to go wrong, never for waiting until it went right. */
CHECK_MAYBE_UNUSED static void check_sleep_ms(long milliseconds) {
    struct timespec span;
    span.tv_sec = milliseconds / 1000;
    span.tv_nsec = (milliseconds % 1000) * 1000000L;
    nanosleep(&span, NULL);
}

/* A flag that one thread raises and another waits for. The wait ends after ten seconds, so that a test whose runtime
 * never raises it fails with a message, and does not hang. */
typedef struct {
    int raised;
} check_flag;

CHECK_MAYBE_UNUSED static void check_raise(check_flag *flag) { __atomic_store_n(&flag->raised, 1, __ATOMIC_RELEASE); }

CHECK_MAYBE_UNUSED static int check_raised(const check_flag *flag) {
    return __atomic_load_n(&flag->raised, __ATOMIC_ACQUIRE);
}

CHECK_MAYBE_UNUSED static int check_await(const check_flag *flag) {
    int i;
    for (i = 0; i < 100000 && !check_raised(flag); ++i) {
        struct timespec span;
        span.tv_sec = 0;
        span.tv_nsec = 100000;
        nanosleep(&span, NULL);
    }
    return check_raised(flag);
}

/* Bytes that differ from place to place and from seed to seed. */
CHECK_MAYBE_UNUSED static void check_fill(void *to, size_t size, unsigned seed) {
    unsigned char *bytes = (unsigned char *)to;
    uint32_t state = seed * 2654435761u + 12345u;
    size_t i;
    for (i = 0; bytes != NULL && i < size; ++i) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(state >> 24);
    }
}

#endif
