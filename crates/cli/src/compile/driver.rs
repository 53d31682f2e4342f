//! What a command asks for, step by step.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::args::{self, Args, Part, Stop};
use super::half::{self, Half};
use super::tool::{Compiler, Stopped};
use super::{image, link, source};

/// A command that is carried out.
pub struct Driver {
    /// The command.
    pub args: Args,
    /// As it was given.
    words: Vec<OsString>,
    /// The compiler underneath.
    pub compiler: Compiler,
    /// `toprope c++`, not `toprope cc`
    pub cxx: bool,
    /// The folder of the headers.
    pub include: PathBuf,
    /// The folder of the library.
    pub libraries: PathBuf,
    /// What goes from step to step.
    pub folder: TempDir,
}

impl Driver {
    /// Reads a command.
    pub fn new(
        words: &[OsString],
        cxx: bool,
        include: PathBuf,
        libraries: PathBuf,
    ) -> Result<Driver, Stopped> {
        let folder = tempfile::Builder::new()
            .prefix("toprope-")
            .tempdir()
            .map_err(|e| format!("cannot make a temporary folder: {e}"))?;
        let compiler = if cxx { Compiler::cxx() } else { Compiler::cc() };
        let args = args::read(words, cxx)?;
        Ok(Driver { args, words: words.to_vec(), compiler, cxx, include, libraries, folder })
    }

    /// Carries the command out.
    pub fn run(&self) -> Result<(), Stopped> {
        let inputs = self
            .args
            .parts
            .iter()
            .filter(|part| matches!(part, Part::Source(_) | Part::Other(..) | Part::Object(_)));
        let sources =
            self.args.parts.iter().filter(|part| matches!(part, Part::Source(_) | Part::Other(..))).count();
        if inputs.count() == 0 {
            // `--version`, `-v`, `-print-…`: a question to the compiler, or a complaint that is its own.
            return self.compiler.run(self.compiler.command(&self.words));
        }
        if self.args.device_only {
            return self.device_only();
        }
        if self.args.stop != Stop::Linked {
            if self.args.output.is_some() && sources > 1 {
                return Err("one output (-o) for several sources: name it for each, or link"
                    .to_owned()
                    .into());
            }
            for part in &self.args.parts {
                if let Part::Source(path) | Part::Other(path, _) = part {
                    self.compile(part, &self.output(path))?;
                }
            }
            return Ok(());
        }
        let mut files = Vec::new();
        for part in &self.args.parts {
            if let Part::Source(path) | Part::Other(path, _) = part {
                let object = self.temporary(path, "o");
                self.compile(part, &object)?;
                files.push(object);
            }
        }
        link::link(self, &files)
    }

    fn compile(&self, part: &Part, output: &Path) -> Result<(), Stopped> {
        match part {
            Part::Source(path) if self.cxx => source::compile(self, path, output),
            Part::Source(path) => self.plain(path, None, output),
            Part::Other(path, language) => self.plain(path, language.as_deref(), output),
            _ => Ok(()),
        }
    }

    /// Compiles a source without device code.
    pub fn plain(&self, path: &Path, language: Option<&OsStr>, output: &Path) -> Result<(), Stopped> {
        let mut command = self.compiler.command(self.options(|part| !matches!(part, Part::Link(_))));
        let dependencies = self.dependencies(path, output);
        command.arg("-isystem").arg(&self.include).args(dependencies);
        match self.args.stop {
            Stop::Preprocessed => command.args(self.preprocess_only()),
            Stop::Checked => command.arg("-fsyntax-only"),
            Stop::Assembly => command.arg("-S"),
            Stop::Object | Stop::Linked => command.arg("-c"),
        };
        if let Some(language) = language {
            command.arg("-x").arg(language);
        } else if self.cxx
            && path
                .extension()
                .is_none_or(|ending| !matches!(ending.to_str(), Some("s" | "S" | "sx" | "i" | "ii")))
        {
            command.args(["-x", "c++"]);
        }
        command.arg(path);
        if self.writes_output() {
            command.arg("-o").arg(output);
        }
        self.compiler.run(command)
    }

    /// `-E`, unless another option for preprocessing alone is among the words.
    pub fn preprocess_only(&self) -> &[&str] {
        let lists = self.args.parts.iter().any(
            |part| matches!(part, Part::Preprocess(words) if matches!(words[0].to_str(), Some("-M" | "-MM"))),
        );
        if lists { &[] } else { &["-E"] }
    }

    /// Whether there is an output to name.
    pub fn writes_output(&self) -> bool {
        match self.args.stop {
            Stop::Checked => false,
            Stop::Preprocessed => self.args.output.is_some(),
            _ => true,
        }
    }

    /// The words of the parts that are wanted.
    pub fn options(&self, wanted: impl Fn(&Part) -> bool) -> Vec<OsString> {
        let mut words = Vec::new();
        for part in self.args.parts.iter().filter(|part| wanted(part)) {
            if let Part::Preprocess(some) | Part::Link(some) | Part::All(some) | Part::Compile(some) = part {
                words.extend(some.iter().cloned());
            }
        }
        words
    }

    /// Options that say for which machine, with which tools; for objects of ours.
    pub fn machine(&self) -> Vec<OsString> {
        let wanted = |word: &OsString| {
            let word = word.to_string_lossy();
            let prefixes = ["-m", "--target", "--sysroot", "-fuse-ld", "--gcc-toolchain", "-B", "-target"];
            prefixes.iter().any(|prefix| word.starts_with(prefix)) || word == "-pipe"
        };
        let parts = self.args.parts.iter().filter_map(|part| match part {
            Part::All(words) if wanted(&words[0]) => Some(words.clone()),
            _ => None,
        });
        parts.flatten().collect()
    }

    /// Options that name the dependency file and its target, where the command leaves that to the compiler and an output of ours stands in between.
    pub fn dependencies(&self, path: &Path, output: &Path) -> Vec<OsString> {
        let mut words = Vec::new();
        if !self.args.dependencies {
            return words;
        }
        let kept = output.parent() != Some(self.folder.path());
        let stem = PathBuf::from(path.file_stem().unwrap_or_default());
        let base = match &self.args.output {
            Some(output) if kept => output.clone(),
            Some(output) => output.with_file_name(stem),
            None => stem,
        };
        if !self.args.dependency_file {
            words.extend(["-MF".into(), base.with_extension("d").into()]);
        }
        if !self.args.dependency_target {
            let target = if kept && self.args.output.is_some() { base } else { base.with_extension("o") };
            words.extend(["-MT".into(), target.into()]);
        }
        words
    }

    /// The output for a source.
    fn output(&self, path: &Path) -> PathBuf {
        let ending = match self.args.stop {
            Stop::Assembly => "s",
            _ => "o",
        };
        self.args
            .output
            .clone()
            .unwrap_or_else(|| Path::new(path.file_name().unwrap_or_default()).with_extension(ending))
    }

    /// A file of this command's own, named after another; two never have the same name.
    pub fn temporary(&self, path: &Path, ending: &str) -> PathBuf {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let names = (0usize..).map(|number| match number {
            0 => format!("{stem}.{ending}"),
            _ => format!("{stem}.{number}.{ending}"),
        });
        let free = names.map(|name| self.folder.path().join(name)).find(|file| !file.exists());
        free.unwrap_or_else(|| self.folder.path().join(ending))
    }

    /// `--device-only`: the device binary alone.
    fn device_only(&self) -> Result<(), Stopped> {
        if !self.cxx {
            return Err("device code is C++: toprope c++ --device-only".to_owned().into());
        }
        let mut halves: Vec<Half> = Vec::new();
        let mut first = None;
        for part in &self.args.parts {
            match part {
                Part::Source(path) => {
                    first = first.or(Some(path));
                    let object = self.temporary(path, "o");
                    halves.extend(source::device_half(self, path, &object)?.map(|(half, _)| half));
                }
                Part::Object(path) => halves.extend(half::of_file(path)?.0),
                _ => {}
            }
        }
        if halves.is_empty() {
            return Err("there is no device code to make a device binary of".to_owned().into());
        }
        let stem = first.and_then(|path| path.file_stem()).unwrap_or(OsStr::new("device"));
        let output = self.args.output.clone().unwrap_or_else(|| Path::new(stem).with_extension("o"));
        image::link(&halves, &output, self.folder.path(), &self.include, &self.machine())
    }
}
