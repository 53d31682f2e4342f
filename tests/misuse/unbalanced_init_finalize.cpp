// aclFinalize is forgotten on the early return.
#include "misuse.h"

static int work() { return 0; }

int main() {
    OK(aclInit(nullptr));  // REPORT
    OK(aclrtSetDevice(0));
    const int code = work();
    OK(aclrtResetDevice(0));
#ifndef FIXED
    if (code == 0) return 0;
#endif
    OK(aclFinalize());
    return code;
}
