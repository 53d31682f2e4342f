"""Functions that come later than this file: each test runs from the day on which what it needs is built."""

import re

import acl
import pytest
from conftest import ROOT, content

UNBUILT = set(re.findall(r'"(\w+)"', (ROOT / "crates/cli/src/unbuilt.rs").read_text()))


def needs(*functions):
    missing = [function for function in functions if function in UNBUILT]
    return pytest.mark.skipif(bool(missing), reason=f"not built: {', '.join(missing)}")


@needs("aclrtValueWrite", "aclrtValueWait")
def test_values(stream, on_device):
    block = on_device(64, bytes(64))
    other, _ = acl.rt.create_stream()
    equal = acl.ACL_STREAM_WAIT_VALUE_EQ
    assert acl.rt.value_wait(block, 7, equal, other) == 0
    assert acl.rt.memset_async(block + 32, 32, 9, 32, other) == 0
    assert acl.rt.value_write(block, 7, 0, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert content(block, 8) == (7).to_bytes(8, "little") and content(block + 32, 32) == b"\x09" * 32
    assert acl.rt.value_write(0, 7, 0, stream) != 0
    assert acl.rt.value_wait(0, 7, equal, stream) != 0
    assert acl.rt.destroy_stream(other) == 0


@needs("aclrtCreateNotify", "aclrtRecordNotify", "aclrtWaitAndResetNotify", "aclrtNotifyBatchReset")
def test_notifies(stream, on_device):
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0 and notify
    number, ret = acl.rt.get_notify_id(notify)
    assert ret == 0 and number >= 0
    other, _ = acl.rt.create_stream()
    block = on_device(64, bytes(64))
    assert acl.rt.wait_and_reset_notify(notify, other, 0) == 0
    assert acl.rt.memset_async(block, 64, 1, 64, other) == 0
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert content(block, 64) == b"\x01" * 64
    assert acl.rt.notify_batch_reset([notify]) == 0
    assert acl.rt.notify_batch_reset([0]) != 0
    assert acl.rt.destroy_notify(notify) == 0
    assert acl.rt.destroy_notify(0) != 0
    assert acl.rt.record_notify(0, stream) != 0
    assert acl.rt.wait_and_reset_notify(0, stream, 0) != 0
    assert acl.rt.get_notify_id(0)[1] != 0
    assert acl.rt.destroy_stream(other) == 0


@needs("aclrtNotifyGetExportKey", "aclrtNotifyImportByKey", "aclrtNotifySetImportPid")
def test_notify_keys(device):
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0
    key, ret = acl.rt.notify_get_export_key(notify, 65, 0)
    assert ret == 0 and key
    assert acl.rt.notify_set_import_pid(notify, [1]) == 0
    assert acl.rt.notify_import_by_key("no such key", 0)[1] != 0
    assert acl.rt.notify_get_export_key(0, 65, 0)[1] != 0
    assert acl.rt.destroy_notify(notify) == 0


@needs("aclrtReduceAsync")
def test_reduction(stream, on_device):
    import struct

    source, target = on_device(64, struct.pack("16f", *range(16))), on_device(64, struct.pack("16f", *[1.0] * 16))
    kind = acl.ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM
    assert acl.rt.reduce_async(target, source, 64, kind, acl.ACL_FLOAT, stream, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert struct.unpack("16f", content(target, 64)) == tuple(number + 1.0 for number in range(16))
    assert acl.rt.reduce_async(0, source, 64, kind, acl.ACL_FLOAT, stream, 0) != 0


@needs("aclrtCmoAsync")
def test_cache_operation(stream, on_device):
    assert acl.rt.cmo_async(on_device(4096), 4096, acl.ACL_RT_CMO_TYPE_PREFETCH, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.cmo_async(0, 4096, acl.ACL_RT_CMO_TYPE_PREFETCH, stream) != 0


@needs("aclrtDeviceTaskAbort")
def test_task_abort(stream):
    assert acl.rt.device_task_abort(0, 1000) == 0
    assert acl.rt.device_task_abort(99, 1000) != 0


PROPERTY = {
    "handleType": 0,
    "allocationType": 0,
    "memAttr": acl.ACL_HBM_MEM_HUGE,
    "location": {"id": 0, "type": acl.ACL_MEM_LOCATION_TYPE_DEVICE},
    "reserve": 0,
}


@needs("aclrtReserveMemAddress", "aclrtMallocPhysical", "aclrtMapMem", "aclrtMemGetAllocationGranularity")
def test_memory_and_addresses_apart(device):
    size, ret = acl.rt.mem_get_allocation_granularity(PROPERTY, 0)
    assert ret == 0 and size > 0
    address, ret = acl.rt.reserve_mem_address(size, 0, 0, 1)
    assert ret == 0 and address
    handle, ret = acl.rt.malloc_physical(size, PROPERTY, 0)
    assert ret == 0 and handle
    assert acl.rt.map_mem(address, size, 0, handle, 0) == 0
    assert acl.rt.memset(address, size, 3, 64) == 0
    assert content(address, 64) == b"\x03" * 64
    assert acl.rt.unmap_mem(address) == 0
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.release_mem_address(address) == 0
    assert acl.rt.unmap_mem(0) != 0
    assert acl.rt.free_physical(0) != 0
    assert acl.rt.release_mem_address(0) != 0
    assert acl.rt.map_mem(0, size, 0, 0, 0) != 0
    assert acl.rt.reserve_mem_address(0, 0, 0, 1)[1] != 0


@needs("aclrtMemExportToShareableHandle", "aclrtMemSetPidToShareableHandle", "aclrtMemImportFromShareableHandle")
def test_sharing_of_physical_memory(device):
    size, _ = acl.rt.mem_get_allocation_granularity(PROPERTY, 0)
    handle, ret = acl.rt.malloc_physical(size, PROPERTY, 0)
    assert ret == 0
    shareable, ret = acl.rt.mem_export_to_shareable_handle(handle, 0, 0)
    assert ret == 0 and shareable
    assert acl.rt.mem_set_pid_to_shareable_handle(shareable, [1]) == 0
    assert acl.rt.mem_import_from_shareable_handle((1 << 64) - 1, 0)[1] != 0
    assert acl.rt.mem_export_to_shareable_handle(0, 0, 0)[1] != 0
    assert acl.rt.free_physical(handle) == 0


@needs("aclrtIpcMemGetExportKey", "aclrtIpcMemSetImportPid", "aclrtIpcMemImportByKey", "aclrtIpcMemClose")
def test_keys_of_memory(on_device):
    block = on_device(4096)
    key, ret = acl.rt.ipc_mem_get_export_key(block, 4096, 65, 0)
    assert ret == 0 and key
    assert acl.rt.ipc_mem_set_import_pid(key, [1]) == 0
    assert acl.rt.ipc_mem_import_by_key("no such key", 0)[1] != 0
    assert acl.rt.ipc_mem_close(key) == 0
    assert acl.rt.ipc_mem_close("no such key") != 0
    assert acl.rt.ipc_mem_get_export_key(0, 4096, 65, 0)[1] != 0
