/*
 * Base types. Everything that works here is in acl_base_rt.h; tensor descriptions belong to single-operator calls,
 * which are not there (see acl_op.h), so their type can be named and passed on but not made.
 */
#ifndef TOPROPE_ACL_ACL_BASE_H_
#define TOPROPE_ACL_ACL_BASE_H_

#include "acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclTensorDesc aclTensorDesc;

#ifdef __cplusplus
}
#endif

#endif /* TOPROPE_ACL_ACL_BASE_H_ */
