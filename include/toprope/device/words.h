/* The words of device code (Ascend C guide, "SIMD BuiltIn keywords").
 *
 * To the compiler underneath they mean nothing: one address space holds everything. `toprope c++` finds kernels and device variables by
 * them in the preprocessed text, so there some stay as they are.
 */
#ifndef TOPROPE_DEVICE_WORDS_H
#define TOPROPE_DEVICE_WORDS_H

/* `toprope c++` defines these itself: a macro of this file would make the lines that use it part of a system header. */
#ifndef TOPROPE_COMPILER
#define __global__
#define __gm__
#define __cube__
#define __vector__
#define __mix__(cube, vector)
#define __aicore__
#endif

/* Where a function runs. `__inline__` is a word of the compiler already. */
#define __aicpu__
#define __host__
#define __schedmode__(mode)
#define __simd_vf__
#define __simd_callee__
#define __simt_vf__
#define __simt_callee__
#define __launch_bounds__(threads)

/* Which pipelines a function reads and writes. */
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __inout_pipe__(...)

/* Where an object lives. */
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __ssbuf__
#define __local_mem__

#endif
