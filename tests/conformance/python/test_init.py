"""Chapters 2 and 24: start and end, versions, attributes, data buffers, the log."""

import os

import acl
import pytest
from conftest import run


def test_init_and_finalize():
    code = """
        import acl
        assert acl.init() == 0
        assert acl.rt.set_device(0) == 0
        assert acl.finalize() == 0
        # Afterwards: codes, no crash.
        print(acl.finalize() != 0, acl.rt.malloc_host(0)[1] != 0)
    """
    assert run(code).split() == ["True", "True"]


def test_init_counts_references():
    code = """
        import acl
        print(acl.init(), acl.init(None), acl.finalize_reference(), acl.finalize_reference())
    """
    first, again, *rest = run(code).split(maxsplit=2)
    assert first == "0"
    assert rest and "(" in rest[0]


def test_a_target_that_does_not_exist_is_told():
    code = "import acl; print(acl.init(), acl.get_recent_err_msg(), acl.get_recent_err_msg(), sep='|')"
    ret, text, again = run(code, TOPROPE_PRODUCT="nonsense").split("|")
    assert ret == "100000" and ": aclInit: " in text and "nonsense" in text
    assert again == "None\n"


def test_a_forked_child_is_told():
    code = """
        import acl, os
        assert acl.init() == 0
        child = os.fork()
        if child == 0:
            ret, text = acl.rt.set_device(0), acl.get_recent_err_msg() or ""
            os._exit(0 if ret == 207000 and "aclrtSetDevice: this process was forked" in text else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(code) == "0\n"


def test_init_with_a_file(tmp_path):
    good, bad = tmp_path / "acl.json", tmp_path / "none.json"
    good.write_text("{}")
    code = "import acl, sys; print(acl.init(sys.argv[1]), acl.get_recent_err_msg())"
    assert run(code, args=[good]).split()[0] == "0"
    ret, text = run(code, args=[bad]).split(" ", 1)
    assert ret != "0" and "none.json" in text


def test_init_takes_a_text_only():
    with pytest.raises(TypeError):
        acl.init(7)
    with pytest.raises(ValueError):
        acl.init("a\0b")


def test_get_version():
    major, minor, patch, ret = acl.get_version()
    assert ret == 0 and major >= 1 and minor >= 0 and patch >= 0


def test_get_soc_name():
    assert acl.get_soc_name() == "Ascend910B1"
    assert run("import acl; print(acl.get_soc_name())", TOPROPE_PRODUCT="training").startswith("Ascend910")


def test_version_files(tmp_path):
    """aclsysGetVersionStr#03: packages lie below ASCEND_HOME_PATH."""
    code = "import acl; print(acl.get_version_str('runtime')); print(acl.get_cann_version(0))"
    without = run(code, ASCEND_HOME_PATH=None).splitlines()
    assert without == ["('', %d)" % acl.ACL_ERROR_INVALID_FILE, "({}, %d)" % acl.ACL_ERROR_INVALID_FILE]


def test_attributes():
    attributes, count, ret = acl.get_cann_attribute_list()
    assert ret == 0 and len(attributes) == count > 0
    for attribute in attributes:
        assert acl.get_cann_attribute(attribute) == (1, 0)
    assert acl.get_cann_attribute(999)[1] == acl.ACL_ERROR_INVALID_PARAM


def test_get_device_capability():
    cores, ret = acl.get_device_capability(0, acl.ACL_DEVICE_INFO_AI_CORE_NUM)
    assert (cores, ret) == (24, 0)
    assert acl.get_device_capability(99, acl.ACL_DEVICE_INFO_AI_CORE_NUM) == (0, acl.ACL_ERROR_INVALID_PARAM)


def test_half_precision():
    for value, bits in [(1.0, 0x3C00), (-2.0, 0xC000), (65504.0, 0x7BFF), (0.5, 0x3800)]:
        assert acl.float_to_float16(value) == bits
        assert acl.float16_to_float(bits) == value
    assert acl.float_to_float16(3) == 0x4200
    with pytest.raises(OverflowError):
        acl.float16_to_float(1 << 16)
    with pytest.raises(TypeError):
        acl.float_to_float16("1")


def test_data_type_size():
    assert [acl.data_type_size(kind) for kind in (acl.ACL_FLOAT, acl.ACL_INT8, acl.ACL_DOUBLE)] == [4, 1, 8]
    assert acl.data_type_size(acl.ACL_DT_UNDEFINED) == 0


def test_data_buffers(on_device):
    block = on_device(4096)
    buffer = acl.create_data_buffer(block, 4096)
    assert type(buffer) is int and buffer
    assert acl.get_data_buffer_addr(buffer) == block
    assert acl.get_data_buffer_size(buffer) == 4096
    assert acl.get_data_buffer_size_v2(buffer) == 4096
    assert acl.update_data_buffer(buffer, block + 64, 1 << 33) == 0
    assert acl.get_data_buffer_addr(buffer) == block + 64
    assert acl.get_data_buffer_size_v2(buffer) == 1 << 33
    assert acl.destroy_data_buffer(buffer) == 0
    # Handles are numbers: one that has ended is recognised.
    assert acl.destroy_data_buffer(buffer) != 0
    assert acl.get_data_buffer_addr(buffer) == 0
    assert acl.update_data_buffer(0, block, 1) == acl.ACL_ERROR_INVALID_PARAM


def test_error_text():
    acl.get_recent_err_msg()
    assert acl.get_recent_err_msg() is None
    assert acl.rt.malloc_host(0)[1] == acl.ACL_ERROR_INVALID_PARAM
    assert "aclrtMallocHost: size" in acl.get_recent_err_msg()
    assert acl.get_recent_err_msg() is None


def test_app_log():
    """The line names the Python function, file and line."""
    code = """
        import acl
        def speak():
            assert acl.app_log(acl.ACL_WARNING, "50% of " + chr(0xe4)) is None
        speak()
    """
    printed = run(code, ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_GLOBAL_LOG_LEVEL="0")
    assert "[WARNING]" in printed and "50% of \xe4" in printed and "speak" in printed and "4" in printed
    assert run(code, ASCEND_SLOG_PRINT_TO_STDOUT=None) == ""
    with pytest.raises(TypeError):
        acl.app_log(1, 2)


def test_a_bad_target_is_told():
    code = "import acl; print(acl.init(), acl.rt.get_device_count())"
    ret, rest = run(code, TOPROPE_PRODUCT="none").split(" ", 1)
    assert ret != "0" and rest.startswith("(0, ")


def test_no_library_is_an_import_error(tmp_path):
    """The error names the place where the library was expected."""
    import shutil
    from pathlib import Path

    package = Path(acl.__file__).parent
    copy = tmp_path / "acl"
    shutil.copytree(package, copy, symlinks=False, ignore=shutil.ignore_patterns("libascendcl.so", "__pycache__"))
    code = """
        try:
            import acl
        except ImportError as error:
            print(error)
    """
    printed = run(code, PYTHONPATH=os.fspath(tmp_path), LD_LIBRARY_PATH=None)
    assert f"cannot open {copy}/libascendcl.so" in printed
