/* printf of device code, under the name that the documentation gives. */
#ifndef TOPROPE_UTILS_DEBUG_ASC_PRINTF_H
#define TOPROPE_UTILS_DEBUG_ASC_PRINTF_H

#include "toprope/device/print.h"

#endif
