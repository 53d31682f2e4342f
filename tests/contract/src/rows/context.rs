//! Chapter 05.

use super::prelude::*;

pub fn rows(r: &mut Rows) {
    r.row("aclrtCreateContext#01", |_| acl!(aclrtCreateContext(null_mut(), 0)));
}
