"""Several Python threads on one runtime."""

import threading

import acl
from conftest import SECONDS


def on_threads(count, work):
    errors = []

    def body(number):
        try:
            assert acl.rt.set_device(number % 2) == 0
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive(), "no end"
    assert errors == []


def test_copies_of_threads_do_not_mix():
    size = 10000

    def work(number):
        stream, ret = acl.rt.create_stream()
        assert ret == 0
        block, ret = acl.rt.malloc(size, 0)
        assert ret == 0
        for round in range(20):
            value = (number * 20 + round) % 256
            data, back = bytes([value]) * size, bytes(size)
            assert acl.rt.memcpy_async(block, size, acl.util.bytes_to_ptr(data), size, 1, stream) == 0
            assert acl.rt.memcpy_async(acl.util.bytes_to_ptr(back), size, block, size, 2, stream) == 0
            assert acl.rt.synchronize_stream(stream) == 0
            assert back == data
        assert acl.rt.free(block) == 0 and acl.rt.destroy_stream(stream) == 0

    on_threads(8, work)


def test_allocations_of_threads_are_apart():
    seen, lock = set(), threading.Lock()

    def work(_):
        for _ in range(50):
            device, ret = acl.rt.malloc(256, 0)
            assert ret == 0
            host, ret = acl.rt.malloc_host(256)
            assert ret == 0
            with lock:
                assert device not in seen and host not in seen
                seen.update((device, host))
            with lock:
                seen.difference_update((device, host))
                # Freed under the lock: another thread may be given the address at once.
                assert acl.rt.free(device) == 0 and acl.rt.free_host(host) == 0

    on_threads(8, work)


def test_errors_belong_to_their_thread():
    def work(number):
        acl.get_recent_err_msg()
        for _ in range(20):
            assert acl.rt.set_device(1000 + number) != 0
            assert f"{1000 + number}" in acl.get_recent_err_msg()

    on_threads(4, work)


def test_a_waiting_thread_lets_the_others_run():
    """Four threads meet while each is between calls that wait."""
    barrier = threading.Barrier(4, timeout=SECONDS)

    def work(_):
        stream, _ = acl.rt.create_stream()
        for _ in range(50):
            barrier.wait()
            assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.destroy_stream(stream) == 0

    on_threads(4, work)
