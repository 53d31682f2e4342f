// Host memory that is read and written as soon as it may be, and not before: in a function that the stream calls, after a query,
// in another thread than the one that waited, beside a copy that is pending, and in a buffer that the device itself fills again.
#include <atomic>
#include <initializer_list>
#include <thread>

#include "misuse.h"

static const size_t SIZE = 1 << 18;

static unsigned sum(const void *bytes) {
    unsigned sum = 0;
    for (size_t i = 0; i < SIZE; ++i) sum += static_cast<const unsigned char *>(bytes)[i];
    return sum;
}

struct Job {
    void *bytes;
    unsigned sum;
};

static void in_stream(void *data) {
    Job *job = static_cast<Job *>(data);
    job->sum = sum(job->bytes);
    std::memset(job->bytes, 3, SIZE);
}

int main() {
    Session session;
    Device buffer(SIZE, 1);
    Pinned host(SIZE), other(2 * SIZE + 100);
    Stream stream, second;

    // A function that the stream calls after the copy reads its destination, and fills it for the next copy.
    Job job = {host, 0};
    OK(aclrtMemcpyAsync(host, SIZE, buffer, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtLaunchHostFunc(stream, in_stream, &job));
    OK(aclrtMemcpyAsync(buffer, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    stream.sync();
    if (job.sum != SIZE || sum(host) != 3 * SIZE) return 1;

    // An event that is queried until it is complete; meanwhile the memory around is used, and the source is read.
    for (int round = 0; round < 20; ++round) {
        Event done;
        char *bytes = static_cast<char *>(other.at);
        std::memset(bytes, round, 2 * SIZE + 100);
        OK(aclrtMemcpyAsync(buffer, SIZE, bytes + 64, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        OK(aclrtMemcpyAsync(bytes + 64 + SIZE, SIZE, buffer, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        OK(aclrtRecordEvent(done, stream));
        bytes[63] = 1;
        bytes[64 + 2 * SIZE] = 1;
        if (sum(bytes + 64) != round * SIZE) return 2;
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
            OK(aclrtQueryEventStatus(done, &status));
        }
        if (sum(bytes + 64 + SIZE) != round * SIZE) return 3;
        std::memset(bytes, 0, 2 * SIZE + 100);
    }

    // One thread waits, another one uses the memory; an atomic tells it to.
    std::atomic<bool> ready(false);
    OK(aclrtMemcpyAsync(host, SIZE, buffer, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    std::thread reader([&] {
        while (!ready.load()) std::this_thread::yield();
        std::memset(host, 5, sum(host) ? SIZE : 0);
    });
    stream.sync();
    ready.store(true);
    reader.join();

    // The device fills the source of a copy itself, small and large, on the same stream and on another.
    for (size_t size : {size_t(64), SIZE - 4096 - 8}) {
        Event filled;
        char *bytes = static_cast<char *>(host.at) + 8;
        OK(aclrtMemset(buffer, SIZE, 7, SIZE));
        OK(aclrtMemcpyAsync(bytes, size, buffer, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        OK(aclrtMemcpyAsync(buffer, size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        OK(aclrtMemsetAsync(buffer, size, 9, size, stream));
        OK(aclrtMemcpyAsync(bytes, size, buffer, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        OK(aclrtRecordEvent(filled, stream));
        OK(aclrtStreamWaitEvent(second, filled));
        OK(aclrtMemcpyAsync(buffer, size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE, second));
        second.sync();
        bytes[0] = 1;
        bytes[size - 1] = 1;
        stream.sync();
    }
}
