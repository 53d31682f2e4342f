"""Chapter 12: Python callables as callbacks, and that none of them deadlocks with the GIL."""

import sys
import threading

import acl
import pytest
from conftest import run, within


def serve(stream, stop, served=None):
    """What a program's report thread does."""
    while not stop.is_set():
        if acl.rt.process_report(50) == 0 and served is not None:
            served.append(threading.get_ident())


@pytest.fixture
def reports(stream):
    """A stream whose callbacks run on a thread of their own."""
    stop, served = threading.Event(), []
    thread = threading.Thread(target=serve, args=(stream, stop, served))
    thread.start()
    assert acl.rt.subscribe_report(thread.ident, stream) == 0
    yield stream, served
    assert acl.rt.unsubscribe_report(thread.ident, stream) == 0
    stop.set()
    thread.join()


def test_runs_in_stream_order_on_the_subscribed_thread(reports):
    stream, served = reports
    seen = []
    for number in range(20):
        work = lambda data: seen.append((data, threading.get_ident()))
        assert acl.rt.launch_callback(work, number, acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert [number for number, _ in seen] == list(range(20))
    assert {thread for _, thread in seen} == set(served) and threading.get_ident() not in served


def test_a_callback_sees_what_was_copied_before_it(reports, host, on_device):
    stream, _ = reports
    source, block, target = host(4096, b"c" * 4096), on_device(4096), host(4096, bytes(4096))
    seen = []
    assert acl.rt.memcpy_async(block, 4096, source, 4096, 1, stream) == 0
    assert acl.rt.memcpy_async(target, 4096, block, 4096, 2, stream) == 0
    assert acl.rt.launch_callback(lambda at: seen.append(acl.util.ptr_to_bytes(at, 4096)), target, 1, stream) == 0
    assert acl.rt.memset_async(target, 4096, 0, 4096, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [b"c" * 4096]
    assert acl.util.ptr_to_bytes(target, 4096) == bytes(4096)


def test_a_callback_may_call_the_runtime(reports):
    stream, _ = reports
    seen = []

    def work(_):
        assert acl.rt.set_device(0) == 0
        block, ret = acl.rt.malloc(64, 0)
        seen.append((ret, acl.rt.memset(block, 64, 1, 64), acl.rt.free(block)))

    assert acl.rt.launch_callback(work, None, acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [(0, 0, 0)]


def test_what_a_callback_raises_goes_to_the_hook(reports, monkeypatch):
    stream, _ = reports
    caught = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: caught.append((what.exc_value, what.object)))

    def work(data):
        raise ValueError(data)

    assert acl.rt.launch_callback(work, "told", acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    ((error, function),) = caught
    assert isinstance(error, ValueError) and error.args == ("told",) and function is work


def test_references_are_let_go_after_the_call(reports):
    stream, _ = reports

    class Data:
        pass

    data = Data()
    before = sys.getrefcount(data)
    work = lambda _: None
    before_work = sys.getrefcount(work)
    assert acl.rt.launch_callback(work, data, acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    # A blocking callback is over before the stream goes on.
    assert sys.getrefcount(data) == before and sys.getrefcount(work) == before_work
    assert acl.rt.launch_callback(work, data, 77, stream) != 0
    assert acl.rt.launch_callback(work, data, 0, 12345) != 0
    assert sys.getrefcount(data) == before and sys.getrefcount(work) == before_work


def test_refusals(stream):
    with pytest.raises(TypeError):
        acl.rt.launch_callback(5, None, 0, stream)
    with pytest.raises(TypeError):
        acl.rt.set_exception_info_callback(5)
    # Nobody is subscribed.
    assert acl.rt.launch_callback(print, None, 0, stream) != 0
    assert acl.rt.subscribe_report(threading.get_ident(), 12345) != 0
    assert acl.rt.unsubscribe_report(threading.get_ident(), stream) != 0
    assert within(acl.rt.process_report, 1) != 0


WAITS = """
    import sys, threading
    import acl
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    context, _ = acl.rt.create_context(0)
    stream, _ = acl.rt.create_stream()
    event, _ = acl.rt.create_event()
    block, _ = acl.rt.malloc(64, 0)
    data = bytes(256)
    pageable = (acl.util.bytes_to_ptr(data) + 63) // 64 * 64
    entered, stop, ran = threading.Event(), threading.Event(), []

    def report(_):
        entered.wait()
        while not stop.is_set():
            acl.rt.process_report(20)

    thread, ret = acl.util.start_thread(report, 1)
    assert ret == 0 and acl.rt.subscribe_report(thread, stream) == 0
    assert acl.rt.launch_callback(ran.append, 1, acl.ACL_CALLBACK_BLOCK, stream) == 0
    assert acl.rt.record_event(event, stream) == 0
    # The callback can run only when the thread gets the GIL during the next call.
    sys.setswitchinterval(1000)
    entered.set()
    {call}
    print(ret, ran)
    sys.setswitchinterval(0.001)
    stop.set()
    assert acl.util.stop_thread(thread) == 0
"""

CALLS = {
    "synchronize_stream": "ret = acl.rt.synchronize_stream(stream)",
    "synchronize_stream_with_timeout": "ret = acl.rt.synchronize_stream_with_timeout(stream, -1)",
    "synchronize_device": "ret = acl.rt.synchronize_device()",
    "synchronize_device_with_timeout": "ret = acl.rt.synchronize_device_with_timeout(-1)",
    "synchronize_event": "ret = acl.rt.synchronize_event(event)",
    "synchronize_event_with_timeout": "ret = acl.rt.synchronize_event_with_timeout(event, -1)",
    "memcpy_async, pageable": "ret = acl.rt.memcpy_async(block, 64, pageable, 64, 1, stream)",
    "memcpy2d_async, pageable": "ret = acl.rt.memcpy2d_async(block, 64, pageable, 64, 64, 1, 1, stream)",
    "memcpy_async_with_condition": "ret = acl.rt.memcpy_async_with_condition(block, 64, pageable, 64, 1, stream)",
    "destroy_stream": "ret = acl.rt.destroy_stream(stream)",
}
"""Calls that wait for the stream, so that they end only if the callback can run meanwhile."""


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_that_waits_lets_callbacks_run(call):
    import textwrap

    assert run(textwrap.dedent(WAITS).format(call=call)).split() == ["0", "[1]"]


KEEPS = """
    import sys, threading
    import acl
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    block, _ = acl.rt.malloc(64, 0)
    pinned, _ = acl.rt.malloc_host(64)
    event, _ = acl.rt.create_event()
    go, ran = threading.Event(), []
    thread = threading.Thread(target=lambda: (go.wait(), ran.append(1)))
    thread.start()
    sys.setswitchinterval(1000)
    go.set()
    for _ in range(1000):
        {call}
    # The other thread has been ready all the time.
    assert not ran
    sys.setswitchinterval(0.001)
    thread.join()
    assert acl.rt.synchronize_stream(stream) == 0
    print("kept")
"""


@pytest.mark.parametrize(
    "call",
    [
        "assert acl.rt.memcpy_async(block, 64, pinned, 64, 1, stream) == 0",
        "assert acl.rt.memset_async(block, 64, 1, 64, stream) == 0",
        "assert acl.rt.record_event(event, stream) == 0",
        "assert acl.rt.stream_query(stream)[1] == 0",
        "assert acl.rt.get_mem_info(1)[2] == 0",
    ],
)
def test_a_call_that_cannot_wait_keeps_the_gil(call):
    import textwrap

    assert run(textwrap.dedent(KEEPS).format(call=call)) == "kept\n"


def test_freed_blocks_are_not_taken_for_living_ones():
    """A block's address may become pageable memory: after a free the GIL is released again, and callbacks run."""
    call = """
    pinned, _ = acl.rt.malloc_host(64)
    assert acl.rt.memcpy_async(block, 64, pinned, 64, 1, other) == 0
    assert acl.rt.free_host(pinned) == 0
    ret = acl.rt.memcpy_async(block, 64, pageable, 64, 1, stream)
    """
    import textwrap

    code = textwrap.dedent(WAITS).replace("{call}", "other, _ = acl.rt.create_stream()" + textwrap.dedent(call))
    assert run(code).split() == ["0", "[1]"]


RELEASES = """
    import sys, threading
    import acl
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    block, _ = acl.rt.malloc(64, 0)
    pinned, _ = acl.rt.malloc_host(64)
    event, _ = acl.rt.create_event()
    context, _ = acl.rt.create_context(0)
    buffer = acl.create_data_buffer(block, 64)
    ran, stop = [], threading.Event()
    waiting = threading.Event()

    def other():
        waiting.set()
        while not stop.is_set():
            ran.append(1)
            # Gives the GIL up, so that the main thread can go on.
            stop.wait(0.0001)

    thread = threading.Thread(target=other)
    thread.start()
    waiting.wait()
    {call}
    stop.set()
    thread.join()
    print(ret)
"""


@pytest.mark.parametrize(
    "call",
    [
        "ret = acl.rt.free(block)",
        "ret = acl.rt.free_host(pinned)",
        "ret = acl.rt.destroy_event(event)",
        "ret = acl.rt.destroy_context(context)",
        "ret = acl.destroy_data_buffer(buffer)",
        "ret = acl.rt.reset_device(0)",
        "ret = acl.rt.reset_device_force(0)",
        "ret = acl.finalize()",
    ],
)
def test_calls_that_end_things_work_among_threads(call):
    import textwrap

    assert run(textwrap.dedent(RELEASES).format(call=call)).split() == ["0"]


def test_a_program_may_end_with_callbacks_that_never_ran():
    """Neither a report that nobody processes nor a thread that nobody waits for keeps Python from ending."""
    code = """
        import acl, threading
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        stream, _ = acl.rt.create_stream()
        def report(_):
            while True:
                acl.rt.process_report(10)
        thread, ret = acl.util.start_thread(report, 1)
        assert acl.rt.subscribe_report(thread, stream) == 0
        for _ in range(100):
            assert acl.rt.launch_callback(print, "ran", acl.ACL_CALLBACK_NO_BLOCK, stream) == 0
    """
    for _ in range(5):
        run(code)


def test_finalize_with_a_callback_underway():
    code = """
        import acl, threading, time
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        stream, _ = acl.rt.create_stream()
        stop = threading.Event()
        def report(_):
            while not stop.is_set():
                acl.rt.process_report(10)
        thread, ret = acl.util.start_thread(report, 1)
        assert acl.rt.subscribe_report(thread, stream) == 0
        began = threading.Event()
        def work(_):
            began.set()
            time.sleep(0.05)
        assert acl.rt.launch_callback(work, None, acl.ACL_CALLBACK_BLOCK, stream) == 0
        began.wait()
        print(acl.finalize())
        stop.set()
        print(acl.util.stop_thread(thread))
    """
    assert run(code).split() == ["0", "0"]
