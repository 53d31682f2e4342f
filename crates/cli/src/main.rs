//! The `toprope` command: `run` starts programs under the software runtime, `api` and `products` tell what it has.
//!
//! Exit status: that of the program that was run; 2 for anything that keeps it from starting.

mod api;
mod compile;
mod facts;
mod filter;
mod products;
mod run;
mod sdk;
mod unbuilt;

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

/// Runs AscendCL programs with no NPU.
#[derive(Parser)]
#[command(name = "toprope", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program: an executable, a Python script, or a .c, .cc, .cpp source, which is compiled first
    Run(Box<run::Args>),
    /// Compile C++ with device code: the system's compiler, and its options, underneath
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(CompilerWords),
    /// The same for C, without device code of its own, and for linking
    #[command(name = "cc", disable_help_flag = true)]
    Cc(CompilerWords),
    /// Write a tree shaped like the vendor's toolkit, for build scripts
    Sdk(sdk::Args),
    /// List the functions of the API, or tell about one
    Api(api::Args),
    /// List the products and their limits
    Products(products::Args),
}

/// For the list of commands; `main` looks at these words first.
#[derive(clap::Args)]
struct CompilerWords {
    /// As for the compiler; besides, --device-only makes a device binary alone
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS AND FILES")]
    words: Vec<std::ffi::OsString>,
}

/// Nothing was run: one line that says why. Exit status 2.
struct Refused(String);

impl<T: Into<String>> From<T> for Refused {
    fn from(text: T) -> Refused {
        Refused(text.into())
    }
}

fn main() -> ExitCode {
    // The words after these two are a compiler's: none of ours among them.
    let words: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    if let Some((name, rest)) = words.split_first()
        && (name == "c++" || name == "cc")
    {
        return match compile::command(rest, name == "c++") {
            Ok(code) => code,
            Err(Refused(line)) => refuse(&line),
        };
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            error.exit()
        }
        Err(error) => {
            let text = error.to_string();
            // Up to the empty line: what is missing is listed below the first.
            let lines: Vec<_> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
            let line = lines.join(" ");
            return refuse(&format!("{} (toprope --help tells more)", line.trim_start_matches("error: ")));
        }
    };
    let done = match cli.command {
        Command::Run(args) => run::run(*args),
        Command::Cxx(args) => compile::command(&args.words, true),
        Command::Cc(args) => compile::command(&args.words, false),
        Command::Sdk(args) => sdk::print(args),
        Command::Api(args) => api::print(args),
        Command::Products(args) => products::print(args),
    };
    match done {
        Ok(code) => code,
        Err(Refused(line)) => refuse(&line),
    }
}

/// Prints what was asked for. A reader that closed the pipe has seen enough.
fn show(text: &str) -> Result<ExitCode, Refused> {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(ExitCode::SUCCESS)
}

fn refuse(line: &str) -> ExitCode {
    // A reader that closed the pipe has seen enough.
    let _ = writeln!(std::io::stderr(), "toprope: {line}");
    ExitCode::from(2)
}
