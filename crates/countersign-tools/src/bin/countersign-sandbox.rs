//! The sandbox's launcher as a program of its own. It is started by the sandbox, never by hand.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match countersign_tools::enter(&words) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "countersign-sandbox: {error}");
            ExitCode::from(126)
        }
    }
}
