/* What scalar kernels of Ascend C use. Part of toprope.
 *
 * Works in both passes of `toprope c++`: TOPROPE_DEVICE is defined where the device half is compiled, and neither it nor anything
 * else is needed where the host half is. C++11 and later. What the vector and cube units do is not built yet: a use of it is a
 * compile error at the line of the use (toprope/device/unbuilt.h).
 *
 * Names and signatures are those of the public Ascend C documentation; each part names its page.
 */
#ifndef TOPROPE_KERNEL_OPERATOR_H
#define TOPROPE_KERNEL_OPERATOR_H

#ifndef __cplusplus
#error "kernel_operator.h is a C++ header"
#endif

#include "toprope/device/qualifiers.h"
#include "toprope/device/block.h"
#include "toprope/device/narrow.h"
#include "toprope/device/print.h"
#include "toprope/device/global.h"
#include "toprope/device/sync.h"
#include "toprope/device/scalar.h"
#include "toprope/device/unbuilt.h"

#endif
