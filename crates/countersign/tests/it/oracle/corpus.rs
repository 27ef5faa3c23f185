//! Corpora of commands to start from: the project's own, and what lies in a shared folder beside it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::given_file::GivenFile;
use super::process::{clean_command, run_to_end};
use super::verdict::OracleMode;

const OWN: [&str; 3] = [
    include_str!("../../../../countersign-core/tests/fixtures/redteam/commands.jsonl"),
    include_str!("../../../../countersign-core/tests/fixtures/redteam/contextual.jsonl"),
    include_str!("../../../../countersign-core/tests/fixtures/redteam/more.jsonl"),
];

/// By what else a row's verdict may be explained: with these an allow says nothing.
const RULED: [&str; 9] =
    ["rules", "hook", "classifier", "learned_from", "trusted", "env", "cwd", "sandbox", "contain"];

/// So many rows of one shared file are taken.
const MOST: usize = 20_000;

/// A command of a corpus with the files it was written for.
#[derive(Clone, Debug)]
pub(super) struct CorpusCommand {
    pub(super) command: String,
    pub(super) mode: OracleMode,
    pub(super) files: Vec<GivenFile>,
}

/// Commands to mutate.
pub(super) struct Corpus {
    pub(super) commands: Vec<CorpusCommand>,
    /// Where they come from, for people.
    pub(super) sources: String,
}

impl Corpus {
    pub(super) fn read(shared: Option<&Path>) -> Self {
        let mut commands: Vec<_> = OWN.iter().flat_map(|text| read_rows(text)).collect();
        let own = commands.len();
        let Some(shared) = shared else {
            return Self { commands, sources: format!("{own} own commands, no shared folder") };
        };
        for file in list_files(&shared.join("redteam"), "jsonl") {
            commands.extend(read_rows(&fs::read_to_string(file).unwrap_or_default()));
        }
        for file in list_files(&shared.join("corpus"), "gz") {
            let mut unpack = clean_command("gzip");
            let (_, text, _) = run_to_end(unpack.arg("-dc").arg(file), "");
            commands.extend(read_rows(&text).into_iter().take(MOST));
        }
        let more = commands.len() - own;
        Self { commands, sources: format!("{own} own commands and {more} of the shared folder") }
    }
}

fn list_files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let mut files: Vec<_> =
        entries.filter(|it| it.extension().is_some_and(|found| found == ending)).collect();
    files.sort();
    files
}

fn read_rows(text: &str) -> Vec<CorpusCommand> {
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    rows.filter_map(|row| read_row(&row)).collect()
}

fn read_row(row: &Value) -> Option<CorpusCommand> {
    let command = row["input"]["command"].as_str().or_else(|| row["command"].as_str())?;
    let given = &row["given"];
    let is_shell = row.get("tool").is_none_or(|it| it == "Bash");
    let is_ruled = RULED.iter().any(|name| given.get(name).is_some());
    if !is_shell
        || is_ruled
        || command.is_empty()
        || command.len() > 2_000
        || command.contains('\0')
    {
        return None;
    }
    let mode = match given["mode"].as_str() {
        None | Some("default") => OracleMode::Default,
        Some("acceptEdits") => OracleMode::AcceptEdits,
        Some(_) => return None,
    };
    let files = given["files"].as_array().into_iter().flatten();
    let files = files.map(GivenFile::from_row).collect::<Option<Vec<_>>>()?;
    Some(CorpusCommand { command: command.to_owned(), mode, files })
}
