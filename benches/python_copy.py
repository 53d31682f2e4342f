"""What a call of module acl costs, beside NumPy copying as many bytes, interleaved round by round. Prints medians and minima in ns.

    toprope run benches/python_copy.py [ROUNDS]        (with `PYTHON` naming an interpreter that has NumPy)
"""

import sys
import time
from statistics import median

import acl
import numpy as np

CALLS = 20000
SIZE = 64


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    host, _ = acl.rt.malloc_host(SIZE)
    device, _ = acl.rt.malloc(SIZE, 0)
    source, target = np.ones(SIZE, np.uint8), np.zeros(SIZE, np.uint8)

    def memcpy_async() -> None:
        call = acl.rt.memcpy_async
        for _ in range(CALLS):
            call(device, SIZE, host, SIZE, 1, stream)

    def memcpy() -> None:
        call = acl.rt.memcpy
        for _ in range(CALLS):
            call(device, SIZE, host, SIZE, 1)

    def stream_get_id() -> None:
        call = acl.rt.stream_get_id
        for _ in range(CALLS):
            call(stream)

    def numpy_copyto() -> None:
        call = np.copyto
        for _ in range(CALLS):
            call(target, source)

    def numpy_assign() -> None:
        for _ in range(CALLS):
            target[:] = source

    def numpy_copy() -> None:
        for _ in range(CALLS):
            source.copy()

    works = (memcpy_async, numpy_copyto, memcpy, numpy_assign, stream_get_id, numpy_copy)
    times: dict[str, list[float]] = {work.__name__: [] for work in works}
    for _ in range(rounds):
        for work in works:
            start = time.perf_counter()
            work()
            times[work.__name__].append((time.perf_counter() - start) / CALLS * 1e9)
            assert acl.rt.synchronize_stream(stream) == 0
    for name, all_times in times.items():
        print(f"{name}\t{median(all_times):.0f}\t{min(all_times):.0f}\tns")
    ratio = median(ours / theirs for ours, theirs in zip(times["memcpy_async"], times["numpy_copyto"]))
    print(f"memcpy_async / numpy_copyto\t{ratio:.2f}")


if __name__ == "__main__":
    main()
