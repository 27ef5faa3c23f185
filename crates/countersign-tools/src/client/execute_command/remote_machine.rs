//! A command as the server reads it for the client's machine, of which it knows what the client says.

use std::path::{Component, Path, PathBuf};

use countersign_core::shell::{self, CommandAnalysis, Machine, PartFinding};
use countersign_core::{ClientReadCommand, Effect, EffectTarget, Risk, risk};

use crate::client::ClientSide;

/// Reads a line for another machine: a plain reader by its name, and by what the client says of it.
pub(super) fn analyse_remote_command(
    side: &ClientSide,
    env: &[(String, String)],
    line: &str,
    cwd: &Path,
) -> CommandAnalysis {
    let read = |trusts_names| {
        let machine = RemoteMachine { side, trusts_names };
        shell::analyse(
            line,
            &shell::ShellContext { cwd, home: None, env, own: &[], machine: &machine },
        )
    };
    let by_name = read(true);
    let Some(name) = plain_reader(&by_name) else { return without_proof(read(false)) };
    let told = side.look().and_then(|look| look.command.as_ref());
    match told.filter(|told| is_program(&told.program, &name)) {
        Some(told) => with_client_reading(by_name, told),
        None => by_its_name(by_name, &name),
    }
}

/// Folders in which only the system and who owns the machine put programs.
const SYSTEM_FOLDERS: &[&str] =
    &["/bin", "/nix/store", "/opt/homebrew", "/run/current-system", "/sbin", "/usr"];

/// Whether a path that a client names is the program of this name in a folder of the system.
fn is_program(path: &str, name: &str) -> bool {
    let path = Path::new(path);
    let plain = path.components().all(|it| matches!(it, Component::RootDir | Component::Normal(_)));
    plain
        && path.file_name().is_some_and(|it| it == name)
        && SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// Returns the name of the program if the line is one well-known reader with its words and no more.
fn plain_reader(by_name: &CommandAnalysis) -> Option<String> {
    let [part] = by_name.parts.as_slice() else { return None };
    let canonical = by_name.canonical.clone()?.with_program(PathBuf::from("/"));
    canonical.program_and_words()?;
    let name = part.argv.first()?.literal()?;
    let plain = by_name.is_read_only() && part.wrappers.is_empty() && !name.contains(['/', '\\']);
    plain.then(|| name.to_owned())
}

/// What only reads if the name says the truth asks, and is told so.
fn by_its_name(mut analysis: CommandAnalysis, name: &str) -> CommandAnalysis {
    for part in &mut analysis.parts {
        let argv = part.argv.iter().map(|word| word.effective_text().to_owned()).collect();
        let runs = Effect::ReadsByName { argv };
        part.effects.insert(0, runs.clone());
        part.program = None;
        let why = format!("which program `{name}` is on the client is not known");
        part.finding = PartFinding::Unproven { why };
        analysis.effects.insert(0, runs);
    }
    CommandAnalysis { canonical: None, ..analysis }
}

/// What the client has found to only read, too, is what it says; what else it reads there is added.
fn with_client_reading(mut analysis: CommandAnalysis, told: &ClientReadCommand) -> CommandAnalysis {
    let program = PathBuf::from(&told.program);
    for part in &mut analysis.parts {
        part.program = Some(program.clone());
        for effect in &told.effects {
            if risk::factor(effect).0 > Risk::Low && !part.effects.contains(effect) {
                part.effects.push(effect.clone());
                analysis.effects.push(effect.clone());
            }
        }
    }
    let canonical = analysis.canonical.map(|canonical| canonical.with_program(program));
    CommandAnalysis { canonical, ..analysis }
}

/// Without a shell even `echo` is a program, and which one it is only the client knows.
fn without_proof(mut analysis: CommandAnalysis) -> CommandAnalysis {
    for part in &mut analysis.parts {
        if !matches!(part.finding, PartFinding::Unproven { .. }) {
            let name = part.argv.first().map_or("it", |word| word.effective_text());
            let why = format!("which program `{name}` is on the client is not known");
            part.finding = PartFinding::Unproven { why };
        }
    }
    CommandAnalysis { canonical: None, ..analysis }
}

/// Another machine: paths by their components, and nothing else.
struct RemoteMachine<'a> {
    side: &'a ClientSide,
    /// Whether programs are taken for what their names say. Nothing is allowed because of it.
    trusts_names: bool,
}

impl Machine for RemoteMachine<'_> {
    fn target(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        Some(self.side.as_shown(self.side.client_root().locate(cwd, path)))
    }

    fn entry(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        self.target(cwd, path)
    }

    fn trusted_program(&self, name: &str) -> Option<PathBuf> {
        self.trusts_names.then(|| Path::new("/usr/bin").join(name))
    }

    fn git_hazards(&self, _cwd: &Path) -> Option<Vec<String>> {
        self.trusts_names.then(Vec::new)
    }
}
