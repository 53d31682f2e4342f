// Chapter 26, registered host memory and managed memory: both forms of each.
#include "runtime.h"

#include "acl/acl_rt_api.h"

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>

static void registered() {
    const std::size_t bytes = 16384;
    void *mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double *host = static_cast<double *>(mapping), *device = nullptr, *again = nullptr;
    CHECK(mapping != MAP_FAILED);
    CHECK_OK(aclrtHostRegister(host, bytes, ACL_HOST_REGISTER_MAPPED, &device));
    CHECK(device != nullptr);
    CHECK_OK(aclrtHostGetDevicePointer(host, &again, 0));
    CHECK_PTR(again, device);
    CHECK_EQ(aclrtHostGetDevicePointer(host, &again, 1), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtHostUnregister(host));
    CHECK_EQ(aclrtHostUnregister(host), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    // aclrtHostRegister<cpp>#04: flags may be combined.
    const std::uint32_t flags = ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED;
    CHECK_OK(aclrtHostRegister(host, bytes, flags));
    CHECK_OK(aclrtHostGetDevicePointer(host, &again, 0));
    CHECK(again != nullptr);
    host[0] = 3.5;
    CHECK(host[0] == 3.5);
    CHECK_OK(aclrtHostUnregister(host));
    CHECK_EQ(aclrtHostRegister(host, bytes, std::uint32_t(0)), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_EQ(aclrtHostRegister(static_cast<double *>(nullptr), bytes, flags), ACL_ERROR_INVALID_PARAM);
    munmap(mapping, bytes);
}

static void managed() {
    const std::size_t piece = 2097152, count = 3;
    std::uint32_t *memory = nullptr;
    aclrtStream stream = nullptr;
    aclrtMemManagedLocation on_device, on_host;
    on_device.type = ACL_MEM_LOCATIONTYPE_DEVICE;
    on_device.id = 0;
    on_host.type = ACL_MEM_LOCATIONTYPE_HOST;
    on_host.id = 0;
    CHECK_OK(aclrtCreateStream(&stream));
    // aclrtMemAllocManaged<cpp>#04: the flag may be left out.
    CHECK_OK(aclrtMemAllocManaged(&memory, count * piece));
    check_fill(memory, count * piece, 8);
    CHECK_OK(aclrtMemManagedPrefetchAsync(memory, count * piece, on_device, 0, stream));
    CHECK_OK(aclrtMemManagedPrefetchAsync(memory + 1024 * 512, piece, on_host, 0, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    const std::uint32_t *pieces[count];
    std::size_t sizes[count], indexes[2] = {0, 1};
    aclrtMemManagedLocation places[2] = {on_device, on_host};
    for (std::size_t i = 0; i < count; ++i) {
        pieces[i] = memory + i * piece / sizeof(std::uint32_t);
        sizes[i] = piece;
    }
    // aclrtMemManagedPrefetchBatchAsync<cpp>#06, #07: one place for all, or places by index.
    CHECK_OK(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, count, on_device, 0, stream));
    CHECK_OK(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, count, places, indexes, std::size_t(2), 0, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    std::uint8_t want[4096];
    check_fill(want, sizeof want, 8);
    CHECK_BYTES(memory, want, sizeof want);
    // aclrtMemManagedPrefetchAsync<cpp>#05, and the same in a batch.
    CHECK_EQ(aclrtMemManagedPrefetchAsync(memory, piece, on_device, 1, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, count, on_device, 1, stream), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemManagedPrefetchBatchAsync(pieces, sizes, std::size_t(0), on_device, 0, stream),
             ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtFree(memory));
    CHECK_OK(aclrtMemAllocManaged(&memory, 1, ACL_RT_MEM_ATTACH_GLOBAL));
    CHECK_OK(aclrtFree(memory));
    CHECK_EQ(aclrtMemAllocManaged(&memory, piece, 2), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtDestroyStream(stream));
}

int main() {
    runtime_start();
    registered();
    managed();
    CHECK_STILL_WORKS();
    return runtime_end();
}
