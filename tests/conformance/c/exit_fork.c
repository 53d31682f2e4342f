// A forked child: its calls get a code, the parent goes on. (ours: a child cannot use the parent's devices.)
// expect-stderr: aclrtSynchronizeStream: this process was forked
#include "runtime.h"

#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
// A forked child has the parent's memory without the parent's threads, so that all they own looks lost.
static pid_t parent;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return getpid() != parent; }
#endif

// The child's checks: its exit status tells how many failed.
static int child(aclrtStream stream, void *device) {
    aclrtStream another = NULL;
    void *memory = NULL;
    char local[64];
    int bad = 0;
    bad += aclrtSynchronizeStream(stream) == ACL_SUCCESS;
    bad += aclrtCreateStream(&another) == ACL_SUCCESS;
    bad += aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
    bad += aclrtMemcpy(local, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS;
    bad += aclrtSynchronizeDevice() == ACL_SUCCESS;
    bad += aclrtSetDevice(0) == ACL_SUCCESS;
    (void)aclGetRecentErrMsg();
    (void)aclrtFree(device);
    (void)aclrtResetDevice(0);
    (void)aclFinalize();
    return bad;
}

static void fork_and_check(aclrtStream stream, void *device, int by_exit) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        int bad = child(stream, device);
        if (by_exit) exit(bad);
        _exit(bad);
    }
    CHECK(pid > 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
}

int main(void) {
    aclrtStream stream = NULL;
    void *device = NULL;
    char want[64];
    int status = 0;
    pid_t pid;
#if defined(__SANITIZE_ADDRESS__)
    parent = getpid();
#endif
    // A child made before the runtime is used is a process like any other.
    pid = fork();
    if (pid == 0) {
        runtime_start();
        CHECK_STILL_WORKS();
        (void)freopen("/dev/null", "w", stdout);
        _exit(runtime_end());
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);

    runtime_start();
    memset(want, 0x21, sizeof want);
    CHECK_OK(aclrtCreateStream(&stream));
    device = runtime_device(want, sizeof want);
    CHECK_OK(aclrtMemsetAsync(device, 64, 0x21, 64, stream));
    fork_and_check(stream, device, 0);
    fork_and_check(stream, device, 1);
    // The parent has lost nothing.
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_DEVICE(device, want, sizeof want);
    CHECK_STILL_WORKS();
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtDestroyStream(stream));
    return runtime_end();
}
