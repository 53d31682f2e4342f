# The source of a copy is a temporary object, which is gone before the copy begins.
from misuse import FIXED, Session, acl, ok

with Session():
    buffer = ok(acl.rt.malloc(4096, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    values = bytearray(range(256)) * 16
    if FIXED:
        data = bytes(values)
        ok(acl.rt.memcpy(buffer, 4096, acl.util.bytes_to_ptr(data), 4096, acl.ACL_MEMCPY_HOST_TO_DEVICE))
    else:
        source = acl.util.bytes_to_ptr(bytes(values))
        ok(acl.rt.memcpy(buffer, 4096, source, 4096, acl.ACL_MEMCPY_HOST_TO_DEVICE))  # REPORT
    ok(acl.rt.free(buffer))
