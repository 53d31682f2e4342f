// A child that is forked off while a thread waits; a PERSISTENT stream keeps a task meanwhile.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "misuse.h"

int main() {
    Session session;
    Device bytes(64), word(64);
    aclrtStream kept = nullptr;
    OK(aclrtCreateStreamWithConfig(&kept, 0, ACL_STREAM_PERSISTENT));
    OK(aclrtMemsetAsync(bytes, 64, 1, 64, kept));
    {
        Stream stream;
        OK(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
        std::thread other([&] {
            OK(aclrtSetDevice(0));
            usleep(300000);
            const pid_t child = fork();
            if (child == 0) {
                usleep(400000);
                _exit(0);
            }
            int status = 1;
            if (child < 0 || waitpid(child, &status, 0) != child || status != 0) _exit(1);
            {
                Stream writer;
                OK(aclrtValueWrite(word, 1, 0, writer));
                writer.sync();
            }
            OK(aclrtResetDevice(0));
        });
        OK(aclrtSynchronizeStream(stream));
        other.join();
    }
    OK(aclrtPersistentTaskClean(kept));
    OK(aclrtDestroyStream(kept));
}
