/* Image and video processing: not there. No acldvpp function is declared. */
#ifndef TOPROPE_ACL_OPS_ACL_DVPP_H_
#define TOPROPE_ACL_OPS_ACL_DVPP_H_

#include "../acl.h"

#endif /* TOPROPE_ACL_OPS_ACL_DVPP_H_ */
