# Objects whose memory is used again after they are gone, by others that are alive; and one that is gone after its copy.
import ctypes

from misuse import Session, acl, ok

SIZE = 4096


def upload(buffer, data):
    ok(acl.rt.memcpy(buffer, SIZE, acl.util.bytes_to_ptr(data), SIZE, acl.ACL_MEMCPY_HOST_TO_DEVICE))


with Session():
    buffer = ok(acl.rt.malloc(SIZE, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    pinned = ok(acl.rt.malloc_host(SIZE))
    stream = ok(acl.rt.create_stream())
    for value in range(50):
        upload(buffer, bytes([value]) * SIZE)
        acl.util.bytes_to_ptr(bytes(SIZE))
        # Given out and gone; what follows may lie in the same place.
        acl.util.bytes_to_ptr(bytes(SIZE))
        other = ctypes.create_string_buffer(SIZE)
        start = ctypes.addressof(other)
        ok(acl.rt.memcpy(buffer, SIZE, start, SIZE, acl.ACL_MEMCPY_HOST_TO_DEVICE))
        ok(acl.rt.memcpy_async(pinned, SIZE, buffer, SIZE, acl.ACL_MEMCPY_DEVICE_TO_HOST, stream))
        data = bytes([value]) * SIZE
        start = acl.util.bytes_to_ptr(data)
        ok(acl.rt.synchronize_stream(stream))
        ok(acl.rt.memcpy(buffer, SIZE, start, SIZE, acl.ACL_MEMCPY_HOST_TO_DEVICE))
        del data
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.free_host(pinned))
    ok(acl.rt.free(buffer))
