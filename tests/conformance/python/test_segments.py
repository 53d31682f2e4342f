"""acl.segments: the page's rule for dividing a block (seed 003, malloc_host)."""

import acl
import pytest


@pytest.mark.parametrize("length, size", [(1, 64), (31, 64), (32, 64), (33, 96), (64, 96), (100, 160), (4096, 4128)])
def test_a_part_is_rounded_up_to_32_and_gets_32_more(length, size):
    assert acl.segments.part_size(length) == size


def test_starts_are_multiples_of_64():
    lengths = [100, 4096, 7, 64, 33]
    size = acl.segments.block_size(lengths)
    block, ret = acl.rt.malloc_host(size)
    assert ret == 0
    starts = acl.segments.split(block, size, lengths)
    assert starts[0] == block and all(start % 64 == 0 for start in starts)
    ends = [start + acl.segments.part_size(length) for start, length in zip(starts, lengths)]
    assert all(end <= start for end, start in zip(ends, starts[1:]))
    assert ends[-1] == block + size
    for value, (start, length) in enumerate(zip(starts, lengths)):
        assert acl.rt.memset(start, length, value, length) == 0
    for value, (start, length) in enumerate(zip(starts, lengths)):
        assert acl.util.ptr_to_bytes(start, length) == bytes([value]) * length
    assert acl.rt.free_host(block) == 0


def test_a_block_that_begins_elsewhere():
    """On the device itself malloc_host promises no alignment."""
    assert acl.segments.split(1000, 1000, [10, 10]) == [1024, 1088]


def test_what_does_not_fit():
    lengths = [100, 100]
    size = acl.segments.block_size(lengths)
    assert acl.segments.split(64, size, lengths) == [64, 64 + 192]
    with pytest.raises(ValueError):
        acl.segments.split(64, size - 1, lengths)
    with pytest.raises(ValueError):
        acl.segments.part_size(0)
    with pytest.raises(ValueError):
        acl.segments.block_size([5, -1])
    assert acl.segments.split(64, 0, []) == [] and acl.segments.block_size([]) == 0
