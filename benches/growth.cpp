// What a call costs as work grows: blocks, streams, queued tasks, host threads. Usage: growth SECTION...
// (blocks chunks holes streams fan stairs queue threads). `cargo xtask growth` runs each section in a process of its own; output as in
// peers/bench_common.h, the variant being the number that grows.
#include "peers/bench_common.h"
#include <acl/acl.h>
#include <atomic>
#include <semaphore.h>
#include <thread>
#include <unistd.h>

using namespace bench;
static Out out{"toprope"};

static void ck(aclError e, const char *what) {
  if (e != ACL_SUCCESS) {
    const char *message = aclGetRecentErrMsg();
    fprintf(stderr, "%s: %d: %s\n", what, e, message ? message : "");
    exit(3);
  }
}
#define CK(x) ck((x), #x)

static void row(const char *what, size_t n, double value, const char *unit) { out.row(what, std::to_string(n), value, unit); }

static aclrtStream mkstream() { aclrtStream s; CK(aclrtCreateStream(&s)); return s; }
static char *block(size_t n) { void *p; CK(aclrtMalloc(&p, n, ACL_MEM_MALLOC_NORMAL_ONLY)); return (char *)p; }
static aclrtEvent mkevent() { aclrtEvent e; CK(aclrtCreateEventExWithFlag(&e, ACL_EVENT_SYNC)); return e; }

// Resident bytes that belong to this process alone: not the pages of device memory, which are shared mappings.
static double own_bytes() {
  long all = 0, resident = 0, shared = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%ld %ld %ld", &all, &resident, &shared) != 3) exit(2);
  fclose(f);
  return double(resident - shared) * double(sysconf(_SC_PAGESIZE));
}

struct Random {
  uint64_t x = 88172645463325252ull;
  size_t below(size_t n) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return size_t(x % n); }
};

// Holds streams up: they wait for an event behind a host function that blocks.
struct Held {
  sem_t gate;
  aclrtStream blocked = mkstream();
  aclrtEvent opened = mkevent();
  Held() { sem_init(&gate, 0, 0); }
  void shut() {
    CK(aclrtLaunchHostFunc(blocked, [](void *g) { while (sem_wait((sem_t *)g) != 0) {} }, &gate));
    CK(aclrtRecordEvent(opened, blocked));
  }
  void hold(aclrtStream s) { CK(aclrtStreamWaitEvent(s, opened)); }
  void open() { sem_post(&gate); }
};

// Live blocks, n of them: one more and away; a copy from one to another, at once and queued; the bytes that each costs the process.
static void blocks(const char *name, size_t size, size_t most) {
  const std::string w = name;
  aclrtStream q = mkstream();
  std::vector<char *> live;
  Random random;
  double before = own_bytes();
  size_t had = 0;
  for (size_t n = 10; n <= most; n *= 10) {
    double t0 = now_ns();
    while (live.size() < n) live.push_back(block(size));
    if (n >= 1000) row((w + ".grow").c_str(), n, (now_ns() - t0) / double(n - had), "ns/malloc");
    if (n >= 10000) row((w + ".bytes").c_str(), n, (own_bytes() - before - double(live.capacity() * sizeof(char *))) / double(n), "B/block");
    had = n;
    std::vector<std::pair<char *, char *>> pairs(1000);
    for (auto &p : pairs) p = {live[random.below(n)], live[random.below(n)]};
    row((w + ".malloc+free").c_str(), n, per_call_ns([&] { CK(aclrtFree(block(size))); }, 64), "ns");
    row((w + ".swap").c_str(), n, per_call_ns([&] { size_t i = random.below(n); CK(aclrtFree(live[i])); live[i] = block(size); }, 64), "ns");
    for (auto &p : pairs) p = {live[random.below(n)], live[random.below(n)]};
    double now = per_call_ns([&] { for (auto &p : pairs) CK(aclrtMemcpy(p.first, 64, p.second, 64, ACL_MEMCPY_DEVICE_TO_DEVICE)); }, 1);
    row((w + ".memcpy 64 B").c_str(), n, now / double(pairs.size()), "ns");
    double queued = per_call_ns([&] {
      for (auto &p : pairs) CK(aclrtMemcpyAsync(p.first, 64, p.second, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, q));
      CK(aclrtSynchronizeStream(q)); }, 1);
    row((w + ".memcpyAsync+drain").c_str(), n, queued / double(pairs.size()), "ns/op");
  }
  for (size_t i = live.size(); i-- > 1;) std::swap(live[i], live[random.below(i + 1)]);
  double t0 = now_ns();
  for (char *p : live) CK(aclrtFree(p));
  row((w + ".free all, scattered").c_str(), live.size(), (now_ns() - t0) / double(live.size()), "ns/free");
}

// Blocks of one chunk with n holes between them; larger blocks fit none of them.
static void holes() {
  for (size_t n = 10; n <= 100000; n *= 10) {
    std::vector<char *> live;
    while (live.size() < 2 * n) live.push_back(block(60000));
    for (size_t i = 0; i < 2 * n; i += 2) CK(aclrtFree(live[i]));
    row("holes.malloc+free 1 chunk", n, per_call_ns([&] { CK(aclrtFree(block(60000))); }, 64), "ns");
    row("holes.malloc+free 2 chunks", n, per_call_ns([&] { CK(aclrtFree(block(100000))); }, 64), "ns");
    const size_t mib = 1 << 20;
    double ns = per_call_ns([&] { char *p = block(mib); CK(aclrtMemset(p, mib, 1, mib)); CK(aclrtFree(p)); }, 8);
    row("holes.malloc+memset+free 1 MiB", n, ns, "ns");
    for (size_t i = 1; i < 2 * n; i += 2) CK(aclrtFree(live[i]));
  }
}

// The bytes of a stream: never used, used once, used for a thousand tasks at a time; all streams that there may be but the default one.
static void stream_bytes(char *s, char *d) {
  const size_t n = 1983;
  double before = own_bytes();
  std::vector<aclrtStream> q(n);
  for (auto &x : q) x = mkstream();
  row("streams.bytes, unused", n, (own_bytes() - before) / double(n), "B/stream");
  for (size_t tasks : {1, 1000}) {
    for (auto x : q)
      for (size_t i = 0; i < tasks; ++i) CK(aclrtMemcpyAsync(d, 64, s, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, x));
    CK(aclrtSynchronizeDevice());
    row(tasks == 1 ? "streams.bytes, after 1 task" : "streams.bytes, after 1000 tasks", n, (own_bytes() - before) / double(n), "B/stream");
  }
  for (auto x : q) CK(aclrtDestroyStream(x));
}

// n streams: to make one, to use them in turn, to wait for all of them.
static void streams() {
  char *s = block(65536), *d = block(65536);
  stream_bytes(s, d);
  for (size_t n : {size_t(1), size_t(4), size_t(16), size_t(64), size_t(256), size_t(1024), size_t(1983)}) {
    std::vector<aclrtStream> q(n);
    for (auto &x : q) x = mkstream();
    // Together with the default stream these are all; one goes for the pair.
    CK(aclrtDestroyStream(q.back()));
    row("streams.create+destroy", n, per_call_ns([&] { CK(aclrtDestroyStream(mkstream())); }, 16), "ns");
    q.back() = mkstream();
    const size_t each = std::max<size_t>(1, 4096 / n);
    auto round = [&] {
      for (size_t i = 0; i < each; ++i)
        for (auto x : q) CK(aclrtMemcpyAsync(d + 64 * (i % 1000), 64, s + 64 * (i % 1000), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, x));
    };
    round();
    CK(aclrtSynchronizeDevice());
    double ns = per_call_ns([&] { round(); for (auto x : q) CK(aclrtSynchronizeStream(x)); }, 1);
    row("streams.memcpyAsync+drain", n, ns / double(n * each), "ns/op");
    ns = per_call_ns([&] { round(); CK(aclrtSynchronizeDevice()); }, 1);
    row("streams.memcpyAsync+device", n, ns / double(n * each), "ns/op");
    row("streams.device, idle", n, per_call_ns([&] { CK(aclrtSynchronizeDevice()); }, 1) / 1e3, "us");
    row("streams.threads", n, os_threads(), "threads");
    for (auto x : q) CK(aclrtDestroyStream(x));
  }
}

// n streams wait for one stream: for the same event (fan), or each for the next of its events (stairs).
static void waiting(bool stairs) {
  char *s = block(4096);
  for (size_t n : {size_t(1), size_t(4), size_t(16), size_t(64), size_t(256), size_t(1024), size_t(1980)}) {
    Held held;
    aclrtStream first = mkstream();
    std::vector<aclrtStream> q(n);
    std::vector<aclrtEvent> e(stairs ? n : 1);
    for (auto &x : q) x = mkstream();
    for (auto &x : e) x = mkevent();
    std::vector<double> v;
    for (int r = 0; r < 9; ++r) {
      held.shut();
      held.hold(first);
      for (size_t i = 0; i < n; ++i) {
        if (i < e.size()) {
          CK(aclrtMemcpyAsync(s, 64, s + 64, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
          CK(aclrtRecordEvent(e[i], first));
        }
        CK(aclrtStreamWaitEvent(q[i], e[i % e.size()]));
      }
      // Let them come to their waits.
      usleep(20000);
      double t0 = now_ns();
      held.open();
      for (auto x : q) CK(aclrtSynchronizeStream(x));
      v.push_back((now_ns() - t0) / double(n));
    }
    row(stairs ? "stairs.wake" : "fan.wake", n, median(v), "ns/stream");
    for (auto x : q) CK(aclrtDestroyStream(x));
    for (auto x : e) CK(aclrtDestroyEvent(x));
    CK(aclrtDestroyStream(first));
    CK(aclrtSynchronizeStream(held.blocked));
    CK(aclrtDestroyStream(held.blocked));
    CK(aclrtDestroyEvent(held.opened));
  }
}

// n tasks behind a wait: to add one, to run them all, the bytes that each takes until then.
static void queue() {
  char *s = block(65536), *d = block(65536);
  Held held;
  for (size_t n = 10; n <= 1000000; n *= 10) {
    aclrtStream q = mkstream();
    std::vector<double> add, run;
    for (int r = 0; r < (n >= 100000 ? 3 : 9); ++r) {
      held.shut();
      held.hold(q);
      usleep(2000);
      double before = own_bytes(), t0 = now_ns();
      for (size_t i = 0; i < n; ++i) {
        size_t at = 64 * (i % 1000);
        CK(aclrtMemcpyAsync(d + at, 64, s + at, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, q));
      }
      double t1 = now_ns();
      if (r == 0 && n >= 10000) row("queue.bytes", n, (own_bytes() - before) / double(n), "B/task");
      double t2 = now_ns();
      held.open();
      CK(aclrtSynchronizeStream(q));
      double t3 = now_ns();
      add.push_back((t1 - t0) / double(n));
      run.push_back((t3 - t2) / double(n));
      if (r == 0 && n == 1000000) row("queue.bytes left after", n, own_bytes() - before, "B");
    }
    row("queue.enqueue", n, median(add), "ns/op");
    row("queue.drain", n, median(run), "ns/op");
    CK(aclrtDestroyStream(q));
  }
}

// n threads that enqueue at once, 2^18 operations in all: each into its own stream, or all into one.
static void threads() {
  char *s = block(65536), *d = block(65536);
  for (bool one : {false, true})
    for (size_t n : {1, 2, 4, 8, 16, 32, 64}) {
      std::vector<aclrtStream> q(one ? 1 : n);
      for (auto &x : q) x = mkstream();
      const size_t each = (1u << 18) / n;
      std::vector<double> v;
      for (int r = 0; r < 5; ++r) {
        std::atomic<size_t> ready{0};
        std::atomic<bool> go{false};
        std::vector<std::thread> all;
        for (size_t t = 0; t < n; ++t)
          all.emplace_back([&, t] {
            CK(aclrtSetDevice(0));
            ++ready;
            while (!go) std::this_thread::yield();
            for (size_t i = 0; i < each; ++i) {
              size_t at = 64 * (i % 1000);
              CK(aclrtMemcpyAsync(d + at, 64, s + at, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, q[t % q.size()]));
              if (i % 1024 == 1023) CK(aclrtSynchronizeStream(q[t % q.size()]));
            }
            CK(aclrtSynchronizeStream(q[t % q.size()]));
          });
        while (ready != n) std::this_thread::yield();
        double t0 = now_ns();
        go = true;
        for (auto &t : all) t.join();
        v.push_back(double(each * n) / (now_ns() - t0) * 1e3);
      }
      row(one ? "threads.one stream" : "threads.a stream each", n, median(v), "Mops/s");
      for (auto x : q) CK(aclrtDestroyStream(x));
    }
}

int main(int argc, char **argv) {
  CK(aclInit(nullptr));
  CK(aclrtSetDevice(0));
  for (int i = 1; i < argc; ++i) {
    const std::string what = argv[i];
    if (what == "blocks") blocks("blocks 2 KiB", 2048, 1000000);
    else if (what == "chunks") blocks("blocks 60 KB", 60000, 100000);
    else if (what == "holes") holes();
    else if (what == "streams") streams();
    else if (what == "fan") waiting(false);
    else if (what == "stairs") waiting(true);
    else if (what == "queue") queue();
    else if (what == "threads") threads();
    else { fprintf(stderr, "no section %s\n", argv[i]); return 2; }
  }
  CK(aclrtResetDevice(0));
  CK(aclFinalize());
}
