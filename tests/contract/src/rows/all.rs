//! Rules of no single function.

use super::prelude::*;
use crate::support;

pub fn rows(r: &mut Rows) {
    r.row("*#01", |t| {
        let mut codes: Vec<i32> = no_streams().iter().map(|s| acl!(aclrtSynchronizeStream(*s))).collect();
        if t.supports("aclrtRecordEvent") {
            let stream = Stream::new();
            codes.extend(no_events().iter().map(|e| acl!(aclrtRecordEvent(*e, stream.h()))));
            let mut status = 0;
            codes.extend(no_events().iter().map(|e| acl!(aclrtQueryEventStatus(*e, &mut status))));
        }
        codes
    });
    r.row("*#06", support::sweep).bare();
}
