# Python functions that a stream calls, on a thread that Python started for them; the stream waits for them, and they use what it made.
import threading

from misuse import Session, acl, ok

seen = []


def call(data):
    buffer, host = data
    ok(acl.rt.memcpy(host, 64, buffer, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST))
    seen.append(acl.util.ptr_to_bytes(host, 64)[0])


def report(stop, context):
    ok(acl.rt.set_context(context))
    while not stop.is_set():
        acl.rt.process_report(50)


with Session():
    buffer = ok(acl.rt.malloc(64, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    host = ok(acl.rt.malloc_host(64))
    stream = ok(acl.rt.create_stream())
    stop = threading.Event()
    thread = threading.Thread(target=report, args=(stop, ok(acl.rt.get_context())))
    thread.start()
    ok(acl.rt.subscribe_report(thread.ident, stream))
    for value in (7, 8, 9):
        ok(acl.rt.memset_async(buffer, 64, value, 64, stream))
        ok(acl.rt.launch_callback(call, (buffer, host), 1, stream))
    ok(acl.rt.synchronize_stream(stream))
    ok(acl.rt.unsubscribe_report(thread.ident, stream))
    stop.set()
    thread.join()
    assert seen == [7, 8, 9], seen
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.free_host(host))
    ok(acl.rt.free(buffer))
