// A process is forked, and ends, while pages of its parent are protected; the parent's stay so until it waits for the copy.
#include <sys/wait.h>

#include "misuse.h"

int main() {
    Session session;
    Device buffer(65536, 1);
    Pinned host(65536);
    Stream stream;
    OK(aclrtMemcpyAsync(host, 65536, buffer, 65536, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    if (open_to_host(host)) return 1;
    const pid_t child = fork();
    if (child == 0) std::exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) return 2;
    if (open_to_host(host)) return 3;
    stream.sync();
    if (!open_to_host(host)) return 4;
    return static_cast<char *>(host.at)[65535] == 1 ? 0 : 5;
}
