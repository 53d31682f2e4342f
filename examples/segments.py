"""Divides one block of pinned memory into parts, as the page of acl.rt.malloc_host asks: each part takes its length rounded
up to a multiple of 32, plus 32 bytes, and begins at a multiple of 64. Run with `toprope run examples/segments.py`."""

import acl


def main() -> None:
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    lengths = [100, 4096, 7]
    size = acl.segments.block_size(lengths)
    block, ret = acl.rt.malloc_host(size)
    assert ret == 0
    for number, (start, length) in enumerate(zip(acl.segments.split(block, size, lengths), lengths)):
        assert start % 64 == 0
        assert acl.rt.memset(start, length, number, length) == 0
        print(f"part {number}: {length} bytes at {start - block}")
    assert acl.rt.free_host(block) == 0
    assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
    print("ok")


if __name__ == "__main__":
    main()
