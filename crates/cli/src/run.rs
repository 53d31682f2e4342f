//! `toprope run`: checks the target, compiles a source, and starts the program with the library in its path.

mod check;
mod compile;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::{env, fs};

use toprope_runtime::profile::{Check as Mode, Profile, Request};

use crate::{Refused, sdk};

/// What `toprope run --help` says beyond the options.
const HELP: &str = "\
Sources are compiled by CXX (default c++) with CXXFLAGS, or CC (cc) with CFLAGS, and CPPFLAGS, LDFLAGS and LDLIBS, as make \
does; they see the headers that this command carries. Scripts run in PYTHON (python3).

The program gets the library beside this command (LD_LIBRARY_PATH, and PYTHONPATH for the module acl); a name without a \
slash is looked up in PATH. Unless ASCEND_HOME_PATH is set, it is set to a tree shaped like the toolkit, kept in \
$XDG_CACHE_HOME/toprope (~/.cache/toprope), which may be deleted at any time.";

/// Options of `toprope run`; each is also an environment variable, which the option overrides.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Product to be: `toprope products` lists them [env: TOPROPE_PRODUCT] [default: a2]
    #[arg(long)]
    product: Option<String>,
    /// Form of the product: ep (a card in a host) or rc (the device is the host) [env: TOPROPE_FORM] [default: ep]
    #[arg(long)]
    form: Option<String>,
    /// CANN generation: 9, 8 or 5 [env: TOPROPE_CANN] [default: the product's newest]
    #[arg(long)]
    cann: Option<String>,
    /// Number of devices [env: TOPROPE_DEVICES] [default: the product's]
    #[arg(long, value_name = "N")]
    devices: Option<String>,
    /// Memory of each device, as in 512M or 64G [env: TOPROPE_DEVICE_MEMORY] [default: the product's]
    #[arg(long, value_name = "SIZE")]
    device_memory: Option<String>,
    /// Let host code that touches device memory fault, as it would with a card: on or off. Needs memory protection keys of
    /// the processor; without them the check is off, and an explicit `on` says so when the program starts
    /// [env: TOPROPE_GUARD] [default: on]
    #[arg(long, value_name = "on|off")]
    guard: Option<String>,
    /// Look for ordering and lifetime mistakes: off, warn (report) or strict (also end with status 97) [env: TOPROPE_CHECK] [default: off]
    #[arg(long, value_name = "off|warn|strict")]
    check: Option<String>,
    /// Look for breaches of these rules too, which right programs may commit: a list with commas. The only one is sub-division
    /// [env: TOPROPE_CHECK_RULES] [default: none]
    #[arg(long, value_name = "RULES")]
    check_rules: Option<String>,
    /// Write the findings to a file at exit: JSON, or SARIF if it ends in .sarif [env: TOPROPE_REPORT]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// File with findings that are not to be reported [env: TOPROPE_SUPPRESS]
    #[arg(long, value_name = "FILE")]
    suppress: Option<PathBuf>,
    /// Before every task, draw from this number which ready stream runs it; the same number gives the same order to a
    /// program whose calls come from one thread. Streams run one at a time, and only while the program waits, asks (one
    /// task per question) or has made no call for 0.2 s; what runs then, and what several threads do, is a matter of time
    /// [env: TOPROPE_SEED]
    #[arg(long, value_name = "N")]
    seed: Option<String>,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM [ARGS]"
    )]
    program: Vec<OsString>,
}

/// Name of the library, as programs ask for it.
pub const LIBRARY: &str = "libascendcl.so";

pub fn run(args: Args) -> Result<ExitCode, Refused> {
    let libraries = library_folder()?;
    let start = Start::new(&args, libraries)?;
    let (program, rest) = args.program.split_first().ok_or("no program given")?;
    let source = Path::new(program);
    if source.extension().is_some_and(|ext| ext == "py") {
        exists(source)?;
        return python(&start, &args.program);
    }
    let language = if source.is_dir() { Some(compile::Language::Cpp) } else { compile::language(source) };
    match language {
        Some(language) => {
            if !source.is_dir() {
                exists(source)?;
            }
            let built = compile::build(source, language)?;
            let mut command = start.command(built.path.as_os_str(), rest);
            command.arg0(source.with_extension(""));
            let status =
                beside(&mut command).map_err(|e| format!("cannot start the compiled program: {e}"))?;
            drop(built);
            Ok(start.check.finish(status))
        }
        None => {
            let path = find(program)?;
            let mut command = start.command(path.as_os_str(), rest);
            let failed = |error| format!("cannot start {}: {error}", path.display());
            Ok(start.go(command.arg0(program)).map_err(failed)?)
        }
    }
}

/// Runs a program while this command waits for it.
fn beside(command: &mut Command) -> std::io::Result<ExitStatus> {
    // SAFETY: prctl is safe to call between fork and exec; the program must not outlive this command unseen.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            Ok(())
        });
    }
    command.status()
}

/// What a program is started with.
struct Start {
    /// The variables that carry the options to the library.
    settings: Vec<(&'static str, OsString)>,
    /// The toolkit tree for a program that has none.
    home: Option<PathBuf>,
    /// The folder of the library.
    libraries: PathBuf,
    /// What the checker is asked for.
    check: check::Check,
}

impl Start {
    /// Checks the whole target.
    fn new(args: &Args, libraries: PathBuf) -> Result<Start, Refused> {
        let from_env = Request::from_env();
        let or = |option: &Option<String>, inherited: Option<String>| option.clone().or(inherited);
        let profile = Profile::resolve(&Request {
            product: or(&args.product, from_env.product),
            form: or(&args.form, from_env.form),
            cann: or(&args.cann, from_env.cann),
            devices: or(&args.devices, from_env.devices),
            device_memory: or(&args.device_memory, from_env.device_memory),
            guard: or(&args.guard, from_env.guard),
            check: or(&args.check, from_env.check),
            check_rules: or(&args.check_rules, from_env.check_rules),
            seed: or(&args.seed, from_env.seed),
            soc: from_env.soc,
            log: from_env.log,
        })?;
        let given = [
            ("TOPROPE_PRODUCT", &args.product),
            ("TOPROPE_FORM", &args.form),
            ("TOPROPE_CANN", &args.cann),
            ("TOPROPE_DEVICES", &args.devices),
            ("TOPROPE_DEVICE_MEMORY", &args.device_memory),
            ("TOPROPE_GUARD", &args.guard),
            ("TOPROPE_CHECK", &args.check),
            ("TOPROPE_CHECK_RULES", &args.check_rules),
            ("TOPROPE_SEED", &args.seed),
        ];
        let text = given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?.into())));
        if profile.check == Mode::Off && args.check_rules.is_some() {
            return Err("--check-rules needs --check warn or --check strict".into());
        }
        let check = check::Check::new(profile.check, &args.report, &args.suppress)?;
        let settings: Vec<(&'static str, OsString)> = text.chain(check.settings()).collect();
        // Programs ask for package versions below this path (aclsysGetVersionStr#03).
        let home = match env::var_os("ASCEND_HOME_PATH").filter(|path| !path.is_empty()) {
            Some(_) => None,
            None => sdk::home(&libraries, profile.generation)
                .inspect_err(|why| {
                    eprintln!(
                        "toprope: ASCEND_HOME_PATH stays unset, so that packages have no version: {why}"
                    )
                })
                .ok(),
        };
        Ok(Start { settings, home, libraries, check })
    }

    /// Runs a program. It takes this process's place, so that signals and exit status are its own, unless the status is to tell
    /// what the checker found.
    fn go(&self, command: &mut Command) -> std::io::Result<ExitCode> {
        if self.check.decides() { Ok(self.check.finish(beside(command)?)) } else { Err(command.exec()) }
    }

    /// A command with the library, and the names that link lines use for it, in the loader's path.
    fn command(&self, program: &OsStr, args: &[OsString]) -> Command {
        let mut folders = self.libraries.clone().into_os_string();
        if let Some(home) = &self.home {
            folders.push(":");
            folders.push(home.join("lib64"));
        }
        let path = in_front(Path::new(&folders), "LD_LIBRARY_PATH");
        let mut command = Command::new(program);
        command
            .args(args)
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .env("LD_LIBRARY_PATH", path);
        if let Some(home) = &self.home {
            command.env("ASCEND_HOME_PATH", home);
        }
        command
    }
}

/// Takes this process's place with the Python interpreter, the module `acl` in its path.
fn python(start: &Start, script_and_args: &[OsString]) -> Result<ExitCode, Refused> {
    let modules = start.libraries.join("python");
    // The package is laid out before the extension is there, as a link to it.
    if !modules.join("acl/_acl.abi3.so").is_file() {
        let flag = if start.libraries.ends_with("release") { " --release" } else { "" };
        return Err(format!(
            "the module acl is missing in {}; `cargo xtask python{flag}` builds it",
            modules.display()
        )
        .into());
    }
    let interpreter =
        env::var_os("PYTHON").filter(|name| !name.is_empty()).unwrap_or_else(|| "python3".into());
    let mut command = start.command(&interpreter, script_and_args);
    let error = match start.go(command.env("PYTHONPATH", in_front(&modules, "PYTHONPATH"))) {
        Ok(code) => return Ok(code),
        Err(error) => error,
    };
    if error.kind() == std::io::ErrorKind::NotFound {
        return Err(format!(
            "no interpreter {}; install Python 3 or name it in PYTHON",
            interpreter.display()
        )
        .into());
    }
    Err(format!("cannot start {}: {error}", interpreter.display()).into())
}

/// A search path of the environment with a folder in front.
fn in_front(folder: &Path, variable: &str) -> OsString {
    let mut path = OsString::from(folder);
    if let Some(inherited) = env::var_os(variable).filter(|path| !path.is_empty()) {
        path.push(":");
        path.push(inherited);
    }
    path
}

/// The folder of this command, if the library is in it.
pub fn library_folder() -> Result<PathBuf, Refused> {
    let own = env::current_exe().map_err(|e| format!("cannot tell where this command is: {e}"))?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    if folder.join(LIBRARY).is_file() {
        return Ok(folder.to_owned());
    }
    let flag = if folder.ends_with("release") { " --release" } else { "" };
    Err(format!("{} is missing; `cargo build{flag}` builds it", folder.join(LIBRARY).display()).into())
}

/// The file that a program's name means: a path, or the first executable of that name in PATH.
fn find(name: &OsStr) -> Result<PathBuf, Refused> {
    let path = Path::new(name);
    if path.components().count() > 1 || path.is_file() {
        exists(path)?;
        if !executable(path) {
            return Err(
                format!("{} is neither executable nor a .c, .cc or .cpp source", path.display()).into()
            );
        }
        // A bare name would be looked up in PATH by exec.
        return Ok(if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) });
    }
    env::split_paths(&env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join(path))
        .find(|candidate| executable(candidate))
        .ok_or_else(|| not_found(path))
}

fn not_found(path: &Path) -> Refused {
    let name = path.to_string_lossy();
    if !name.starts_with('-') {
        return format!("no program {name}").into();
    }
    // What begins with a dash was meant as an option.
    let command = <Args as clap::Args>::augment_args(clap::Command::new("run"));
    let known: Vec<String> =
        command.get_arguments().filter_map(|arg| arg.get_long().map(|long| format!("--{long}"))).collect();
    format!("unknown option {name}; valid: {}, then the program", known.join(", ")).into()
}

fn exists(path: &Path) -> Result<(), Refused> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => Ok(()),
        Ok(_) => Err(format!("{} is not a file", path.display()).into()),
        Err(error) => Err(format!("no program {}: {error}", path.display()).into()),
    }
}

fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Ends as the program did, also when a signal ended it.
fn finish(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        // The program has dumped its core already; this process must not dump another.
        // SAFETY: plain system calls; the default action of the signal ends this process.
        unsafe {
            libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return ExitCode::from(128u8.saturating_add(signal as u8));
    }
    ExitCode::from(status.code().unwrap_or(1) as u8)
}
