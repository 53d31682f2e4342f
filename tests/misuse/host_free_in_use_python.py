# A pinned source is freed right after the copy out of it was queued.
from misuse import FIXED, Session, acl, ok

with Session():
    buffer = ok(acl.rt.malloc(4096, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    stream = ok(acl.rt.create_stream())
    host = ok(acl.rt.malloc_host(4096))
    ok(acl.rt.memcpy_async(buffer, 4096, host, 4096, acl.ACL_MEMCPY_HOST_TO_DEVICE, stream))
    if FIXED:
        ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.free_host(host))  # REPORT
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.free(buffer))
