// Vector code that nothing calls compiles, beside scalar kernels that run.
#include "kernel.h"

template <class T> class Unused {
public:
    __aicore__ inline void Process() {
        AscendC::LocalTensor<T> local = queue_.template AllocTensor<T>();
        AscendC::DataCopy(local, global_, 16);
        AscendC::Exp(local, local, 16);
        queue_.FreeTensor(local);
    }

private:
    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::QuePosition::VECIN, 2> queue_;
    AscendC::GlobalTensor<T> global_;
};

template <class T> __aicore__ inline void unused(AscendC::LocalTensor<T> &local) {
    AscendC::DataCopyParams parameters(1, 2, 0, 0);
    AscendC::Muls(local, local, T(2), 16);
}

extern "C" __global__ __aicore__ void store(__gm__ int *at) { *at = 7; }

int main() {
    runtime_start();
    int *at = kernel_zeros<int>(1);
    store<<<1, nullptr, nullptr>>>(at);
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK_EQ(kernel_value(at), 7);
    CHECK_OK(aclrtFree(at));
    return runtime_end();
}
