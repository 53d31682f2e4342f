"""The module under the checker, which keeps host code off pinned memory while a copy of it is pending."""

import json

from conftest import run

PROGRAM = """
    import acl, numpy, sys

    SIZE = 8192
    acl.init(), acl.rt.set_device(0)
    stream, _ = acl.rt.create_stream()
    host, _ = acl.rt.malloc_host(SIZE)
    device, _ = acl.rt.malloc(SIZE, 0)
    assert acl.rt.memset(device, SIZE, 7, SIZE) == 0
    assert acl.rt.memcpy_async(host, SIZE, device, SIZE, 2, stream) == 0
    {body}
    acl.rt.free(device), acl.rt.free_host(host), acl.rt.destroy_stream(stream)
    acl.rt.reset_device(0), acl.finalize()
"""


def rules(tmp_path, body):
    """The rules that the program breaks."""
    report = tmp_path / "report.json"
    run(PROGRAM.format(body=body), TOPROPE_CHECK="warn", TOPROPE_REPORT=str(report))
    return [finding["rule"] for finding in json.loads(report.read_text())["findings"]]


def test_a_view_reads_nothing(tmp_path):
    body = (
        "view = acl.util.ptr_to_numpy(host, (SIZE,), 2); "
        "assert acl.rt.synchronize_stream(stream) == 0; "
        "assert (view == 7).all(); del view"
    )
    assert rules(tmp_path, body) == []


def test_bytes_after_a_synchronize_are_right(tmp_path):
    body = (
        "assert acl.rt.synchronize_stream(stream) == 0; "
        "assert acl.util.ptr_to_bytes(host, SIZE) == bytes([7]) * SIZE"
    )
    assert rules(tmp_path, body) == []


def test_bytes_before_it_are_read_early(tmp_path):
    body = "got = acl.util.ptr_to_bytes(host, SIZE); assert len(got) == SIZE; acl.rt.synchronize_stream(stream)"
    assert rules(tmp_path, body) == ["host-read-early"]


def test_so_is_a_view_that_is_read(tmp_path):
    body = (
        "view = acl.util.ptr_to_numpy(host, (SIZE,), 2); "
        "first = int(view[5000]); acl.rt.synchronize_stream(stream); del view"
    )
    assert rules(tmp_path, body) == ["host-read-early"]


def test_freed_pinned_memory_is_no_block(tmp_path):
    body = (
        "acl.rt.synchronize_stream(stream); gone, _ = acl.rt.malloc_host(SIZE); acl.rt.free_host(gone); "
        "assert len(acl.util.ptr_to_bytes(gone, 8)) == 8"
    )
    assert rules(tmp_path, body) == []
