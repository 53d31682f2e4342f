/* The device binary of the tests: kernels and variables with their tables written by hand, as `toprope c++` would make them.
 * Compiled by the tests themselves: cc -shared -fPIC -fno-gnu-unique -Wl,-Bsymbolic -I include.
 */
#include <stdlib.h>
#include <string.h>

#include "toprope/device_image.h"

static int32_t counter = 7;
static int32_t table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static int64_t zeros[1024];

#define KERNEL(name) static void name##_entry(const void *arguments, const struct toprope_block *block)
#define ARGUMENTS(...) struct { __VA_ARGS__ } const *a = arguments; (void)a; (void)block

KERNEL(nothing) { (void)arguments; (void)block; }

KERNEL(store) {
    ARGUMENTS(int32_t *to; int32_t value;);
    *a->to = a->value;
}

KERNEL(add) {
    ARGUMENTS(int32_t by; int32_t *now;);
    counter += a->by;
    table[1] += a->by;
    *a->now = counter;
}

/* Each block writes how many there are and which it is. */
KERNEL(blocks) {
    ARGUMENTS(uint32_t *to;);
    a->to[block->index] = block->count * 1000 + block->index;
}

/* Small parameters begin at multiples of 4. */
KERNEL(sum) {
    ARGUMENTS(int64_t *to; int8_t _Alignas(4) one; int16_t _Alignas(4) two; int32_t three; int64_t four;);
    *a->to = a->one + a->two + a->three + a->four;
}

/* Copies bytes behind an address that a placeholder stands for. */
KERNEL(copy) {
    ARGUMENTS(uint8_t *to; const uint8_t *from; uint32_t bytes;);
    memcpy(a->to, a->from, a->bytes);
}

KERNEL(touch) {
    ARGUMENTS(volatile int32_t *at;);
    if (block->index + 1 == block->count) *a->at = 1;
}

KERNEL(divide) {
    ARGUMENTS(volatile int32_t *to; int32_t by;);
    *a->to = 100 / a->by;
}

KERNEL(trap) { (void)arguments; (void)block; __builtin_trap(); }
KERNEL(aborts) { (void)arguments; (void)block; abort(); }

/* Returns when the word is not 0. */
KERNEL(wait) {
    ARGUMENTS(volatile int32_t *word;);
    while (*a->word == 0) {
    }
}

/* Every block writes its part, then adds up what all wrote; twice. */
KERNEL(meet) {
    ARGUMENTS(volatile uint32_t *to;);
    for (int round = 0; round < 2; round++) {
        uint32_t total = 0;
        a->to[block->index] = block->index + 1 + (uint32_t)round;
        block->services->sync_all(block);
        for (uint32_t i = 0; i < block->count; i++) total += a->to[i];
        block->services->sync_all(block);
        a->to[block->index] = total;
        block->services->sync_all(block);
    }
}

/* One block stays away. */
KERNEL(meet_not) {
    ARGUMENTS(int32_t away;);
    if ((int32_t)block->index != a->away) block->services->sync_all(block);
}

/* A block faults while the others wait for it. */
KERNEL(meet_fault) {
    ARGUMENTS(int32_t bad;);
    block->services->sync_all(block);
    if ((int32_t)block->index == a->bad) *(volatile int32_t *)0x48 = 1;
    block->services->sync_all(block);
}

KERNEL(say) {
    (void)arguments;
    char text[] = "block 0 of the kernel says\nhello";
    text[6] = (char)('0' + block->index);
    block->services->print(block, text, 10);
    block->services->print(block, text + 10, sizeof text - 11);
}

static const struct toprope_param one_pointer[] = {{0, 8}}, pointer_and_word[] = {{0, 8}, {8, 4}}, one_word[] = {{0, 4}},
    add_params[] = {{0, 4}, {8, 8}}, sum_params[] = {{0, 8}, {8, 1}, {12, 2}, {16, 4}, {24, 8}},
    copy_params[] = {{0, 8}, {8, 8}, {16, 4}};

#define ENTRY(name, params, bytes, core) {#name, name##_entry, params, sizeof(params) / sizeof *(params), bytes, core, 0}
#define MIX TOPROPE_CORE_MIX
static const struct toprope_kernel all[] = {
    {"nothing", nothing_entry, NULL, 0, 0, MIX, 0},
    ENTRY(store, pointer_and_word, 16, MIX),
    ENTRY(add, add_params, 16, MIX),
    ENTRY(blocks, one_pointer, 8, MIX),
    ENTRY(sum, sum_params, 32, MIX),
    ENTRY(copy, copy_params, 24, MIX),
    ENTRY(touch, one_pointer, 8, MIX),
    ENTRY(divide, pointer_and_word, 16, MIX),
    {"trap", trap_entry, NULL, 0, 0, MIX, 0},
    {"aborts", aborts_entry, NULL, 0, 0, MIX, 0},
    ENTRY(wait, one_pointer, 8, MIX),
    ENTRY(meet, one_pointer, 8, MIX),
    ENTRY(meet_not, one_word, 4, MIX),
    ENTRY(meet_fault, one_word, 4, MIX),
    {"say", say_entry, NULL, 0, 0, MIX, 0},
    {"cube", nothing_entry, NULL, 0, 0, TOPROPE_CORE_CUBE, 0},
    {"vector", nothing_entry, NULL, 0, 0, TOPROPE_CORE_VECTOR, 0},
    {"touch_vector", touch_entry, one_pointer, 1, 8, TOPROPE_CORE_VECTOR, 0},
    {"tiled_7", nothing_entry, NULL, 0, 0, MIX, 0},
};

enum { KERNELS = sizeof all / sizeof *all };
static const struct toprope_kernel *const kernels[KERNELS] = {
    all, all + 1, all + 2, all + 3, all + 4, all + 5, all + 6, all + 7, all + 8, all + 9, all + 10, all + 11, all + 12, all + 13,
    all + 14, all + 15, all + 16, all + 17, all + 18,
};
static const struct toprope_variable variables[] = {
    {"counter", &counter, sizeof counter}, {"table", table, sizeof table}, {"zeros", zeros, sizeof zeros},
};

const struct toprope_image toprope_device_image = {
    TOPROPE_IMAGE_MAGIC, TOPROPE_IMAGE_VERSION, KERNELS, sizeof variables / sizeof *variables, kernels, variables,
};
