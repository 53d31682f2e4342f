// A configuration file with a default device: threads that never set one use it. aclInit#25, #28.
// env: TOPROPE_DEVICES=2
#include "runtime.h"

#include <pthread.h>
#include <unistd.h>

static void *fresh_thread(void *unused) {
    int32_t device = -1;
    (void)unused;
    // aclrtGetDevice#03: the configured default device.
    CHECK_OK(aclrtGetDevice(&device));
    CHECK_EQ(device, 1);
    CHECK_STILL_WORKS();
    // aclInit#28: setting a device comes first.
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtGetDevice(&device));
    CHECK_EQ(device, 0);
    CHECK_OK(aclrtResetDevice(0));
    return NULL;
}

int main(void) {
    char path[256];
    FILE *file;
    pthread_t thread;
    snprintf(path, sizeof path, "/tmp/toprope-default-%ld.json", (long)getpid());
    file = fopen(path, "w");
    if (!CHECK(file != NULL)) return check_end();
    fputs("{\"defaultDevice\": {\"default_device\": \"1\"}, \"err_msg_mode\": \"1\"}\n", file);
    fclose(file);
    CHECK_OK(aclInit(path));
    unlink(path);
    CHECK_EQ(pthread_create(&thread, NULL, fresh_thread, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_OK(aclFinalize());
    return check_end();
}
