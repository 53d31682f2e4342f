// Device variables: registration, one copy per device, the six calls, refusals.
// env: TOPROPE_DEVICES=2
#define WRONG_ADDRESSES
#include "runtime.h"

#include <pthread.h>

struct settings {
    int32_t level;
    double scale;
    char name[16];
};

static int32_t counter = 41;
static float table[4] = {1, 2, 3, 4};
static struct settings settings = {3, 0.5, "first"};
static int32_t unregistered = 9;
static aclrtStream stream;

static void read_and_write(void) {
    int32_t number = 0;
    float back[4] = {0, 0, 0, 0}, fresh[4] = {9, 8, 7, 6};
    struct settings got, put = {7, 2.25, "second"};
    void *address = NULL;
    size_t size = 0;
    CHECK_OK(aclrtGetSymbolSize(&counter, &size));
    CHECK_EQ(size, sizeof counter);
    CHECK_OK(aclrtGetSymbolSize(table, &size));
    CHECK_EQ(size, sizeof table);
    CHECK_OK(aclrtGetSymbolSize(&settings, &size));
    CHECK_EQ(size, sizeof settings);
    // It starts with the bytes of the host variable.
    CHECK_OK(aclrtMemcpyFromSymbol(&number, sizeof number, &counter, sizeof number, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_EQ(number, 41);
    CHECK_OK(aclrtMemcpyFromSymbol(&got, sizeof got, &settings, sizeof got, 0, ACL_MEMCPY_DEFAULT));
    CHECK_BYTES(&got, &settings, sizeof got);
    // Whole, in part, and by the device address.
    CHECK_OK(aclrtMemcpyToSymbol(&settings, &put, sizeof put, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpyFromSymbol(&got, sizeof got, &settings, sizeof got, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(&got, &put, sizeof got);
    CHECK_OK(aclrtMemcpyToSymbol(table, fresh, 8, 8, ACL_MEMCPY_DEFAULT));
    CHECK_OK(aclrtMemcpyFromSymbol(back, sizeof back, table, sizeof back, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(back[0] == 1 && back[1] == 2 && back[2] == 9 && back[3] == 8);
    CHECK_OK(aclrtGetSymbolAddress(table, &address));
    CHECK_DEVICE(address, back, sizeof back);
    CHECK_OK(aclrtMemcpy(address, sizeof fresh, fresh, sizeof fresh, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpyFromSymbol(back, sizeof back, table, sizeof back, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(back, fresh, sizeof back);
    // The host variables stay as they are.
    CHECK_EQ(counter, 41);
    CHECK(table[2] == 3 && settings.level == 3);
}

static void asynchronous(void) {
    float *pinned = NULL, local[4] = {0, 0, 0, 0};
    check_flag release = {0};
    CHECK_OK(aclrtMallocHost((void **)&pinned, 2 * sizeof table));
    memset(pinned, 0, 2 * sizeof table);
    // Page-locked: queued, and read when it runs.
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpyToSymbolAsync(table, pinned, sizeof table, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_OK(aclrtMemcpyFromSymbolAsync(pinned + 4, sizeof table, table, sizeof table, 0, ACL_MEMCPY_DEVICE_TO_HOST,
                                        stream));
    pinned[0] = 10, pinned[1] = 20, pinned[2] = 30, pinned[3] = 40;
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_BYTES(pinned + 4, pinned, sizeof table);
    // aclrtMemcpyFromSymbolAsync#17: pageable memory is written on return; #20: the default stream.
    CHECK_OK(aclrtMemcpyFromSymbolAsync(local, sizeof local, table, sizeof local, 0, ACL_MEMCPY_DEFAULT, NULL));
    CHECK_BYTES(local, pinned, sizeof local);
    local[3] = 50;
    CHECK_OK(aclrtMemcpyToSymbolAsync(table, local + 3, 4, 12, ACL_MEMCPY_DEFAULT, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtMemcpyFromSymbol(pinned, sizeof table, table, sizeof table, 0, ACL_MEMCPY_DEFAULT));
    CHECK_BYTES(pinned, local, sizeof local);
    CHECK_OK(aclrtFreeHost(pinned));
}

// aclrtGetSymbolAddress#02: each device has its own copy, from the same first bytes.
static void one_copy_per_device(void) {
    void *here = NULL, *there = NULL;
    int32_t number = 100;
    CHECK_OK(aclrtMemcpyToSymbol(&counter, &number, sizeof number, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtGetSymbolAddress(&counter, &here));
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtGetSymbolAddress(&counter, &there));
    CHECK(here != there && there != NULL);
    CHECK_OK(aclrtMemcpyFromSymbol(&number, sizeof number, &counter, sizeof number, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_EQ(number, 41);
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtMemcpyFromSymbol(&number, sizeof number, &counter, sizeof number, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_EQ(number, 100);
    CHECK_OK(aclrtResetDevice(1));
    CHECK_OK(aclrtResetDevice(0));
}

static void *without_a_device(void *unused) {
    void *address = NULL;
    size_t size = 0;
    (void)unused;
    // aclrtGetSymbolAddress#06, aclrtGetSymbolSize#06.
    CHECK_EQ(aclrtGetSymbolAddress(&counter, &address), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtGetSymbolSize(&counter, &size), ACL_ERROR_RT_CONTEXT_NULL);
    return NULL;
}

static void refused(void) {
    char bytes[64] = {0};
    void *address = NULL;
    size_t size = 0;
    pthread_t thread;
    const aclrtMemcpyKind up = ACL_MEMCPY_DEVICE_TO_HOST, down = ACL_MEMCPY_HOST_TO_DEVICE;
    // #05: not registered.
    CHECK_EQ(aclrtGetSymbolAddress(&unregistered, &address), ACL_ERROR_RT_INVALID_SYMBOL);
    CHECK_EQ(aclrtGetSymbolSize(&unregistered, &size), ACL_ERROR_RT_INVALID_SYMBOL);
    CHECK_EQ(aclrtMemcpyFromSymbol(bytes, 4, &unregistered, 4, 0, up), ACL_ERROR_RT_INVALID_SYMBOL);
    CHECK_EQ(aclrtMemcpyToSymbol(&unregistered, bytes, 4, 0, down), ACL_ERROR_RT_INVALID_SYMBOL);
    // The middle of a variable is not its address.
    CHECK_EQ(aclrtGetSymbolAddress(table + 1, &address), ACL_ERROR_RT_INVALID_SYMBOL);
    // #07, #08.
    CHECK_EQ(aclrtGetSymbolAddress(NULL, &address), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetSymbolAddress(&counter, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetSymbolSize(NULL, &size), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetSymbolSize(&counter, NULL), ACL_ERROR_INVALID_PARAM);
    // aclrtMemcpyFromSymbol#07 to #10, #12, #14, #16; the async form has the same.
    CHECK_OK(aclrtMemcpyFromSymbol(NULL, 0, NULL, 0, 99, (aclrtMemcpyKind)99));
    CHECK_EQ(aclrtMemcpyFromSymbol(bytes, 4, NULL, 4, 0, up), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbol(NULL, 4, &counter, 4, 0, up), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbol(bytes, 3, &counter, 4, 0, up), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbol(bytes, 4, &counter, 4, 0, down), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbol(bytes, 64, &counter, 5, 0, up), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbol(bytes, 64, &counter, 4, 1, up), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbol(bytes, 64, &counter, 4, SIZE_MAX, up), ACL_ERROR_FAILURE);
    CHECK_EQ(aclrtMemcpyFromSymbolAsync(bytes, 64, &counter, 4, 1, up, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbolAsync(bytes, 64, &counter, 4, SIZE_MAX, up, stream), ACL_ERROR_FAILURE);
    CHECK_EQ(aclrtMemcpyFromSymbolAsync(bytes, 4, &counter, 4, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
             ACL_ERROR_INVALID_PARAM);
    // aclrtMemcpyToSymbol#07 to #10, #12, #14.
    CHECK_OK(aclrtMemcpyToSymbol(NULL, NULL, 0, 99, (aclrtMemcpyKind)99));
    CHECK_EQ(aclrtMemcpyToSymbol(NULL, bytes, 4, 0, down), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyToSymbol(&counter, NULL, 4, 0, down), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyToSymbol(&counter, bytes, 4, 0, up), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyToSymbol(&counter, bytes, 5, 0, down), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyToSymbol(&counter, bytes, 4, 1, down), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyToSymbol(&counter, bytes, 4, SIZE_MAX, down), ACL_ERROR_FAILURE);
    CHECK_EQ(aclrtMemcpyToSymbolAsync(&counter, bytes, 4, SIZE_MAX, down, stream), ACL_ERROR_FAILURE);
    CHECK_EQ(aclrtMemcpyToSymbolAsync(&counter, bytes, 5, 0, down, stream), ACL_ERROR_INVALID_PARAM);
    // ours: addresses that are not mapped.
    CHECK_EQ(aclrtMemcpyToSymbol(&counter, UNMAPPED, 4, 0, down), BAD_ADDRESS);
    CHECK_EQ(aclrtMemcpyFromSymbol(UNMAPPED, 4, &counter, 4, 0, up), BAD_ADDRESS);
    CHECK_EQ(pthread_create(&thread, NULL, without_a_device, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_STILL_WORKS();
}

// rtRegisterVariable answers nothing: wrong arguments leave the variable unregistered, a second time changes nothing.
static void registration(void) {
    static int32_t odd = 1, late = 77;
    static char long_name[5000];
    int32_t number = 0;
    size_t size = 0;
    rtRegisterVariable(NULL, NULL, "null", 4, 0, NULL);
    rtRegisterVariable(NULL, &odd, NULL, 4, 0, NULL);
    CHECK_EQ(aclrtGetSymbolSize(&odd, &size), ACL_ERROR_RT_INVALID_SYMBOL);
    rtRegisterVariable(NULL, &odd, "odd", 0, 0, NULL);
    CHECK_EQ(aclrtGetSymbolSize(&odd, &size), ACL_ERROR_RT_INVALID_SYMBOL);
    memset(long_name, 'x', sizeof long_name - 1);
    rtRegisterVariable(NULL, &odd, long_name, 4, 0, NULL);
    CHECK_EQ(aclrtGetSymbolSize(&odd, &size), ACL_ERROR_RT_INVALID_SYMBOL);
    rtRegisterVariable((void *)(uintptr_t)0x123, &odd, "odd", 4, 0, NULL);
    CHECK_EQ(aclrtGetSymbolSize(&odd, &size), ACL_ERROR_RT_INVALID_SYMBOL);
    rtRegisterVariable(NULL, &counter, "counter", 1, 0, NULL);
    CHECK_OK(aclrtGetSymbolSize(&counter, &size));
    CHECK_EQ(size, sizeof counter);
    // While the program runs, as a library that is loaded late does.
    rtRegisterVariable(NULL, &late, "late", sizeof late, 0, NULL);
    CHECK_OK(aclrtMemcpyFromSymbol(&number, 4, &late, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_EQ(number, 77);
}

int main(void) {
    rtRegisterVariable(NULL, &counter, "counter", sizeof counter, 0, NULL);
    rtRegisterVariable(NULL, table, "table", sizeof table, 0, NULL);
    rtRegisterVariable(NULL, &settings, "settings", sizeof settings, 0, NULL);
    runtime_start();
    CHECK_OK(aclrtCreateStream(&stream));
    read_and_write();
    asynchronous();
    one_copy_per_device();
    refused();
    registration();
    CHECK_OK(aclrtDestroyStream(stream));
    return runtime_end();
}
