//! Rules of no single function.

use super::prelude::*;
use crate::support;

pub fn rows(r: &mut Rows) {
    r.row("*#01", |t| {
        let mut codes = on_no_streams(|s| acl!(aclrtSynchronizeStream(s)));
        if t.supports("aclrtRecordEvent") {
            let stream = Stream::new();
            codes.extend(on_no_events(|e| acl!(aclrtRecordEvent(e, stream.h()))));
            codes.extend(on_no_events(|e| acl!(aclrtQueryEventStatus(e, &mut 0))));
        }
        codes
    });
    r.row("*#06", support::sweep).bare();
}
