# Daemon threads that are in calls when Python ends: they must not bring the process down.
import ctypes
import threading

library = ctypes.CDLL("libascendcl.so")


def count(started):
    number = ctypes.c_uint32()
    started.set()
    while True:
        library.aclrtGetDeviceCount(ctypes.byref(number))


assert library.aclInit(None) == 0
for _ in range(4):
    started = threading.Event()
    threading.Thread(target=count, args=(started,), daemon=True).start()
    started.wait()
assert library.aclFinalize() == 0
