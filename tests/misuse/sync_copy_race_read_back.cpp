// The result of a stream is read back by a synchronous copy, which does not wait for it.
#include "misuse.h"

int main() {
    Session session;
    Device result(4096);
    char back[4096];
    Stream stream;
    OK(aclrtMemsetAsync(result, 4096, 5, 4096, stream));
#ifdef FIXED
    stream.sync();
#endif
    OK(aclrtMemcpy(back, sizeof back, result, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));  // REPORT
    stream.sync();
    return back[0] == 0 || back[0] == 5 ? 0 : 1;
}
