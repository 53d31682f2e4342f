// A program that installs its own SIGSEGV handler after aclInit keeps it for its own faults, and wrong addresses still get codes.
// (ours: addresses that are not mapped;
// libraries that print backtraces often start late.)
#define WRONG_ADDRESSES
#include "runtime.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
static volatile sig_atomic_t seen;

static void handler(int signal)
{
    (void)signal;
    ++seen;
    siglongjmp(back, 1);
}

static void install(void)
{
    struct sigaction action = {0};
    action.sa_handler = handler;
    CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
}

static void own_fault(void)
{
    if (sigsetjmp(back, 1) == 0) {
        *(volatile int *)(uintptr_t)0x1000 = 1;
    }
}

int main(void)
{
    CHECK_OK(aclInit(NULL));
    CHECK_OK(aclrtSetDevice(0));
    aclrtStream stream = NULL;
    CHECK_OK(aclrtCreateStream(&stream));
    void *device = NULL;
    CHECK_OK(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));

    install();
    void *nothing = (void *)(uintptr_t)0x1000;
    CHECK_EQ(aclrtMemcpyAsync(device, 64, nothing, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(seen, 0);
    own_fault();
    CHECK_EQ(seen, 1);
    // Once more in front, and back behind with the next stream.
    install();
    aclrtStream other = NULL;
    CHECK_OK(aclrtCreateStream(&other));
    CHECK_EQ(aclrtMemcpy(device, 64, nothing, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(seen, 1);
    own_fault();
    CHECK_EQ(seen, 2);

    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtDestroyStream(other));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalize());
    return check_end();
}
