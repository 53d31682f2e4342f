//! The rules, one file each. An id never changes; its page is `docs/rules/<id>.md`, its programs are `tests/misuse/<id>_*`.

macro_rules! rules {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*

        /// Every rule.
        pub static ALL: &[&crate::finding::Rule] = &[$(&$name::RULE),*];
    };
}

rules!(
    alias_attributes,
    alias_in_copy,
    buffer_gone,
    double_destroy,
    double_free,
    endless_wait,
    event_before_work,
    event_never_recorded,
    event_reset_early,
    forked_child,
    free_in_use,
    host_free_in_use,
    host_race,
    host_read_early,
    host_write_early,
    leak,
    long_wait,
    misaligned,
    out_of_range,
    overlapping_copy,
    pageable_async,
    pageable_sync,
    read_unwritten,
    stream_race,
    sub_division,
    symbol_device,
    sync_copy_race,
    unbalanced_init,
    unknown_host_memset,
    unsynchronised_exit,
    use_after_destroy,
    wrong_context,
);

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn rules_that_can_be_asked_for_are_rules() {
        for id in toprope_runtime::profile::OPT_IN {
            assert!(ALL.iter().any(|rule| rule.id == id), "{id}");
        }
    }

    /// docs/rules has a page for every rule, which shows its programs; tests/misuse has two at least.
    #[test]
    fn every_rule_has_its_page_and_programs() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let list = std::fs::read_to_string(root.join("docs/rules/README.md")).unwrap();
        let mut programs: Vec<String> = Vec::new();
        for entry in std::fs::read_dir(root.join("tests/misuse")).unwrap() {
            programs.push(entry.unwrap().file_name().to_string_lossy().into_owned());
        }
        for rule in ALL {
            let page = std::fs::read_to_string(root.join(format!("docs/rules/{}.md", rule.id)));
            assert!(page.is_ok_and(|page| page.matches("```cpp").count() + page.matches("```python").count() >= 2), "the page of {}", rule.id);
            assert!(list.contains(&format!("({}.md)", rule.id)), "the line of {}", rule.id);
            let prefix = format!("{}_", rule.id.replace('-', "_"));
            let count = programs.iter().filter(|name| name.starts_with(&prefix)).count();
            assert!(count >= 2, "{count} programs of {}", rule.id);
        }
    }
}
