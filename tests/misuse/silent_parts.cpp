// Blocks in parts with the documented room, and what is no part: a whole block, what holds others, rows.
// env: TOPROPE_CHECK_RULES=sub-division
#include "misuse.h"

int main() {
    Session session;
    char host[4096] = {1};
    Device block(4096);
    // 200 bytes: 224 and 32 more are 256; the next is at 256, and one of 64 bytes wants 96, hence 128.
    OK(aclrtMemcpy(block, 200, host, 200, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(block + 256, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemset(block + 384, 8, 7, 8));
    // The same again, less of it, two together, and the whole.
    OK(aclrtMemcpy(host, 100, block, 100, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemset(block, 1024, 0, 1024));
    OK(aclrtMemcpy(host, sizeof host, block, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST));
    // Columns of a matrix.
    Device matrix(4096);
    OK(aclrtMemcpy2d(matrix, 100, host, 40, 40, 30, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy2d(matrix + 40, 100, host, 60, 60, 30, ACL_MEMCPY_HOST_TO_DEVICE));
    // First as one, then in its parts.
    Device pair(4096);
    OK(aclrtMemcpy(pair, 2048, host, 2048, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(pair + 1024, 1024, host, 1024, ACL_MEMCPY_HOST_TO_DEVICE));
}
