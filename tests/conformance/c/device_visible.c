// The visible-device list: ids are indexes into it. aclrtGetDeviceCount#02, aclrtSetDevice#10.
// env: TOPROPE_DEVICES=4 ASCEND_RT_VISIBLE_DEVICES=1,3
#include "runtime.h"

int main(void) {
    uint32_t count = 0;
    int32_t device = -1;
    CHECK_OK(aclInit(NULL));
    CHECK_OK(aclrtGetDeviceCount(&count));
    CHECK_EQ(count, 2);
    CHECK_EQ(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(aclrtSetDevice(3), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_OK(aclrtSetDevice(1));
    // aclrtGetDevice#04: the user's id.
    CHECK_OK(aclrtGetDevice(&device));
    CHECK_EQ(device, 1);
    CHECK_STILL_WORKS();
    CHECK_OK(aclrtResetDevice(1));
    CHECK_OK(aclFinalize());
    return check_end();
}
