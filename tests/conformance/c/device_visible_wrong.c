// A visible-device list that is not ascending, has a double, or names no device. aclrtGetDeviceCount#03.
// env: TOPROPE_DEVICES=4 ASCEND_RT_VISIBLE_DEVICES=3,1
// env: TOPROPE_DEVICES=4 ASCEND_RT_VISIBLE_DEVICES=1,1
// env: TOPROPE_DEVICES=4 ASCEND_RT_VISIBLE_DEVICES=9
#include "runtime.h"

int main(void) {
    uint32_t count = 0;
    CHECK_OK(aclInit(NULL));
    CHECK_EQ(aclrtGetDeviceCount(&count), ACL_ERROR_RT_NO_DEVICE);
    CHECK_OK(aclFinalize());
    return check_end();
}
