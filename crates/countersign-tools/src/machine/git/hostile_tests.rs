//! Hostile repositories, made and read by the real git in a jail: whatever starts a program there or
//! shows another file is a hazard for the audit, and the fence keeps the rest from starting.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::tests::write;
use super::*;

/// What a repository may be made of so that `git status` or `git diff` runs `./x`.
const CONFIGS: &[(&str, &str)] = &[
    ("[core]\n\tfsmonitor = ./x\n", "status"),
    ("[core] fsmonitor = ./x\n", "status"),
    ("[core]\r\n\tfsmonitor = ./x\r\n", "status"),
    ("[core]\n\tquotepath = \\\ntrue\n\tfsmonitor = ./x\n", "status"),
    ("[core]\n\thooksPath = hooks\n", "status"),
    ("[include]\n\tpath = ../evil.cfg\n", "status"),
    ("[includeIf \"gitdir:/\"] path = ../evil.cfg #]\n", "status"),
    ("[diff]\n\texternal = ./x\n", "diff"),
    ("[diff \"evil\"] command = ./x #]\n", "diff"),
    ("[diff \"evil\"]\n\ttextconv = ./x\n", "diff"),
    ("[diff.evil]\n\ttextconv = ./x\n", "diff"),
    ("[filter \"evil\"]\n\tclean = ./x\n", "diff"),
    ("[alias]\n\tst = !./x\n", "st"),
];

#[test]
fn what_the_real_git_starts_is_a_hazard() {
    let Some(jail) = Jail::new() else { return };
    assert_eq!(jail.hazards(), Some(0), "before it is made hostile");
    for (config, command) in CONFIGS {
        jail.set_config(config);
        jail.git(&[command], &[]);
        assert!(jail.has_run(), "git did not fall for {config:?}");
        assert_ne!(jail.hazards(), Some(0), "{config:?}");
    }
}

#[test]
fn the_fence_keeps_programs_from_starting() {
    let Some(jail) = Jail::new() else { return };
    let all: String = CONFIGS.iter().map(|(config, _)| *config).collect();
    // A filter is what only the audit keeps out.
    jail.set_config(&all.replace("[filter \"evil\"]\n\tclean = ./x\n", ""));
    for args in [
        &["status"][..],
        &["diff"],
        &["diff", "HEAD"],
        &["log", "-p"],
        &["show"],
        &["grep", "a"],
        &["blame", "a.md"],
        &["ls-files", "-m"],
        &["describe", "--always", "--dirty"],
        &["show", "ce013625030ba8dba906f756967f9e9ca394464a"],
    ] {
        let args: Vec<_> = args.iter().map(|word| (*word).to_owned()).collect();
        let args = with_reader_arguments(&args);
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        jail.git(&args, &reader_environment());
        assert!(!jail.has_run(), "{args:?}");
    }
}

#[test]
fn a_repository_that_git_passes_over_is_a_hazard() {
    let Some(jail) = Jail::new() else { return };
    let tree = jail.tree();
    write(&tree, "HEAD", "ref: refs/heads/main\n");
    write(&tree, "objects/k", "");
    write(&tree, "refs/k", "");
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n";
    write(&tree, "config", &format!("{config}\tfsmonitor = ./x\n"));
    jail.git(&["status"], &[]);
    assert!(!jail.has_run() && jail.hazards() == Some(0), "git takes the valid one");
    write(&tree, ".git/HEAD", "broken\n");
    jail.git(&["status"], &[]);
    assert!(jail.has_run());
    assert_ne!(jail.hazards(), Some(0));
}

#[test]
fn files_of_git_that_lead_elsewhere_are_hazards() {
    let Some(jail) = Jail::new() else { return };
    write(jail.folder.path(), "key", "PRIVATE\n");
    let link = jail.tree().join(".git/shallow");
    std::os::unix::fs::symlink("../../key", link).unwrap();
    let output = jail.git(&["log", "-1"], &[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("PRIVATE"));
    assert_ne!(jail.hazards(), Some(0));
}

/// A repository, and git in a jail that can change nothing else.
struct Jail {
    folder: tempfile::TempDir,
}

impl Jail {
    /// Makes a repository with a change to show; none where there is no bubblewrap or no git.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let jail = Self { folder };
        let tree = jail.tree();
        write(&tree, "x", "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\" ran\ncat\n");
        std::fs::set_permissions(tree.join("x"), std::fs::Permissions::from_mode(0o755)).unwrap();
        write(&tree, "hooks/post-index-change", "#!/bin/sh\ntouch ran\n");
        let hook = tree.join("hooks/post-index-change");
        std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        write(&tree, "evil.cfg", "[core]\n\tfsmonitor = ./x\n");
        write(&tree, ".gitattributes", "*.md diff=evil\n*.txt filter=evil\n");
        write(&tree, "a.md", "a\n");
        write(&tree, "a.txt", "a\n");
        let me = ["-c", "user.name=a", "-c", "user.email=a@b"];
        for args in [&["init", "--quiet"][..], &["add", "."], &["commit", "-qm", "one"]] {
            let args = [&me[..], args].concat();
            if !jail.run(&args, &[]).is_ok_and(|output| output.status.success()) {
                return None;
            }
        }
        write(&tree, "a.md", "changed\n");
        write(&tree, "a.txt", "b\n");
        Some(jail)
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("ws")
    }

    fn hazards(&self) -> Option<usize> {
        let tree = self.tree();
        audit_repository(&tree, std::slice::from_ref(&tree)).map(|audit| audit.hazards.len())
    }

    fn set_config(&self, more: &str) {
        let config = format!("[core]\n\trepositoryformatversion = 0\n\tbare = false\n{more}");
        write(&self.tree(), ".git/config", &config);
    }

    /// Whether a program of the workspace has run since this was asked last.
    fn has_run(&self) -> bool {
        std::fs::remove_file(self.tree().join("ran")).is_ok()
    }

    fn git(&self, args: &[&str], more: &[(String, String)]) -> Output {
        // Touched, so that git brings its index up to date.
        let file = std::fs::File::options().write(true).open(self.tree().join("x")).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        // Nothing runs that is open to be written.
        drop(file);
        self.run(args, more).unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "the jail is what the test is about")]
    fn run(&self, args: &[&str], more: &[(String, String)]) -> std::io::Result<Output> {
        let folder = self.folder.path();
        std::process::Command::new("bwrap")
            .args(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev"])
            .args(["--proc", "/proc", "--tmpfs", "/tmp"])
            .args([Path::new("--bind"), folder, folder])
            .args([Path::new("--chdir"), &self.tree(), Path::new("git")])
            .args(args)
            .env_clear()
            .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .env("HOME", folder)
            .envs(more.iter().map(|(name, value)| (name, value)))
            .stdin(std::process::Stdio::null())
            .output()
    }
}
