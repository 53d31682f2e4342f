// Owners with static lifetime free what they have after main, when the library was finalized already.
#include "misuse.h"

struct Owner {
    void *device = nullptr, *pinned = nullptr;
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;

    void take() {
        OK(aclrtSetDevice(0));
        OK(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMallocHost(&pinned, 4096));
        OK(aclrtCreateStream(&stream));
        OK(aclrtCreateEvent(&event));
    }

    ~Owner() {
        OK(aclrtDestroyEvent(event));
        OK(aclrtDestroyStream(stream));
        OK(aclrtFreeHost(pinned));
        OK(aclrtFree(device));
        OK(aclrtResetDevice(0));
    }
};

static Owner owner;

int main() {
    OK(aclInit(nullptr));
    owner.take();
    OK(aclrtMemsetAsync(owner.device, 4096, 1, 4096, owner.stream));
    OK(aclrtSynchronizeStream(owner.stream));
    OK(aclFinalize());
}
