// Two owners destroy one stream.
#include "misuse.h"

struct Owner {
    aclrtStream stream;
    ~Owner() {
        if (stream) (void)aclrtDestroyStream(stream);  // REPORT
    }
};

int main() {
    Session session;
    Owner first{nullptr};
    OK(aclrtCreateStream(&first.stream));
#ifdef FIXED
    Owner second{nullptr};
#else
    Owner second{first.stream};
#endif
}
