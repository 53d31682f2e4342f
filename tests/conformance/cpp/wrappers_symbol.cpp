// Chapter 26, device variables: the six calls, with the variable (`var`, chapter 26) and with its address (`&var`,
// chapter 11-11); scalars, arrays, structures, pointers, function pointers as symbols.
#include "runtime.h"

#include "acl/acl_rt_api.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

struct state {
    std::int32_t step;
    float rate;
    std::uint8_t mask[8];
};

// An operator& of its own must not lead the wrappers astray.
struct sly {
    std::int32_t value;
    sly *operator&() { return nullptr; }
    const sly *operator&() const { return nullptr; }
};

static float scalar = 1.25f;
static std::int32_t table[6] = {1, 2, 3, 4, 5, 6};
static std::int16_t matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
static state whole = {3, 0.5f, {1, 2, 3, 4, 5, 6, 7, 8}};
static sly tricky = {31};
static int *pointer = table;
static void (*function)(void *) = nullptr;
static const double constant = 2.5;
static int stranger = 0;

template <typename T>
static void both_spellings(T &variable, const T &fresh) {
    void *by_name = nullptr, *by_address = nullptr;
    std::size_t size = 0;
    T got;
    const aclrtMemcpyKind down = ACL_MEMCPY_HOST_TO_DEVICE, up = ACL_MEMCPY_DEVICE_TO_HOST;
    CHECK_OK(aclrtGetSymbolAddress(variable, &by_name));
    CHECK_OK(aclrtGetSymbolAddress(&variable, &by_address));
    CHECK(by_name != nullptr && by_name != static_cast<const void *>(&variable));
    CHECK_PTR(by_name, by_address);
    CHECK_OK(aclrtGetSymbolSize(variable, &size));
    CHECK_EQ(size, sizeof(T));
    size = 0;
    CHECK_OK(aclrtGetSymbolSize(&variable, &size));
    CHECK_EQ(size, sizeof(T));
    // The first value is the host's.
    CHECK_OK(aclrtMemcpyFromSymbol(&got, sizeof got, variable, sizeof got, 0, up));
    CHECK_BYTES(&got, &variable, sizeof got);
    // Write by name, read by address; and the other way round.
    CHECK_OK(aclrtMemcpyToSymbol(variable, &fresh, sizeof fresh, 0, down));
    std::memset(static_cast<void *>(&got), 0, sizeof got);
    CHECK_OK(aclrtMemcpyFromSymbol(&got, sizeof got, &variable, sizeof got, 0, ACL_MEMCPY_DEFAULT));
    CHECK_BYTES(&got, &fresh, sizeof got);
    CHECK_OK(aclrtMemcpyToSymbol(&variable, &variable, sizeof fresh, 0, ACL_MEMCPY_DEFAULT));
    CHECK_OK(aclrtMemcpyFromSymbol(&got, sizeof got, variable, sizeof got, 0, up));
    CHECK_BYTES(&got, &variable, sizeof got);
    // The same, asynchronously, through page-locked memory.
    T *pinned = nullptr;
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMallocHost(&pinned, 3 * sizeof(T)));
    std::memcpy(static_cast<void *>(pinned), &fresh, sizeof fresh);
    CHECK_OK(aclrtMemcpyToSymbolAsync(variable, pinned, sizeof fresh, 0, down, stream));
    CHECK_OK(aclrtMemcpyFromSymbolAsync(pinned + 1, sizeof got, variable, sizeof got, 0, up, stream));
    CHECK_OK(aclrtMemcpyFromSymbolAsync(pinned + 2, sizeof got, &variable, sizeof got, 0, up, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_BYTES(pinned + 1, &fresh, sizeof fresh);
    CHECK_BYTES(pinned + 2, &fresh, sizeof fresh);
    std::memcpy(static_cast<void *>(pinned), &variable, sizeof variable);
    CHECK_OK(aclrtMemcpyToSymbolAsync(&variable, pinned, sizeof variable, 0, down, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtMemcpyFromSymbol(&got, sizeof got, variable, sizeof got, 0, up));
    CHECK_BYTES(&got, &variable, sizeof got);
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_OK(aclrtDestroyStream(stream));
}

static void arrays() {
    std::int32_t part[2] = {70, 80}, back[6] = {0};
    std::int16_t rows[2][3] = {{0}};
    void *address = nullptr, *other = nullptr;
    std::size_t size = 0;
    CHECK_OK(aclrtGetSymbolSize(table, &size));
    CHECK_EQ(size, sizeof table);
    CHECK_OK(aclrtGetSymbolAddress(table, &address));
    CHECK_OK(aclrtGetSymbolAddress(&table, &other));
    CHECK_PTR(address, other);
    CHECK_OK(aclrtMemcpyToSymbol(table, part, sizeof part, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_OK(aclrtMemcpyFromSymbol(back, sizeof back, table, sizeof back, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(back[0] == 1 && back[1] == 2 && back[2] == 70 && back[3] == 80 && back[4] == 5 && back[5] == 6);
    CHECK_OK(aclrtMemcpyFromSymbol(rows, sizeof rows, matrix, sizeof rows, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(rows, matrix, sizeof rows);
    CHECK_OK(aclrtMemcpyFromSymbol(rows, sizeof rows, &matrix, 6, 6, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_BYTES(rows, matrix[1], 6);
}

static void a_constant() {
    double got = 0;
    CHECK_OK(aclrtMemcpyFromSymbol(&got, sizeof got, constant, sizeof got, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(got == 2.5);
}

static void pointers() {
    void *by_name = nullptr, *by_address = nullptr, *of_table = nullptr;
    std::size_t size = 0;
    // A pointer variable is a symbol itself: its size is that of a pointer, its address not that of its target.
    CHECK_OK(aclrtGetSymbolSize(pointer, &size));
    CHECK_EQ(size, sizeof pointer);
    CHECK_OK(aclrtGetSymbolAddress(pointer, &by_name));
    CHECK_OK(aclrtGetSymbolAddress(&pointer, &by_address));
    CHECK_OK(aclrtGetSymbolAddress(table, &of_table));
    CHECK_PTR(by_name, by_address);
    CHECK(by_name != of_table);
    CHECK_OK(aclrtGetSymbolSize(function, &size));
    CHECK_EQ(size, sizeof function);
}

static void a_sly_structure() {
    std::int32_t got = 0;
    CHECK_OK(aclrtMemcpyFromSymbol(&got, sizeof got, tricky, sizeof got, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK_EQ(got, 31);
}

static void refused() {
    void *address = nullptr;
    std::size_t size = 0;
    float got = 0;
    CHECK_EQ(aclrtGetSymbolAddress(stranger, &address), ACL_ERROR_RT_INVALID_SYMBOL);
    CHECK_EQ(aclrtGetSymbolAddress(&stranger, &address), ACL_ERROR_RT_INVALID_SYMBOL);
    CHECK_EQ(aclrtGetSymbolSize(stranger, &size), ACL_ERROR_RT_INVALID_SYMBOL);
    CHECK_EQ(aclrtGetSymbolAddress(scalar, nullptr), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetSymbolAddress(nullptr, &address), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtGetSymbolSize(nullptr, &size), ACL_ERROR_INVALID_PARAM);
    // aclrtMemcpyFromSymbol<cpp>#05 to #07, aclrtMemcpyToSymbol<cpp>#05, #06.
    CHECK_EQ(aclrtMemcpyFromSymbol(&got, 4, scalar, 4, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbol(&got, 3, scalar, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbol(&got, 4, scalar, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyToSymbol(scalar, &got, 8, 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyToSymbol(scalar, &got, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyFromSymbolAsync(&got, 4, scalar, 4, 1, ACL_MEMCPY_DEVICE_TO_HOST, nullptr),
             ACL_ERROR_INVALID_PARAM);
    CHECK_EQ(aclrtMemcpyToSymbolAsync(scalar, &got, 4, 1, ACL_MEMCPY_HOST_TO_DEVICE, nullptr),
             ACL_ERROR_INVALID_PARAM);
}

// As compiled device code does it: before main.
namespace {
struct registration {
    registration() {
        rtRegisterVariable(nullptr, &scalar, "scalar", sizeof scalar, 0, nullptr);
        rtRegisterVariable(nullptr, table, "table", sizeof table, 0, nullptr);
        rtRegisterVariable(nullptr, matrix, "matrix", sizeof matrix, 0, nullptr);
        rtRegisterVariable(nullptr, &whole, "whole", sizeof whole, 0, nullptr);
        rtRegisterVariable(nullptr, &tricky.value, "tricky", sizeof tricky, 0, nullptr);
        rtRegisterVariable(nullptr, &pointer, "pointer", sizeof pointer, 0, nullptr);
        rtRegisterVariable(nullptr, &function, "function", sizeof function, 0, nullptr);
        rtRegisterVariable(nullptr, &constant, "constant", sizeof constant, 0, nullptr);
    }
} registered;
} // namespace

int main() {
    runtime_start();
    both_spellings(scalar, 7.5f);
    both_spellings(whole, state{9, 8.0f, {8, 7, 6, 5, 4, 3, 2, 1}});
    arrays();
    a_constant();
    pointers();
    a_sly_structure();
    refused();
    CHECK_STILL_WORKS();
    return runtime_end();
}
