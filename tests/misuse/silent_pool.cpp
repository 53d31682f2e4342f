// A pool that hands a block to another stream behind an event, and frees it behind a query.
#include <thread>

#include "misuse.h"

int main() {
    Session session;
    Stream streams[3];
    Event used[2];
    void *blocks[2];
    for (void *&block : blocks) OK(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 0; round < 30; ++round) {
        const int which = round % 2;
        const Stream &stream = streams[round % 3];
        if (round >= 2) OK(aclrtStreamWaitEvent(stream, used[which]));
        OK(aclrtMemsetAsync(blocks[which], 4096, round, 4096, stream));
        OK(aclrtMemcpyAsync(static_cast<char *>(blocks[which]) + 1024, 1024, blocks[which], 1024,
                            ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        OK(aclrtRecordEvent(used[which], stream));
    }
    for (int which = 0; which < 2; ++which) {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
            OK(aclrtQueryEventStatus(used[which], &status));
            std::this_thread::yield();
        }
        OK(aclrtFree(blocks[which]));
    }
    for (const Stream &stream : streams) stream.sync();
}
