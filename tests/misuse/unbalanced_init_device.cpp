// The device is set in a helper and in main, and reset once.
#include "misuse.h"

static void prepare() { OK(aclrtSetDevice(0)); }

int main() {
    OK(aclInit(nullptr));
    prepare();
    OK(aclrtSetDevice(0));  // REPORT
    OK(aclrtResetDevice(0));
#ifdef FIXED
    OK(aclrtResetDevice(0));
#endif
    OK(aclFinalize());
}
