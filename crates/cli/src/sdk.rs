//! `toprope sdk DIR`: a tree shaped like the vendor's toolkit, so that build scripts of other projects work unmodified. `toprope run`
//! keeps one such tree as the `ASCEND_HOME_PATH` of programs that have none.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use toprope_runtime::profile::{Profile, Request};

use crate::Refused;
use crate::run::{LIBRARY, library_folder};

include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// Options of `toprope sdk`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder to make; it must not exist yet, or be empty
    folder: PathBuf,
    /// CANN generation that the version files name: 9, 8 or 5 [env: TOPROPE_CANN] [default: the product's newest]
    #[arg(long)]
    cann: Option<String>,
}

/// Other names that link lines use for parts of the API that stand in this one library.
const ALIASES: &[&str] = &[
    "libacl_rt.so",
    "libacl_rt_impl.so",
    "libruntime.so",
    "libacl_tdt_channel.so",
    "libacl_tdt_queue.so",
    "libmsprofiler.so",
    "libprofapi.so",
    "libascend_dump.so",
];

/// Packages that have a version file. Layout: aclsysGetVersionStr#05.
const PACKAGES: &[&str] = &["cann", "toolkit", "runtime"];

pub fn print(args: Args) -> Result<ExitCode, Refused> {
    let mut request = Request::from_env();
    request.cann = args.cann.or(request.cann);
    let generation = Profile::resolve(&request)?.generation;
    let folder = &args.folder;
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(format!("{} is not empty", folder.display()).into());
    }
    let library = library_folder()?.join(LIBRARY);
    write(folder, generation, |to| fs::copy(&library, to).map(drop))
        .map_err(|e| format!("cannot write {}: {e}", folder.display()))?;
    println!("{}: CANN generation {generation}; . {}/set_env.sh", folder.display(), folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Writes a whole tree; `place` puts the library where it is told.
fn write(folder: &Path, generation: u8, place: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    headers(&folder.join("include"))?;
    let libraries = folder.join("lib64");
    fs::create_dir_all(&libraries)?;
    place(&libraries.join(LIBRARY))?;
    for alias in ALIASES {
        symlink(LIBRARY, libraries.join(alias))?;
    }
    // Build scripts look for link-time stubs, and for the runtime package in a folder of its own.
    symlink(".", libraries.join("stub"))?;
    fs::create_dir_all(folder.join("runtime"))?;
    for part in ["include", "lib64"] {
        symlink(Path::new("..").join(part), folder.join("runtime").join(part))?;
    }
    for package in PACKAGES {
        let info = folder.join("share/info").join(package);
        fs::create_dir_all(&info)?;
        // ours: the generation's first release stands for all of it.
        fs::write(info.join("version.info"), format!("Version={generation}.0.0\n"))?;
    }
    fs::create_dir_all(folder.join("bin"))?;
    // The command finds its library beside its own file, so the tree holds a link to it.
    symlink(env::current_exe()?, folder.join("bin/toprope"))?;
    let kernels = folder.join("tikcpp/ascendc_kernel_cmake");
    fs::create_dir_all(&kernels)?;
    fs::write(kernels.join("ascendc.cmake"), ASCENDC)?;
    fs::write(folder.join("set_env.sh"), SET_ENV)?;
    fs::write(folder.join("bin/setenv.bash"), ". \"$(dirname \"${BASH_SOURCE[0]}\")/../set_env.sh\"\n")
}

/// The build commands for kernels, at the place where build scripts look for them.
const ASCENDC: &str = include_str!("sdk/ascendc.cmake");

const SET_ENV: &str = r#"# Source this file: it points build scripts and the loader at this tree.
if [ -n "${BASH_SOURCE:-}" ]; then _toprope_home=$BASH_SOURCE; elif [ -n "${ZSH_VERSION:-}" ]; then _toprope_home=$(eval 'echo ${(%):-%x}'); else _toprope_home=./set_env.sh; fi
_toprope_home=$(cd "$(dirname "$_toprope_home")" && pwd)
export ASCEND_HOME_PATH=$_toprope_home ASCEND_TOOLKIT_HOME=$_toprope_home ASCEND_INSTALL_PATH=$_toprope_home
export LD_LIBRARY_PATH=$_toprope_home/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
unset _toprope_home
"#;

/// Writes the public headers.
pub fn headers(include: &Path) -> io::Result<()> {
    for (name, text) in HEADERS {
        let file = include.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(())
}

/// The tree that `toprope run` gives to programs: made once per library and generation in the user's cache, its library a link to
/// the one beside this command.
pub fn home(libraries: &Path, generation: u8) -> Result<PathBuf, String> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&env::var_os("HOME").filter(|path| !path.is_empty())?).join(".cache")))
        .ok_or("neither HOME nor XDG_CACHE_HOME is set")?
        .join("toprope");
    let folder =
        cache.join(format!("{}-{generation}-{:016x}", env!("CARGO_PKG_VERSION"), identity(libraries)));
    if folder.join("set_env.sh").is_file() {
        return Ok(folder);
    }
    let make = || -> io::Result<()> {
        fs::create_dir_all(&cache)?;
        let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(&cache)?;
        write(fresh.path(), generation, |to| symlink(libraries.join(LIBRARY), to))?;
        match fs::rename(fresh.path(), &folder) {
            Ok(()) => {
                // Moved: nothing is left to remove.
                let _ = fresh.keep();
                Ok(())
            }
            // Another process made the same tree meanwhile.
            Err(_) if folder.join("set_env.sh").is_file() => Ok(()),
            Err(error) => Err(error),
        }
    };
    make().map_err(|e| format!("cannot write {}: {e}", cache.display()))?;
    Ok(folder)
}

/// Tells trees of different libraries and headers apart.
fn identity(libraries: &Path) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (libraries, HEADERS, ASCENDC, SET_ENV).hash(&mut hasher);
    hasher.finish()
}
