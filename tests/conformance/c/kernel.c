// Kernels: loading from a file, arguments, order, faults, timeouts, blocks that meet. The device half is tests/device/kernels.c.
// env: TOPROPE_DEVICES=2
#include "runtime.h"

#include <unistd.h>

static aclrtBinHandle binary;
static aclrtStream stream;
static char file[] = "/tmp/toprope-kernel-XXXXXX";

// Compiles the device half beside this source, as `toprope c++ --device-only` would.
static int compile(void) {
    char command[4096];
    const char *here = __FILE__, *end = strrchr(here, '/');
    int folder = end ? (int)(end - here) : 1;
    int made = mkstemp(file);
    CHECK(made >= 0);
    close(made);
    snprintf(command, sizeof command,
             "cc -shared -fPIC -fno-gnu-unique -Wl,-Bsymbolic -I %.*s/../../../include -o %s %.*s/../../device/kernels.c",
             folder, end ? here : ".", file, folder, end ? here : ".");
    return system(command);
}

static aclrtFuncHandle function(const char *name) {
    aclrtFuncHandle handle = NULL;
    CHECK_OK(aclrtBinaryGetFunction(binary, name, &handle));
    return handle;
}

struct add {
    int32_t by;
    int32_t *now;
};

static int32_t add(int32_t by) {
    int32_t number = 0;
    struct add arguments = {by, NULL};
    CHECK_OK(aclrtMalloc((void **)&arguments.now, sizeof number, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtLaunchKernelWithHostArgs(function("add"), 1, stream, NULL, &arguments, sizeof arguments, NULL, 0));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtMemcpy(&number, sizeof number, arguments.now, sizeof number, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_OK(aclrtFree(arguments.now));
    return number;
}

static void variables(void) {
    void *counter = NULL;
    size_t size = 0;
    int32_t number = 0, hundred = 100;
    CHECK_EQ(add(3), 10);
    CHECK_OK(aclrtBinaryGetGlobal(binary, "counter", &counter, &size));
    CHECK_EQ(size, sizeof number);
    CHECK_OK(aclrtMemcpy(&number, sizeof number, counter, sizeof number, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_EQ(number, 10);
    CHECK_OK(aclrtMemcpy(counter, sizeof number, &hundred, sizeof number, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_EQ(add(1), 101);
    // The other device has a copy of its own.
    aclrtStream first = stream;
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_EQ(add(1), 8);
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(1));
    // Set twice now; one of them is taken back, and the device stays.
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtResetDevice(0));
    stream = first;
    CHECK_EQ(add(1), 102);
}

static void argument_list(void) {
    aclrtFuncHandle copy = function("copy");
    aclrtArgsHandle list = NULL;
    aclrtParamHandle to, from, bytes;
    void *target = NULL, *data = NULL;
    char back[16] = "";
    uint32_t count = sizeof back;
    CHECK_OK(aclrtMalloc(&target, sizeof back, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtKernelArgsInit(copy, &list));
    CHECK_OK(aclrtKernelArgsAppend(list, &target, sizeof target, &to));
    CHECK_OK(aclrtKernelArgsAppendPlaceHolder(list, &from));
    CHECK_OK(aclrtKernelArgsAppend(list, &count, sizeof count, &bytes));
    CHECK_OK(aclrtKernelArgsGetPlaceHolderBuffer(list, from, sizeof back, &data));
    memcpy(data, "hold this place", sizeof back);
    CHECK_OK(aclrtKernelArgsFinalize(list));
    CHECK_OK(aclrtLaunchKernelWithConfig(copy, 1, stream, NULL, list, NULL));
    memset(data, 0, sizeof back);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtMemcpy(back, sizeof back, target, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(back, "hold this place", sizeof back);
    CHECK_OK(aclrtFree(target));
}

static void blocks_meet(void) {
    uint32_t *words = NULL, back[8];
    CHECK_OK(aclrtMalloc((void **)&words, sizeof back, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtLaunchKernelWithHostArgs(function("meet"), 8, stream, NULL, &words, sizeof words, NULL, 0));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtMemcpy(back, sizeof back, words, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 8; i++) CHECK_EQ(back[i], 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9);
    CHECK_OK(aclrtFree(words));
}

static void fails(const char *name, void *argument, int code, const char *part) {
    aclGetRecentErrMsg();
    CHECK_OK(aclrtLaunchKernelWithHostArgs(function(name), 2, stream, NULL, argument, 16, NULL, 0));
    CHECK_EQ(aclrtSynchronizeStream(stream), code);
    const char *text = aclGetRecentErrMsg();
    CHECK(text != NULL && strstr(text, name) != NULL && strstr(text, part) != NULL);
    if (text) fprintf(stderr, "%s", text);
    // The stream, the device and the process go on.
    CHECK_OK(aclrtSynchronizeStream(stream));
    add(0);
}

static void faults(void) {
    uint64_t wrong[2] = {0x40, 0};
    void *memory = NULL;
    CHECK_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    uint64_t zero[2] = {(uint64_t)(uintptr_t)memory, 0};
    fails("touch", wrong, ACL_ERROR_RT_AICORE_EXCEPTION, "0x40");
    fails("divide", zero, ACL_ERROR_RT_AICORE_EXCEPTION, "divided by zero");
    fails("trap", wrong, ACL_ERROR_RT_AICORE_TRAP_EXCEPTION, "trap");
    fails("aborts", wrong, ACL_ERROR_RT_AICORE_TRAP_EXCEPTION, "abort");
    CHECK_OK(aclrtFree(memory));
}

// Text of device code goes to standard output, whole lines at a time, in block order here.
static void print(void) {
    char said[256] = "", text[] = "/tmp/toprope-kernel-said-XXXXXX";
    int saved = dup(1), target = mkstemp(text);
    CHECK(saved >= 0 && target >= 0);
    fflush(stdout);
    CHECK_EQ(dup2(target, 1), 1);
    int unused[4] = {0, 0, 0, 0};
    CHECK_OK(aclrtLaunchKernelWithHostArgs(function("say"), 2, stream, NULL, unused, sizeof unused, NULL, 0));
    CHECK_OK(aclrtSynchronizeStream(stream));
    fflush(stdout);
    CHECK_EQ(dup2(saved, 1), 1);
    CHECK(pread(target, said, sizeof said - 1, 0) > 0);
    CHECK(strcmp(said, "block 0 of the kernel says\nhelloblock 1 of the kernel says\nhello") == 0);
    close(saved);
    close(target);
    unlink(text);
}

static void timeout(void) {
    int32_t *word = NULL;
    aclrtLaunchKernelAttr limit;
    aclrtLaunchKernelCfg cfg = {&limit, 1};
    memset(&limit, 0, sizeof limit);
    limit.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    limit.value.timeoutUs.timeoutLow = 20000;
    CHECK_OK(aclrtMalloc((void **)&word, sizeof *word, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(word, sizeof *word, 0, sizeof *word));
    CHECK_OK(aclrtLaunchKernelWithHostArgs(function("wait"), 1, stream, &cfg, &word, sizeof word, NULL, 0));
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_TIMEOUT);
    CHECK_OK(aclrtMemset(word, sizeof *word, 1, sizeof *word));
    add(0);
    CHECK_OK(aclrtFree(word));
}

int main(void) {
    CHECK_EQ(compile(), 0);
    CHECK_OK(aclInit(NULL));
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtBinaryLoadFromFile(file, NULL, &binary));
    CHECK_EQ(unlink(file), 0);
    variables();
    argument_list();
    blocks_meet();
    print();
    faults();
    timeout();
    CHECK_OK(aclrtBinaryUnLoad(binary));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalize());
    return check_end();
}
