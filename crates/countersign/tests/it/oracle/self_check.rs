//! The oracle's own check: what is known to do harm is seen, what is known to do none is not.
//!
//! No verdict is asked for here, so it holds whatever the policy says. Every class of harm that was ever
//! found has its row.

use super::examination::{Examination, Examiner, ExecutedBy, Harm};
use super::given_file::{FileKind, GivenFile};
use super::settings::leaves_out_bubblewrap;
use super::variant::WorkspaceVariant;
use super::verdict::{AllowedCommand, OracleMode};
use super::world::{RepositoryTemplates, World};

/// What the oracle has to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HarmKind {
    Starts,
    Changes,
    LinksOut,
    Prints,
    TellsApart,
    Opens,
}

impl HarmKind {
    fn from_harm(harm: &Harm) -> Self {
        match harm {
            Harm::StartedProgram(_) => Self::Starts,
            Harm::ChangedFiles(_) => Self::Changes,
            Harm::MadeLinkOut(_) => Self::LinksOut,
            Harm::PrintedMark(_) => Self::Prints,
            Harm::ToldSidesApart => Self::TellsApart,
            Harm::SeenByTrace(_) => Self::Opens,
        }
    }
}

#[test]
fn harm_of_every_known_class_is_seen() {
    if leaves_out_bubblewrap() {
        return;
    }
    let templates = RepositoryTemplates::create();
    let secret = || vec![GivenFile::regular(".env", "{{SECRET}}")];
    let link = |path: &str, target: &str| vec![GivenFile::link(path, target)];
    let check = |command: &str, files: Vec<GivenFile>, kind: HarmKind| {
        let harm = find_harm(&templates, command, files, OracleMode::Default, &["{{WORLD}}/ws"]);
        assert_eq!(harm, Some(kind), "{command}");
    };
    check("( (bin/evil) )", vec![], HarmKind::Starts);
    check("echo $((1)>2 | (3))", vec![], HarmKind::Changes);
    check("sh -c '[[ a > pwned ]]'", vec![], HarmKind::Changes);
    check("cd src && command cd .. && cat ../outside/marker", vec![], HarmKind::Prints);
    check("ls -RL sub", link("sub/l", "../../outside"), HarmKind::Prints);
    // Not traced: the two sides have to tell it.
    check("wc .env", secret(), HarmKind::TellsApart);
    check("git status", bare_at_top(), HarmKind::Starts);
    check("x=1; read -r x < n.txt; echo $((x))", vec![], HarmKind::Starts);
    check("tee - < README.md", vec![], HarmKind::Changes);
    check("git log -1", link(".git/shallow", "{{WORLD}}/home/.ssh/id_rsa"), HarmKind::Prints);
    check("xxd README.md -p", vec![], HarmKind::Changes);
    check("zcat foo", link("foo.gz", "../outside/packed.gz"), HarmKind::Prints);
    check("echo a > /tmp/left", vec![], HarmKind::Changes);
    check("echo a >> ~/.bashrc", vec![], HarmKind::Changes);
    check("chmod +x README.md", vec![], HarmKind::Changes);
    check("test -r ~/notes.txt < ~/notes.txt", vec![], HarmKind::Opens);
    check("grep -q nothing .env", secret(), HarmKind::Opens);
}

#[test]
fn harm_of_edits_is_seen() {
    if leaves_out_bubblewrap() {
        return;
    }
    let templates = RepositoryTemplates::create();
    let check = |command: &str, predicted: &[&str], kind: Option<HarmKind>| {
        let files = vec![
            GivenFile::link("sub/l", "../../outside"),
            GivenFile::regular("payload.d/.git/hooks/pre-commit", "#!/bin/sh\n"),
            GivenFile::regular("d/l/marker", "x\n"),
        ];
        let harm = find_harm(&templates, command, files, OracleMode::AcceptEdits, predicted);
        assert_eq!(harm, kind, "{command}");
    };
    let root: &[&str] = &["{{WORLD}}/ws"];
    check("cp -rT payload.d .", root, Some(HarmKind::Changes));
    check("mv sub new; rm -rf new/l/", root, Some(HarmKind::Changes));
    check("cp -r d/. sub; echo a > sub/l/marker", root, Some(HarmKind::Changes));
    check("ln -s .. up", root, Some(HarmKind::LinksOut));
    check("echo a > new", &["{{WORLD}}/ws/src"], Some(HarmKind::Changes));
    check("echo a > new; rm src/a.rs", root, None);
    check("mkdir -p new/a && touch new/a/b", &["{{WORLD}}/ws/new/a"], None);
}

#[test]
fn reading_what_may_be_read_does_no_harm() {
    if leaves_out_bubblewrap() {
        return;
    }
    let templates = RepositoryTemplates::create();
    for command in [
        "cat README.md",
        "ls -la",
        "git status",
        "git log --stat",
        "git diff HEAD",
        "date +%N",
        "stat README.md",
        "find . -type f",
        "grep -rn TODO src",
        "ls -i",
        "ps",
        "echo $RANDOM $$",
        "sort table.csv | head -1",
        "df",
    ] {
        let files = vec![GivenFile::regular(".env", "{{SECRET}}")];
        let harm = find_harm(&templates, command, files, OracleMode::Default, &["{{WORLD}}/ws"]);
        assert_eq!(harm, None, "{command}");
    }
}

/// Runs a command as if it were allowed with these paths predicted; returns what harm was seen.
fn find_harm(
    templates: &RepositoryTemplates,
    command: &str,
    files: Vec<GivenFile>,
    mode: OracleMode,
    predicted: &[&str],
) -> Option<HarmKind> {
    let world = World::build(&WorkspaceVariant::from_corpus(files), templates);
    let mount = world.mount();
    let predicted: Vec<_> =
        predicted.iter().map(|it| it.replace("{{WORLD}}", mount.to_str().unwrap())).collect();
    let allowed = AllowedCommand {
        command: command.to_owned(),
        canonical: None,
        predicted_paths: predicted.clone(),
        predicted_changes: predicted,
    };
    let is_traced = super::has_strace() && !command.starts_with("wc");
    match Examiner::new(&world, mode).examine(&allowed, ExecutedBy::Bash, is_traced) {
        Examination::Harmful(harm) => Some(HarmKind::from_harm(&harm)),
        _ => None,
    }
}

fn bare_at_top() -> Vec<GivenFile> {
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = ./x\n";
    vec![
        GivenFile::of_kind(".git/HEAD", FileKind::Folder),
        GivenFile::regular("HEAD", "ref: refs/heads/main\n"),
        GivenFile::regular("config", config),
        GivenFile::regular("objects/k", "x\n"),
        GivenFile::regular("refs/k", "x\n"),
    ]
}
