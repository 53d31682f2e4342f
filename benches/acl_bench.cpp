// The project's own rows, through the C ABI. Usage: acl_bench <workload letters...>   (a b c d e f g h i j k)
// `cargo xtask bench` builds and runs it interleaved with its peers; output as in peers/bench_common.h.
#include "peers/bench_common.h"
#include <acl/acl.h>
#include <kernel_operator.h>
#include <atomic>
#include <thread>

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

template <class F> static void lat(const char *w, const char *name, int n, F f) {
  for (int i = 0; i < n / 10 + 10; ++i) f();
  std::vector<double> v;
  for (int i = 0; i < n; ++i) { double t0 = now_ns(); f(); v.push_back((now_ns() - t0) / 1e3); }
  out.row(std::string(w) + ".p50", name, pct(v, .5), "us");
  out.row(std::string(w) + ".p99", name, pct(v, .99), "us");
}

static void work_a() {
  aclrtStream q = mkstream();
  char *s = device(65536), *d = device(65536);
  std::vector<double> e, t;
  for (int r = 0; r < 200; ++r) {
    double t0 = now_ns();
    for (int i = 0; i < 1000; ++i) CK(aclrtMemcpyAsync(d + 64 * i, 64, s + 64 * i, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, q));
    double t1 = now_ns();
    CK(aclrtSynchronizeStream(q));
    double t2 = now_ns();
    if (r >= 20) { e.push_back((t1 - t0) / 1000); t.push_back((t2 - t0) / 1000); }
  }
  out.row("a.enqueue", "aclrtMemcpyAsync 64B", median(e), "ns/op");
  out.row("a.enqueue+drain", "aclrtMemcpyAsync 64B", median(t), "ns/op");
}

static void sleep_us(long us) { timespec t{0, us * 1000}; nanosleep(&t, nullptr); }

static void work_b() {
  aclrtStream q = mkstream();
  char *s = device(4096), *d = device(4096), *h = touched(4096, 1);
  auto once = [&] {
    CK(aclrtMemcpyAsync(d, 64, s, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, q));
    CK(aclrtSynchronizeStream(q));
  };
  lat("b.roundtrip", "memcpyAsync+synchronize", 20000, once);
  auto idle = [&](const char *name, long us, int n) {
    std::vector<double> v;
    for (int i = 0; i < n; ++i) { sleep_us(us); double t0 = now_ns(); once(); v.push_back((now_ns() - t0) / 1e3); }
    out.row("b.roundtrip.p50", name, pct(v, .5), "us");
    out.row("b.roundtrip.p99", name, pct(v, .99), "us");
  };
  idle("after 1 ms idle", 1000, 400);
  idle("after 20 ms idle", 20000, 60);
  lat("b.roundtrip", "aclrtMemcpy 64B h2d", 20000, [&] { CK(aclrtMemcpy(d, 64, h, 64, ACL_MEMCPY_HOST_TO_DEVICE)); });
}

static void work_c() {
  const size_t MX = kSizes[4];
  char *h = touched(MX, 1), *h2 = touched(MX, 3), *p = pinned(MX), *s = device(MX), *d = device(MX);
  struct { const char *name; char *dst, *src; } dirs[] = {
      {"c.h2d.", d, h}, {"c.d2h.", h2, d}, {"c.d2d.", d, s}, {"c.h2d.pinned.", d, p}, {"c.d2h.pinned.", p, d}};
  for (int k = 0; k < 5; ++k) {
    size_t n = kSizes[k]; int g = group_for(n);
    for (auto &x : dirs) {
      double ref = per_call_ns([&] { memcpy(h2, h, n); }, g);
      double ns = per_call_ns([&] { CK(aclrtMemcpy(x.dst, n, x.src, n, ACL_MEMCPY_DEFAULT)); }, g);
      out.row(std::string(x.name) + kSizeNames[k], "aclrtMemcpy", n / ns, "GB/s");
      out.row(std::string(x.name) + kSizeNames[k] + ".ratio", "to same-process memcpy", ref / ns, "x");
    }
  }
}

static void work_d() {
  const size_t rows = 4096, w = 256, p = 512, n = rows * p;
  char *h = touched(n, 1), *h2 = touched(n, 1), *d = device(n), *s = device(n);
  volatile size_t vw = w;
  double ref = per_call_ns([&] { size_t x = vw; for (size_t r = 0; r < rows; ++r) memcpy(h2 + r * p, h + r * p, x); }, 1);
  double ns = per_call_ns([&] { CK(aclrtMemcpy2d(d, p, s, p, w, rows, ACL_MEMCPY_DEVICE_TO_DEVICE)); }, 1);
  out.row("d.copy2d.ratio", "d2d, to row loop", ref / ns, "x");
  ns = per_call_ns([&] { CK(aclrtMemcpy2d(d, p, h, p, w, rows, ACL_MEMCPY_HOST_TO_DEVICE)); }, 1);
  out.row("d.copy2d.ratio", "h2d, to row loop", ref / ns, "x");
}

static void work_e() {
  const size_t n = kSmallN * kSmallStride;
  char *h = touched(n, 1), *h2 = touched(n, 1), *s = device(n), *d = device(n);
  auto so = scattered(12345), dof = scattered(777);
  aclrtStream q = mkstream();
  double ref = per_call_ns([&] { for (int i = 0; i < kSmallN; ++i) memcpy(h2 + dof[i], h + so[i], kSmallSize); }, 1, 200);
  double ns = per_call_ns([&] {
    for (int i = 0; i < kSmallN; ++i)
      CK(aclrtMemcpyAsync(d + dof[i], kSmallSize, s + so[i], kSmallSize, ACL_MEMCPY_DEVICE_TO_DEVICE, q));
    CK(aclrtSynchronizeStream(q)); }, 1, 200);
  out.row("e.batch.slowdown", "memcpyAsync x10000, to memcpy loop", ns / ref, "x");
}

static void work_f() {
  aclrtStream q[2] = {mkstream(), mkstream()};
  aclrtEvent e[2];
  for (auto &x : e) CK(aclrtCreateEventExWithFlag(&x, ACL_EVENT_SYNC));
  const int n = 1000;
  std::vector<double> v;
  for (int r = 0; r < 60; ++r) {
    double t0 = now_ns();
    for (int i = 0; i < n; ++i) { CK(aclrtRecordEvent(e[i & 1], q[i & 1])); CK(aclrtStreamWaitEvent(q[!(i & 1)], e[i & 1])); }
    CK(aclrtSynchronizeStream(q[0])); CK(aclrtSynchronizeStream(q[1]));
    if (r >= 6) v.push_back((now_ns() - t0) / n);
  }
  out.row("f.hop", "record+wait", median(v), "ns/hop");
}

static void work_g() {
  for (size_t n : {size_t(2048), size_t(1) << 20}) {
    double ns = per_call_ns([&] { void *p; CK(aclrtMalloc(&p, n, ACL_MEM_MALLOC_HUGE_FIRST)); CK(aclrtFree(p)); }, 16);
    out.row("g.malloc+free", n == 2048 ? "2KiB" : "1MiB", ns, "ns");
  }
}

static void work_h() {
  const size_t n = 64u << 20;
  char *h = touched(n, 1), *d = device(n);
  volatile int v = 7;
  double ref = per_call_ns([&] { memset(h, v, n); }, 1, 300);
  double ns = per_call_ns([&] { CK(aclrtMemset(d, n, v, n)); }, 1, 300);
  out.row("h.memset64MiB.ratio", "to same-process memset", ref / ns, "x");
}

static void nothing(void *) {}

static void work_i() {
  aclrtStream q = mkstream();
  lat("i.launch+sync", "empty host function", 4000, [&] { CK(aclrtLaunchHostFunc(q, nothing, nullptr)); CK(aclrtSynchronizeStream(q)); });
  double ns = per_call_ns([&] {
    for (int i = 0; i < 1000; ++i) CK(aclrtLaunchHostFunc(q, nothing, nullptr));
    CK(aclrtSynchronizeStream(q)); }, 1);
  out.row("i.1000+sync", "empty host function", ns / 1000, "ns/op");
}

static void work_j() {
  for (int count : {1, 2, 4, 16, 64, 256}) {
    std::vector<aclrtStream> q;
    for (int i = 0; i < count; ++i) q.push_back(mkstream());
    char *s = device(65536), *d = device(65536);
    double ns = per_call_ns([&] {
      for (int i = 0; i < 1000; ++i)
        for (int k = 0; k < count; ++k) CK(aclrtMemcpyAsync(d + 64 * i, 64, s + 64 * i, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, q[k]));
      for (auto x : q) CK(aclrtSynchronizeStream(x)); }, 1);
    out.row("j.streams", std::to_string(count), count * 1000 / ns * 1e3, "Mops/s");
    out.row("j.threads", std::to_string(count), os_threads(), "threads");
    for (auto x : q) CK(aclrtDestroyStream(x));
  }
}

extern "C" __global__ __aicore__ void empty_kernel() {}

extern "C" __global__ __aicore__ void meet() { AscendC::SyncAll(); }

static void work_k() {
  aclrtStream q = mkstream();
  auto launch = [&](uint32_t blocks) { empty_kernel<<<blocks, nullptr, q>>>(); };
  for (uint32_t blocks : {1u, 8u, 48u}) {
    const std::string name = "empty kernel, blocks: " + std::to_string(blocks);
    lat("k.launch+sync", name.c_str(), 4000, [&] { launch(blocks); CK(aclrtSynchronizeStream(q)); });
    double ns = per_call_ns([&] {
      for (int i = 0; i < 1000; ++i) launch(blocks);
      CK(aclrtSynchronizeStream(q)); }, 1);
    out.row("k.1000+sync", name, ns / 1000, "ns/op");
  }
  lat("k.launch+sync", "SyncAll once, blocks: 8", 400, [&] { meet<<<8, nullptr, q>>>(); CK(aclrtSynchronizeStream(q)); });
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
    case 'k': work_k(); break;
    default: fprintf(stderr, "no workload %s\n", argv[i]); return 2;
    }
  }
  CK(aclrtResetDevice(0));
  CK(aclFinalize());
}
