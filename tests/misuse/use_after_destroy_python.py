# A stream is used after it was destroyed.
from misuse import FIXED, Session, acl, ok

with Session():
    buffer = ok(acl.rt.malloc(64, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    stream = ok(acl.rt.create_stream())
    if FIXED:
        ok(acl.rt.memset_async(buffer, 64, 1, 64, stream))
    ok(acl.rt.destroy_stream(stream))
    if not FIXED:
        assert acl.rt.memset_async(buffer, 64, 1, 64, stream) != 0  # REPORT
    ok(acl.rt.free(buffer))
