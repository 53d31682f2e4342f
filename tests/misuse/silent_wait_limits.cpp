// Waits that end: by their own time limits, by another thread, by a function that takes long, by an abort.
#include <chrono>
#include <thread>

#include "misuse.h"

static void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

static void slow(void *) { sleep_ms(700); }

int main() {
    Session session;
    Device word(64);
    aclrtNotify ready = nullptr;
    OK(aclrtCreateNotify(&ready, ACL_NOTIFY_DEFAULT));
    {
        Stream stream, other;
        Event event;
        // The host's own limit.
        OK(aclrtWaitAndResetNotify(ready, stream, 0));
        REFUSED(aclrtSynchronizeStreamWithTimeout(stream, 600));
        // Another thread that sleeps first.
        std::thread late([&] {
            OK(aclrtSetDevice(0));
            sleep_ms(700);
            {
                Stream recorder;
                OK(aclrtRecordNotify(ready, recorder));
                recorder.sync();
            }
            OK(aclrtResetDevice(0));
        });
        OK(aclrtSynchronizeStream(stream));
        late.join();
        // The limit of a task: 1 s.
        OK(aclrtWaitAndResetNotify(ready, stream, 1));
        REFUSED(aclrtSynchronizeStream(stream));
        // A function of the program that takes its time, while another stream waits for what comes after it.
        OK(aclrtLaunchHostFunc(stream, slow, nullptr));
        OK(aclrtValueWrite(word, 7, 0, stream));
        OK(aclrtValueWait(word, 7, ACL_STREAM_WAIT_VALUE_EQ, other));
        OK(aclrtSynchronizeStream(other));
        stream.sync();
    }
    {
        aclrtStream stream = nullptr;
        OK(aclrtCreateStream(&stream));
        OK(aclrtWaitAndResetNotify(ready, stream, 0));
        std::thread aborter([&] {
            OK(aclrtSetDevice(0));
            sleep_ms(600);
            OK(aclrtStreamAbort(stream));
            OK(aclrtResetDevice(0));
        });
        REFUSED(aclrtSynchronizeStream(stream));
        aborter.join();
        OK(aclrtDestroyStreamForce(stream));
    }
    OK(aclrtDestroyNotify(ready));
}
