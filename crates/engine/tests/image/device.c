/* A device binary, its tables written by hand. */
#include "toprope/device_image.h"

#ifdef MISSING
extern int nowhere;
int *there = &nowhere;
#endif

static int32_t counter = 7;
static int32_t big[3000];
static int32_t constructed;

__attribute__((constructor)) static void construct(void) { constructed = 1; }
__attribute__((destructor)) static void end(void) { __builtin_trap(); }

struct add { int32_t by; int32_t *result; };
static void add(const void *arguments, const struct toprope_block *block) {
    const struct add *a = arguments;
    counter += a->by;
    *a->result = counter + (int32_t)block->index;
}
static void ask(const void *arguments, const struct toprope_block *block) {
    (void)block;
    **(int32_t *const *)arguments = constructed;
}

static const struct toprope_param add_params[] = {{0, 4}, {8, 8}}, ask_params[] = {{0, 8}};
static const struct toprope_kernel add_kernel = {"add", add, add_params, 2, 16, TOPROPE_CORE_VECTOR, 0};
static const struct toprope_kernel ask_kernel = {"ask", ask, ask_params, 1, 8, TOPROPE_CORE_MIX, 0};
static const struct toprope_kernel *const kernels[] = {&add_kernel, &ask_kernel};
static const struct toprope_variable variables[] = {{"counter", &counter, sizeof counter}, {"big", big, sizeof big}};
#ifndef VERSION
#define VERSION TOPROPE_IMAGE_VERSION
#endif
const struct toprope_image toprope_device_image = {TOPROPE_IMAGE_MAGIC, VERSION, 2, 2, kernels, variables};
