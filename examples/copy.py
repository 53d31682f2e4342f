"""Copies an array to a device and back, on a stream. Run with `toprope run examples/copy.py`."""

import acl


def check(ret: int) -> None:
    if ret != acl.ACL_SUCCESS:
        raise RuntimeError(f"code {ret}: {acl.get_recent_err_msg()}")


def main() -> None:
    check(acl.init())
    check(acl.rt.set_device(0))
    stream, ret = acl.rt.create_stream()
    check(ret)

    # Pinned memory: copies of it are asynchronous, and no Python object has to be kept alive for them.
    size = 4096
    source, ret = acl.rt.malloc_host(size)
    check(ret)
    target, ret = acl.rt.malloc_host(size)
    check(ret)
    block, ret = acl.rt.malloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    check(ret)

    # A Python object is memory too. It must live until the last copy that uses its address is done.
    data = bytes(range(256)) * 16
    check(acl.rt.memcpy(source, size, acl.util.bytes_to_ptr(data), size, acl.ACL_MEMCPY_HOST_TO_HOST))
    check(acl.rt.memcpy_async(block, size, source, size, acl.ACL_MEMCPY_HOST_TO_DEVICE, stream))
    check(acl.rt.memcpy_async(target, size, block, size, acl.ACL_MEMCPY_DEVICE_TO_HOST, stream))
    check(acl.rt.synchronize_stream(stream))
    assert acl.util.ptr_to_bytes(target, size) == data

    check(acl.rt.free(block))
    check(acl.rt.free_host(target))
    check(acl.rt.free_host(source))
    check(acl.rt.destroy_stream(stream))
    check(acl.rt.reset_device(0))
    check(acl.finalize())
    print("ok")


if __name__ == "__main__":
    main()
