"""Chapters 4 and 5: devices and contexts."""

import acl
from conftest import within


def test_set_get_reset(device):
    assert acl.rt.get_device() == (0, 0)
    assert acl.rt.set_device(1) == 0
    assert acl.rt.get_device() == (1, 0)
    assert acl.rt.reset_device(1) == 0
    assert acl.rt.set_device(99) == acl.ACL_ERROR_RT_INVALID_DEVICEID
    assert acl.rt.reset_device(99) == acl.ACL_ERROR_RT_INVALID_DEVICEID
    assert acl.rt.set_device(-1) == acl.ACL_ERROR_RT_INVALID_DEVICEID
    assert acl.rt.set_device(1) == 0
    assert acl.rt.reset_device_force(1) == 0
    assert acl.rt.reset_device_force(99) != 0


def test_a_thread_has_no_device_before_it_sets_one():
    def work():
        before = acl.rt.get_device()
        assert acl.rt.set_device(0) == 0
        return before, acl.rt.get_device()

    before, after = within(work)
    assert before[1] != 0 and after == (0, 0)


def test_counts_and_names():
    assert acl.rt.get_device_count() == (8, 0)
    assert acl.rt.get_run_mode() == (acl.ACL_HOST, 0)
    least, greatest, ret = acl.rt.device_get_stream_priority_range()
    assert (least, greatest, ret) == (7, 0, 0)
    # 64 bits: a size in bytes is not cut to 32.
    memory, ret = acl.rt.get_device_info(0, acl.ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE)
    assert (memory, ret) == (64 << 30, 0)
    assert acl.rt.get_device_info(0, acl.ACL_DEV_ATTR_NPU_ARCH) == (2201, 0)
    assert acl.rt.get_device_info(99, acl.ACL_DEV_ATTR_NPU_ARCH) == (0, acl.ACL_ERROR_RT_PARAM_INVALID)
    assert acl.rt.get_device_capability(0, 1)[1] == 0
    assert acl.rt.get_device_capability(99, 1)[1] == acl.ACL_ERROR_RT_INVALID_DEVICEID


def test_state():
    assert acl.rt.query_device_status(0) == (0, 0)
    assert acl.rt.query_device_status(99)[1] == acl.ACL_ERROR_RT_INVALID_DEVICEID
    rates, ret = acl.rt.get_device_utilization_rate(0)
    assert ret == 0
    assert set(rates) == {
        "cube_utilization",
        "vector_utilization",
        "aicpu_utilization",
        "memory_utilization",
        "utilization_extend",
    }
    # aclrtGetDeviceUtilizationRate: memory is always -1.
    assert rates["memory_utilization"] == -1 and rates["utilization_extend"] == 0


def test_uuid():
    uuid, ret = acl.rt.device_get_uuid(0)
    assert ret == 0 and len(uuid["bytes"]) == 16 and all(0 <= byte < 256 for byte in uuid["bytes"])
    assert acl.rt.device_get_uuid(1)[0] != uuid
    assert acl.rt.device_get_uuid(-1) == ({}, acl.ACL_ERROR_RT_INVALID_DEVICEID)


def test_numbers_of_devices():
    assert acl.rt.get_logic_dev_id_by_user_dev_id(3) == (3, 0)
    assert acl.rt.get_user_dev_id_by_logic_dev_id(3) == (3, 0)
    logic, ret = acl.rt.get_logic_dev_id_by_phy_dev_id(2)
    assert ret == 0
    assert acl.rt.get_phy_dev_id_by_logic_dev_id(logic) == (2, 0)
    for function in (
        acl.rt.get_logic_dev_id_by_user_dev_id,
        acl.rt.get_user_dev_id_by_logic_dev_id,
        acl.rt.get_logic_dev_id_by_phy_dev_id,
        acl.rt.get_phy_dev_id_by_logic_dev_id,
    ):
        assert function(99)[1] != 0


def test_neighbours():
    value, ret = acl.rt.get_devices_topo(0, 1)
    assert ret == 0 and value > 0
    assert acl.rt.get_devices_topo(0, 99)[1] != 0
    assert acl.rt.device_can_access_peer(0, 1) == (1, 0)
    assert acl.rt.device_can_access_peer(0, 0)[1] != 0
    assert acl.rt.device_peer_access_status(0, 1) == (0, 0)
    assert acl.rt.device_enable_peer_access(1, 0) == 0
    assert acl.rt.device_peer_access_status(0, 1) == (1, 0)
    assert acl.rt.device_enable_peer_access(1, 5) != 0
    assert acl.rt.device_disable_peer_access(1) == 0
    assert acl.rt.device_disable_peer_access(99) != 0


def test_process_number():
    import os

    assert acl.rt.device_get_bare_tgid() == (os.getpid(), 0)


def test_saturation():
    assert acl.rt.set_device_sat_mode(0) == 0
    assert acl.rt.get_device_sat_mode() == (0, 0)
    assert acl.rt.set_device_sat_mode(1) == 0
    assert acl.rt.get_device_sat_mode() == (1, 0)
    assert acl.rt.set_device_sat_mode(9) == acl.ACL_ERROR_RT_PARAM_INVALID


def test_task_scheduler():
    assert acl.rt.set_ts_device(0) == 0
    assert acl.rt.set_ts_device(2) == acl.ACL_ERROR_INVALID_PARAM


def test_core_limits(stream):
    cube = 0
    assert acl.rt.get_device_res_limit(0, cube) == (24, 0)
    assert acl.rt.set_device_res_limit(0, cube, 10) == 0
    assert acl.rt.get_device_res_limit(0, cube) == (10, 0)
    assert acl.rt.set_device_res_limit(0, 9, 10) == acl.ACL_ERROR_RT_PARAM_INVALID
    assert acl.rt.set_stream_res_limit(stream, cube, 5) == 0
    assert acl.rt.get_stream_res_limit(stream, cube) == (5, 0)
    assert acl.rt.set_stream_res_limit(12345, cube, 5) == acl.ACL_ERROR_RT_INVALID_HANDLE
    assert acl.rt.use_stream_res_in_current_thread(stream) == 0
    assert acl.rt.get_res_in_current_thread(cube) == (5, 0)
    assert acl.rt.unuse_stream_res_in_current_thread(stream) == 0
    assert acl.rt.get_res_in_current_thread(cube) == (10, 0)
    assert acl.rt.get_res_in_current_thread(9)[1] != 0
    assert acl.rt.use_stream_res_in_current_thread(12345) == acl.ACL_ERROR_RT_INVALID_HANDLE
    assert acl.rt.reset_stream_res_limit(stream) == 0
    assert acl.rt.get_stream_res_limit(stream, cube) == (10, 0)
    assert acl.rt.reset_device_res_limit(0) == 0
    assert acl.rt.get_device_res_limit(0, cube) == (24, 0)
    assert acl.rt.reset_device_res_limit(99) != 0


def test_limits():
    stack = 2
    assert acl.rt.device_set_limit(stack, 100000) == 0
    value, ret = acl.rt.device_get_limit(stack)
    assert ret == 0 and value >= 32768
    assert acl.rt.device_set_limit(99, 1) == acl.ACL_ERROR_INVALID_PARAM
    assert acl.rt.device_get_limit(99)[1] != 0


def test_contexts(device):
    default, ret = acl.rt.get_context()
    assert ret == 0 and default
    context, ret = acl.rt.create_context(0)
    assert ret == 0 and context != default
    assert acl.rt.get_context() == (context, 0)
    assert acl.rt.set_context(default) == 0
    assert acl.rt.get_context() == (default, 0)
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.destroy_context(context) != 0
    assert acl.rt.set_context(context) != 0
    assert acl.rt.create_context(99)[1] != 0


def test_primary_context():
    assert acl.rt.get_primary_ctx_state(0) == (1, 0, 0)
    assert acl.rt.get_primary_ctx_state(5) == (0, 0, 0)
    assert acl.rt.get_primary_ctx_state(99)[2] == acl.ACL_ERROR_RT_INVALID_DEVICEID


def test_options():
    option = acl.ACL_OPT_DETERMINISTIC
    assert acl.rt.ctx_set_sys_param_opt(option, 1) == 0
    assert acl.rt.ctx_get_sys_param_opt(option) == (1, 0)
    assert acl.rt.ctx_set_sys_param_opt(99, 1) == acl.ACL_ERROR_INVALID_PARAM
    assert acl.rt.set_sys_param_opt(option, 0) == 0
    assert acl.rt.get_sys_param_opt(option) == (0, 0)
    assert acl.rt.set_sys_param_opt(99, 0) != 0


def test_default_stream():
    stream, ret = acl.rt.ctx_get_current_default_stream()
    assert ret == 0 and stream
    assert acl.rt.synchronize_stream(stream) == 0

    def without_context():
        return acl.rt.ctx_get_current_default_stream()

    assert within(without_context)[1] != 0
