/* Registers the device half of a program or library when it is loaded. Compiled by `toprope c++` and `toprope cc` at linking. */
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
struct toprope_row { const void *symbol; const char *name; uint64_t size, kind; };
struct toprope_binary { uint32_t magic, version; const void *data; uint64_t length; };
#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN const struct toprope_row toprope_rows_begin[] __asm__("__start_toprope_rows") __attribute__((weak));
extern HIDDEN const struct toprope_row toprope_rows_end[] __asm__("__stop_toprope_rows") __attribute__((weak));
extern HIDDEN const uint64_t toprope_objects_begin[] __asm__("__start_toprope_objects") __attribute__((weak));

#ifdef TOPROPE_IMAGE
extern const unsigned char toprope_image_begin[] __asm__("toprope_image_begin"), toprope_image_end[] __asm__("toprope_image_end");
__asm__(".pushsection .rodata.toprope_image,\"a\"\n.balign 64\ntoprope_image_begin:\n.incbin \"" TOPROPE_IMAGE "\"\n"
        "toprope_image_end:\n.byte 0\n.popsection");

extern int rtDevBinaryRegister(const struct toprope_binary *, void **);
extern int rtDevBinaryUnRegister(void *);
extern int rtRegisterFuncSymbol(void *, const void *, const char *, void *);
extern void rtRegisterVariable(void *, const void *, const char *, size_t, uint32_t, void *);

static void *toprope_handle;

/* Before the constructors of the program, which may launch already, and, at the end, after its destructors. */
__attribute__((constructor(101))) static void toprope_register(void)
{
    const struct toprope_binary binary = {0x43554245u, 0, toprope_image_begin, (uint64_t)(toprope_image_end - toprope_image_begin)};
    const struct toprope_row *row;
    const int code = rtDevBinaryRegister(&binary, &toprope_handle);
    if (code != 0 || toprope_objects_begin == 0) {
        fprintf(stderr, "toprope: the device half cannot be registered (%d)\n", code);
        return;
    }
    for (row = toprope_rows_begin; row < toprope_rows_end; ++row) {
        if (row->kind == 0) {
            rtRegisterFuncSymbol(toprope_handle, row->symbol, row->name, 0);
        } else {
            rtRegisterVariable(toprope_handle, row->symbol, row->name, (size_t)row->size, 0, 0);
        }
    }
}

__attribute__((destructor(101))) static void toprope_unregister(void)
{
    if (toprope_handle != 0) {
        rtDevBinaryUnRegister(toprope_handle);
    }
}
#else
/* The first of two links: which objects take part. */
const void *const toprope_kept[] __attribute__((used)) = {toprope_rows_begin, toprope_rows_end, toprope_objects_begin};
#endif
#ifdef __cplusplus
}
#endif
