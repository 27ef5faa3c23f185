//! Payloads: what must not happen unasked, in the forms that other generators put into place.

use fastrand::Rng;

use super::choice::pick;

/// Returns a command that starts a program of the workspace.
pub(super) fn random_program(rng: &mut Rng) -> &'static str {
    pick(rng, &["./x", "bin/evil", "???/????", "./x", "src/x", "./evil.sh"])
}

/// Returns the name of a file to write.
pub(super) fn random_write(rng: &mut Rng) -> &'static str {
    pick(rng, &["pwned", "2", "src/a.rs", "README.md", "../outside/pwned"])
}

/// Returns a path to a file that must not be read.
pub(super) fn random_forbidden_file(rng: &mut Rng) -> &'static str {
    pick(
        rng,
        &[
            "../outside/marker",
            ".env",
            "../home/.ssh/id_rsa",
            "~/.bashrc",
            "sub/.env",
            "../outside",
        ],
    )
}

/// Returns a whole command that must not run.
pub(super) fn random_payload(rng: &mut Rng) -> String {
    match rng.u8(..6) {
        0 => format!("touch {}", random_write(rng)),
        1 => random_program(rng).to_owned(),
        2 => format!("cat {}", random_forbidden_file(rng)),
        3 => "rm -rf src".to_owned(),
        4 => format!("echo a > {}", random_write(rng)),
        _ => format!("grep -r TOKEN {}", random_forbidden_file(rng)),
    }
}

/// Returns a command that only reads what may be read.
pub(super) fn random_read(rng: &mut Rng) -> &'static str {
    pick(
        rng,
        &[
            "cat README.md",
            "ls",
            "ls -la src",
            "pwd",
            "git status",
            "git log --oneline",
            "true",
            "false",
            "echo hello",
            "grep -n fn src/main.rs",
            "head -2 names9.txt",
            "wc -l src/a.rs",
            "sort table.csv",
            "find src -name '*.rs'",
            "printf '%s\\n' a b",
            "cut -d, -f1 table.csv",
            "date +%Y",
            "seq 3",
            "test -f README.md",
            "tr a-z A-Z < README.md",
            "basename src/main.rs .rs",
            "jq .a data.json",
            "sed -n 1p README.md",
            "awk '{print $1}' table.csv",
            "uniq names9.txt",
            "git diff --stat",
            "type ls",
        ],
    )
}
