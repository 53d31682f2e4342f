// A vector kernel in the usual form: each use of what is not built is an error at its line.
// expect-error: vector intrinsics are not built yet (scalar kernels only)
#include "kernel_operator.h"

using namespace AscendC;

class Add16 {
public:
    __aicore__ inline Add16() {}
    __aicore__ inline void Process(GM_ADDR x, GM_ADDR z) {
        in_.SetGlobalBuffer((__gm__ half *)x, 16);
        out_.SetGlobalBuffer((__gm__ half *)z, 16);
        pipe_.InitBuffer(queue_, 2, 32);                      // <- error
        LocalTensor<half> local = queue_.AllocTensor<half>(); // <- error
        DataCopy(local, in_[0], 16);                          // <- error
        Add(local, local, local, 16);                         // <- error
        queue_.EnQue(local);                                  // <- error
        DataCopyPad(out_, local, {1, 32, 0});                 // <- error
    }

private:
    TPipe pipe_;
    TQue<QuePosition::VECIN, 2> queue_;
    GlobalTensor<half> in_, out_;
};

extern "C" __global__ __aicore__ void add16(GM_ADDR x, GM_ADDR z) {
    Add16 add;
    add.Process(x, z);
}

int main() { return 0; }
