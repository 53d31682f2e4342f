// What the checker costs: `cargo xtask bench check` builds this, runs it with the checker off and in warn mode in turn, and prints both
// with their ratios. One line for each figure: name, tab, nanoseconds. Copies of pinned memory are timed as a program has them in a
// loop, many to a sample, for the checker shuts pages for some of them only; the first ones of a place and a buffer, whose pages it
// shuts always, have rows of their own.
#include "peers/bench_common.h"
#include <acl/acl.h>

using namespace bench;

static void ck(aclError e, const char *what) {
  if (e != ACL_SUCCESS) { fprintf(stderr, "%s: %d: %s\n", what, e, aclGetRecentErrMsg()); exit(3); }
}
#define CK(x) ck((x), #x)

static void row(const std::string &name, double ns) {
  printf("%s\t%.6g\n", name.c_str(), ns);
  fflush(stdout);
}

static aclrtStream mkstream() { aclrtStream s; CK(aclrtCreateStream(&s)); return s; }
static char *device(size_t n) {
  void *p;
  CK(aclrtMalloc(&p, n, ACL_MEM_MALLOC_HUGE_FIRST));
  CK(aclrtMemset(p, n, 1, n));
  return (char *)p;
}
static char *pinned(size_t n) {
  void *p;
  CK(aclrtMallocHost(&p, n));
  memset(p, 1, n);
  return (char *)p;
}

static const struct { const char *name; size_t bytes; } SIZES[] = {
    {"64 bytes", 64}, {"4 KiB", 4096}, {"64 KiB", 65536}, {"1 MiB", 1 << 20}, {"16 MiB", 16 << 20}, {"64 MiB", 64 << 20}};

static void nothing(void *) {}

static void tiny(aclrtStream q) {
  char *s = device(65536), *d = device(65536), *h = touched(4096, 1);
  const int n = 1000;
  int32_t id;
  row("aclrtGetDevice", per_call_ns([&] { CK(aclrtGetDevice(&id)); }, 100));
  row("aclrtMemcpy, 64 bytes", per_call_ns([&] { CK(aclrtMemcpy(d, 64, h, 64, ACL_MEMCPY_HOST_TO_DEVICE)); }, 100));
  row("aclrtMemcpyAsync, 64 bytes on the device, 1000 and a synchronize", per_call_ns([&] {
    for (int i = 0; i < n; ++i) CK(aclrtMemcpyAsync(d + 64 * i, 64, s + 64 * i, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, q));
    CK(aclrtSynchronizeStream(q)); }, 1) / n);
  row("aclrtMemcpyAsync, 64 bytes on the device, and a synchronize", per_call_ns([&] {
    CK(aclrtMemcpyAsync(d, 64, s, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, q));
    CK(aclrtSynchronizeStream(q)); }, 32));
  aclrtStream two[2] = {q, mkstream()};
  aclrtEvent e[2];
  for (auto &x : e) CK(aclrtCreateEventExWithFlag(&x, ACL_EVENT_SYNC));
  row("record and wait, per hop of 1000", per_call_ns([&] {
    for (int i = 0; i < n; ++i) { CK(aclrtRecordEvent(e[i & 1], two[i & 1])); CK(aclrtStreamWaitEvent(two[!(i & 1)], e[i & 1])); }
    CK(aclrtSynchronizeStream(two[0])); CK(aclrtSynchronizeStream(two[1])); }, 1) / n);
  row("aclrtMalloc and aclrtFree, 2 KiB", per_call_ns([&] {
    void *p; CK(aclrtMalloc(&p, 2048, ACL_MEM_MALLOC_HUGE_FIRST)); CK(aclrtFree(p)); }, 32));
  row("empty host function, 1000 and a synchronize", per_call_ns([&] {
    for (int i = 0; i < n; ++i) CK(aclrtLaunchHostFunc(q, nothing, nullptr));
    CK(aclrtSynchronizeStream(q)); }, 1) / n);
  for (auto &x : e) CK(aclrtDestroyEvent(x));
  CK(aclrtDestroyStream(two[1]));
}

static void copies(aclrtStream q) {
  const size_t most = SIZES[5].bytes;
  char *h = touched(most, 1), *p = pinned(most), *r = touched(most, 1), *d = device(most);
  CK(aclrtHostRegisterV2(r, most, ACL_HOST_REG_PINNED));
  auto both = [&](char *to, char *from, size_t n, aclrtMemcpyKind kind) {
    CK(aclrtMemcpyAsync(to, n, from, n, kind, q));
    CK(aclrtSynchronizeStream(q));
  };
  for (auto &size : SIZES) {
    const size_t n = size.bytes;
    const std::string of = std::string(", ") + size.name;
    // Enough for what only every so many copies pay to be in every sample.
    const int group = n <= 65536 ? 300 : n <= 1 << 20 ? 60 : n <= 16 << 20 ? 8 : 2;
    if (n >= 1 << 20) {
      row("aclrtMemcpy, pageable to device" + of, per_call_ns([&] { CK(aclrtMemcpy(d, n, h, n, ACL_MEMCPY_HOST_TO_DEVICE)); }, group));
      row("aclrtMemcpy, device to pinned" + of, per_call_ns([&] { CK(aclrtMemcpy(p, n, d, n, ACL_MEMCPY_DEVICE_TO_HOST)); }, group));
    }
    row("async and synchronize, pinned to device" + of, per_call_ns([&] { both(d, p, n, ACL_MEMCPY_HOST_TO_DEVICE); }, group));
    row("async and synchronize, device to pinned" + of, per_call_ns([&] { both(p, d, n, ACL_MEMCPY_DEVICE_TO_HOST); }, group));
    if (n >= 1 << 20) {
      row("async and synchronize, registered to device" + of, per_call_ns([&] { both(d, r, n, ACL_MEMCPY_HOST_TO_DEVICE); }, group));
    }
  }
  const size_t n = 1 << 20;
  row("eight async and a synchronize, pinned to device, 1 MiB each", per_call_ns([&] {
    for (int r = 0; r < 8; ++r) {
      for (int i = 0; i < 8; ++i) CK(aclrtMemcpyAsync(d + n * i, n, p + n * i, n, ACL_MEMCPY_HOST_TO_DEVICE, q));
      CK(aclrtSynchronizeStream(q));
    } }, 1) / 64);
  CK(aclrtHostUnregister(r));
  CK(aclrtFreeHost(p));
  for (size_t n : {size_t(1) << 20, size_t(16) << 20}) {
    std::vector<double> v;
    for (int i = 0; i < 20; ++i) {
      void *fresh;
      CK(aclrtMallocHost(&fresh, n));
      memset(fresh, 1, n);
      double t0 = now_ns();
      both(d, (char *)fresh, n, ACL_MEMCPY_HOST_TO_DEVICE);
      v.push_back(now_ns() - t0);
      CK(aclrtFreeHost(fresh));
    }
    row(std::string("the first of a buffer, pinned to device, ") + (n >> 20 == 1 ? "1 MiB" : "16 MiB"), median(v));
  }
}

int main() {
  CK(aclInit(nullptr));
  CK(aclrtSetDevice(0));
  aclrtStream q = mkstream();
  tiny(q);
  copies(q);
  CK(aclrtDestroyStream(q));
  CK(aclrtResetDevice(0));
  CK(aclFinalize());
}
