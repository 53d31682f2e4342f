// The project's own rows, through the C ABI. Usage: acl_bench <workload letters...>   (a b c d e f g h i j l)
// `cargo xtask bench` builds and runs it interleaved with its peers; output as in peers/bench_common.h. Rows have the workload names and
// units of the peers' rows, so that benches/targets.csv can divide one by the other. Letter k is Python (python_copy.py).
#include "peers/bench_common.h"
#include <acl/acl.h>
#include <kernel_operator.h>
#include <atomic>
#include <dirent.h>
#include <functional>
#include <memory>
#include <sched.h>
#include <sys/resource.h>
#include <thread>
#include <tuple>
#include <unistd.h>

using namespace bench;
static Out out{"toprope"};

static void ck(aclError e, const char *what) {
  if (e != ACL_SUCCESS) { fprintf(stderr, "%s: %d: %s\n", what, e, aclGetRecentErrMsg()); exit(3); }
}
#define CK(x) ck((x), #x)

static aclrtStream mkstream() { aclrtStream s; CK(aclrtCreateStream(&s)); return s; }
static char *device(size_t n, int fill = 1) {
  void *p;
  CK(aclrtMalloc(&p, n, ACL_MEM_MALLOC_HUGE_FIRST));
  CK(aclrtMemset(p, n, fill, n));
  return (char *)p;
}
static char *pinned(size_t n, int fill = 1) {
  void *p;
  CK(aclrtMallocHost(&p, n));
  memset(p, fill, n);
  return (char *)p;
}
static void copy_async(void *d, const void *s, size_t n, aclrtStream q) {
  CK(aclrtMemcpyAsync(d, n, s, n, ACL_MEMCPY_DEVICE_TO_DEVICE, q));
}

static void work_a() {
  aclrtStream q = mkstream();
  char *s = device(65536), *d = device(65536);
  std::vector<double> e, t;
  for (int r = 0; r < 200; ++r) {
    double t0 = now_ns();
    for (int i = 0; i < 1000; ++i) copy_async(d + 64 * i, s + 64 * i, 64, q);
    double t1 = now_ns();
    CK(aclrtSynchronizeStream(q));
    double t2 = now_ns();
    if (r >= 20) { e.push_back((t1 - t0) / 1000); t.push_back((t2 - t0) / 1000); }
  }
  out.row("a.enqueue", "aclrtMemcpyAsync 64B", median(e), "ns/op");
  out.row("a.enqueue+drain", "aclrtMemcpyAsync 64B", median(t), "ns/op");
}

static void work_b() {
  aclrtStream q = mkstream();
  char *s = device(4096), *d = device(4096), *h = touched(4096, 1);
  auto once = [&] {
    copy_async(d, s, 64, q);
    CK(aclrtSynchronizeStream(q));
  };
  lat(out, "b.roundtrip", "memcpyAsync+synchronize, hot", 20000, once);
  lat_idle(out, "b.roundtrip", "memcpyAsync+synchronize, after 1 ms idle", 1000, 400, once);
  lat_idle(out, "b.roundtrip", "memcpyAsync+synchronize, after 20 ms idle", 20000, 60, once);
  lat(out, "b.roundtrip", "aclrtMemcpy 64B h2d", 20000, [&] { CK(aclrtMemcpy(d, 64, h, 64, ACL_MEMCPY_HOST_TO_DEVICE)); });
  lat(out, "b.roundtrip", "aclrtMemcpy 64B d2h", 20000, [&] { CK(aclrtMemcpy(h, 64, d, 64, ACL_MEMCPY_DEVICE_TO_HOST)); });
}

// Median times of `ref` and `ours` in blocks that take turns, so that a machine that changes its speed meanwhile does so for both.
template <class A, class B> static double times_faster(A ref, B ours, int group, double budget_ms = 120) {
  std::vector<double> a, b;
  const int blocks = 3;
  ref(); ours();
  for (int i = 0; i < blocks; ++i) {
    auto x = samples_ns(ref, group, budget_ms / 2 / blocks, 2), y = samples_ns(ours, group, budget_ms / 2 / blocks, 2);
    a.insert(a.end(), x.begin(), x.end());
    b.insert(b.end(), y.begin(), y.end());
  }
  return median(a) / median(b);
}

// Threads that leave the library no idle core.
struct Busy {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  Busy() {
    for (unsigned i = 1; i < std::max(2u, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back([this] { while (!stop.load(std::memory_order_relaxed)) asm volatile(""); });
  }
  ~Busy() { stop = true; for (auto &t : threads) t.join(); }
};

static void work_c() {
  const size_t MX = kSizes[4];
  char *h = touched(MX, 1), *h2 = touched(MX, 3), *p = pinned(MX), *p2 = pinned(MX), *s = device(MX), *d = device(MX);
  struct { const char *name; char *dst, *src; } dirs[] = {
      {"h2d", d, h}, {"d2h", h2, d}, {"d2d", d, s}, {"h2h", h2, h}, {"h2d-pinned", d, p}, {"d2h-pinned", p, d}, {"h2h-pinned", p2, p}};
  auto row = [&](const char *load, int k) {
    size_t n = kSizes[k];
    for (auto &x : dirs) {
      double ratio = times_faster([&] { memcpy(h2, h, n); },
                                  [&] { CK(aclrtMemcpy(x.dst, n, x.src, n, ACL_MEMCPY_DEFAULT)); }, group_for(n));
      out.row(std::string("c.") + kSizeNames[k] + load + ".ratio", x.name, ratio, "x");
    }
  };
  for (int k = 0; k < 5; ++k) row("", k);
  Busy busy;
  for (int k = 3; k < 5; ++k) row(".busy", k);
}

static void work_d() {
  const size_t rows = 4096, w = 256, p = 512, n = rows * p;
  char *h = touched(n, 1), *h2 = touched(n, 1), *d = device(n), *s = device(n);
  aclrtStream q = mkstream();
  volatile size_t vw = w; // unknown to the compiler: a real call for each row
  auto loop = [&] { size_t x = vw; for (size_t r = 0; r < rows; ++r) memcpy(h2 + r * p, h + r * p, x); };
  // The synchronous function has no device-to-device kind.
  double x = times_faster(loop, [&] {
    CK(aclrtMemcpy2dAsync(d, p, s, p, w, rows, ACL_MEMCPY_DEVICE_TO_DEVICE, q));
    CK(aclrtSynchronizeStream(q)); }, 1);
  out.row("d.copy2d.ratio", "d2d (async+synchronize)", x, "x");
  x = times_faster(loop, [&] { CK(aclrtMemcpy2d(d, p, h, p, w, rows, ACL_MEMCPY_HOST_TO_DEVICE)); }, 1);
  out.row("d.copy2d.ratio", "h2d", x, "x");
  x = times_faster(loop, [&] { CK(aclrtMemcpy2d(h2, p, d, p, w, rows, ACL_MEMCPY_DEVICE_TO_HOST)); }, 1);
  out.row("d.copy2d.ratio", "d2h", x, "x");
}

// 10,000 copies of 1 KiB as batches of 4,096, the documented most, all to device 0 or all from it.
struct Batches {
  static constexpr size_t kMost = 4096;
  std::vector<void *> dst, src;
  std::vector<size_t> sizes{std::vector<size_t>(kSmallN, kSmallSize)};
  aclrtMemcpyBatchAttr attr{};
  Batches(char *d, const std::vector<size_t> &dof, char *s, const std::vector<size_t> &so, bool to_device) {
    for (int i = 0; i < kSmallN; ++i) { dst.push_back(d + dof[i]); src.push_back(s + so[i]); }
    aclrtMemLocation host{}, dev{};
    host.type = ACL_MEM_LOCATION_TYPE_HOST;
    dev.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attr.dstLoc = to_device ? dev : host;
    attr.srcLoc = to_device ? host : dev;
  }
  template <class F> void each(F f) {
    for (size_t i = 0; i < sizes.size(); i += kMost) f(&dst[i], &src[i], &sizes[i], std::min(kMost, sizes.size() - i));
  }
  void now() {
    size_t first = 0, fail = 0;
    each([&](void **d, void **s, size_t *n, size_t count) { CK(aclrtMemcpyBatch(d, n, s, n, count, &attr, &first, 1, &fail)); });
  }
  void async(aclrtStream q) {
    size_t first = 0, fail = 0;
    each([&](void **d, void **s, size_t *n, size_t count) {
      CK(aclrtMemcpyBatchAsync(d, n, s, n, count, &attr, &first, 1, &fail, q)); });
    CK(aclrtSynchronizeStream(q));
  }
};

static void work_e() {
  const size_t n = kSmallN * kSmallStride;
  char *h = touched(n, 1), *h2 = touched(n, 1), *p = pinned(n), *s = device(n), *d = device(n);
  auto so = scattered(12345), dof = scattered(777);
  aclrtStream q = mkstream();
  auto loop = [&] { for (int i = 0; i < kSmallN; ++i) memcpy(h2 + dof[i], h + so[i], kSmallSize); };
  auto row = [&](const char *name, auto ours) { out.row("e.batch.slowdown", name, 1 / times_faster(loop, ours, 1, 300), "x"); };
  Batches to(d, dof, h, so, true), from(h2, dof, d, so, false), pin_to(d, dof, p, so, true), pin_from(p, dof, d, so, false);
  row("aclrtMemcpyBatch h2d", [&] { to.now(); });
  row("aclrtMemcpyBatch d2h", [&] { from.now(); });
  row("aclrtMemcpyBatchAsync h2d-pinned + synchronize", [&] { pin_to.async(q); });
  row("aclrtMemcpyBatchAsync d2h-pinned + synchronize", [&] { pin_from.async(q); });
  row("aclrtMemcpyAsync d2d x10000 + synchronize", [&] {
    for (int i = 0; i < kSmallN; ++i) copy_async(d + dof[i], s + so[i], kSmallSize, q);
    CK(aclrtSynchronizeStream(q)); });
}

// A chain that goes around `q`: each hop a copy (unless `bare`), a record and a wait of the next stream.
struct Chain {
  std::vector<aclrtStream> q;
  std::vector<aclrtEvent> e;
  char *s = device(4096), *d = device(4096);
  explicit Chain(int streams) {
    for (int i = 0; i < streams; ++i) {
      q.push_back(mkstream());
      e.emplace_back();
      CK(aclrtCreateEventExWithFlag(&e[i], ACL_EVENT_SYNC));
    }
  }
  void enqueue(int hops, bool bare = false) {
    size_t k = q.size();
    for (int i = 0; i < hops; ++i) {
      if (!bare) copy_async(d + 64 * (i % k), s, 64, q[i % k]);
      CK(aclrtRecordEvent(e[i % k], q[i % k]));
      CK(aclrtStreamWaitEvent(q[(i + 1) % k], e[i % k]));
    }
  }
};

static aclrtContext current() { aclrtContext c; CK(aclrtGetCurrentContext(&c)); return c; }

// A thread that synchronizes a stream whenever `go` is counted up, in the context of the thread that made it.
struct Waiter {
  std::atomic<int> go{0}, done{0};
  std::thread t;
  explicit Waiter(aclrtStream q) : t([this, q, c = current()] {
    CK(aclrtSetCurrentContext(c));
    for (int seen = 0;;) {
      int v;
      while ((v = go.load(std::memory_order_acquire)) == seen) sched_yield();
      if (v < 0) return;
      CK(aclrtSynchronizeStream(q));
      done.store(seen = v, std::memory_order_release);
    } }) {}
  void start() { go.fetch_add(1, std::memory_order_acq_rel); }
  void join() { while (done.load(std::memory_order_acquire) != go.load(std::memory_order_relaxed)) sched_yield(); }
  ~Waiter() { go = -1; t.join(); }
};

static void work_f() {
  const int n = 2000;
  Chain c(2);
  auto hop = [&](const char *name, bool bare, auto sync) {
    std::vector<double> v;
    for (int r = 0; r < 40; ++r) {
      double t0 = now_ns();
      c.enqueue(n, bare);
      sync();
      if (r >= 4) v.push_back((now_ns() - t0) / 1e3 / n);
    }
    out.row("f.hop", name, median(v), "us/hop");
  };
  auto forward = [&] { for (auto q : c.q) CK(aclrtSynchronizeStream(q)); };
  auto backward = [&] { for (auto q = c.q.rbegin(); q != c.q.rend(); ++q) CK(aclrtSynchronizeStream(*q)); };
  hop("copy + record + wait", false, forward);
  hop("copy + record + wait, synchronized in the other order", false, backward);
  {
    Waiter other(c.q[1]);
    hop("copy + record + wait, each stream synchronized by its own thread", false, [&] {
      other.start();
      CK(aclrtSynchronizeStream(c.q[0]));
      other.join(); });
  }
  hop("record + wait", true, forward);
  // The orders of four streams; a hang ends this process by its time limit, and leaves the row out.
  Chain four(4);
  std::vector<int> order{0, 1, 2, 3};
  int ended = 0;
  do {
    four.enqueue(401);
    for (int i : order) CK(aclrtSynchronizeStream(four.q[i]));
    ++ended;
  } while (std::next_permutation(order.begin(), order.end()));
  {
    std::vector<std::unique_ptr<Waiter>> w;
    for (auto q : four.q) w.emplace_back(new Waiter(q));
    do {
      four.enqueue(401);
      for (int i : order) w[i]->start();
      for (auto &x : w) x->join();
      ++ended;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  four.enqueue(401);
  CK(aclrtSynchronizeDevice());
  out.row("f.orders", "four streams synchronized in every order, by one thread and by four", ended, "ended");
}

static long minor_faults() { rusage u; getrusage(RUSAGE_SELF, &u); return u.ru_minflt; }

static void work_g() {
  for (size_t n : {size_t(2048), size_t(1) << 20}) {
    const std::string w = n == 2048 ? "g.alloc.2KiB" : "g.alloc.1MiB";
    auto take = [&] { void *p; CK(aclrtMalloc(&p, n, ACL_MEM_MALLOC_HUGE_FIRST)); return p; };
    out.row(w, "aclrtMalloc+aclrtFree", per_call_ns([&] { CK(aclrtFree(take())); }, 100), "ns/pair");
    auto set = [&] { void *p = take(); CK(aclrtMemset(p, n, 1, n)); CK(aclrtFree(p)); };
    out.row(w + "+set", "aclrtMalloc+aclrtMemset+aclrtFree", per_call_ns(set, 16), "ns/pair");
    // That the memory is there, and not only promised, shows in page faults that do not come.
    const int rounds = 1000;
    long before = minor_faults();
    for (int i = 0; i < rounds; ++i) set();
    out.row(w, "page faults of malloc, set and free", double(minor_faults() - before) / rounds, "faults");
  }
}

static void work_h() {
  const size_t n = 64u << 20;
  char *h = touched(n, 1), *d = device(n);
  volatile int v = 7;
  double x = times_faster([&] { memset(h, v, n); asm volatile("" : : "r"(h) : "memory"); },
                          [&] { CK(aclrtMemset(d, n, v, n)); }, 1, 500);
  out.row("h.memset64MiB.ratio", "to same-process memset", x, "x");
}

static void nothing(void *) {}
static void where(void *cpu) { *static_cast<int *>(cpu) = sched_getcpu(); }

extern "C" __global__ __aicore__ void empty_kernel() {}

extern "C" __global__ __aicore__ void meet() { AscendC::SyncAll(); }

static void launches(const std::string &letter, const std::string &name, aclrtStream q, const std::function<void()> &launch) {
  auto once = [&] { launch(); CK(aclrtSynchronizeStream(q)); };
  lat(out, letter + ".launch+sync", name + ", hot", 4000, once);
  double ns = per_call_ns([&] {
    for (int i = 0; i < 1000; ++i) launch();
    CK(aclrtSynchronizeStream(q)); }, 1);
  out.row(letter + ".launch1000", name, ns / 1e6, "us/launch");
}

static void work_i() {
  aclrtStream q = mkstream();
  auto function = [&] { CK(aclrtLaunchHostFunc(q, nothing, nullptr)); };
  auto kernel = [&] { empty_kernel<<<1, nullptr, q>>>(); };
  launches("i", "host function", q, function);
  launches("i", "kernel", q, kernel);
  // After 2 ms the worker still looks around now and then; after 50 ms it has parked for good.
  for (auto [name, us, n] : {std::tuple{", after 2 ms idle", 2000L, 200}, std::tuple{", after 50 ms idle", 50000L, 30}}) {
    lat_idle(out, "i.launch+sync", std::string("host function") + name, us, n, [&] { function(); CK(aclrtSynchronizeStream(q)); });
    lat_idle(out, "i.launch+sync", std::string("kernel") + name, us, n, [&] { kernel(); CK(aclrtSynchronizeStream(q)); });
  }
  int same = 0, cpu = -1;
  const int n = 1000;
  for (int i = 0; i < n; ++i) {
    CK(aclrtLaunchHostFunc(q, where, &cpu));
    CK(aclrtSynchronizeStream(q));
    same += cpu == sched_getcpu();
  }
  out.row("i.one-core", "host functions that ran on the caller's core", double(same) / n, "share");
}

// CPU time of this process's threads but the calling one, in ms.
static double others_ms() {
  double sum = 0;
  DIR *dir = opendir("/proc/self/task");
  if (!dir) { perror("/proc/self/task"); exit(3); }
  while (dirent *x = readdir(dir)) {
    long tid = atol(x->d_name);
    if (tid <= 0 || tid == gettid()) continue;
    timespec t;
    clockid_t clock = clockid_t((~unsigned(tid)) << 3 | 6); // a thread's CPU clock (clock_getres(2))
    if (clock_gettime(clock, &t) == 0) sum += double(t.tv_sec) * 1e3 + double(t.tv_nsec) / 1e6;
  }
  closedir(dir);
  return sum;
}

static void work_j() {
  int threads = 0;
  char *s = device(65536), *d = device(65536);
  for (int count : kQueueCounts) {
    std::vector<aclrtStream> q;
    for (int i = 0; i < count; ++i) q.push_back(mkstream());
    double ns = per_call_ns([&] {
      for (int i = 0; i < 1000; ++i)
        for (int k = 0; k < count; ++k) copy_async(d + 64 * k, s + 64 * k, 64, q[k]);
      threads = std::max(threads, os_threads());
      for (auto x : q) CK(aclrtSynchronizeStream(x)); }, 1);
    const std::string w = "j.scale." + std::to_string(count);
    out.row(w, "aclrtMemcpyAsync 64B", count * 1000 / ns * 1e3, "Mops/s");
    out.row(w + ".threads", "os threads", threads, "threads");
    for (auto x : q) CK(aclrtDestroyStream(x));
  }
  aclrtStream q = mkstream();
  for (int i = 0; i < 1000; ++i) { copy_async(d, s, 64, q); CK(aclrtLaunchHostFunc(q, nothing, nullptr)); }
  CK(aclrtSynchronizeStream(q));
  for (const char *name : {"first second", "second second"}) {
    double before = others_ms();
    sleep_us(1000000);
    out.row("j.idle", name, others_ms() - before, "ms");
  }
}

static void work_l() {
  aclrtStream q = mkstream();
  for (uint32_t blocks : {1u, 8u, 48u})
    launches("l", "kernel, blocks: " + std::to_string(blocks), q, [&] { empty_kernel<<<blocks, nullptr, q>>>(); });
  lat(out, "l.launch+sync", "SyncAll once, blocks: 8", 400, [&] { meet<<<8, nullptr, q>>>(); CK(aclrtSynchronizeStream(q)); });
}

int main(int argc, char **argv) {
  CK(aclInit(nullptr));
  CK(aclrtSetDevice(0));
  for (int i = 1; i < argc; ++i) {
    switch (argv[i][0]) {
    case 'a': work_a(); break;
    case 'b': work_b(); break;
    case 'c': work_c(); break;
    case 'd': work_d(); break;
    case 'e': work_e(); break;
    case 'f': work_f(); break;
    case 'g': work_g(); break;
    case 'h': work_h(); break;
    case 'i': work_i(); break;
    case 'j': work_j(); break;
    case 'l': work_l(); break;
    default: fprintf(stderr, "no workload %s\n", argv[i]); return 2;
    }
  }
  CK(aclrtResetDevice(0));
  CK(aclFinalize());
}
