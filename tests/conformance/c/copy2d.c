// Copies of matrices: pitches, limits, kinds, both forms.
#define WRONG_ADDRESSES
#include "runtime.h"

enum { WIDTH = 100, HEIGHT = 40, HOST_PITCH = 160, DEVICE_PITCH = 128 };

static unsigned char from[HOST_PITCH * HEIGHT], back[HOST_PITCH * HEIGHT];
static unsigned char *device, *pinned;
static aclrtStream stream;

static void check_rows(const unsigned char *rows, size_t pitch) {
    int y;
    for (y = 0; y < HEIGHT; ++y) {
        CHECK_BYTES(rows + (size_t)y * pitch, from + y * HOST_PITCH, WIDTH);
        CHECK_ALL(rows + (size_t)y * pitch + WIDTH, 0xee, pitch - WIDTH);
    }
}

static void synchronous(void) {
    unsigned char flat[DEVICE_PITCH * HEIGHT];
    CHECK_OK(aclrtMemset(device, DEVICE_PITCH * HEIGHT, 0xee, DEVICE_PITCH * HEIGHT));
    CHECK_OK(aclrtMemcpy2d(device, DEVICE_PITCH, from, HOST_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpy(flat, sizeof flat, device, sizeof flat, ACL_MEMCPY_DEVICE_TO_HOST));
    check_rows(flat, DEVICE_PITCH);
    memset(back, 0xee, sizeof back);
    CHECK_OK(aclrtMemcpy2d(back, HOST_PITCH, device, DEVICE_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEVICE_TO_HOST));
    check_rows(back, HOST_PITCH);
    memset(back, 0xee, sizeof back);
    CHECK_OK(aclrtMemcpy2d(back, HOST_PITCH, device, DEVICE_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEFAULT));
    check_rows(back, HOST_PITCH);
}

static void asynchronous(void) {
    check_flag release = {0};
    unsigned char *other = NULL;
    CHECK_OK(aclrtMalloc((void **)&other, DEVICE_PITCH * HEIGHT, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(device, DEVICE_PITCH * HEIGHT, 0xee, DEVICE_PITCH * HEIGHT));
    memset(pinned, 0xee, HOST_PITCH * HEIGHT);
    // Page-locked: queued. aclrtMemcpy2dAsync#16. On this product device to device as well: #14.
    CHECK_OK(aclrtLaunchHostFunc(stream, runtime_hold, &release));
    CHECK_OK(aclrtMemcpy2dAsync(device, DEVICE_PITCH, pinned, HOST_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_HOST_TO_DEVICE,
                                stream));
    CHECK_OK(aclrtMemcpy2dAsync(other, DEVICE_PITCH, device, DEVICE_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                stream));
    memcpy(pinned, from, sizeof from);
    check_raise(&release);
    CHECK_OK(aclrtSynchronizeStream(stream));
    memset(pinned, 0xee, HOST_PITCH * HEIGHT);
    CHECK_OK(aclrtMemcpy2dAsync(pinned, HOST_PITCH, other, DEVICE_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEVICE_TO_HOST,
                                stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    check_rows(pinned, HOST_PITCH);
    // Pageable: done on return. #17: behind what was queued.
    memset(back, 0xee, sizeof back);
    CHECK_OK(aclrtMemsetAsync(device, DEVICE_PITCH * HEIGHT, 0x44, DEVICE_PITCH * HEIGHT, stream));
    CHECK_OK(aclrtMemcpy2dAsync(device, DEVICE_PITCH, from, HOST_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_HOST_TO_DEVICE,
                                stream));
    CHECK_OK(aclrtMemcpy2dAsync(back, HOST_PITCH, device, DEVICE_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEVICE_TO_HOST,
                                stream));
    check_rows(back, HOST_PITCH);
    CHECK_OK(aclrtFree(other));
}

typedef aclError (*copy2d)(void *, size_t, const void *, size_t, size_t, size_t, aclrtMemcpyKind);

static aclError async2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                        aclrtMemcpyKind kind) {
    return aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height, kind, stream);
}

// Rules #01 to #07 are the same for both calls.
static void refused(copy2d copy) {
    const aclrtMemcpyKind down = ACL_MEMCPY_HOST_TO_DEVICE;
    CHECK_OK(copy(NULL, 0, NULL, 0, 0, HEIGHT, (aclrtMemcpyKind)99));
    CHECK_OK(copy(NULL, 0, NULL, 0, WIDTH, 0, (aclrtMemcpyKind)99));
    CHECK_EQ(copy(NULL, DEVICE_PITCH, from, HOST_PITCH, WIDTH, HEIGHT, down), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(device, DEVICE_PITCH, NULL, HOST_PITCH, WIDTH, HEIGHT, down), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(device, WIDTH - 1, from, HOST_PITCH, WIDTH, HEIGHT, down), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(device, DEVICE_PITCH, from, WIDTH - 1, WIDTH, HEIGHT, down), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(device, DEVICE_PITCH, from, HOST_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_HOST_TO_HOST),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(device, DEVICE_PITCH, from, HOST_PITCH, WIDTH, HEIGHT, (aclrtMemcpyKind)99), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(copy(device, 6000000, from, 6000000, 5000001, 1, down), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(copy(device, DEVICE_PITCH, from, HOST_PITCH, 1, 5242881, down), ACL_ERROR_RT_PARAM_INVALID);
    // Both sides on the host: aclrtMemcpy2d#12, aclrtMemcpy2dAsync#19.
    CHECK_EQ(copy(back, HOST_PITCH, from, HOST_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_PARAM_INVALID);
    // ours: pitch times height runs over the end of memory, or of the address space.
    CHECK_EQ(copy(device, DEVICE_PITCH, from, HOST_PITCH, WIDTH, 4 * 1024, down), BAD_ADDRESS);
    CHECK_EQ(copy(device, SIZE_MAX, from, HOST_PITCH, WIDTH, HEIGHT, down), BAD_ADDRESS);
    CHECK_EQ(copy(device, DEVICE_PITCH, from, (size_t)1 << 63, WIDTH, HEIGHT, down), BAD_ADDRESS);
    CHECK_EQ(copy(UNMAPPED, HOST_PITCH, device, DEVICE_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEVICE_TO_HOST), BAD_ADDRESS);
    CHECK_EQ(copy(device, DEVICE_PITCH, UNMAPPED, HOST_PITCH, WIDTH, HEIGHT, down), BAD_ADDRESS);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_STILL_WORKS();
}

int main(void) {
    unsigned char *other = NULL;
    runtime_start();
    check_fill(from, sizeof from, 1);
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMalloc((void **)&device, DEVICE_PITCH * HEIGHT, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMallocHost((void **)&pinned, HOST_PITCH * HEIGHT));
    synchronous();
    asynchronous();
    refused(aclrtMemcpy2d);
    refused(async2d);
    // Device to device: aclrtMemcpy2d#11, #12.
    CHECK_OK(aclrtMalloc((void **)&other, DEVICE_PITCH * HEIGHT, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_EQ(aclrtMemcpy2d(other, DEVICE_PITCH, device, DEVICE_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEVICE_TO_DEVICE),
             ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtMemcpy2d(other, DEVICE_PITCH, device, DEVICE_PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEFAULT),
             ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtFree(other));
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtDestroyStream(stream));
    return runtime_end();
}
