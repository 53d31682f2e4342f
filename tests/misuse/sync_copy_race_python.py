# The result of a stream is read back by a synchronous copy, which does not wait for it.
from misuse import FIXED, Session, acl, ok

with Session():
    result = ok(acl.rt.malloc(4096, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    ok(acl.rt.memset(result, 4096, 0, 4096))
    back = ok(acl.rt.malloc_host(4096))
    stream = ok(acl.rt.create_stream())
    ok(acl.rt.memset_async(result, 4096, 5, 4096, stream))
    if FIXED:
        ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.memcpy(back, 4096, result, 4096, acl.ACL_MEMCPY_DEVICE_TO_HOST))  # REPORT
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.free_host(back))
    ok(acl.rt.free(result))
