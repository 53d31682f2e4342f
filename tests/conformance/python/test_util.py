"""acl.util: addresses of Python objects, arrays over addresses, threads."""

import sys
import threading
import time
import warnings

import acl
import numpy as np
import pytest
from conftest import CHECKED, content, run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

DTYPES = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "g", "F", "D", "G"]


class TestBytes:
    def test_address_and_back(self):
        data = bytes(range(256))
        address = acl.util.bytes_to_ptr(data)
        assert type(address) is int
        assert acl.util.ptr_to_bytes(address, 256) == data
        assert acl.util.ptr_to_bytes(address + 10, 5) == data[10:15]

    def test_nothing_is_copied(self):
        data = bytes(64)
        assert acl.rt.memset(acl.util.bytes_to_ptr(data), 64, 5, 64) == 0
        assert data == b"\x05" * 64

    def test_ptr_to_bytes_copies(self, host):
        block = host(64, b"a" * 64)
        data = acl.util.ptr_to_bytes(block, 64)
        assert acl.rt.memset(block, 64, 0, 64) == 0
        assert data == b"a" * 64

    def test_something_else(self):
        """The binding of the table raises ValueError, C parsing TypeError: programs may expect either."""
        for other in ("text", bytearray(4), memoryview(b"abc"), 5, None, np.zeros(4)):
            with pytest.raises(TypeError):
                acl.util.bytes_to_ptr(other)
            with pytest.raises(ValueError):
                acl.util.bytes_to_ptr(other)

    def test_no_memory(self):
        assert acl.util.ptr_to_bytes(0, 0) == b""
        with pytest.raises(ValueError):
            acl.util.ptr_to_bytes(0, 1)
        with pytest.raises(OverflowError):
            acl.util.ptr_to_bytes(64, 1 << 63)
        with pytest.raises(OverflowError):
            acl.util.ptr_to_bytes((1 << 64) - 4, 64)


class TestMemoryThatIsNotThere:
    """ValueError that names the first address which cannot be read, where C would crash."""

    code = """
            import acl, ctypes, mmap, warnings
            warnings.simplefilter("ignore")
            libc = ctypes.CDLL(None, use_errno=True)
            libc.mmap.restype = ctypes.c_void_p
            libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
            libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
            PAGE = mmap.PAGESIZE

            def room(pages, closed):
                start = libc.mmap(None, pages * PAGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
                assert libc.mprotect(start + closed * PAGE, PAGE, 0) == 0
                return start

            def refused(address, call, *args):
                try:
                    call(*args)
                except ValueError as error:
                    assert f"{address:#x} cannot be read" in str(error), (hex(address), error)
                else:
                    raise AssertionError("taken")
    """

    def test_bytes(self):
        run(self.code + """
            start = room(4, 2)
            hole = start + 2 * PAGE
            assert acl.util.ptr_to_bytes(start, 2 * PAGE) == bytes(2 * PAGE)
            assert acl.util.ptr_to_bytes(hole - 1, 1) == acl.util.ptr_to_bytes(hole + PAGE, 1) == bytes(1)
            refused(hole, acl.util.ptr_to_bytes, hole, 1)
            refused(hole + 5, acl.util.ptr_to_bytes, hole + 5, 1)
            refused(hole + PAGE - 1, acl.util.ptr_to_bytes, hole + PAGE - 1, 2)
            refused(hole, acl.util.ptr_to_bytes, hole - 1, 2)
            refused(hole, acl.util.ptr_to_bytes, start, 4 * PAGE)
            # More than any machine has: the first address that is not there, and no MemoryError.
            refused(hole, acl.util.ptr_to_bytes, start, 1 << 62)
            for nowhere in (1, 64, 1 << 47, 1 << 63, 0xDEADBEEF << 32, (1 << 64) - PAGE):
                refused(nowhere, acl.util.ptr_to_bytes, nowhere, 16)
        """)

    @pytest.mark.parametrize("pages", [4, 4000])
    def test_arrays(self, pages):
        run(self.code + """
            import sys
            pages = int(sys.argv[1])
            start = room(pages, pages - 2)
            hole, size = start + (pages - 2) * PAGE, pages * PAGE
            whole = acl.util.ptr_to_numpy(start, (hole - start,), 2)
            assert whole[0] == 0 and whole[-1] == 0
            refused(hole, acl.util.ptr_to_numpy, start, (size,), 2)
            refused(hole, acl.util.ptr_to_numpy, start, (size // 8,), 12)
            refused(hole, acl.util.ptr_to_numpy, hole, (1,), 2)
            refused(hole, acl.util.ptr_to_numpy, hole - 8, (PAGE,), 2)
            refused(64, acl.util.ptr_to_numpy, 64, (1,), 2)
        """, args=[pages])

    def test_an_array_of_much_memory_fills_no_pages(self):
        run("""
            import acl, warnings
            warnings.simplefilter("ignore")

            def resident():
                with open("/proc/self/statm") as file:
                    return int(file.read().split()[1]) * 4096

            import numpy
            assert acl.init() == 0 and acl.rt.set_device(0) == 0
            size = 256 << 20
            block, ret = acl.rt.malloc_host(size)
            assert ret == 0
            before = resident()
            array = acl.util.ptr_to_numpy(block, (size,), 2)
            assert resident() - before < size // 4
            array[-1] = 7
            assert acl.util.ptr_to_bytes(block + size - 1, 1) == bytes([7])
        """)

    def test_other_host_memory(self, host):
        data = bytes(range(16))
        assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(data), 16) == data
        block = host(1 << 20, b"z" * (1 << 20))
        assert acl.util.ptr_to_bytes(block + 1, (1 << 20) - 1) == b"z" * ((1 << 20) - 1)


class TestArrays:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_through_the_device(self, on_device, dtype):
        array = np.arange(1, 61).reshape(3, 4, 5).astype(dtype)
        back = np.zeros_like(array)
        block = on_device(array.nbytes)
        assert acl.rt.memcpy(block, array.nbytes, acl.util.numpy_to_ptr(array), array.nbytes, 1) == 0
        assert acl.rt.memcpy(acl.util.numpy_to_ptr(back), array.nbytes, block, array.nbytes, 2) == 0
        assert np.array_equal(array, back)

    def test_address_is_that_of_the_first_element(self):
        array = np.arange(10, dtype=np.int32)
        assert acl.util.numpy_to_ptr(array) == array.ctypes.data
        assert acl.util.numpy_to_ptr(array[3:]) == array.ctypes.data + 12
        # Not in C order: still the first element, as the table says; numpy_contiguous_to_ptr is for those.
        assert acl.util.numpy_to_ptr(array[::-1]) == array.ctypes.data + 36

    @pytest.mark.parametrize(
        "make",
        [
            lambda a: a[::2],
            lambda a: a.T,
            lambda a: a[:, 1:3],
            lambda a: a[::-1],
            lambda a: np.asfortranarray(a),
            lambda a: np.broadcast_to(a[0], (5, 6)),
        ],
    )
    def test_contiguous_copies_what_lies_otherwise(self, on_device, make):
        array = make(np.arange(36, dtype=np.float32).reshape(6, 6))
        address, contiguous = acl.util.numpy_contiguous_to_ptr(array)
        assert contiguous is not array and contiguous.flags["C_CONTIGUOUS"]
        assert address == contiguous.ctypes.data
        assert np.array_equal(contiguous, array)
        block = on_device(array.nbytes)
        assert acl.rt.memcpy(block, array.nbytes, address, array.nbytes, 1) == 0
        assert content(block, array.nbytes) == array.tobytes()

    def test_contiguous_gives_back_what_is_already(self):
        for array in (np.arange(6).reshape(2, 3), np.array(5.0), np.zeros((0, 4))):
            address, same = acl.util.numpy_contiguous_to_ptr(array)
            assert same is array and address == array.ctypes.data

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_array_over_memory(self, host, dtype):
        number = np.dtype(dtype).num
        block = host(1024, bytes(1024))
        array = acl.util.ptr_to_numpy(block, (2, 3), number)
        assert isinstance(array, np.ndarray) and array.shape == (2, 3) and array.dtype == np.dtype(dtype)
        assert array.ctypes.data == block and array.flags["WRITEABLE"] and array.flags["C_CONTIGUOUS"]
        array[1, 2] = 1
        wanted = np.zeros((2, 3), dtype)
        wanted[1, 2] = 1
        written = np.frombuffer(acl.util.ptr_to_bytes(block, array.nbytes), dtype).reshape(2, 3)
        assert np.array_equal(written, wanted)

    def test_shapes(self, host):
        block = host(64, bytes(range(64)))
        assert acl.util.ptr_to_numpy(block, (), 2).item() == 0
        assert acl.util.ptr_to_numpy(block, (64,), 2).tolist() == list(range(64))
        assert acl.util.ptr_to_numpy(0, (0, 5), 2).shape == (0, 5)
        with pytest.raises(TypeError):
            acl.util.ptr_to_numpy(block, [4], 2)
        with pytest.raises(TypeError):
            acl.util.ptr_to_numpy(block, ("4",), 2)
        with pytest.raises(OverflowError):
            acl.util.ptr_to_numpy(block, (-1,), 2)
        with pytest.raises(OverflowError):
            acl.util.ptr_to_numpy(block, (1 << 40, 1 << 40), 2)

    def test_types_that_are_no_numbers(self, host):
        for number in (np.dtype(object).num, np.dtype("S4").num, np.dtype("U4").num, -1, 24, 1000):
            with pytest.raises(ValueError):
                acl.util.ptr_to_numpy(host(64), (1,), number)
        with pytest.raises(ValueError):
            acl.util.ptr_to_numpy(0, (1,), 2)

    def test_only_arrays(self):
        for other in ([1, 2], b"12", 5, None, np.float32(1)):
            with pytest.raises(TypeError):
                acl.util.numpy_to_ptr(other)
            with pytest.raises(TypeError):
                acl.util.numpy_contiguous_to_ptr(other)

    def test_read_only_arrays_have_an_address(self):
        array = np.arange(4)
        array.flags.writeable = False
        assert acl.util.numpy_to_ptr(array) == array.ctypes.data

    @pytest.mark.parametrize("name", ["numpy_to_ptr", "numpy_contiguous_to_ptr"])
    def test_deprecation_is_told(self, name):
        with pytest.warns(DeprecationWarning, match=name):
            getattr(acl.util, name)(np.zeros(4))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(DeprecationWarning):
                acl.util.ptr_to_numpy(64, (1,), 2)

    def test_numpy_is_not_needed(self):
        """Without NumPy everything else works, and arrays are a TypeError or an ImportError."""
        code = """
            import sys
            sys.modules["numpy"] = None
            import acl
            data = b"1234"
            print(acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(data), 4))
            for call in (lambda: acl.util.numpy_to_ptr(data), lambda: acl.util.ptr_to_numpy(64, (1,), 2)):
                try:
                    call()
                except (TypeError, ImportError) as error:
                    print(type(error).__name__)
        """
        assert run(code).split() == ["b'1234'", "TypeError", "ModuleNotFoundError"]


class TestNothingIsLeft:
    def test_objects_do_not_pile_up(self):
        """A leak of one object a call would be 20000; counted after a first round, in which caches are filled."""
        run("""
            import acl, gc, sys, warnings
            import numpy as np
            warnings.simplefilter("ignore")
            array, data = np.arange(100.0), bytes(70)
            other = np.arange(100.0)[::2]
            start = array.ctypes.data
            calls = [
                lambda: acl.util.numpy_to_ptr(array),
                lambda: acl.util.numpy_contiguous_to_ptr(array),
                lambda: acl.util.numpy_contiguous_to_ptr(other),
                lambda: acl.util.ptr_to_numpy(start, (10, 2), 12),
                lambda: acl.util.bytes_to_ptr(data),
                lambda: acl.util.ptr_to_bytes(start, 64),
            ]
            for call in calls:
                for round in range(2):
                    gc.collect()
                    blocks = sys.getallocatedblocks()
                    references = sys.getrefcount(array), sys.getrefcount(other), sys.getrefcount(data)
                    for _ in range(20000):
                        call()
                    gc.collect()
                    assert (sys.getrefcount(array), sys.getrefcount(other), sys.getrefcount(data)) == references
                    more = sys.getallocatedblocks() - blocks
                    assert round == 0 or more < 1000, more
        """)


class TestKeepAlive:
    """With a checker asked for, the runtime is told of memory whose Python owner is gone; its log line shows that here."""

    code = """
        import sys
        import acl
        import numpy as np
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        stream, _ = acl.rt.create_stream()
        block, _ = acl.rt.malloc(4096, 0)
        pinned, _ = acl.rt.malloc_host(4096)

        def aligned(length):
            # The generation wants multiples of 64; the memory is that of the object behind the view.
            room = np.zeros(length + 64, np.uint8)
            start = -room.ctypes.data % 64
            return room[start : start + length]

        def pending():
            acl.rt.memcpy_async(block, 64, pinned, 64, 1, stream)

        kept = aligned(100)
        lost = aligned(200)
        data = bytes(300)
        text = bytes(400)
        import warnings
        warnings.simplefilter("ignore")
        at = {len(array): acl.util.numpy_to_ptr(array) for array in (kept, lost)}
        at.update({len(data): acl.util.bytes_to_ptr(data), len(text): acl.util.bytes_to_ptr(text)})
        for address in at.values():
            assert acl.rt.memcpy_async(block, 64, address // 64 * 64, 64, 1, stream) == 0
        print("asked", *[f"{length}:{address:#x}" for length, address in at.items()], flush=True)
        # A view keeps the memory of the first, nothing that of the second.
        view = kept[10:20]
        del kept, lost, data
        assert acl.rt.synchronize_stream(stream) == 0
        print("again", flush=True)
        del view
        assert acl.rt.synchronize_stream(stream) == 0
        print("end", flush=True)
        pending()
    """
    logged = dict(
        TOPROPE_CANN="8",
        TOPROPE_PRODUCT="a2",
        ASCEND_SLOG_PRINT_TO_STDOUT="1",
        ASCEND_GLOBAL_LOG_LEVEL="2",
        ASCEND_PROCESS_LOG_PATH=None,
    )

    def test_the_runtime_is_told(self):
        lines = run(self.code, TOPROPE_CHECK="warn", **self.logged).splitlines()
        asked = dict(item.split(":") for item in lines[0].split()[1:])
        first, second = lines.index("again"), lines.index("end")

        def told(some):
            assert all("owner gone" in line for line in some)
            some = [line.removesuffix(" for the next call") for line in some]
            return {tuple(line.split("owner gone ")[1].split(" bytes at ")) for line in some}

        assert told(lines[1:first]) == {("200", asked["200"]), ("300", asked["300"])}
        assert told(lines[first + 1 : second]) == {("100", asked["100"])}
        assert lines[second + 1 :] == []

    def test_what_is_gone_does_not_pile_up(self):
        """Objects that nobody holds go soon, with no copy in between; those that somebody holds are held, and no more."""
        code = """
            import acl, gc
            import numpy as np
            import warnings
            warnings.simplefilter("ignore")
            assert acl.init() == 0

            class Counted(np.ndarray):
                alive = 0
                def __del__(self):
                    Counted.alive -= 1

            def make(length):
                Counted.alive += 1
                return np.ndarray.__new__(Counted, length, np.uint8)

            most = 0
            for _ in range(5000):
                acl.util.numpy_to_ptr(make(70))
                most = max(most, Counted.alive)
            print(most <= 2, end=" ")
            kept = [make(70) for _ in range(1000)]
            for array in kept:
                acl.util.numpy_to_ptr(array)
            # Each lives until the second next address is given out, so that it is not the last one when it goes.
            most, before = 0, []
            for _ in range(5000):
                before = before[-1:] + [make(70)]
                acl.util.numpy_to_ptr(before[-1])
                most = max(most, Counted.alive - len(kept))
            print(most <= 502, end=" ")
            del before, array
            print(Counted.alive - len(kept) <= 502)
            acl.rt.memset(0, 0, 0, 0)
            print(Counted.alive - len(kept))
        """
        # The warnings of the log go elsewhere here.
        assert run(code, TOPROPE_CHECK="warn").splitlines()[-2:] == ["True True True", "0"]

    def test_nothing_is_held_without_a_checker(self):
        lines = run(self.code, TOPROPE_CHECK=None, **self.logged).splitlines()
        assert [line.split()[0] for line in lines] == ["asked", "again", "end"]
        data = bytes(1000)
        before = sys.getrefcount(data)
        acl.util.bytes_to_ptr(data)
        assert sys.getrefcount(data) == before + CHECKED


class TestThreads:
    def test_arguments(self):
        seen = []
        for args in (None, 7, [1, 2], (3,), {}):
            work = (lambda: seen.append("none")) if args is None else seen.append
            thread, ret = acl.util.start_thread(work, args)
            assert ret == 0 and type(thread) is int
            assert acl.util.stop_thread(thread) == 0
        assert seen == ["none", 7, [1, 2], (3,), {}]

    def test_the_number_is_pythons(self):
        seen = []
        thread, _ = acl.util.start_thread(lambda: seen.append(threading.get_ident()), None)
        assert acl.util.stop_thread(thread) == 0
        assert seen == [thread]

    def test_threads_run_at_once(self):
        barrier = threading.Barrier(4, timeout=30)
        threads = [acl.util.start_thread(barrier.wait, None)[0] for _ in range(4)]
        assert [acl.util.stop_thread(thread) for thread in threads] == [0] * 4

    def test_an_exception_comes_out_at_the_end(self, monkeypatch):
        caught = []
        monkeypatch.setattr(sys, "unraisablehook", lambda what: caught.append(what.exc_value))

        def work(text):
            raise KeyError(text)

        thread, _ = acl.util.start_thread(work, "gone")
        with pytest.raises(RuntimeError) as raised:
            acl.util.stop_thread(thread)
        assert isinstance(raised.value.__cause__, KeyError) and raised.value.__cause__.args == ("gone",)
        # Said when it happened too, since nobody might have waited.
        assert [type(error) for error in caught] == [KeyError]

    def test_each_thread_is_waited_for_once(self):
        thread, _ = acl.util.start_thread(time.sleep, 0)
        assert acl.util.stop_thread(thread) == 0
        assert acl.util.stop_thread(thread) == 3
        assert acl.util.stop_thread(0) == 3
        assert acl.util.stop_thread(threading.get_ident()) == 35

    def test_only_callables(self):
        with pytest.raises(TypeError):
            acl.util.start_thread(5, None)

    def test_a_forked_child_has_no_such_thread(self):
        code = """
            import acl, os, threading
            stop = threading.Event()
            thread, _ = acl.util.start_thread(stop.wait, None)
            child = os.fork()
            if child == 0:
                os._exit(acl.util.stop_thread(thread))
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            stop.set()
            print(acl.util.stop_thread(thread))
        """
        assert run(code).split() == ["3", "0"]
