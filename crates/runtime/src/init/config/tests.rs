use super::*;

fn nested(open: char, close: char, levels: usize) -> String {
    let text: String = std::iter::repeat_n(open, levels).chain(std::iter::repeat_n(close, levels)).collect();
    text
}

/// aclInit#08
#[test]
fn ten_levels_of_each_bracket_are_the_most() {
    assert!(nesting(nested('{', '}', 10).as_bytes()).is_ok());
    assert!(nesting(nested('[', ']', 10).as_bytes()).is_ok());
    assert!(nesting((nested('{', '}', 10) + &nested('{', '}', 10)).as_bytes()).is_ok(), "levels, not a sum");
    for (open, close) in [('{', '}'), ('[', ']')] {
        let error = nesting(nested(open, close, 11).as_bytes()).unwrap_err();
        assert_eq!((error.code(), error.rule()), (sys::ACL_ERROR_PARSE_FILE, "aclInit#08"));
    }
    let both = "{[".repeat(10) + &"]}".repeat(10);
    assert!(nesting(both.as_bytes()).is_ok(), "10 of each");
    assert!(nesting(br#"{"a": "[[[[[[[[[[[[ \" {{{{{{{{{{{{"}"#).is_ok(), "brackets in a string do not nest");
}

fn map(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

/// aclInit#23, #24
#[test]
fn message_mode_is_a_string() {
    assert!(!message_mode(&map("{}")).unwrap());
    assert!(!message_mode(&map(r#"{"err_msg_mode": "0"}"#)).unwrap());
    assert!(message_mode(&map(r#"{"err_msg_mode": "1"}"#)).unwrap());
    for bad in [r#"{"err_msg_mode": 1}"#, r#"{"err_msg_mode": "2"}"#, r#"{"err_msg_mode": null}"#] {
        assert_eq!(message_mode(&map(bad)).unwrap_err().code(), sys::ACL_ERROR_INVALID_PARAM);
    }
}

/// aclInit#40 to #43
#[test]
fn dump_settings_that_exclude_each_other_are_refused() {
    let check = |text: &str| dump(&map(&format!(r#"{{"dump": {text}}}"#))).map_err(|e| e.rule());
    assert_eq!(check("{}"), Ok(false));
    assert_eq!(check(r#"{"dump_debug": "on", "dump_path": "/tmp"}"#), Ok(true));
    assert_eq!(check(r#"{"dump_list": [{"model_name": "m"}], "dump_path": "/tmp"}"#), Ok(true));
    assert_eq!(check(r#"{"dump_debug": "on"}"#), Err("aclInit#42"));
    assert_eq!(
        check(r#"{"dump_debug": "on", "dump_path": "/tmp", "dump_op_switch": "on"}"#),
        Err("aclInit#41")
    );
    assert_eq!(check(r#"{"dump_debug": "on", "dump_path": "/tmp", "dump_list": [{}]}"#), Err("aclInit#41"));
    assert_eq!(check(r#"{"dump_scene": "watcher"}"#), Err("aclInit#43"));
    assert_eq!(
        check(r#"{"dump_scene": "watcher", "dump_path": "/t", "dump_debug": "on"}"#),
        Err("aclInit#43")
    );
    assert_eq!(check(r#"{"dump_scene": "watcher", "dump_path": "/t", "dump_list": [{}]}"#), Ok(true));
    assert_eq!(check(r#"{"dump_scene": "lite_exception"}"#), Ok(true));
    assert_eq!(check(r#"{"dump_scene": "lite_exception", "dump_op_switch": "on"}"#), Err("aclInit#40"));
    assert_eq!(check(r#"{"dump_scene": "nonsense"}"#), Err("ours: dump scene"));
    assert_eq!(check("3"), Err("aclInit#41"));
}

#[test]
fn other_settings_are_checked() {
    assert_eq!(
        limits(&map(r#"{"StackSize": {"aicore_stack_size": 65536}, "simt_printf_fifo_size": "2097152"}"#))
            .unwrap()
            .len(),
        2
    );
    for bad in [
        r#"{"StackSize": 3}"#,
        r#"{"StackSize": {"aicore_stack_size": -1}}"#,
        r#"{"simd_printf_fifo_size_per_core": 5000000000}"#,
    ] {
        assert_eq!(limits(&map(bad)).unwrap_err().code(), sys::ACL_ERROR_INVALID_PARAM, "{bad}");
    }
    assert!(queue_length(&map(r#"{"max_opqueue_num": "10000"}"#)).is_ok());
    for bad in [r#"{"max_opqueue_num": "0"}"#, r#"{"max_opqueue_num": "x"}"#] {
        let code = queue_length(&map(bad)).unwrap_err().code();
        assert_eq!(code, sys::ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG);
    }
    assert!(profiler(&map(r#"{"profiler": {"switch": "on", "output": "/tmp"}}"#)).unwrap());
    let code = profiler(&map(r#"{"profiler": {"switch": true}}"#)).unwrap_err().code();
    assert_eq!(code, sys::ACL_ERROR_INVALID_PROFILING_CONFIG);
}
