//! Each public header compiles alone, and twice in one source, in every standard; all of them together as well.
//!
//! Those of device code are C++ only, and compile in both passes of `toprope c++`; with clang++ too, where there is one.

use super::process::answers;
use super::program::{Build, C, CPP, Standard, compiled};
use super::report::Job;
use std::path::Path;
use std::sync::Arc;

/// How the device half of a program is compiled.
const DEVICE_PASS: &str = "TOPROPE_DEVICE";

/// The jobs of the suite: every header in every standard, and all headers together, forwards and backwards.
pub fn jobs(build: &Arc<Build>) -> Result<Vec<Job>, String> {
    let mut headers = Vec::new();
    collect(&build.root.join("include"), "", &mut headers)?;
    headers.sort();
    let (device, plain): (Vec<String>, Vec<String>) =
        headers.iter().cloned().partition(|name| of_device_code(name));
    let mut jobs = Vec::new();
    for standard in C.into_iter().chain(CPP) {
        let headers = if standard.compiler == "gcc" { &plain } else { &headers };
        for header in headers {
            jobs.push(job(build, header, standard, None, vec![header.clone(), header.clone()]));
        }
        let backwards: Vec<String> = headers.iter().rev().cloned().collect();
        jobs.push(job(build, "all of them", standard, None, headers.clone()));
        jobs.push(job(build, "all of them backwards", standard, None, backwards));
    }
    let clang = answers("clang++", &["--version"]);
    for standard in CPP.into_iter().filter(|_| !device.is_empty()) {
        jobs.push(job(build, "device pass", standard, Some(DEVICE_PASS), device.clone()));
        if clang {
            let standard = Standard { compiler: "clang++", ..standard };
            jobs.push(job(build, "all of them, clang++", standard, None, headers.clone()));
            jobs.push(job(build, "device pass, clang++", standard, Some(DEVICE_PASS), device.clone()));
        }
    }
    Ok(jobs)
}

/// True for headers that kernels include, which are C++.
fn of_device_code(header: &str) -> bool {
    header == "kernel_operator.h" || header.starts_with("toprope/device/") || header.starts_with("utils/")
}

fn collect(folder: &Path, prefix: &str, headers: &mut Vec<String>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), headers)?;
        } else if name.ends_with(".h") {
            headers.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

fn job(
    build: &Arc<Build>,
    what: &str,
    standard: Standard,
    macro_name: Option<&'static str>,
    includes: Vec<String>,
) -> Job {
    let name = format!("headers/{what} [{}]", standard.name);
    let (build, what) = (Arc::clone(build), what.to_owned());
    let work = move || {
        let extension = if standard.compiler == "gcc" { "c" } else { "cpp" };
        let file = format!("{}-{}.{extension}", what.replace(['/', ' ', '.', ','], "-"), standard.name);
        let source = build.out.join("headers").join(file);
        let failed = |error: std::io::Error| format!("{}: {error}", source.display());
        std::fs::create_dir_all(build.out.join("headers")).map_err(failed)?;
        let lines: Vec<String> = includes.iter().map(|header| format!("#include \"{header}\"\n")).collect();
        // C does not allow an empty source; the name keeps clear of every header.
        std::fs::write(&source, format!("{}extern int header_is_complete;\n", lines.concat()))
            .map_err(failed)?;
        let mut command = build.compiler(standard);
        command.args(macro_name.map(|name| format!("-D{name}")));
        compiled(command.arg("-fsyntax-only").arg(&source))
    };
    Job { name, work: Box::new(work) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_needs_another_one_is_found_out() {
        let root = std::env::temp_dir().join(format!("toprope-headers-{}", std::process::id()));
        std::fs::create_dir_all(root.join("include/acl")).unwrap();
        std::fs::write(root.join("include/acl/bad.h"), "size_t f(void);\n").unwrap();
        std::fs::write(root.join("include/acl/good.h"), "#ifndef G\n#define G\nint g(void);\n#endif\n")
            .unwrap();
        let (library, out) = (root.join("lib"), root.join("out"));
        let build = Arc::new(Build { root: root.clone(), library, out, flags: Vec::new(), env: Vec::new() });
        let result = |name: &str| {
            let jobs = jobs(&build).unwrap();
            (jobs.iter().find(|job| job.name == name).unwrap().work)()
        };
        if answers("gcc", &["--version"]) {
            assert!(result("headers/acl/bad.h [c99]").is_err());
            assert!(result("headers/acl/good.h [c99]").is_ok());
            assert!(result("headers/all of them [c99]").is_err());
        }
        std::fs::remove_dir_all(&root).unwrap();
    }
}
