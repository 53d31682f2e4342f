// A kernel that faults fails its stream with the code of a core exception; the process lives on, and so does the device.
#include "kernel.h"

extern "C" __global__ __aicore__ void write_null(__gm__ int *at) { at[block_idx] = 1; }

extern "C" __global__ __aicore__ void divide(__gm__ int *value, int by) { *value /= by; }

extern "C" __global__ __aicore__ void stop() { AscendC::Trap(); }

// The instruction that programs write to the same end.
extern "C" __global__ __aicore__ void stop_in_assembly() { asm("trap"); }

extern "C" __global__ __aicore__ void insist(int value) { assert(value == 1, "value is %d\n", value); }

// A block cannot end the process.
extern "C" __global__ __aicore__ void leave(int how) {
    if (how == 0) exit(0);
    if (how == 1) _Exit(0);
    quick_exit(0);
}

// The card hangs here; ours stops the kernel.
extern "C" __global__ __aicore__ void wait_for_nothing() { AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(EVENT_ID2); }

// All blocks but one wait for the one that faults.
extern "C" __global__ __aicore__ void fault_among_others(__gm__ int *at) {
    if (block_idx == 2) *at = 1;
    AscendC::SyncAll();
}

extern "C" __global__ __aicore__ void add_one(__gm__ int *value) { *value += 1; }

// A launch on a stream of its own faults with this code; what comes after runs.
template <class LAUNCH> static void faults(const char *what, aclError want, LAUNCH launch) {
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    launch(stream);
    const aclError code = aclrtSynchronizeStream(stream);
    if (code != want) fprintf(stderr, "%s: synchronize gives %d\n", what, code);
    CHECK_EQ(code, want);
    CHECK_OK(aclrtDestroyStream(stream));
    int *value = kernel_zeros<int>(1);
    CHECK_OK(aclrtCreateStream(&stream));
    add_one<<<1, nullptr, stream>>>(value);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_EQ(kernel_value(value), 1);
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtFree(value));
}

int main() {
    runtime_start();
    int *value = kernel_zeros<int>(1);
    const aclError exception = ACL_ERROR_RT_AICORE_EXCEPTION, trap = ACL_ERROR_RT_AICORE_TRAP_EXCEPTION;
    faults("null", exception, [](aclrtStream stream) { write_null<<<4, nullptr, stream>>>((int *)nullptr); });
    faults("division", exception, [=](aclrtStream stream) { divide<<<1, nullptr, stream>>>(value, 0); });
    faults("trap", trap, [](aclrtStream stream) { stop<<<2, nullptr, stream>>>(); });
    faults("asm", trap, [](aclrtStream stream) { stop_in_assembly<<<1, nullptr, stream>>>(); });
    for (int how = 0; how < 3; ++how) {
        faults("exit", trap, [=](aclrtStream stream) { leave<<<1, nullptr, stream>>>(how); });
    }
    faults("SyncAll", exception, [](aclrtStream stream) { fault_among_others<<<4, nullptr, stream>>>((int *)nullptr); });

    Captured assertion;
    faults("assert", trap, [](aclrtStream stream) { insist<<<1, nullptr, stream>>>(5); });
    const std::string text = assertion.end();
    CHECK(text.find("[ASSERT] ") == 0 && text.find("Assertion `value == 1' value is 5\n") != std::string::npos);

    Captured flag;
    faults("flag", trap, [](aclrtStream stream) { wait_for_nothing<<<1, nullptr, stream>>>(); });
    CHECK(flag.end().find("event 2") != std::string::npos);

    // The assertion holds.
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    insist<<<3, nullptr, stream>>>(1);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_EQ(kernel_value(value), 0);
    CHECK_OK(aclrtFree(value));
    CHECK_STILL_WORKS();
    return runtime_end();
}
