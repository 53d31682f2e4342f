// What a program can ask after a failure: the recent message, the last error, per thread.
#include "runtime.h"

#include <pthread.h>

static void *other_thread(void *unused) {
    (void)unused;
    // aclGetRecentErrMsg#01, aclrtGetLastError#02: each thread has its own.
    CHECK(aclGetRecentErrMsg() == NULL);
    CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream((aclrtStream)(uintptr_t)1), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK(aclGetRecentErrMsg() != NULL);
    return NULL;
}

int main(void) {
    const char *message;
    aclrtStream stream = NULL;
    pthread_t thread;
    runtime_start();
    // aclGetRecentErrMsg#02, aclrtPeekAtLastError#04.
    CHECK(aclGetRecentErrMsg() == NULL);
    CHECK_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);

    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, -7), ACL_ERROR_RT_PARAM_INVALID);
    // ours: a message names the function, the argument and its value.
    message = aclGetRecentErrMsg();
    CHECK(message != NULL);
    if (message != NULL) {
        CHECK(strstr(message, "aclrtSynchronizeStreamWithTimeout") != NULL);
        CHECK(strstr(message, "timeout") != NULL);
        CHECK(strstr(message, "-7") != NULL);
    }
    // #05: told once.
    CHECK(aclGetRecentErrMsg() == NULL);

    // aclrtPeekAtLastError#02, #03; aclrtGetLastError#02, #03.
    CHECK_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    CHECK_EQ(aclrtGetLastError((aclrtLastErrLevel)5), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtPeekAtLastError((aclrtLastErrLevel)5), ACL_ERROR_INVALID_PARAM);

    // A success does not wipe the last error; the newest error counts.
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, -7), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
    // aclGetRecentErrMsg#03: several messages, the newest first.
    message = aclGetRecentErrMsg();
    CHECK(message != NULL);
    if (message != NULL) {
        const char *newer = strstr(message, "aclrtSetDevice");
        const char *older = strstr(message, "aclrtSynchronizeStreamWithTimeout");
        CHECK(newer != NULL && older != NULL && newer < older);
    }

    CHECK_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    CHECK_EQ(pthread_create(&thread, NULL, other_thread, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(aclGetRecentErrMsg() != NULL);
    CHECK_OK(aclrtDestroyStream(stream));
    return runtime_end();
}
