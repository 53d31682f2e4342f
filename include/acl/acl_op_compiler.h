/* Operator compilation: not there; see acl_op.h. */
#ifndef TOPROPE_ACL_ACL_OP_COMPILER_H_
#define TOPROPE_ACL_ACL_OP_COMPILER_H_

#include "acl_base.h"
#include "acl_op.h"

#endif /* TOPROPE_ACL_ACL_OP_COMPILER_H_ */
