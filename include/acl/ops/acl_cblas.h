/* Matrix products: not there. No aclblas function is declared; see acl_op.h. */
#ifndef TOPROPE_ACL_OPS_ACL_CBLAS_H_
#define TOPROPE_ACL_OPS_ACL_CBLAS_H_

#include "../acl.h"

#endif /* TOPROPE_ACL_OPS_ACL_CBLAS_H_ */
