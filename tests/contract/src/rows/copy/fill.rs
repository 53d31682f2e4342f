use super::*; pub fn rows(_: &mut Rows) {}
