/* Words that device code writes before functions and types (Ascend C guide, "SIMD BuiltIn keywords").
 *
 * To the compiler underneath they mean nothing: one address space holds everything, and `toprope c++` reads the words in the
 * source itself to find kernels and device variables.
 */
#ifndef TOPROPE_DEVICE_QUALIFIERS_H
#define TOPROPE_DEVICE_QUALIFIERS_H

#include "toprope/device/words.h"

#include <stddef.h>
#include <stdint.h>

/* The address of bytes in global memory. */
#define GM_ADDR __gm__ uint8_t *

/* The architecture of the default product, Atlas A2. A compiler option decides otherwise; the host half has none. */
#if defined(TOPROPE_DEVICE) && !defined(__NPU_ARCH__)
#define __NPU_ARCH__ 2201
#endif

/* The cores of a kernel (Ascend C API, "setting the kernel type"). A block of ours is one thread, whatever the kind. */
enum KernelMetaType {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
    KERNEL_TYPE_AICORE,
    KERNEL_TYPE_VECTORCORE,
    KERNEL_TYPE_MIX_AICORE,
    KERNEL_TYPE_MIX_VECTOR_CORE,
    KERNEL_TYPE_MAX
};

/* Two vector cores for each block would make other block indices: refused rather than run wrong. `toprope c++` looks for the
 * enumerator: how many blocks can meet depends on the kind of core. */
#define KERNEL_TASK_TYPE_DEFAULT(value)                                                                                    \
    static_assert((value) != KERNEL_TYPE_MIX_AIC_1_2, "two vector cores per block are not built yet (scalar kernels only)"); \
    enum { toprope_kernel_type = (value) }

/* `asm("trap")` stops a kernel on a card. Here it is an instruction that no processor of this kind has. */
#if defined(__x86_64__)
#define TOPROPE_ILLEGAL_INSTRUCTION "ud2"
#elif defined(__aarch64__)
#define TOPROPE_ILLEGAL_INSTRUCTION ".inst 0"
#endif
#ifdef TOPROPE_ILLEGAL_INSTRUCTION
__asm__(".macro trap\n" TOPROPE_ILLEGAL_INSTRUCTION "\n.endm");
#endif

#endif
