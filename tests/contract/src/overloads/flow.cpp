// Streams, events, devices, timeouts: what a C++ program writes, so that the overload is chosen.
#include "acl/acl_rt_api.h"

extern "C" {

aclError cpp_synchronize_device(int32_t timeout)
{
    return aclrtSynchronizeDevice(timeout);
}

aclError cpp_synchronize_stream(aclrtStream stream, int32_t timeout)
{
    return aclrtSynchronizeStream(stream, timeout);
}

aclError cpp_synchronize_event(aclrtEvent event, int32_t timeout)
{
    return aclrtSynchronizeEvent(event, timeout);
}

aclError cpp_stream_wait_event(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    return aclrtStreamWaitEvent(stream, event, timeout);
}

aclError cpp_create_stream(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    return aclrtCreateStream(stream, priority, flag);
}

aclError cpp_create_event(aclrtEvent *event, uint32_t flag)
{
    return aclrtCreateEvent(event, flag);
}

aclError cpp_set_op_execute_timeout(uint64_t timeout, uint64_t *actual)
{
    return aclrtSetOpExecuteTimeOut(timeout, actual);
}

} // extern "C"
