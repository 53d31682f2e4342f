// Which C function does each C++ overload call, and with which arguments? The C functions are defined here and record.
#include <acl/acl.h>
#include <acl/acl_rt_api.h>

#include <cstdio>
#include <cstring>

namespace {

struct Call {
    const char *name = "";
    const void *first = nullptr;
    unsigned long long number = 0;
    const void *last = nullptr;
    size_t batches = 0;
};

Call g_call;
int g_failed = 0;

aclError Record(const char *name, const void *first = nullptr, unsigned long long number = 0,
    const void *last = nullptr, size_t batches = 0)
{
    g_call.name = name;
    g_call.first = first;
    g_call.number = number;
    g_call.last = last;
    g_call.batches = batches;
    return 42;
}

void Expect(int line, aclError result, const char *name, const void *first = nullptr, unsigned long long number = 0,
    const void *last = nullptr, size_t batches = 0)
{
    const bool same = result == 42 && std::strcmp(g_call.name, name) == 0 && g_call.first == first &&
        g_call.number == number && g_call.last == last && g_call.batches == batches;
    if (!same) {
        std::fprintf(stderr, "line %d: error: expected %s(%p, %llu, %p, %zu), got %s(%p, %llu, %p, %zu)\n", line, name,
            first, number, last, batches, g_call.name, g_call.first, g_call.number, g_call.last, g_call.batches);
        ++g_failed;
    }
    g_call = Call();
}

#define EXPECT(call, ...) Expect(__LINE__, (call), __VA_ARGS__)

} // namespace

extern "C" {
aclError aclrtSynchronizeDevice(void) { return Record("SynchronizeDevice"); }
aclError aclrtSynchronizeDeviceWithTimeout(int32_t t) { return Record("SynchronizeDeviceWithTimeout", nullptr, t); }
aclError aclrtSynchronizeStream(aclrtStream s) { return Record("SynchronizeStream", s); }
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream s, int32_t t)
{
    return Record("SynchronizeStreamWithTimeout", s, t);
}
aclError aclrtSynchronizeEvent(aclrtEvent e) { return Record("SynchronizeEvent", e); }
aclError aclrtSynchronizeEventWithTimeout(aclrtEvent e, int32_t t)
{
    return Record("SynchronizeEventWithTimeout", e, t);
}
aclError aclrtStreamWaitEvent(aclrtStream s, aclrtEvent e) { return Record("StreamWaitEvent", s, 0, e); }
aclError aclrtStreamWaitEventWithTimeout(aclrtStream s, aclrtEvent e, int32_t t)
{
    return Record("StreamWaitEventWithTimeout", s, t, e);
}
aclError aclrtSetOpExecuteTimeOut(uint32_t t) { return Record("SetOpExecuteTimeOut", nullptr, t); }
aclError aclrtSetOpExecuteTimeOutV2(uint64_t t, uint64_t *actual)
{
    return Record("SetOpExecuteTimeOutV2", actual, t);
}
aclError aclrtCreateStream(aclrtStream *s) { return Record("CreateStream", s); }
aclError aclrtCreateStreamWithConfig(aclrtStream *s, uint32_t priority, uint32_t flag)
{
    return Record("CreateStreamWithConfig", s, priority * 100 + flag);
}
aclError aclrtCreateEvent(aclrtEvent *e) { return Record("CreateEvent", e); }
aclError aclrtCreateEventExWithFlag(aclrtEvent *e, uint32_t flag) { return Record("CreateEventExWithFlag", e, flag); }
aclError aclrtMalloc(void **p, size_t size, aclrtMemMallocPolicy policy)
{
    return Record("Malloc", p, size * 10 + policy);
}
aclError aclrtMallocWithCfg(void **p, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
    return Record("MallocWithCfg", p, size * 10 + policy, cfg);
}
aclError aclrtMallocHost(void **p, size_t size) { return Record("MallocHost", p, size); }
aclError aclrtMallocHostWithCfg(void **p, uint64_t size, aclrtMallocConfig *cfg)
{
    return Record("MallocHostWithCfg", p, size, cfg);
}
aclError aclrtMemAllocManaged(void **p, uint64_t size, uint32_t flag)
{
    return Record("MemAllocManaged", p, size * 10 + flag);
}
aclError aclrtPointerGetAttributes(const void *p, aclrtPtrAttributes *a)
{
    return Record("PointerGetAttributes", p, 0, a);
}
aclError aclrtMemcpy(void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind)
{
    return Record("Memcpy", dst, max * 100 + count * 10 + kind, src);
}
aclError aclrtMemcpyAsync(void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream s)
{
    return Record("MemcpyAsync", dst, max * 100 + count * 10 + kind + (s != nullptr), src);
}
aclError aclrtMemcpy2d(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, aclrtMemcpyKind kind)
{
    return Record("Memcpy2d", dst, dp * 10000 + sp * 1000 + w * 100 + h * 10 + kind, src);
}
aclError aclrtMemcpy2dAsync(
    void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, aclrtMemcpyKind kind, aclrtStream s)
{
    return Record("Memcpy2dAsync", dst, dp * 10000 + sp * 1000 + w * 100 + h * 10 + kind + (s != nullptr), src);
}
aclError aclrtMemcpyBatch(void **dsts, size_t *, void **, size_t *, size_t n, aclrtMemcpyBatchAttr *attrs,
    size_t *indexes, size_t numAttrs, size_t *failIndex)
{
    return Record("MemcpyBatch", dsts, attrs->dstLoc.id * 100 + indexes[0] * 10 + numAttrs, failIndex, n);
}
aclError aclrtMemcpyBatchV2(void **dsts, size_t *, void **, size_t *, size_t n, aclrtMemcpyBatchAttr *attrs,
    size_t *indexes, size_t numAttrs)
{
    return Record("MemcpyBatchV2", dsts, attrs->dstLoc.id * 100 + indexes[0] * 10 + numAttrs, nullptr, n);
}
aclError aclrtMemcpyBatchAsync(void **dsts, size_t *, void **, size_t *, size_t n, aclrtMemcpyBatchAttr *attrs,
    size_t *indexes, size_t numAttrs, size_t *failIndex, aclrtStream s)
{
    return Record(
        "MemcpyBatchAsync", dsts, attrs->dstLoc.id * 100 + indexes[0] * 10 + numAttrs + (s != nullptr), failIndex, n);
}
aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *, void **, size_t *, size_t n, aclrtMemcpyBatchAttr *attrs,
    size_t *indexes, size_t numAttrs, aclrtStream s)
{
    return Record("MemcpyBatchAsyncV2", dsts, attrs->dstLoc.id * 100 + indexes[0] * 10 + numAttrs, s, n);
}
aclError aclrtHostRegister(void *p, uint64_t size, aclrtHostRegisterType type, void **dev)
{
    return Record("HostRegister", p, size * 10 + type, dev);
}
aclError aclrtHostRegisterV2(void *p, uint64_t size, uint32_t flag)
{
    return Record("HostRegisterV2", p, size * 10 + flag);
}
aclError aclrtHostGetDevicePointer(void *p, void **dev, uint32_t flag)
{
    return Record("HostGetDevicePointer", p, flag, dev);
}
aclError aclrtHostUnregister(void *p) { return Record("HostUnregister", p); }
aclError aclrtMemManagedPrefetchAsync(
    const void *p, size_t size, aclrtMemManagedLocation location, uint32_t flags, aclrtStream s)
{
    return Record("MemManagedPrefetchAsync", p, size * 100 + static_cast<unsigned>(location.id) * 10 + flags, s);
}
aclError aclrtMemManagedPrefetchBatchAsync(const void **ptrs, size_t *, size_t count,
    aclrtMemManagedLocation *locations, size_t *indexes, size_t numLocations, uint64_t flags, aclrtStream s)
{
    return Record("MemManagedPrefetchBatchAsync", ptrs,
        static_cast<unsigned>(locations->id) * 1000 + indexes[0] * 100 + numLocations * 10 + flags, s, count);
}
aclError aclrtGetSymbolAddress(const void *symbol, void **p) { return Record("GetSymbolAddress", symbol, 0, p); }
aclError aclrtGetSymbolSize(const void *symbol, size_t *size) { return Record("GetSymbolSize", symbol, 0, size); }
aclError aclrtMemcpyFromSymbol(
    void *dst, size_t max, const void *symbol, size_t count, size_t offset, aclrtMemcpyKind kind)
{
    return Record("MemcpyFromSymbol", symbol, max * 1000 + count * 100 + offset * 10 + kind, dst);
}
aclError aclrtMemcpyFromSymbolAsync(
    void *dst, size_t max, const void *symbol, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream s)
{
    return Record(
        "MemcpyFromSymbolAsync", symbol, max * 1000 + count * 100 + offset * 10 + kind + (s != nullptr), dst);
}
aclError aclrtMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind)
{
    return Record("MemcpyToSymbol", symbol, count * 100 + offset * 10 + kind, src);
}
aclError aclrtMemcpyToSymbolAsync(
    const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream s)
{
    return Record("MemcpyToSymbolAsync", symbol, count * 100 + offset * 10 + kind + (s != nullptr), src);
}
}

namespace {

struct Odd {
    int value;
    // A type that hides its address still has one.
    Odd *operator&() const { return nullptr; }
};

void Waits(aclrtStream stream, aclrtEvent event)
{
    uint64_t actual = 0;
    EXPECT(aclrtSynchronizeDevice(), "SynchronizeDevice");
    EXPECT(aclrtSynchronizeDevice(7), "SynchronizeDeviceWithTimeout", nullptr, 7);
    EXPECT(aclrtSynchronizeStream(stream), "SynchronizeStream", stream);
    EXPECT(aclrtSynchronizeStream(stream, 7), "SynchronizeStreamWithTimeout", stream, 7);
    EXPECT(aclrtSynchronizeEvent(event), "SynchronizeEvent", event);
    EXPECT(aclrtSynchronizeEvent(event, 7), "SynchronizeEventWithTimeout", event, 7);
    EXPECT(aclrtStreamWaitEvent(stream, event), "StreamWaitEvent", stream, 0, event);
    EXPECT(aclrtStreamWaitEvent(stream, event, 7), "StreamWaitEventWithTimeout", stream, 7, event);
    EXPECT(aclrtSetOpExecuteTimeOut(7), "SetOpExecuteTimeOut", nullptr, 7);
    EXPECT(aclrtSetOpExecuteTimeOut(7, &actual), "SetOpExecuteTimeOutV2", &actual, 7);
    EXPECT(aclrtCreateStream(&stream), "CreateStream", &stream);
    EXPECT(aclrtCreateStream(&stream, 3, ACL_STREAM_FAST_SYNC), "CreateStreamWithConfig", &stream, 302);
    EXPECT(aclrtCreateEvent(&event), "CreateEvent", &event);
    EXPECT(aclrtCreateEvent(&event, ACL_EVENT_SYNC), "CreateEventExWithFlag", &event, 1);
}

void Allocations()
{
    float *p = nullptr;
    const float *c = nullptr;
    void *v = nullptr;
    aclrtMallocConfig cfg = {nullptr, 0};
    EXPECT(aclrtMalloc(&p, 64), "MallocWithCfg", &p, 640);
    EXPECT(aclrtMalloc(&c, 64), "MallocWithCfg", &c, 640);
    EXPECT(aclrtMalloc(&v, 64), "MallocWithCfg", &v, 640);
    EXPECT(aclrtMalloc(&p, 64, &cfg), "MallocWithCfg", &p, 640, &cfg);
    EXPECT(aclrtMalloc(&p, 64, nullptr), "MallocWithCfg", &p, 640);
    EXPECT(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_NORMAL_ONLY), "MallocWithCfg", &p, 642);
    EXPECT(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_NORMAL_ONLY, &cfg), "MallocWithCfg", &p, 642, &cfg);
    EXPECT(aclrtMalloc((void **)&p, 64, ACL_MEM_MALLOC_HUGE_FIRST), "Malloc", &p, 640);
    EXPECT(aclrtMalloc(&v, 64, ACL_MEM_MALLOC_HUGE_ONLY), "Malloc", &v, 641);
    EXPECT(aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_ONLY), "Malloc", nullptr, 641);
    EXPECT(aclrtMallocHost(&p, 64), "MallocHostWithCfg", &p, 64);
    EXPECT(aclrtMallocHost(&p, 64, &cfg), "MallocHostWithCfg", &p, 64, &cfg);
    EXPECT(aclrtMallocHost(&v, 64), "MallocHost", &v, 64);
    EXPECT(aclrtMemAllocManaged(&p, 64), "MemAllocManaged", &p, 641);
    EXPECT(aclrtMemAllocManaged(&v, 64, 3), "MemAllocManaged", &v, 643);
    aclrtPtrAttributes attributes;
    EXPECT(aclrtPointerGetAttributes(p, &attributes), "PointerGetAttributes", p, 0, &attributes);
    EXPECT(aclrtPointerGetAttributes(c, &attributes), "PointerGetAttributes", c, 0, &attributes);
    EXPECT(aclrtPointerGetAttributes(v, &attributes), "PointerGetAttributes", v, 0, &attributes);
    EXPECT(aclrtPointerGetAttributes(nullptr, &attributes), "PointerGetAttributes", nullptr, 0, &attributes);
}

void Copies(aclrtStream s)
{
    float a[4] = {};
    const int b[4] = {};
    void *v = a;
    const aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE;
    EXPECT(aclrtMemcpy(a, 16, b, 8, kind), "Memcpy", a, 1681, b);
    EXPECT(aclrtMemcpy(v, 16, b, 8, kind), "Memcpy", a, 1681, b);
    EXPECT(aclrtMemcpy(a, 16, v, 8, kind), "Memcpy", a, 1681, a);
    EXPECT(aclrtMemcpy(v, 16, v, 8, kind), "Memcpy", a, 1681, a);
    EXPECT(aclrtMemcpy(a, 16, nullptr, 8, kind), "Memcpy", a, 1681);
    EXPECT(aclrtMemcpyAsync(a, 16, b, 8, kind, s), "MemcpyAsync", a, 1682, b);
    EXPECT(aclrtMemcpyAsync(v, 16, v, 8, kind, nullptr), "MemcpyAsync", a, 1681, a);
    EXPECT(aclrtMemcpy2d(a, 8, b, 7, 6, 5, kind), "Memcpy2d", a, 87651, b);
    EXPECT(aclrtMemcpy2d(v, 8, v, 7, 6, 5, kind), "Memcpy2d", a, 87651, a);
    EXPECT(aclrtMemcpy2dAsync(a, 8, b, 7, 6, 5, kind, s), "Memcpy2dAsync", a, 87652, b);

    float *dsts[2] = {a, a};
    const int *srcs[2] = {b, b};
    void *untyped[2] = {a, a};
    size_t sizes[2] = {8, 8};
    size_t indexes[1] = {0};
    size_t fail = 0;
    aclrtMemcpyBatchAttr attr = {};
    attr.dstLoc.id = 5;
    EXPECT(aclrtMemcpyBatch(dsts, sizes, srcs, sizes, 2, attr), "MemcpyBatchV2", dsts, 501, nullptr, 2);
    EXPECT(aclrtMemcpyBatch(dsts, sizes, srcs, sizes, 2, attr, &fail), "MemcpyBatch", dsts, 501, &fail, 2);
    EXPECT(aclrtMemcpyBatch(dsts, sizes, srcs, sizes, 2, &attr, indexes, 1), "MemcpyBatchV2", dsts, 501, nullptr, 2);
    EXPECT(aclrtMemcpyBatch(dsts, sizes, srcs, sizes, 2, &attr, indexes, 1, &fail), "MemcpyBatch", dsts, 501, &fail, 2);
    EXPECT(aclrtMemcpyBatch(untyped, sizes, untyped, sizes, 2, &attr, indexes, 1, &fail), "MemcpyBatch", untyped, 501,
        &fail, 2);
    EXPECT(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, attr, s), "MemcpyBatchAsyncV2", dsts, 501, s, 2);
    EXPECT(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attr, indexes, 1, s), "MemcpyBatchAsyncV2", dsts, 501, s,
        2);
    EXPECT(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, attr, &fail, s), "MemcpyBatchAsync", dsts, 502, &fail, 2);
    EXPECT(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attr, indexes, 1, &fail, s), "MemcpyBatchAsync", dsts,
        502, &fail, 2);
    EXPECT(aclrtMemcpyBatchAsync(untyped, sizes, untyped, sizes, 2, &attr, indexes, 1, &fail, nullptr),
        "MemcpyBatchAsync", untyped, 501, &fail, 2);
}

void HostAndManaged(aclrtStream s)
{
    float a[4] = {};
    float *dev = nullptr;
    void *v = a;
    void *vdev = nullptr;
    EXPECT(aclrtHostRegister(a, 16, ACL_HOST_REGISTER_MAPPED, &dev), "HostRegister", a, 160, &dev);
    EXPECT(aclrtHostRegister(v, 16, ACL_HOST_REGISTER_MAPPED, &vdev), "HostRegister", a, 160, &vdev);
    EXPECT(aclrtHostRegister(a, 16, ACL_HOST_REGISTER_MAPPED, (void **)&dev), "HostRegister", a, 160, &dev);
    EXPECT(aclrtHostRegister(a, 16, ACL_HOST_REG_MAPPED), "HostRegisterV2", a, 162);
    EXPECT(aclrtHostRegister(v, 16, ACL_HOST_REG_MAPPED), "HostRegisterV2", a, 162);
    EXPECT(aclrtHostGetDevicePointer(a, &dev, 0), "HostGetDevicePointer", a, 0, &dev);
    EXPECT(aclrtHostGetDevicePointer(v, &vdev, 0), "HostGetDevicePointer", a, 0, &vdev);
    EXPECT(aclrtHostUnregister(a), "HostUnregister", a);
    EXPECT(aclrtHostUnregister(v), "HostUnregister", a);
    EXPECT(aclrtHostUnregister(nullptr), "HostUnregister");

    aclrtMemManagedLocation where = {ACL_MEM_LOCATIONTYPE_DEVICE, 3};
    const float *ptrs[2] = {a, a};
    const void *untyped[2] = {a, a};
    size_t sizes[2] = {8, 8};
    size_t indexes[1] = {0};
    EXPECT(aclrtMemManagedPrefetchAsync(a, 16, where, 1, s), "MemManagedPrefetchAsync", a, 1631, s);
    EXPECT(aclrtMemManagedPrefetchAsync(v, 16, where, 1, s), "MemManagedPrefetchAsync", a, 1631, s);
    EXPECT(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 2, where, 1, s), "MemManagedPrefetchBatchAsync", ptrs, 3011, s,
        2);
    EXPECT(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 2, &where, indexes, 1, 1, s), "MemManagedPrefetchBatchAsync",
        ptrs, 3011, s, 2);
    EXPECT(aclrtMemManagedPrefetchBatchAsync(untyped, sizes, 2, where, 1, s), "MemManagedPrefetchBatchAsync", untyped,
        3011, s, 2);
    EXPECT(aclrtMemManagedPrefetchBatchAsync(untyped, sizes, 2, &where, indexes, 1, 1, s),
        "MemManagedPrefetchBatchAsync", untyped, 3011, s, 2);
}

float g_scalar;
volatile int g_volatile;
const int g_const = 1;
int g_array[3];
int g_table[2][3];
float *g_pointer;
void *g_void_pointer;
Odd g_odd = {0};

void Symbols(aclrtStream s)
{
    void *p = nullptr;
    size_t n = 0;
    char buffer[8] = {};
    const void *address = &g_scalar;
    // Lvalues are the variable.
    EXPECT(aclrtGetSymbolAddress(g_scalar, &p), "GetSymbolAddress", &g_scalar, 0, &p);
    EXPECT(aclrtGetSymbolAddress(g_volatile, &p), "GetSymbolAddress", const_cast<int *>(&g_volatile), 0, &p);
    EXPECT(aclrtGetSymbolAddress(g_const, &p), "GetSymbolAddress", &g_const, 0, &p);
    EXPECT(aclrtGetSymbolAddress(g_array, &p), "GetSymbolAddress", &g_array, 0, &p);
    EXPECT(aclrtGetSymbolAddress(g_table, &p), "GetSymbolAddress", &g_table, 0, &p);
    EXPECT(aclrtGetSymbolAddress(g_pointer, &p), "GetSymbolAddress", &g_pointer, 0, &p);
    EXPECT(aclrtGetSymbolAddress(g_void_pointer, &p), "GetSymbolAddress", &g_void_pointer, 0, &p);
    EXPECT(aclrtGetSymbolAddress(g_odd, &p), "GetSymbolAddress", &g_odd.value, 0, &p);
    EXPECT(aclrtGetSymbolAddress<float>(g_scalar, &p), "GetSymbolAddress", &g_scalar, 0, &p);
    // Pointers that are no lvalues are the address.
    EXPECT(aclrtGetSymbolAddress(&g_scalar, &p), "GetSymbolAddress", &g_scalar, 0, &p);
    EXPECT(aclrtGetSymbolAddress(&g_array, &p), "GetSymbolAddress", &g_array, 0, &p);
    EXPECT(aclrtGetSymbolAddress(&g_pointer, &p), "GetSymbolAddress", &g_pointer, 0, &p);
    EXPECT(aclrtGetSymbolAddress((void *)&g_scalar, &p), "GetSymbolAddress", &g_scalar, 0, &p);
    EXPECT(aclrtGetSymbolAddress((const void *)&g_scalar, &p), "GetSymbolAddress", &g_scalar, 0, &p);
    EXPECT(aclrtGetSymbolAddress(static_cast<const float *>(&g_scalar), &p), "GetSymbolAddress", &g_scalar, 0, &p);
    // `const void *` fits C exactly.
    EXPECT(aclrtGetSymbolAddress(address, &p), "GetSymbolAddress", &g_scalar, 0, &p);
    // No variable at all.
    EXPECT(aclrtGetSymbolAddress(nullptr, &p), "GetSymbolAddress", nullptr, 0, &p);
    EXPECT(aclrtGetSymbolAddress(NULL, &p), "GetSymbolAddress", nullptr, 0, &p);
    EXPECT(aclrtGetSymbolAddress(0, &p), "GetSymbolAddress", nullptr, 0, &p);

    EXPECT(aclrtGetSymbolSize(g_array, &n), "GetSymbolSize", &g_array, 0, &n);
    EXPECT(aclrtGetSymbolSize(&g_scalar, &n), "GetSymbolSize", &g_scalar, 0, &n);
    EXPECT(aclrtGetSymbolSize(address, &n), "GetSymbolSize", &g_scalar, 0, &n);
    EXPECT(aclrtGetSymbolSize(nullptr, &n), "GetSymbolSize", nullptr, 0, &n);

    const aclrtMemcpyKind out = ACL_MEMCPY_DEVICE_TO_HOST;
    EXPECT(aclrtMemcpyFromSymbol(buffer, 8, g_pointer, 4, 1, out), "MemcpyFromSymbol", &g_pointer, 8412, buffer);
    EXPECT(aclrtMemcpyFromSymbol(buffer, 8, &g_scalar, 4, 1, out), "MemcpyFromSymbol", &g_scalar, 8412, buffer);
    EXPECT(aclrtMemcpyFromSymbol(buffer, 8, address, 4, 1, out), "MemcpyFromSymbol", &g_scalar, 8412, buffer);
    EXPECT(aclrtMemcpyFromSymbol(buffer, 8, nullptr, 4, 1, out), "MemcpyFromSymbol", nullptr, 8412, buffer);
    EXPECT(aclrtMemcpyFromSymbolAsync(buffer, 8, g_array, 4, 1, out, s), "MemcpyFromSymbolAsync", &g_array, 8413, buffer);
    EXPECT(aclrtMemcpyFromSymbolAsync(buffer, 8, &g_scalar, 4, 1, out, s), "MemcpyFromSymbolAsync", &g_scalar, 8413,
        buffer);
    EXPECT(aclrtMemcpyFromSymbolAsync(buffer, 8, nullptr, 4, 1, out, s), "MemcpyFromSymbolAsync", nullptr, 8413, buffer);

    const aclrtMemcpyKind in = ACL_MEMCPY_HOST_TO_DEVICE;
    EXPECT(aclrtMemcpyToSymbol(g_scalar, buffer, 4, 1, in), "MemcpyToSymbol", &g_scalar, 411, buffer);
    EXPECT(aclrtMemcpyToSymbol(&g_scalar, buffer, 4, 1, in), "MemcpyToSymbol", &g_scalar, 411, buffer);
    EXPECT(aclrtMemcpyToSymbol(address, buffer, 4, 1, in), "MemcpyToSymbol", &g_scalar, 411, buffer);
    EXPECT(aclrtMemcpyToSymbol(NULL, buffer, 4, 1, in), "MemcpyToSymbol", nullptr, 411, buffer);
    EXPECT(aclrtMemcpyToSymbolAsync(g_array, buffer, 4, 1, in, s), "MemcpyToSymbolAsync", &g_array, 412, buffer);
    EXPECT(aclrtMemcpyToSymbolAsync(&g_scalar, buffer, 4, 1, in, s), "MemcpyToSymbolAsync", &g_scalar, 412, buffer);
    EXPECT(aclrtMemcpyToSymbolAsync(nullptr, buffer, 4, 1, in, s), "MemcpyToSymbolAsync", nullptr, 412, buffer);
}

} // namespace

int main()
{
    int handles[2] = {};
    aclrtStream stream = &handles[0];
    Waits(stream, &handles[1]);
    Allocations();
    Copies(stream);
    HostAndManaged(stream);
    Symbols(stream);
    return g_failed == 0 ? 0 : 1;
}
