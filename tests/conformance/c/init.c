// Initialisation: configuration files, repeated and counted init and finalize, their callbacks.
#include "runtime.h"

#include <unistd.h>

static char path[256];

static const char *config(const char *text) {
    FILE *file;
    snprintf(path, sizeof path, "/tmp/toprope-init-%ld.json", (long)getpid());
    file = fopen(path, "w");
    if (!CHECK(file != NULL)) return path;
    fputs(text, file);
    fclose(file);
    return path;
}

static void finalize(void) { CHECK_OK(aclFinalize()); }

static void files(void) {
    char deep[128] = "{\"a\":";
    // aclInit#02, #04: no file. #14: pairs in sequence.
    CHECK_OK(aclInit(NULL));
    finalize();
    CHECK_OK(aclInit(""));
    finalize();
    // aclInit#05, #06: a file that is not there; #19: the failure leaves nothing initialised.
    CHECK_EQ(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE);
    // aclInit#07: not JSON.
    CHECK_EQ(aclInit(config("{ \"dump\": ")), ACL_ERROR_PARSE_FILE);
    CHECK_EQ(aclInit(config("hello")), ACL_ERROR_PARSE_FILE);
    CHECK_EQ(aclInit(config("")), ACL_ERROR_PARSE_FILE); // ours: an empty file is not JSON either
    // aclInit#08: deeper than 10 levels. ours: reported as a file that cannot be parsed.
    strcat(deep, "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}}}");
    CHECK_EQ(aclInit(config(deep)), ACL_ERROR_PARSE_FILE);
    // aclInit#24: only the strings "0" and "1".
    CHECK_EQ(aclInit(config("{\"err_msg_mode\": 1}")), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclInit(config("{\"err_msg_mode\": \"2\"}")), ACL_ERROR_INVALID_PARAM);
    // aclInit#26, #27: the default device.
    CHECK_EQ(aclInit(config("{\"defaultDevice\": {\"default_device\": \"-1\"}}")), ACL_ERROR_FAILURE);
    CHECK_EQ(aclInit(config("{\"defaultDevice\": {\"default_device\": \"1000\"}}")), ACL_ERROR_RT_INVALID_DEVICEID);
}

static void counting(void) {
    uint64_t left = 99;
    CHECK_OK(aclInit(NULL));
    // aclInit#09, #10: the repeat is refused, and counts. #11: its file is not read.
    CHECK_EQ(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    CHECK_EQ(aclInit("/nonexistent/acl.json"), ACL_ERROR_REPEAT_INITIALIZE);
    // The state is intact.
    CHECK_OK(aclrtSetDevice(0));
    CHECK_STILL_WORKS();
    // aclFinalizeReference#02, #03, #06.
    CHECK_OK(aclFinalizeReference(&left));
    CHECK_EQ(left, 2);
    CHECK_STILL_WORKS();
    CHECK_OK(aclFinalizeReference(NULL));
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalizeReference(&left));
    CHECK_EQ(left, 0);
    // aclFinalizeReference#05, aclFinalize#04.
    left = 99;
    CHECK_EQ(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
    CHECK_EQ(left, 0);
    CHECK_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    // aclFinalize#01: one call clears the whole count.
    CHECK_OK(aclInit(NULL));
    CHECK_EQ(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    CHECK_OK(aclFinalize());
    // aclFinalize#02, #03.
    CHECK_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    CHECK_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

static int inits, finalizes;
static size_t config_length;

static aclError on_init(const char *text, size_t length, void *data) {
    CHECK(text != NULL);
    CHECK_PTR(data, &inits);
    config_length = length;
    ++inits;
    return ACL_SUCCESS;
}

static aclError on_finalize(void *data) {
    CHECK_PTR(data, &finalizes);
    ++finalizes;
    return ACL_SUCCESS;
}

static aclError refuse(void *data) {
    (void)data;
    return 4711;
}

static void callbacks(void) {
    // aclInitCallbackRegister#01.
    CHECK_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, NULL, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, NULL, NULL), ACL_ERROR_INVALID_PARAM);
    // aclInitCallbackRegister#05, #09: runs during aclInit, with nothing when there is no file.
    CHECK_OK(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, on_init, &inits));
    // #03: one of a kind.
    CHECK_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, on_init, &inits), ACL_ERROR_INTERNAL_ERROR);
    CHECK_OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_MODEL, on_finalize, &finalizes));
    config_length = 99;
    CHECK_OK(aclInit(NULL));
    CHECK_EQ(inits, 1);
    CHECK_EQ(config_length, 0);
    // #06: a registration while initialised runs it at once.
    CHECK_OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, on_init, &inits));
    CHECK_EQ(inits, 2);
    // aclFinalizeCallbackRegister#06: never at once; #05: at the finalize.
    CHECK_EQ(finalizes, 0);
    CHECK_OK(aclFinalize());
    CHECK_EQ(finalizes, 1);
    // aclInitCallbackUnRegister#02, #03.
    CHECK_OK(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, on_init));
    CHECK_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, on_init), ACL_ERROR_INTERNAL_ERROR);
    CHECK_OK(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, on_init));
    CHECK_OK(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, on_finalize));
    // aclFinalize#10: a callback that refuses keeps the library initialised.
    CHECK_OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, refuse, NULL));
    CHECK_OK(aclInit(NULL));
    CHECK_EQ(inits, 2);
    CHECK_EQ(aclFinalize(), 4711);
    CHECK_EQ(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    CHECK_OK(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, refuse));
    CHECK_OK(aclFinalize());
}

int main(void) {
    // aclFinalize#05: accepted once before the first init.
    CHECK_OK(aclFinalize());
    files();
    counting();
    callbacks();
    unlink(path);
    return check_end();
}
