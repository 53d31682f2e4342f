# Pinned memory outlives the program.
from misuse import FIXED, Session, acl, ok


class Cache:
    def __init__(self):
        self.blocks = []

    def take(self):
        self.blocks.append(ok(acl.rt.malloc_host(4096)))  # REPORT

    def clear(self):
        for block in self.blocks:
            ok(acl.rt.free_host(block))


with Session():
    cache = Cache()
    for _ in range(3):
        cache.take()
    if FIXED:
        cache.clear()
