/*
 * The umbrella of the C API.
 *
 * The C++ overloads and templates are not part of it: a C++ program includes acl/acl_rt_api.h beside this header.
 * With overloads in sight, an expression such as `&aclrtMalloc` would no longer name one function, and programs that
 * wrap or look up the C functions by address would stop compiling.
 */
#ifndef TOPROPE_ACL_ACL_H_
#define TOPROPE_ACL_ACL_H_

#include "acl_base.h"
#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#endif /* TOPROPE_ACL_ACL_H_ */
