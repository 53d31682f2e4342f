//! The `toprope` command: `run` starts programs under the software runtime, `api` and `products` tell what it has.
//!
//! Exit status: that of the program that was run; 2 for anything that keeps it from starting.

mod api;
mod products;
mod run;
mod sdk;
mod unbuilt;

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
    /// Write a tree shaped like the vendor's toolkit, for build scripts
    Sdk(sdk::Args),
    /// List the functions of the API, or tell about one
    Api(api::Args),
    /// List the products and their limits
    Products(products::Args),
}

/// Nothing was run: one line that says why. Exit status 2.
struct Refused(String);

impl<T: Into<String>> From<T> for Refused {
    fn from(text: T) -> Refused {
        Refused(text.into())
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            error.exit()
        }
        Err(error) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            return refuse(&format!("{line} (toprope --help tells more)"));
        }
    };
    let done = match cli.command {
        Command::Run(args) => run::run(*args),
        Command::Sdk(args) => sdk::print(args),
        Command::Api(args) => api::print(args),
        Command::Products(args) => products::print(args),
    };
    match done {
        Ok(code) => code,
        Err(Refused(line)) => refuse(&line),
    }
}

fn refuse(line: &str) -> ExitCode {
    eprintln!("toprope: {line}");
    ExitCode::from(2)
}
