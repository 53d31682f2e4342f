// A worker process is forked after the runtime was started.
#include <sys/wait.h>
#include <unistd.h>

#include "misuse.h"

int main() {
    Session session;
    const pid_t child = fork();
    if (child == 0) {
#ifndef FIXED
        void *memory = nullptr;
        REFUSED(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));  // REPORT
#endif
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}
