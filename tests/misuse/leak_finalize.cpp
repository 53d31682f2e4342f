// A cache keeps its buffer and its stream beyond aclFinalize, and nobody empties it.
// says: lived at aclFinalize and still live at exit
#include "misuse.h"

struct Cache {
    void *buffer = nullptr;
    aclrtStream stream = nullptr;

    void fill() {
        OK(aclrtMallocHost(&buffer, 4096));  // REPORT
        OK(aclrtCreateStream(&stream));
    }
    void empty() {
        OK(aclrtDestroyStream(stream));
        OK(aclrtFreeHost(buffer));
    }
};

static Cache cache;

int main() {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    cache.fill();
#ifdef FIXED
    cache.empty();
#endif
    OK(aclFinalize());
    OK(aclrtResetDevice(0));
}
