// Device code of two files is one device binary: variables and functions are shared with `extern`.
#include "kernel_operator.h"

__gm__ int32_t limit = 40;

__aicore__ int32_t twice(int32_t value) { return 2 * value; }
