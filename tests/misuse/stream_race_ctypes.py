# Two streams fill the same buffer, on a thread that calls the C functions through ctypes, which lets go of the interpreter.
import ctypes
import os
import threading

library = ctypes.CDLL("libascendcl.so")


def ok(code):
    if code != 0:
        raise RuntimeError(code)


def work():
    ok(library.aclrtSetDevice(0))
    buffer, first, second = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    size = ctypes.c_size_t(4096)
    ok(library.aclrtMalloc(ctypes.byref(buffer), size, 0))
    ok(library.aclrtCreateStream(ctypes.byref(first)))
    ok(library.aclrtCreateStream(ctypes.byref(second)))
    ok(library.aclrtMemsetAsync(buffer, size, 1, size, first))
    if os.environ.get("FIXED"):
        ok(library.aclrtSynchronizeStream(first))
    ok(library.aclrtMemsetAsync(buffer, size, 2, size, second))  # REPORT
    ok(library.aclrtDestroyStream(first))
    ok(library.aclrtDestroyStream(second))
    ok(library.aclrtFree(buffer))
    ok(library.aclrtResetDevice(0))


ok(library.aclInit(None))
thread = threading.Thread(target=work)
thread.start()
thread.join()
ok(library.aclFinalize())
