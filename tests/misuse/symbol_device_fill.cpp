// env: TOPROPE_DEVICES=2
// The address of a device variable is kept across a change of the device.
#include "misuse.h"

extern "C" void rtRegisterVariable(void *binary, const void *variable, const char *name, size_t size, uint32_t flags,
                                   void *reserve);

static int counter;

int main() {
    OK(aclInit(nullptr));
    rtRegisterVariable(nullptr, &counter, "counter", sizeof counter, 0, nullptr);
    OK(aclrtSetDevice(0));
    void *address = nullptr;
    int value = 0;
    OK(aclrtGetSymbolAddress(&counter, &address));
    OK(aclrtSetDevice(1));
#ifdef FIXED
    OK(aclrtGetSymbolAddress(&counter, &address));
#endif
    OK(aclrtMemset(address, sizeof value, 0, sizeof value));  // REPORT
    OK(aclrtResetDevice(1));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return value;
}
