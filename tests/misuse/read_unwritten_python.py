# Fresh device memory is copied to the host.
from misuse import FIXED, Session, acl, ok

with Session():
    buffer = ok(acl.rt.malloc(4096, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    back = ok(acl.rt.malloc_host(4096))
    if FIXED:
        ok(acl.rt.memset(buffer, 4096, 0, 4096))
    ok(acl.rt.memcpy(back, 4096, buffer, 4096, acl.ACL_MEMCPY_DEVICE_TO_HOST))  # REPORT
    ok(acl.rt.free_host(back))
    ok(acl.rt.free(buffer))
