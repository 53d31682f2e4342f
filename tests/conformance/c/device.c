// Devices: choosing, counting, resetting; what they tell about themselves; peers.
// env: TOPROPE_DEVICES=3
// env: TOPROPE_DEVICES=3 TOPROPE_PRODUCT=a3
#include "runtime.h"

static void choosing(void) {
    uint32_t count = 0;
    int32_t device = -1;
    // aclrtGetDevice#02: none so far.
    CHECK_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_OK(aclrtGetDeviceCount(&count));
    CHECK_EQ(count, 3);
    // aclrtSetDevice#04.
    CHECK_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(aclrtSetDevice(3), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(aclrtSetDevice(INT32_MAX), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(aclrtSetDevice(INT32_MIN), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_OK(aclrtSetDevice(2));
    CHECK_OK(aclrtGetDevice(&device));
    CHECK_EQ(device, 2);
    CHECK_STILL_WORKS();
    // aclrtSetDevice#05: another call switches.
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtGetDevice(&device));
    CHECK_EQ(device, 0);
    CHECK_STILL_WORKS();
    CHECK_OK(aclrtResetDevice(2));
    CHECK_OK(aclrtResetDevice(0));
    // Null arguments: aclrtGetDevice#01, aclrtGetDeviceCount#01, aclrtGetRunMode#01.
    CHECK_EQ(aclrtGetDevice(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetDeviceCount(NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetRunMode(NULL), ACL_ERROR_INVALID_PARAM);
}

static void resetting(void) {
    int32_t active = -1;
    // aclrtGetPrimaryCtxState#01, #02, #04, #05.
    CHECK_EQ(aclrtGetPrimaryCtxState(1, NULL, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetPrimaryCtxState(3, NULL, &active), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_OK(aclrtGetPrimaryCtxState(1, NULL, &active));
    CHECK_EQ(active, 0);
    // aclrtResetDevice#01, #05.
    CHECK_EQ(aclrtResetDevice(3), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(aclrtResetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(aclrtResetDevice(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    // aclrtResetDevice#02, #09: counted.
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtGetPrimaryCtxState(1, NULL, &active));
    CHECK_EQ(active, 1);
    CHECK_OK(aclrtResetDevice(1));
    CHECK_STILL_WORKS();
    CHECK_OK(aclrtResetDevice(1));
    CHECK_OK(aclrtGetPrimaryCtxState(1, NULL, &active));
    CHECK_EQ(active, 0);
    CHECK_EQ(aclrtResetDevice(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    // aclrtResetDeviceForce#02, #03: whatever the count.
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtResetDeviceForce(1));
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtResetDeviceForce(1));
    // aclrtResetDevice#06, aclrtResetDeviceForce#04.
    CHECK_EQ(aclrtResetDevice(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    CHECK_EQ(aclrtResetDeviceForce(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    // #05, #07.
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtResetDevice(1));
    CHECK_OK(aclrtResetDeviceForce(1));
    CHECK_EQ(aclrtResetDeviceForce(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    CHECK_EQ(aclrtResetDeviceForce(3), ACL_ERROR_RT_INVALID_DEVICEID);
    // aclrtResetDevice#03, #04: the default context's streams go, after their work is done.
    {
        aclrtStream stream = NULL;
        check_flag done = {0};
        CHECK_OK(aclrtSetDevice(1));
        CHECK_OK(aclrtCreateStream(&stream));
        CHECK_OK(aclrtLaunchHostFunc(stream, runtime_mark, &done));
        CHECK_OK(aclrtResetDevice(1));
        CHECK(check_raised(&done));
        CHECK_OK(aclrtSetDevice(1));
        CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
        CHECK_OK(aclrtResetDevice(1));
    }
}

static void telling(void) {
    const char *name = aclrtGetSocName();
    int64_t value = -1;
    size_t unused = 0, total = 0, again = 0;
    int32_t least = -1, greatest = -1;
    // aclrtGetSocName#03: the same pointer each time.
    CHECK(name != NULL && strlen(name) > 6 && strncmp(name, "Ascend", 6) == 0);
    CHECK_PTR(aclrtGetSocName(), name);
    // aclrtGetDeviceInfo#01, #03, #04, #13.
    CHECK_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetDeviceInfo(3, ACL_DEV_ATTR_NPU_ARCH, &value), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtGetDeviceInfo(0, (aclrtDevAttr)9999, &value), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, &value));
    CHECK_EQ(value, 2201);
    // products.csv: cores.
    CHECK_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &value));
    CHECK_EQ(value, 24);
    CHECK_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &value));
    CHECK_EQ(value, 48);
    CHECK_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &value));
    CHECK(value > 0);
    CHECK_OK(aclrtDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK_EQ(least, 7);
    CHECK_EQ(greatest, 0);
    CHECK_OK(aclrtDeviceGetStreamPriorityRange(NULL, NULL));
    // aclrtGetMemInfo#04, #01 to #03, and that memory in use is counted.
    CHECK_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_OK(aclrtSetDevice(0));
    CHECK_EQ(aclrtGetMemInfo(ACL_HBM_MEM, NULL, &total), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &unused, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetMemInfo((aclrtMemAttr)99, &unused, &total), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
    CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total));
    CHECK(unused > 0 && unused <= total);
    {
        void *block = NULL;
        CHECK_OK(aclrtMalloc(&block, 64 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &again, &total));
        CHECK(again + (64 << 20) <= unused);
        CHECK_OK(aclrtFree(block));
        CHECK_OK(aclrtGetMemInfo(ACL_HBM_MEM, &again, &total));
        CHECK_EQ(again, unused);
    }
    CHECK_OK(aclrtResetDevice(0));
}

static void peers(void) {
    int32_t can = -1, status = -1;
    unsigned char from[512];
    void *there, *here = NULL;
    check_fill(from, sizeof from, 5);
    // aclrtDeviceCanAccessPeer#01, #02, #05.
    CHECK_EQ(aclrtDeviceCanAccessPeer(&can, 1, 1), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtDeviceCanAccessPeer(NULL, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
    CHECK_EQ(can, 1);
    // aclrtDeviceEnablePeerAccess#01 to #04, #06.
    CHECK_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_OK(aclrtSetDevice(1));
    there = runtime_device(from, sizeof from);
    CHECK_OK(aclrtSetDevice(0));
    CHECK_EQ(aclrtDeviceEnablePeerAccess(1, 1), ACL_ERROR_FEATURE_UNSUPPORTED);
    CHECK_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtDevicePeerAccessStatus(0, 1, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    CHECK_EQ(status, 0);
    CHECK_OK(aclrtDeviceEnablePeerAccess(1, 0));
    CHECK_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    CHECK_EQ(status, 1);
    CHECK_OK(aclrtDevicePeerAccessStatus(1, 0, &status));
    CHECK_EQ(status, 0);
    CHECK_OK(aclrtMalloc(&here, sizeof from, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemcpy(here, sizeof from, there, sizeof from, ACL_MEMCPY_DEVICE_TO_DEVICE));
    CHECK_DEVICE(here, from, sizeof from);
    CHECK_EQ(aclrtDeviceDisablePeerAccess(0), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtDeviceDisablePeerAccess(1));
    CHECK_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
    CHECK_EQ(status, 0);
    CHECK_OK(aclrtFree(here));
    CHECK_OK(aclrtFree(there));
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclrtResetDevice(1));
}

int main(void) {
    CHECK_OK(aclInit(NULL));
    choosing();
    resetting();
    telling();
    peers();
    CHECK_OK(aclFinalize());
    return check_end();
}
