// A child starts the runtime anew, after its parent did.
#include <sys/wait.h>
#include <unistd.h>

#include "misuse.h"

static int in_child() {
    const pid_t child = fork();
    if (child == 0) {
#ifdef FIXED
        OK(aclInit(nullptr));
        OK(aclFinalize());
#else
        REFUSED(aclInit(nullptr));  // REPORT
#endif
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

int main() {
#ifdef FIXED
    const int status = in_child();
    Session session;
#else
    Session session;
    const int status = in_child();
#endif
    return status;
}
