//! Child processes of the oracle: each with a cleared environment.
#![expect(clippy::disallowed_methods, reason = "the children are what is tested")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// As on a fresh machine.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Returns a command with nothing of our environment.
pub(super) fn clean_command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", PATH).env("TERM", "xterm").env("LANG", "C.UTF-8");
    command
}

/// Runs git while a fixture is made, always with the same result.
pub(super) fn run_git(folder: &Path, args: &[&str]) {
    let git = clean_command("git")
        .args(args)
        .current_dir(folder)
        .env("HOME", folder)
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .output()
        .unwrap_or_else(|error| panic!("git is needed for this test: {error}"));
    assert!(git.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&git.stderr));
}

/// Runs a command to its end, with a text as its input; returns its exit code and what it printed.
pub(super) fn run_to_end(command: &mut Command, input: &str) -> (Option<i32>, String, String) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (mut stdin, mut stderr) = (child.stdin.take().unwrap(), child.stderr.take().unwrap());
    let input = input.to_owned();
    // Whoever ends early does not read all of it.
    let writing = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let reading = std::thread::spawn(move || {
        let mut said = Vec::new();
        stderr.read_to_end(&mut said).unwrap();
        said
    });
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    let said = reading.join().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&said))
}
