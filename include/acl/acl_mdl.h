/*
 * Offline models: not there. No function that loads or runs a model file is declared; the types can be named.
 * The aclmdlRI functions, which capture and replay tasks, are runtime functions: see acl_rt.h.
 */
#ifndef TOPROPE_ACL_ACL_MDL_H_
#define TOPROPE_ACL_ACL_MDL_H_

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclmdlDesc aclmdlDesc;
typedef struct aclmdlDataset aclmdlDataset;

#ifdef __cplusplus
}
#endif

#endif /* TOPROPE_ACL_ACL_MDL_H_ */
