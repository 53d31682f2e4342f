# An object whose memory is registered goes out of scope while a copy out of it is pending.
from misuse import FIXED, Session, acl, ok

SIZE = 16384


def upload(buffer, stream):
    data = bytes(range(256)) * 128
    # The whole pages in it.
    start = (acl.util.bytes_to_ptr(data) + 4095) // 4096 * 4096
    ok(acl.rt.host_register_v2(start, SIZE, acl.ACL_HOST_REG_PINNED))
    ok(acl.rt.memcpy_async(buffer, SIZE, start, SIZE, acl.ACL_MEMCPY_HOST_TO_DEVICE, stream))  # REPORT
    if FIXED:
        ok(acl.rt.synchronize_stream(stream))
    return start


with Session():
    buffer = ok(acl.rt.malloc(SIZE, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    stream = ok(acl.rt.create_stream())
    start = upload(buffer, stream)
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.host_unregister(start))
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.free(buffer))
