/* A device variable and a kernel registered by hand: what start-up code made by `toprope c++` does, written out in C.
 *
 *     toprope run examples/register_by_hand.c
 *
 * The file has two halves. With -DDEVICE_HALF it is the device half, a shared object with a table of what is in it
 * (toprope/device_image.h); without, the host half, which registers the device half and uses it. Run without an argument, the
 * program compiles its own device half first; with one, the argument is the device half's file.
 */
#ifdef DEVICE_HALF
#include "toprope/device_image.h"

static int32_t total = 100;

struct arguments { /* members at multiples of 4 bytes at least */
    const int32_t *values;
    uint32_t count;
};

/* Each block adds its share of the values; blocks of one launch run one after the other here. */
static void add_up(const void *raw, const struct toprope_block *block) {
    const struct arguments *a = raw;
    for (uint32_t i = block->index; i < a->count; i += block->count) total += a->values[i];
}

static const struct toprope_param params[] = {{0, 8}, {8, 4}};
static const struct toprope_kernel kernel = {"add_up", add_up, params, 2, sizeof(struct arguments), TOPROPE_CORE_VECTOR, 0};
static const struct toprope_kernel *const kernels[] = {&kernel};
static const struct toprope_variable variables[] = {{"total", &total, sizeof total}};
const struct toprope_image toprope_device_image = {
    TOPROPE_IMAGE_MAGIC, TOPROPE_IMAGE_VERSION, 1, 1, kernels, variables,
};

#else
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"

/* The registration functions; no public header declares them. */
typedef struct {
    uint32_t magic;
    uint32_t version;
    const void *data;
    uint64_t length;
} rtDevBinary_t;
int32_t rtRegisterAllKernel(const rtDevBinary_t *bin, void **hdl);
int32_t rtRegisterFuncSymbol(void *binHandle, const void *symbol, const char *kernelName, void *reserve);
void rtRegisterVariable(void *binHandle, const void *hostVar, const char *deviceVarName, size_t size, uint32_t flags,
                        void *reserve);
int32_t rtKernelLaunch(const void *stubFunc, uint32_t numBlocks, void *args, uint32_t argsSize, void *smDesc, void *stm);
int32_t rtDevBinaryUnRegister(void *hdl);

/* What the host knows of both: an address each, which stands for the thing on the device. */
static int32_t total;
static char add_up;

static void check(int32_t code, const char *call) {
    if (code == 0) return;
    const char *why = aclGetRecentErrMsg();
    fprintf(stderr, "%s: %d\n%s", call, code, why ? why : "");
    exit(1);
}
#define CHECK(call) check(call, #call)

static void *read_file(const char *path, uint64_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    void *bytes = size > 0 ? malloc((size_t)size) : NULL;
    *length = bytes ? fread(bytes, 1, (size_t)size, file) : 0;
    fclose(file);
    return bytes;
}

/* include/ lies beside this file's folder. */
static const char *compile_device_half(void) {
    static char output[64], command[4096];
    const char *end = strrchr(__FILE__, '/');
    int folder = end ? (int)(end - __FILE__) : 1;
    snprintf(output, sizeof output, "register_by_hand.%ld.so", (long)getpid());
    snprintf(command, sizeof command,
             "cc -shared -fPIC -fno-gnu-unique -Wl,-Bsymbolic -DDEVICE_HALF -I '%.*s/../include' -o %s '%s'", folder,
             end ? __FILE__ : ".", output, __FILE__);
    return system(command) == 0 ? output : NULL;
}

static void *binary;

static void register_device_half(const char *path) {
    rtDevBinary_t description = {0x43554245, 0, NULL, 0};
    description.data = read_file(path, &description.length);
    CHECK(rtRegisterAllKernel(&description, &binary));
    CHECK(rtRegisterFuncSymbol(binary, &add_up, "add_up", NULL));
    rtRegisterVariable(binary, &total, "total", sizeof total, 0, NULL);
}

int main(int argc, char **argv) {
    const char *half = argc > 1 ? argv[1] : compile_device_half();
    if (!half) return 1;
    register_device_half(half);
    if (argc < 2) remove(half);

    int32_t values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, result = 0;
    struct {
        void *values;
        uint32_t count;
    } arguments = {NULL, 10};
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtMalloc(&arguments.values, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(arguments.values, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE));

    CHECK(rtKernelLaunch(&add_up, 4, &arguments, sizeof arguments, NULL, NULL));
    CHECK(aclrtSynchronizeStream(NULL));
    CHECK(aclrtMemcpyFromSymbol(&result, sizeof result, &total, sizeof result, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("100 + 1 + ... + 10 is %d on the device\n", (int)result);

    CHECK(aclrtFree(arguments.values));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    CHECK(rtDevBinaryUnRegister(binary));
    return result == 155 ? 0 : 1;
}
#endif
