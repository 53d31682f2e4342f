// Two buffers in turn: upload, use, download, each in its own stream, with one event for each edge that is recorded again and again.
#include "misuse.h"

int main() {
    Session session;
    Device in[2] = {Device(4096), Device(4096)}, out[2] = {Device(4096), Device(4096)};
    Pinned host(8192);
    Stream up, use, down;
    Event uploaded[2], used[2], downloaded[2];
    char *bytes = static_cast<char *>(host.at);
    for (int round = 0; round < 20; ++round) {
        const int i = round % 2;
        if (round >= 2) OK(aclrtStreamWaitEvent(up, used[i]));
        if (round >= 2) OK(aclrtStreamWaitEvent(up, downloaded[i]));
        OK(aclrtMemcpyAsync(in[i], 4096, bytes, 4096, ACL_MEMCPY_HOST_TO_DEVICE, up));
        OK(aclrtRecordEvent(uploaded[i], up));
        OK(aclrtStreamWaitEvent(use, uploaded[i]));
        OK(aclrtMemcpyAsync(out[i], 4096, in[i], 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, use));
        OK(aclrtRecordEvent(used[i], use));
        OK(aclrtStreamWaitEvent(down, used[i]));
        OK(aclrtMemcpyAsync(bytes + 4096, 4096, out[i], 4096, ACL_MEMCPY_DEVICE_TO_HOST, down));
        OK(aclrtRecordEvent(downloaded[i], down));
    }
    OK(aclrtSynchronizeDevice());
    std::memset(host, 0, 8192);
}
