/*
 * Single-operator calls: not there. The runtime runs no operator library, so none of the aclop functions is declared:
 * a program that needs them stops at compile time, not at run time. The types can be named.
 */
#ifndef TOPROPE_ACL_ACL_OP_H_
#define TOPROPE_ACL_ACL_OP_H_

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclopHandle aclopHandle;
typedef struct aclopAttr aclopAttr;

#ifdef __cplusplus
}
#endif

#endif /* TOPROPE_ACL_ACL_OP_H_ */
