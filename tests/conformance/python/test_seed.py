"""The six functions of the pyACL page (seed 003): arguments, return shapes, results, constraints."""

import acl
import pytest
from conftest import content, run


class TestMallocHost:
    def test_gives_an_address_and_a_code(self):
        result = acl.rt.malloc_host(1000)
        assert isinstance(result, tuple) and len(result) == 2
        address, ret = result
        assert type(address) is int and type(ret) is int and ret == 0
        # 003: the start is aligned to 64 bytes.
        assert address and address % 64 == 0
        assert acl.rt.free_host(address) == 0

    def test_size_must_not_be_0(self):
        assert acl.rt.malloc_host(0) == (0, acl.ACL_ERROR_INVALID_PARAM)

    def test_too_much(self):
        address, ret = acl.rt.malloc_host(1 << 60)
        assert address == 0 and ret != 0

    def test_the_memory_is_the_hosts(self, host):
        block = host(4096, bytes(range(256)) * 16)
        assert acl.util.ptr_to_bytes(block, 4096) == bytes(range(256)) * 16


class TestFreeHost:
    def test_only_what_malloc_host_gave(self, host, on_device):
        assert acl.rt.free_host(on_device(64)) != 0
        block = host(64)
        assert acl.rt.free_host(block + 1) != 0
        assert acl.rt.free_host(block) == 0
        assert acl.rt.free_host(block) != 0

    def test_gives_a_plain_code(self):
        assert type(acl.rt.free_host(0)) is int
        assert acl.rt.free_host(0) == acl.ACL_ERROR_INVALID_PARAM


class TestMemset:
    @pytest.mark.parametrize("where", ["host", "on_device"])
    def test_sets_count_bytes_of_either_memory(self, request, where):
        block = request.getfixturevalue(where)(256, b"\xaa" * 256)
        assert acl.rt.memset(block, 256, 7, 100) == 0
        assert content(block, 256) == b"\x07" * 100 + b"\xaa" * 156

    def test_value_is_cut_to_a_byte(self, host):
        block = host(64, bytes(64))
        assert acl.rt.memset(block, 64, -1, 64) == 0
        assert content(block, 64) == b"\xff" * 64

    def test_count_above_max_count(self, host):
        block = host(64, bytes(64))
        assert acl.rt.memset(block, 32, 1, 33) == acl.ACL_ERROR_RT_PARAM_INVALID
        assert content(block, 64) == bytes(64)

    def test_no_address(self):
        assert acl.rt.memset(0, 64, 1, 64) == acl.ACL_ERROR_INVALID_PARAM


class TestMemsetAsync:
    def test_is_done_at_synchronize(self, on_device, stream):
        block = on_device(4096, bytes(4096))
        assert acl.rt.memset_async(block, 4096, 5, 4000, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert content(block, 4096) == b"\x05" * 4000 + bytes(96)

    def test_refusals(self, on_device, stream):
        block = on_device(64, bytes(64))
        assert acl.rt.memset_async(block, 32, 1, 33, stream) != 0
        assert acl.rt.memset_async(0, 32, 1, 32, stream) == acl.ACL_ERROR_INVALID_PARAM
        assert acl.rt.memset_async(block, 64, 1, 64, 12345) != 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert content(block, 64) == bytes(64)


class TestMemcpy:
    def test_all_four_directions(self, host, on_device):
        data = bytes(range(256)) * 4
        first, second = host(1024, data), host(1024)
        one, two = on_device(1024), on_device(1024)
        assert acl.rt.memcpy(one, 1024, first, 1024, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
        assert acl.rt.memcpy(two, 1024, one, 1024, acl.ACL_MEMCPY_DEVICE_TO_DEVICE) == 0
        assert acl.rt.memcpy(second, 1024, two, 1024, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
        assert acl.util.ptr_to_bytes(second, 1024) == data
        target = bytes(1024)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(target), 1024, first, 1024, acl.ACL_MEMCPY_HOST_TO_HOST) == 0
        assert target == data

    @pytest.mark.parametrize("kind", range(4))
    def test_kind_has_no_effect(self, host, on_device, kind):
        block, target = on_device(64, b"k" * 64), host(64)
        assert acl.rt.memcpy(target, 64, block, 64, kind) == 0
        assert acl.util.ptr_to_bytes(target, 64) == b"k" * 64

    @pytest.mark.parametrize("product, generation", [("a2", "9"), ("a2", "8"), ("inference", "5"), ("training", "5")])
    def test_a_number_that_is_no_kind_is_refused(self, product, generation):
        """The page says that the values of the enumeration have no effect; others are no values of it (aclrtMemcpy#04)."""
        code = """
            import acl
            assert acl.init() == 0 and acl.rt.set_device(0) == 0
            block, _ = acl.rt.malloc(64, 0)
            source, target = acl.util.bytes_to_ptr(b"k" * 64), bytes(64)
            back = acl.util.bytes_to_ptr(target)
            for kind in range(4):
                assert acl.rt.memcpy(block, 64, source, 64, kind) == 0
                assert acl.rt.memset(back, 64, 0, 64) == 0
                assert acl.rt.memcpy(back, 64, block, 64, kind) == 0 and target == b"k" * 64
            acl.get_recent_err_msg()
            for kind in (-1, 6, 9, (1 << 31) - 1):
                assert acl.rt.memset(back, 64, 0, 64) == 0
                assert acl.rt.memcpy(back, 64, block, 64, kind) == acl.ACL_ERROR_INVALID_PARAM
                assert target == bytes(64) and "kind: " in acl.get_recent_err_msg()
        """
        run(code, TOPROPE_PRODUCT=product, TOPROPE_CANN=generation)

    def test_count_above_dest_max(self, host):
        source, target = host(64, b"s" * 64), host(64, bytes(64))
        assert acl.rt.memcpy(target, 63, source, 64, 0) == acl.ACL_ERROR_RT_PARAM_INVALID
        assert acl.util.ptr_to_bytes(target, 64) == bytes(64)

    def test_no_address(self, host):
        block = host(64)
        assert acl.rt.memcpy(0, 64, block, 64, 0) == acl.ACL_ERROR_INVALID_PARAM
        assert acl.rt.memcpy(block, 64, 0, 64, 0) == acl.ACL_ERROR_INVALID_PARAM

    def test_an_address_without_memory_gets_a_code(self, host):
        assert acl.rt.memcpy(host(64), 64, 64, 64, 0) != 0

    def test_behind_a_block(self, on_device, host):
        block, source = on_device(64), host(1 << 20)
        assert acl.rt.memcpy(block, 1 << 40, source, 1 << 40, 1) != 0


class TestMemcpyAsync:
    def test_there_and_back(self, host, on_device, stream):
        data = bytes(range(256)) * 16
        source, target, block = host(4096, data), host(4096, bytes(4096)), on_device(4096)
        assert acl.rt.memcpy_async(block, 4096, source, 4096, acl.ACL_MEMCPY_HOST_TO_DEVICE, stream) == 0
        assert acl.rt.memcpy_async(target, 4096, block, 4096, acl.ACL_MEMCPY_DEVICE_TO_HOST, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.util.ptr_to_bytes(target, 4096) == data

    def test_stream_0_is_the_default_stream(self, host, on_device):
        block, source = on_device(64, bytes(64)), host(64, b"d" * 64)
        assert acl.rt.memcpy_async(block, 64, source, 64, 1, 0) == 0
        assert acl.rt.synchronize_stream(0) == 0
        assert content(block, 64) == b"d" * 64

    def test_refusals(self, host, on_device, stream):
        block, source = on_device(64, bytes(64)), host(64)
        assert acl.rt.memcpy_async(block, 63, source, 64, 1, stream) == acl.ACL_ERROR_RT_PARAM_INVALID
        assert acl.rt.memcpy_async(0, 64, source, 64, 1, stream) == acl.ACL_ERROR_INVALID_PARAM
        assert acl.rt.memcpy_async(block, 64, 0, 64, 1, stream) == acl.ACL_ERROR_INVALID_PARAM
        assert acl.rt.memcpy_async(block, 64, source, 64, 77, stream) != 0
        assert acl.rt.memcpy_async(block, 64, source, 64, 1, 99) != 0
        assert acl.rt.synchronize_stream(stream) == 0


HOST_TO_HOST = """
    import acl
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    source, ret = acl.rt.malloc_host(64)
    assert ret == 0 and acl.rt.memset(source, 64, 7, 64) == 0
    target, ret = acl.rt.malloc_host(64)
    assert ret == 0 and acl.rt.memset(target, 64, 0, 64) == 0
    issued = acl.rt.memcpy_async(target, 64, source, 64, acl.ACL_MEMCPY_HOST_TO_HOST, stream)
    done = acl.rt.synchronize_stream(stream)
    print(issued, done != 0, acl.util.ptr_to_bytes(target, 64) == bytes(64))
"""


class TestGenerations:
    """Host to host: the pyACL page accepts the task and fails later; the newest page refuses at once."""

    def test_host_to_host_on_the_generation_of_the_page(self):
        assert run(HOST_TO_HOST, TOPROPE_CANN="5", TOPROPE_PRODUCT="training").split() == ["0", "True", "True"]

    def test_host_to_host_on_the_newest_generation(self):
        assert run(HOST_TO_HOST, TOPROPE_CANN="9", TOPROPE_PRODUCT="a2").split() == ["207000", "False", "True"]

    def test_alignment_of_64_bytes(self):
        """003: on the old generation both addresses must be multiples of 64."""
        code = """
            import acl
            assert acl.init() == 0 and acl.rt.set_device(0) == 0
            stream, ret = acl.rt.create_stream()
            host, ret = acl.rt.malloc_host(256)
            block, ret = acl.rt.malloc(256, 0)
            print(acl.rt.memcpy_async(block, 64, host, 64, 1, stream),
                  acl.rt.memcpy_async(block + 8, 64, host, 64, 1, stream) != 0,
                  acl.rt.memcpy_async(block, 64, host + 8, 64, 1, stream) != 0)
        """
        assert run(code, TOPROPE_CANN="5", TOPROPE_PRODUCT="training").split() == ["0", "True", "True"]
        assert run(code, TOPROPE_CANN="9", TOPROPE_PRODUCT="a2").split() == ["0", "False", "False"]
