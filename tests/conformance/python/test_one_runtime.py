"""One process, one runtime: Python, ctypes and C code see the same contexts and pointers, whoever comes first."""

import os
import shutil
import subprocess
import textwrap
from pathlib import Path

import acl
import pytest
from conftest import run

PACKAGE = Path(acl.__file__).parent
LIBRARY = PACKAGE / "libascendcl.so"

C_CODE = """
#include <stddef.h>
#include <stdint.h>
/* As acl/acl.h declares them. */
int aclInit(const char *);
int aclrtSetDevice(int32_t);
int aclrtGetCurrentContext(void **);
int aclrtMalloc(void **, size_t, int);
int aclrtMemset(void *, size_t, int32_t, size_t);
int aclrtFree(void *);

int c_init(void) { return aclInit(NULL); }
int c_set_device(void) { return aclrtSetDevice(0); }
uint64_t c_context(void) { void *context = NULL; aclrtGetCurrentContext(&context); return (uint64_t)context; }
uint64_t c_block(void) {
    void *block = NULL;
    if (aclrtMalloc(&block, 64, 0) != 0 || aclrtMemset(block, 64, 0x5a, 64) != 0) return 0;
    return (uint64_t)block;
}
int c_free(uint64_t block) { return aclrtFree((void *)block); }
"""


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """A shared library that is linked to libascendcl.so, as an extension module of a program would be."""
    folder = tmp_path_factory.mktemp("linked")
    source, library = folder / "linked.c", folder / "liblinked.so"
    source.write_text(C_CODE)
    command = ["gcc", "-shared", "-fPIC", "-o", library, source, f"-L{PACKAGE}", "-lascendcl"]
    subprocess.run(command, check=True)
    needed = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    assert "[libascendcl.so]" in needed
    return library


CHECK = """
    def maps():
        with open("/proc/self/maps") as file:
            return {line.split(maxsplit=5)[5].strip() for line in file if "libascendcl.so" in line}

    assert c.c_set_device() == 0
    context, ret = acl.rt.get_context()
    assert ret == 0 and context == c.c_context() != 0
    other, ret = acl.rt.create_context(0)
    assert ret == 0 and c.c_context() == other
    block = c.c_block()
    back = bytes(64)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), 64, block, 64, 2) == 0 and back == b"\\x5a" * 64
    own, ret = acl.rt.malloc(64, 0)
    assert c.c_free(own) == 0 and acl.rt.free(own) != 0
    assert acl.rt.free(block) == 0 and c.c_free(block) != 0
    assert len(maps()) == 1, maps()
    print("same")
"""

DECLARE = """
    import ctypes, sys
    def declare(c):
        for name in ("c_context", "c_block"):
            getattr(c, name).restype = ctypes.c_uint64
        c.c_free.argtypes = [ctypes.c_uint64]
        return c
"""


def test_python_first_then_linked_c(linked):
    code = DECLARE + """
    import acl
    assert acl.init() == 0
    c = declare(ctypes.CDLL(sys.argv[1]))
""" + CHECK
    assert run(code, args=[linked], LD_LIBRARY_PATH=None) == "same\n"


def test_linked_c_first_then_python(linked):
    code = DECLARE + """
    c = declare(ctypes.CDLL(sys.argv[1]))
    assert c.c_init() == 0
    import acl
""" + CHECK
    assert run(code, args=[linked], LD_LIBRARY_PATH=os.fspath(PACKAGE)) == "same\n"


def test_another_copy_that_is_loaded_wins(linked, tmp_path):
    """A program that brings its own libascendcl.so: the module takes that one, not the one beside it."""
    copy = tmp_path / "libascendcl.so"
    shutil.copyfile(LIBRARY, copy)
    code = DECLARE + """
    c = declare(ctypes.CDLL(sys.argv[1]))
    assert c.c_init() == 0
    import acl
""" + CHECK + """
    assert maps() == {sys.argv[2]}, maps()
    """
    assert run(code, args=[linked, copy], LD_LIBRARY_PATH=os.fspath(tmp_path)) == "same\n"


CTYPES = """
    context = ctypes.c_void_p()
    assert acl.rt.set_device(0) == 0
    assert lib.aclrtGetCurrentContext(ctypes.byref(context)) == 0
    assert (context.value, 0) == acl.rt.get_context()
    block = ctypes.c_void_p()
    assert lib.aclrtMalloc(ctypes.byref(block), ctypes.c_size_t(64), 0) == 0
    assert acl.rt.memset(block.value, 64, 1, 64) == 0
    assert acl.rt.free(block.value) == 0
    # The error of one is the error of the other.
    lib.aclGetRecentErrMsg.restype = ctypes.c_char_p
    assert acl.rt.free(block.value) != 0
    assert b"aclrtFree" in lib.aclGetRecentErrMsg()
    print("same")
"""


@pytest.mark.parametrize("name", ["libascendcl.so", os.fspath(LIBRARY)], ids=["by name", "by path"])
def test_python_first_then_ctypes(name):
    code = """
    import ctypes, sys, acl
    assert acl.init() == 0
    lib = ctypes.CDLL(sys.argv[1])
""" + CTYPES
    assert run(code, args=[name], LD_LIBRARY_PATH=None) == "same\n"


def test_ctypes_first_then_python():
    code = """
    import ctypes, sys
    lib = ctypes.CDLL(sys.argv[1])
    assert lib.aclInit(None) == 0
    import acl
""" + CTYPES
    assert run(code, args=[LIBRARY], LD_LIBRARY_PATH=None) == "same\n"


def warned(code, args, **environment):
    """What a program prints on standard error."""
    return run("import os, sys; os.dup2(1, 2)\n" + textwrap.dedent(code), args=args, LD_LIBRARY_PATH=None, **environment)


def test_a_second_copy_is_told(tmp_path):
    """A library that is loaded by another path is another runtime: one line says so and names both files."""
    copy = tmp_path / "libascendcl.so"
    shutil.copyfile(LIBRARY, copy)
    code = """
        import acl, ctypes
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        lib = ctypes.CDLL(sys.argv[1])
        assert lib.aclInit(None) == 0 and lib.aclrtSetDevice(0) == 0
    """
    (line,) = warned(code, [copy]).splitlines()
    assert line.startswith(f"toprope: two runtimes in one process: {copy} starts, and {LIBRARY} is loaded too"), line


def test_the_first_tells_it_when_it_starts_last(tmp_path):
    copy = tmp_path / "libascendcl.so"
    shutil.copyfile(LIBRARY, copy)
    code = """
        import acl, ctypes
        lib = ctypes.CDLL(sys.argv[1])
        assert acl.init() == 0
    """
    (line,) = warned(code, [copy]).splitlines()
    assert f"{LIBRARY} starts, and {copy} is loaded too" in line


def test_a_vendors_library_is_told(tmp_path):
    """Any library of that SONAME; a tool that stands before it under a name of its own is none."""
    source, vendor, tool = tmp_path / "other.c", tmp_path / "other.so", tmp_path / "tool.so"
    source.write_text("int aclInit(const char *path) { return path != 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libascendcl.so", "-o", vendor, source], check=True)
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libascendcl.so.1", "-o", tool, source], check=True)
    code = """
        import acl, ctypes
        ctypes.CDLL(sys.argv[1])
        assert acl.init() == 0
    """
    assert f"{vendor} is loaded too" in warned(code, [vendor])
    assert warned(code, [tool]) == ""


@pytest.mark.parametrize("name", ["libascendcl.so", os.fspath(LIBRARY), "link"])
def test_one_copy_tells_nothing(name, tmp_path):
    if name == "link":
        name = tmp_path / "libother.so"
        name.symlink_to(LIBRARY.resolve())
    code = """
        import acl, ctypes
        lib = ctypes.CDLL(sys.argv[1])
        assert acl.init() == 0 and lib.aclrtSetDevice(0) == 0
    """
    assert warned(code, [name]) == ""


def test_its_functions_are_visible_to_all():
    """Loaded globally: device code that is loaded later finds the registration functions."""
    code = """
        import acl, ctypes
        everything = ctypes.CDLL(None)
        assert everything.aclrtSetDevice(0) == 0
        print(acl.rt.get_device())
    """
    assert run(code, LD_LIBRARY_PATH=None) == "(0, 0)\n"


def test_the_extension_links_no_runtime():
    needed = subprocess.run(["readelf", "-d", PACKAGE / "_acl.abi3.so"], check=True, capture_output=True, text=True)
    assert "libascendcl" not in needed.stdout and "libpython" not in needed.stdout
    own = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True, text=True).stdout
    assert "Library soname: [libascendcl.so]" in own


def test_after_a_fork_the_child_gets_codes():
    code = """
        import acl, os
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        child = os.fork()
        if child == 0:
            ret = acl.rt.synchronize_device()
            os._exit(0 if type(ret) is int else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(code) == "0\n"
