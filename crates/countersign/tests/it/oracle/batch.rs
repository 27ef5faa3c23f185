//! A batch: commands of one family that are judged together in one workspace.

use fastrand::Rng;

use super::choice::{happens, pick_one};
use super::corpus::Corpus;
use super::edits::random_edits;
use super::mutation::mutate;
use super::parentheses::random_parentheses;
use super::posix_shell::random_posix_shell;
use super::program_table::ProgramTable;
use super::script::random_script;
use super::stale_state::{random_stale_number, random_stale_state};
use super::table_options::{random_git_call, random_program_call};
use super::variant::{VariantKind, WorkspaceVariant};
use super::verdict::OracleMode;

/// Which generator a command comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CommandFamily {
    Parentheses,
    PosixShell,
    StaleState,
    StaleNumber,
    Script,
    ProgramOptions,
    GitOptions,
    Edits,
    Mutation,
}

/// In this order, again and again; what needs many workspaces comes more than once.
const FAMILIES: [CommandFamily; 12] = [
    CommandFamily::GitOptions,
    CommandFamily::ProgramOptions,
    CommandFamily::Edits,
    CommandFamily::StaleState,
    CommandFamily::GitOptions,
    CommandFamily::Parentheses,
    CommandFamily::ProgramOptions,
    CommandFamily::StaleNumber,
    CommandFamily::GitOptions,
    CommandFamily::PosixShell,
    CommandFamily::Mutation,
    CommandFamily::Script,
];

impl CommandFamily {
    fn batch_size(self) -> usize {
        match self {
            // Each of these has a workspace of its own.
            Self::GitOptions => 30,
            Self::Edits => 80,
            Self::Parentheses
            | Self::PosixShell
            | Self::StaleState
            | Self::StaleNumber
            | Self::ProgramOptions
            | Self::Script
            | Self::Mutation => 200,
        }
    }
}

/// What the generators draw from.
pub(super) struct GeneratorSources {
    pub(super) table: ProgramTable,
    pub(super) corpus: Corpus,
}

/// Commands and where they are judged.
pub(super) struct CommandBatch {
    pub(super) family: CommandFamily,
    pub(super) variant: WorkspaceVariant,
    pub(super) mode: OracleMode,
    pub(super) commands: Vec<String>,
}

impl CommandBatch {
    /// Returns the batch of a round; the same for the same seed and round.
    pub(super) fn generate(seed: u64, round: u64, sources: &GeneratorSources) -> Self {
        let mut rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ round);
        let family = FAMILIES[usize::try_from(round).unwrap() % FAMILIES.len()];
        let (variant, mode) = random_place(&mut rng, family);
        let mut batch = Self { family, variant, mode, commands: Vec::new() };
        if family == CommandFamily::Mutation {
            return batch.mutate_corpus(&mut rng, &sources.corpus);
        }
        let count = family.batch_size();
        batch.commands.extend((0..count).map(|_| random_command(&mut rng, family, sources)));
        batch.keep_distinct(&mut rng)
    }

    /// Returns the classes of harm that the batch was made to reach.
    pub(super) fn aimed_classes(&self) -> &'static [&'static str] {
        match (self.family, self.variant.kind) {
            (CommandFamily::Parentheses, _) => &["A", "B"],
            (CommandFamily::PosixShell, _) => &["C"],
            (CommandFamily::StaleState, _) => &["D"],
            (CommandFamily::StaleNumber, _) => &["2"],
            (CommandFamily::ProgramOptions, _) => &["E", "3", "8"],
            (CommandFamily::GitOptions, VariantKind::GitConfig) => &["F"],
            (CommandFamily::GitOptions, VariantKind::GitFiles) => &["6"],
            (CommandFamily::GitOptions, VariantKind::BrokenGit) => &["7"],
            (CommandFamily::GitOptions, VariantKind::BareAtTop) => &["1"],
            (CommandFamily::GitOptions, _) => &["E"],
            (CommandFamily::Edits, _) => &["G", "4", "5"],
            (CommandFamily::Script | CommandFamily::Mutation, _) => &[],
        }
    }

    /// Takes commands of the corpus as they are and changed: of one row with its files, or of many.
    fn mutate_corpus(mut self, rng: &mut Rng, corpus: &Corpus) -> Self {
        let first = pick_one(rng, &corpus.commands);
        let is_special = !first.files.is_empty() || first.mode == OracleMode::AcceptEdits;
        if is_special {
            self.variant = WorkspaceVariant::from_corpus(first.files.clone());
            self.mode = first.mode;
        }
        for at in 0..if is_special { 40 } else { 200 } {
            let next = if is_special { first } else { pick_one(rng, &corpus.commands) };
            let command = next.command.replace("{{WS}}", ".");
            let other = &pick_one(rng, &corpus.commands).command;
            let as_it_is = at == 0 || happens(rng, 20);
            self.commands.push(if as_it_is { command } else { mutate(rng, &command, other) });
        }
        self.keep_distinct(rng)
    }

    fn keep_distinct(mut self, rng: &mut Rng) -> Self {
        self.commands.retain(|it| !it.contains('\0') && it.len() < 4_000);
        self.commands.sort();
        self.commands.dedup();
        rng.shuffle(&mut self.commands);
        self
    }
}

fn random_place(rng: &mut Rng, family: CommandFamily) -> (WorkspaceVariant, OracleMode) {
    let variant = match family {
        CommandFamily::Edits => {
            return (WorkspaceVariant::with_trees(rng), OracleMode::AcceptEdits);
        }
        CommandFamily::ProgramOptions => WorkspaceVariant::with_links(rng),
        CommandFamily::GitOptions => match rng.u8(..6) {
            0 | 5 => WorkspaceVariant::with_git_config(rng),
            1 => WorkspaceVariant::with_git_links(rng),
            2 => WorkspaceVariant::with_broken_git(rng),
            3 => WorkspaceVariant::with_bare_at_top(rng),
            _ => WorkspaceVariant::with_links(rng),
        },
        _ if happens(rng, 20) => WorkspaceVariant::with_links(rng),
        _ => WorkspaceVariant::plain(rng),
    };
    let mode = if happens(rng, 6) { OracleMode::AcceptEdits } else { OracleMode::Default };
    (variant, mode)
}

fn random_command(rng: &mut Rng, family: CommandFamily, sources: &GeneratorSources) -> String {
    match family {
        CommandFamily::Parentheses => random_parentheses(rng),
        CommandFamily::PosixShell => random_posix_shell(rng),
        CommandFamily::StaleState => random_stale_state(rng),
        CommandFamily::StaleNumber => random_stale_number(rng),
        CommandFamily::Script | CommandFamily::Mutation => random_script(rng),
        CommandFamily::ProgramOptions => random_program_call(rng, &sources.table),
        CommandFamily::GitOptions => random_git_call(rng, &sources.table),
        CommandFamily::Edits => random_edits(rng),
    }
}
