// Resetting the device waits for its work: the pages that its copies protected are open then, and those of another device are not.
// env: TOPROPE_DEVICES=2
#include "misuse.h"

static void *buffers[2];

static void copy(int device, void *host) {
    OK(aclrtSetDevice(device));
    OK(aclrtMalloc(&buffers[device], 65536, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(buffers[device], 65536, device + 1, 65536));
    OK(aclrtMemcpyAsync(host, 65536, buffers[device], 65536, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
}

int main() {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    {
        Pinned first(65536), second(65536);
        copy(1, second);
        copy(0, first);
        OK(aclrtResetDevice(0));
        if (open_to_host(first) || open_to_host(second)) return 1;
        // The last reset of device 0: its work is done.
        OK(aclrtResetDevice(0));
        if (!open_to_host(first) || open_to_host(second)) return 2;
        if (static_cast<char *>(first.at)[65535] != 1) return 3;
        OK(aclrtSetDevice(1));
        OK(aclrtResetDevice(1));
        OK(aclrtResetDevice(1));
        if (!open_to_host(second) || static_cast<char *>(second.at)[0] != 2) return 4;
    }
    OK(aclFinalize());
}
