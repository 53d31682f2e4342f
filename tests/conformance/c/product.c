// What a product does not have is refused with 207000, and everything else goes on (*#06, spec/functions.csv).
// env: TOPROPE_PRODUCT=training
#include "runtime.h"

static int variable = 5;

int main(void) {
    void *memory = NULL, *address = NULL, *heap = malloc(8192);
    void *page = (void *)(((uintptr_t)heap + 4095) & ~(uintptr_t)4095);
    aclrtMemManagedLocation place = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
    aclrtMemcpyBatchAttr attr;
    size_t size = 0, index = 0, one = 4;
    void *to[1], *from[1];
    rtRegisterVariable(NULL, &variable, "variable", sizeof variable, 0, NULL);
    runtime_start();
    memset(&attr, 0, sizeof attr);
    CHECK_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    to[0] = memory, from[0] = heap;
    // Managed memory, host registration, symbols, batches.
    CHECK_EQ(aclrtMemAllocManaged(&address, 4096, ACL_RT_MEM_ATTACH_GLOBAL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtMemManagedPrefetchAsync(memory, 2 << 20, place, 0, NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtHostRegister(page, 4096, ACL_HOST_REGISTER_MAPPED, &address), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtHostRegisterV2(page, 4096, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtGetSymbolAddress(&variable, &address), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtGetSymbolSize(&variable, &size), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtMemcpyBatch(to, &one, from, &one, 1, &attr, &index, 1, &size), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_EQ(aclrtStreamAbort(NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    // The message says so.
    {
        const char *message = aclGetRecentErrMsg();
        CHECK(message != NULL && strstr(message, "aclrtStreamAbort") != NULL);
    }
    CHECK_STILL_WORKS();
    CHECK_OK(aclrtFree(memory));
    free(heap);
    return runtime_end();
}
