// Device variables: what a C++ program writes, so that the overload is chosen. The rows register `variable`; `stranger` is
// never registered.
#include "acl/acl_rt_api.h"

struct State {
    int32_t step;
    float rate[3];
};

static State variable = {1, {1.0f, 2.0f, 3.0f}};
static int32_t stranger = 0;

// How the symbol is written; kit/wrapped.rs has the same numbers.
enum { BY_NAME, BY_ADDRESS, STRANGER };

// The call with the symbol as it is written.
#define WITH(form, CALL)                                                                                                \
    switch (form) {                                                                                                    \
    case BY_NAME:                                                                                                      \
        return CALL(variable);                                                                                         \
    case BY_ADDRESS:                                                                                                   \
        return CALL(&variable);                                                                                        \
    case STRANGER:                                                                                                     \
        return CALL(stranger);                                                                                         \
    default:                                                                                                           \
        return CALL(nullptr);                                                                                          \
    }

extern "C" {

const void *cpp_variable(size_t *size)
{
    *size = sizeof variable;
    return &variable;
}

aclError cpp_symbol_address(int form, void **address)
{
#define CALL(symbol) aclrtGetSymbolAddress(symbol, address)
    WITH(form, CALL)
#undef CALL
}

aclError cpp_symbol_size(int form, size_t *size)
{
#define CALL(symbol) aclrtGetSymbolSize(symbol, size)
    WITH(form, CALL)
#undef CALL
}

aclError cpp_from_symbol(int form, void *dst, size_t max, size_t count, size_t offset, aclrtMemcpyKind kind)
{
#define CALL(symbol) aclrtMemcpyFromSymbol(dst, max, symbol, count, offset, kind)
    WITH(form, CALL)
#undef CALL
}

aclError cpp_from_symbol_async(
    int form, void *dst, size_t max, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream stream)
{
#define CALL(symbol) aclrtMemcpyFromSymbolAsync(dst, max, symbol, count, offset, kind, stream)
    WITH(form, CALL)
#undef CALL
}

aclError cpp_to_symbol(int form, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind)
{
#define CALL(symbol) aclrtMemcpyToSymbol(symbol, src, count, offset, kind)
    WITH(form, CALL)
#undef CALL
}

aclError cpp_to_symbol_async(
    int form, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream stream)
{
#define CALL(symbol) aclrtMemcpyToSymbolAsync(symbol, src, count, offset, kind, stream)
    WITH(form, CALL)
#undef CALL
}

} // extern "C"
