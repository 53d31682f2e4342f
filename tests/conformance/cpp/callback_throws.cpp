// A C++ exception that leaves a callback: a line on standard error names the callback, and the program's terminate handler
// runs. (ours: no page tells; it is what C++ does where an exception leaves a thread.) Each case is a process of its own,
// forked before the runtime is used.
#include "runtime.h"

#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
void throwing_function(void *) { throw std::runtime_error("from a callback"); }
void throwing_exception(aclrtExceptionInfo *) { throw 1; }
int throwing_init(const char *, size_t, void *) { throw 2; }
int throwing_finalize(void *) { throw 3; }
void throwing_stream(aclrtStream, aclrtStreamState, void *) { throw 4; }
void throwing_device(int32_t, aclrtDeviceState, void *) { throw 5; }
}

static void host_function() {
    runtime_start();
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtLaunchHostFunc(stream, throwing_function, nullptr));
    (void)aclrtSynchronizeStream(stream);
}

static void report() {
    runtime_start();
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream));
    CHECK_OK(aclrtLaunchCallback(throwing_function, nullptr, ACL_CALLBACK_BLOCK, stream));
    (void)aclrtProcessReport(10000);
}

static void failed_task() {
    runtime_start();
    aclrtStream stream = nullptr;
    aclrtStream held = nullptr;
    aclrtEvent event = nullptr;
    check_flag release = {0};
    CHECK_OK(aclrtExceptionInfoCallbackRegister(throwing_exception));
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&held));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtLaunchHostFunc(held, runtime_hold, &release));
    CHECK_OK(aclrtRecordEvent(event, held));
    // A wait whose time is over: a failed task.
    CHECK_OK(aclrtStreamWaitEventWithTimeout(stream, event, 10));
    (void)aclrtSynchronizeStream(stream);
}

static void init() {
    CHECK_OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, throwing_init, nullptr));
    (void)aclInit(nullptr);
}

static void finalize() {
    CHECK_OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, throwing_finalize, nullptr));
    CHECK_OK(aclInit(nullptr));
    (void)aclFinalize();
}

static void stream_state() {
    runtime_start();
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtRegStreamStateCallback("throws", throwing_stream, nullptr));
    (void)aclrtCreateStream(&stream);
}

static void device_state() {
    CHECK_OK(aclInit(nullptr));
    CHECK_OK(aclrtRegDeviceStateCallback("throws", throwing_device, nullptr));
    (void)aclrtSetDevice(0);
}

static void ends(void (*body)(), const char *kind) {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        std::set_terminate([] { _exit(42); });
        body();
        _exit(7);
    }
    close(ends[1]);
    std::string said;
    char part[256];
    for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<size_t>(n));
    close(ends[0]);
    int status = 0;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 42 || said.find(kind) == std::string::npos)
        fprintf(stderr, "%s: status %#x, said: %s\n", kind, static_cast<unsigned>(status), said.c_str());
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 42);
    CHECK(said.find(kind) != std::string::npos);
    CHECK(said.find("0x") != std::string::npos);
}

int main() {
    ends(host_function, "left the host function on stream ");
    ends(report, "left the callback of aclrtLaunchCallback on stream ");
    ends(failed_task, "left the exception callback for a task of stream ");
    ends(init, "left the callback of aclInitCallbackRegister");
    ends(finalize, "left the callback of aclFinalizeCallbackRegister");
    ends(stream_state, "left the callback of aclrtRegStreamStateCallback for stream ");
    ends(device_state, "left the callback of aclrtRegDeviceStateCallback for device 0");
    return check_end();
}
