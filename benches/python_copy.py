"""What a copy of 64 bytes costs through module acl, beside NumPy, in turns. Prints rows as peers/bench_common.h does:
peer, workload, variant, value, unit. `cargo xtask bench k` runs it; by hand, with an interpreter that has NumPy:

    PYTHON=path/to/python toprope run benches/python_copy.py [TURNS]
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import acl
import numpy as np

CALLS = 20000
SIZE = 64
HOST_TO_DEVICE = 1


def main() -> None:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    host, _ = acl.rt.malloc_host(SIZE)
    device, _ = acl.rt.malloc(SIZE, 0)
    source, target = np.ones(SIZE, np.uint8), np.zeros(SIZE, np.uint8)

    def memcpy() -> None:
        call = acl.rt.memcpy
        for _ in range(CALLS):
            call(device, SIZE, host, SIZE, HOST_TO_DEVICE)

    def memcpy_async() -> None:
        call = acl.rt.memcpy_async
        for _ in range(CALLS):
            call(device, SIZE, host, SIZE, HOST_TO_DEVICE, stream)
        assert acl.rt.synchronize_stream(stream) == 0

    def copyto() -> None:
        call = np.copyto
        for _ in range(CALLS):
            call(target, source)

    def assign() -> None:
        for _ in range(CALLS):
            target[:] = source

    works: list[tuple[str, str, Callable[[], None]]] = [
        ("toprope", "acl.rt.memcpy", memcpy),
        ("numpy", "np.copyto", copyto),
        ("toprope", "acl.rt.memcpy_async + synchronize at the end", memcpy_async),
        ("numpy", "target[:] = source", assign),
    ]
    times: list[list[float]] = [[] for _ in works]
    for turn in range(turns + 1):
        for (_, _, work), own in zip(works, times):
            start = time.perf_counter()
            work()
            if turn > 0:  # the first warms up
                own.append((time.perf_counter() - start) / CALLS * 1e9)
    for (peer, variant, _), own in zip(works, times):
        print(f"{peer}\tk.copy64\t{variant}\t{median(own):.6g}\tns/op")


if __name__ == "__main__":
    main()
