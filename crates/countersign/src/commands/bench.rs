//! `countersign bench`: starts `countersign-bench`, which is no part of the product.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;

use crate::cli::BenchArgs;
use crate::environment;
use crate::hint::HintExt;

/// Becomes the program that measures; returns only if there is none.
#[expect(clippy::disallowed_methods, reason = "the user's own program, at the user's own word")]
pub(crate) fn run(args: &BenchArgs) -> anyhow::Result<()> {
    let program = environment::own_program()?.with_file_name("countersign-bench");
    let words: &[OsString] = &args.words;
    let failed = std::process::Command::new(&program).args(words).exec();
    Err(anyhow::Error::from(failed).context(format!("could not start `{}`", program.display())))
        .hint("build it beside this program: `cargo build --release --package countersign`")
}
