//! The command line of a compiler, as far as it has to be understood: which words are sources, which go to which step.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A part of the command line, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A source that may have device code.
    Source(PathBuf),
    /// A source in another language, and the language if the command names it.
    Other(PathBuf, Option<OsString>),
    /// An object, an archive, a shared library.
    Object(PathBuf),
    /// For the preprocessor.
    Preprocess(Vec<OsString>),
    /// For the linker, in its place.
    Link(Vec<OsString>),
    /// For every step.
    All(Vec<OsString>),
    /// For compiling alone.
    Compile(Vec<OsString>),
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// `-E`, `-M`, `-MM`
    Preprocessed,
    /// `-fsyntax-only`
    Checked,
    /// `-S`
    Assembly,
    /// `-c`
    Object,
    /// Not at all.
    Linked,
}

/// A command.
#[derive(Clone, Debug)]
pub struct Args {
    /// Its parts.
    pub parts: Vec<Part>,
    /// How far to go.
    pub stop: Stop,
    /// `-o`
    pub output: Option<PathBuf>,
    /// `--device-only`
    pub device_only: bool,
    /// `-MD`, `-MMD`: dependencies are written along the way.
    pub dependencies: bool,
    /// `-MF` and `-MT` or `-MQ` were given.
    pub dependency_file: bool,
    pub dependency_target: bool,
    /// What the device pass defines `__NPU_ARCH__` as.
    pub architecture: Option<OsString>,
}

/// Options for the preprocessor with a value that may be the next word.
const PREPROCESS: &[&str] = &[
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-I",
    "-D",
    "-U",
    "-A",
];
/// Others with a value that may be the next word.
const VALUED: &[&str] =
    &["-aux-info", "-dumpbase", "-dumpdir", "-dumpbase-ext", "-wrapper", "-target", "-arch", "-B", "-Xclang"];
/// Options with a value for the linker.
const LINK: &[&str] = &["-Xlinker", "-T", "-u", "-z", "-L", "-l", "-e", "-h"];

/// Whether the language is taken for C++ with device code.
fn mixed_language(language: &OsStr) -> bool {
    matches!(language.as_bytes(), b"c++" | b"asc" | b"cce")
}

/// Reads a command. `cxx`: files that end in `.c` and the like are C++ too, as for every C++ compiler.
pub fn read(words: &[OsString], cxx: bool) -> Result<Args, String> {
    let words = expand(words, 0)?;
    let mut args = Args {
        parts: Vec::new(),
        stop: Stop::Linked,
        output: None,
        device_only: false,
        dependencies: false,
        dependency_file: false,
        dependency_target: false,
        architecture: None,
    };
    let mut language: Option<OsString> = None;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        let mut value = |joined: &str| -> Result<OsString, String> {
            match joined.is_empty() {
                true => words.next().ok_or_else(|| format!("{text} needs a value")),
                false => Ok(joined.into()),
            }
        };
        if text == "-" || !text.starts_with('-') {
            args.parts.push(input(PathBuf::from(word), language.as_ref(), cxx));
        } else if text == "-o" || text.starts_with("-o") && !text.starts_with("-objc") {
            args.output = Some(value(&text[2..])?.into());
        } else if let Some(joined) = text.strip_prefix("-x") {
            let named = value(joined)?;
            language = (named != "none").then_some(named);
        } else if text == "--device-only" {
            args.device_only = true;
        } else if let Some(name) =
            text.strip_prefix("--npu-arch=").or_else(|| text.strip_prefix("--cce-aicore-arch="))
        {
            // The number of `dav-2201`; older names have none.
            let number = name.rsplit('-').next().unwrap_or_default();
            if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
                args.architecture = Some(number.into());
            }
        } else if text.starts_with("--npu-soc=") || text == "--enable-simt" {
            // Of no meaning here.
        } else if text == "-c" || text == "-dc" {
            args.stop = args.stop.min_with(Stop::Object);
        } else if text == "-S" {
            args.stop = args.stop.min_with(Stop::Assembly);
        } else if text == "-fsyntax-only" {
            args.stop = args.stop.min_with(Stop::Checked);
        } else if matches!(text.as_str(), "-E" | "-M" | "-MM") {
            args.stop = Stop::Preprocessed;
            if text != "-E" {
                args.parts.push(Part::Preprocess(vec![word]));
            }
        } else if matches!(text.as_str(), "-MD" | "-MMD" | "-MP" | "-MG") {
            args.dependencies |= matches!(text.as_str(), "-MD" | "-MMD");
            args.parts.push(Part::Preprocess(vec![word]));
        } else if let Some(option) = ["-MF", "-MT", "-MQ"].into_iter().find(|option| text.starts_with(option))
        {
            args.dependency_file |= option == "-MF";
            args.dependency_target |= option != "-MF";
            args.parts.push(Part::Preprocess(vec![option.into(), value(&text[3..])?]));
        } else if let Some(option) = PREPROCESS.iter().find(|option| text.starts_with(**option)) {
            let value = value(&text[option.len()..])?;
            args.parts.push(Part::Preprocess(vec![option.into(), value]));
        } else if text == "-Xpreprocessor" {
            args.parts.push(Part::Preprocess(vec![word.clone(), value("")?]));
        } else if text.starts_with("-Wp,")
            || text.starts_with("-nostdinc")
            || matches!(text.as_str(), "-C" | "-CC" | "-P" | "-H" | "-undef")
        {
            args.parts.push(Part::Preprocess(vec![word]));
        } else if text == "-Xassembler" {
            args.parts.push(Part::Compile(vec![word.clone(), value("")?]));
        } else if text.starts_with("-Wl,")
            || matches!(
                text.as_str(),
                "-shared"
                    | "--shared"
                    | "-static"
                    | "-rdynamic"
                    | "-s"
                    | "-pie"
                    | "-no-pie"
                    | "-r"
                    | "-nostdlib"
                    | "-nostartfiles"
                    | "-nodefaultlibs"
                    | "-static-pie"
                    | "-static-libgcc"
                    | "-static-libstdc++"
                    | "-shared-libgcc"
                    | "-symbolic"
            )
        {
            let shared = text == "--shared";
            args.parts.push(Part::Link(vec![if shared { "-shared".into() } else { word }]));
        } else if let Some(option) = LINK.iter().find(|option| {
            text == **option
                || text.starts_with(**option) && matches!(**option, "-L" | "-l" | "-T" | "-u" | "-z")
        }) {
            let value = value(&text[option.len()..])?;
            let joined = matches!(*option, "-L" | "-l");
            args.parts.push(Part::Link(if joined {
                let mut one = OsString::from(option);
                one.push(value);
                vec![one]
            } else {
                vec![option.into(), value]
            }));
        } else if text == "--param" || VALUED.contains(&text.as_str()) {
            let value = value("")?;
            args.parts.push(Part::All(vec![word, value]));
        } else {
            args.parts.push(Part::All(vec![word]));
        }
    }
    Ok(args)
}

impl Stop {
    /// The earlier of two.
    fn min_with(self, other: Stop) -> Stop {
        if (other as u8) < (self as u8) { other } else { self }
    }
}

/// What a file is, by the language in force or its ending.
fn input(path: PathBuf, language: Option<&OsString>, cxx: bool) -> Part {
    if let Some(language) = language {
        return if mixed_language(language) {
            Part::Source(path)
        } else {
            Part::Other(path, Some(language.clone()))
        };
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    match ending.as_str() {
        "asc" | "cce" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" => Part::Source(path),
        "c" if cxx => Part::Source(path),
        "c" | "i" | "ii" | "s" | "S" | "sx" | "m" | "mm" | "f" | "f90" => Part::Other(path, None),
        _ => Part::Object(path),
    }
}

/// Replaces `@file` by the words in the file.
fn expand(words: &[OsString], depth: usize) -> Result<Vec<OsString>, String> {
    let mut all = Vec::new();
    for word in words {
        let file = word
            .as_bytes()
            .strip_prefix(b"@")
            .map(OsStr::from_bytes)
            .filter(|file| Path::new(file).is_file());
        match file {
            Some(file) if depth < 16 => {
                let text = fs::read_to_string(file)
                    .map_err(|e| format!("cannot read {}: {e}", Path::new(file).display()))?;
                all.extend(expand(&split(&text), depth + 1)?);
            }
            _ => all.push(word.clone()),
        }
    }
    Ok(all)
}

/// The words of a response file: blanks separate, quotes and backslashes protect.
fn split(text: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', _) => word.get_or_insert_default().extend(letters.next()),
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(letter),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, None) if letter.is_whitespace() => words.extend(word.take().map(OsString::from)),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word.map(OsString::from));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(words: &[&str]) -> Vec<Part> {
        read(&words.iter().map(OsString::from).collect::<Vec<_>>(), true).unwrap().parts
    }

    #[test]
    fn every_word_finds_its_step() {
        let words = ["-I", "a", "-DX=1", "-O2", "x.cpp", "-L.", "-l", "y", "z.o", "-Wl,-x", "-x", "asc", "q"];
        let text = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(
            parts(&words),
            [
                Part::Preprocess(text(&["-I", "a"])),
                Part::Preprocess(text(&["-D", "X=1"])),
                Part::All(text(&["-O2"])),
                Part::Source("x.cpp".into()),
                Part::Link(text(&["-L."])),
                Part::Link(text(&["-ly"])),
                Part::Object("z.o".into()),
                Part::Link(text(&["-Wl,-x"])),
                Part::Source("q".into()),
            ]
        );
        assert_eq!(
            parts(&["a.asc", "-xcce", "b.h"]),
            [Part::Source("a.asc".into()), Part::Source("b.h".into())]
        );
    }

    #[test]
    fn the_earliest_stop_counts() {
        let stop =
            |words: &[&str]| read(&words.iter().map(OsString::from).collect::<Vec<_>>(), true).unwrap().stop;
        assert_eq!(stop(&["-c", "-S", "x.cpp"]), Stop::Assembly);
        assert_eq!(stop(&["-dc", "x.cpp"]), Stop::Object);
        assert_eq!(stop(&["x.cpp"]), Stop::Linked);
        assert_eq!(stop(&["-MD", "-c", "x.cpp"]), Stop::Object);
    }

    #[test]
    fn response_files_are_words() {
        assert_eq!(split("-a \"b c\" 'd'e\\ f\n\"\""), ["-a", "b c", "de f", ""].map(OsString::from));
    }
}
