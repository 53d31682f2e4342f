// Two streams, and then two threads, work on the left and the right half of a matrix with many rows.
#include <thread>

#include "misuse.h"

static const size_t ROWS = 3000, WIDTH = 64, PITCH = 2 * WIDTH;

int main() {
    Session session;
    Device matrix(ROWS * PITCH), parts(ROWS * PITCH);
    {
        Stream left, right;
        OK(aclrtMemcpy2dAsync(matrix, PITCH, parts, WIDTH, WIDTH, ROWS, ACL_MEMCPY_DEVICE_TO_DEVICE, left));
        OK(aclrtMemcpy2dAsync(matrix + WIDTH, PITCH, parts + ROWS * WIDTH, WIDTH, WIDTH, ROWS, ACL_MEMCPY_DEVICE_TO_DEVICE, right));
        left.sync();
        right.sync();
    }
    auto half = [&](size_t column) {
        static char rows[2][ROWS * WIDTH];
        OK(aclrtSetDevice(0));
        for (int round = 0; round < 4; ++round) {
            OK(aclrtMemcpy2d(matrix + column * WIDTH, PITCH, rows[column], WIDTH, WIDTH, ROWS, ACL_MEMCPY_HOST_TO_DEVICE));
        }
        OK(aclrtResetDevice(0));
    };
    std::thread one(half, 0), two(half, 1);
    one.join();
    two.join();
}
