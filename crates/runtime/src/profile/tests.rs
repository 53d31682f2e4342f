use super::*;

fn ask(product: &str, form: &str, cann: &str) -> Result<Profile, String> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Profile::resolve(&Request {
        product: some(product),
        form: some(form),
        cann: some(cann),
        ..Request::default()
    })
}

#[test]
fn the_default_is_a2_ep_9() {
    let profile = ask("", "", "").unwrap();
    assert_eq!((profile.product.key, profile.form, profile.generation), ("a2", Form::Endpoint, 9));
}

#[test]
fn impossible_targets_list_the_valid_ones() {
    assert!(ask("a4", "", "").unwrap_err().contains("ipv350"));
    assert_eq!(ask("a2", "rc", "").unwrap_err(), "product a2 has no form 'rc'; valid: ep");
    assert_eq!(ask("950pr", "", "8").unwrap_err(), "product 950pr has no CANN generation '8'; valid: 9");
    assert_eq!(ask("200-300-500", "rc", "").unwrap().generation, 8);
    assert!(ask("200i-500-a2", "rc", "8").is_ok());
}

#[test]
fn sizes() {
    assert_eq!(parse_size("64G"), Some(64 << 30));
    assert_eq!(parse_size("512 MiB"), Some(512 << 20));
    assert_eq!(parse_size("4096"), Some(4096));
    for bad in ["", "G", "-1", "1x", "99999999999999T", "1.5G"] {
        assert_eq!(parse_size(bad), None, "{bad}");
    }
}

#[test]
fn support_follows_the_tables() {
    // aclrtMemAllocManaged: the seed's table has it on A2 only.
    assert!(ask("a2", "", "").unwrap().supports(Api::aclrtMemAllocManaged));
    assert!(!ask("a3", "", "").unwrap().supports(Api::aclrtMemAllocManaged));
    assert!(!ask("ipv350", "", "").unwrap().supports(Api::aclrtMallocHost));
}

#[test]
fn a_misspelt_variable_is_told_with_the_nearest() {
    for (name, nearest) in [
        ("TOPROPE_PRODUKT", "TOPROPE_PRODUCT"),
        ("TOPROPE_DEVICE", "TOPROPE_DEVICES"),
        ("TOPROPE_DEVICE_MEM", "TOPROPE_DEVICE_MEMORY"),
        ("TOPROPE_SEEDS", "TOPROPE_SEED"),
        ("TOPROPE_guard", "TOPROPE_GUARD"),
    ] {
        let text = misspelt(name).unwrap();
        assert!(text.contains(&format!("{name} ")) && text.ends_with(nearest), "{text}");
    }
    for name in VARIABLES.iter().chain(&["TOPROPE_TEST_CHILD", "PATH", "TOPROPE"]) {
        assert_eq!(misspelt(name), None);
    }
    assert_eq!([distance("abc", "abc"), distance("", "abc"), distance("kitten", "sitting")], [0, 3, 3]);
}
