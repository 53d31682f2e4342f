"""Parts of one block of memory: allocate once, divide yourself.

A part of ``length`` bytes takes ``length`` rounded up to a multiple of 32, plus 32 bytes, and begins at an address that
is a multiple of 64 (acl.rt.malloc_host, constraints)::

    lengths = [100, 4096, 7]
    size = acl.segments.block_size(lengths)
    block, ret = acl.rt.malloc_host(size)
    first, second, third = acl.segments.split(block, size, lengths)
"""

from collections.abc import Iterable

START = 64
"""Every part begins at a multiple of this many bytes."""


def align_up(length: int, multiple: int) -> int:
    """The smallest multiple of ``multiple`` that is not below ``length``."""
    return ((length - 1) // multiple + 1) * multiple


def part_size(length: int) -> int:
    """Bytes that a part of ``length`` usable bytes takes. ValueError when ``length`` is not positive."""
    if length <= 0:
        raise ValueError(f"a part of {length} bytes: at least 1 is needed")
    return align_up(length, 32) + 32


def block_size(lengths: Iterable[int]) -> int:
    """Bytes that a block needs which begins at a multiple of 64 and is divided into parts of these lengths."""
    end = 0
    for length in lengths:
        end = _next_start(end) + part_size(length)
    return end


def split(block: int, size: int, lengths: Iterable[int]) -> list[int]:
    """Addresses of parts of these lengths in the block of ``size`` bytes at address ``block``.

    A block that begins elsewhere than at a multiple of 64 loses the bytes before the first one.
    ValueError when the parts do not fit.
    """
    starts: list[int] = []
    end = block
    for length in lengths:
        start = _next_start(end)
        end = start + part_size(length)
        if end > block + size:
            raise ValueError(f"parts of the lengths up to number {len(starts)} need {end - block} bytes of {size}")
        starts.append(start)
    return starts


def _next_start(address: int) -> int:
    return align_up(address, START) if address else 0
