# Two streams fill the same buffer.
from misuse import FIXED, Session, acl, ok


def fill(buffer, value, stream):
    ok(acl.rt.memset_async(buffer, 4096, value, 4096, stream))


with Session():
    buffer = ok(acl.rt.malloc(4096, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    first, second = ok(acl.rt.create_stream()), ok(acl.rt.create_stream())
    done = ok(acl.rt.create_event())
    fill(buffer, 1, first)
    ok(acl.rt.record_event(done, first))
    if FIXED:
        ok(acl.rt.stream_wait_event(second, done))
    fill(buffer, 2, second)  # REPORT
    for stream in (first, second):
        ok(acl.rt.synchronize_stream(stream))
        ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.destroy_event(done))
    ok(acl.rt.free(buffer))
