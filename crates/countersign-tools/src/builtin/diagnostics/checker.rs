//! Checkers: which ones fit a project, how they are called and how they speak.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::folder_of;
use super::message::{CheckerMessage, CheckerSeverity};

/// A program that checks code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CodeChecker {
    Cargo,
    Tsc,
    Ruff,
    Pyright,
}

/// A checker in the folder it is to run in.
#[derive(Clone, Debug)]
pub(super) struct CheckerRun {
    pub(super) checker: CodeChecker,
    pub(super) folder: PathBuf,
    /// The file that runs, once it was found.
    pub(super) program: PathBuf,
    /// How it is called: the project's own one by its place.
    name: &'static str,
}

const ALL: [CodeChecker; 4] =
    [CodeChecker::Cargo, CodeChecker::Tsc, CodeChecker::Ruff, CodeChecker::Pyright];

/// Where a project keeps a compiler of its own.
const OWN_TSC: &str = "node_modules/.bin/tsc";

impl CodeChecker {
    fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Tsc => "tsc",
            Self::Ruff => "ruff",
            Self::Pyright => "pyright",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Cargo => &["check", "--quiet", "--all-targets", "--message-format=json"],
            Self::Tsc => &["--noEmit", "--pretty", "false"],
            Self::Ruff => &["check", "--quiet", "--output-format=json"],
            Self::Pyright => &["--outputjson"],
        }
    }

    /// Files that say that a project is to be checked by it.
    fn marks(self) -> &'static [&'static str] {
        match self {
            Self::Cargo => &["Cargo.toml"],
            Self::Tsc => &["tsconfig.json"],
            Self::Ruff => &["pyproject.toml", "ruff.toml", ".ruff.toml", "setup.py", "setup.cfg"],
            Self::Pyright => &["pyproject.toml", "pyrightconfig.json", "setup.py", "setup.cfg"],
        }
    }

    /// Endings of the files it checks.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Cargo => &["rs", "toml"],
            Self::Tsc => &["ts", "tsx", "mts", "cts", "js", "jsx", "json"],
            Self::Ruff | Self::Pyright => &["py", "pyi", "toml"],
        }
    }

    /// Reads what it said.
    pub(super) fn messages(self, stdout: &str) -> Vec<CheckerMessage> {
        match self {
            Self::Cargo => stdout.lines().filter_map(of_cargo).collect(),
            Self::Tsc => stdout.lines().filter_map(of_tsc).collect(),
            Self::Ruff => read_list(json(stdout).as_ref(), of_ruff),
            Self::Pyright => {
                let said = json(stdout);
                read_list(said.as_ref().and_then(|it| it.get("generalDiagnostics")), of_pyright)
            }
        }
    }
}

impl CheckerRun {
    /// Returns the checkers that fit a file or folder, each in the nearest folder that is its own.
    pub(super) fn find_fitting(
        about: &Path,
        roots: &[PathBuf],
        only: Option<CodeChecker>,
    ) -> Vec<Self> {
        let fits = |checker: &CodeChecker| {
            let ending = about.extension().and_then(|ending| ending.to_str());
            let speaks = about.is_dir() || ending.is_some_and(|it| checker.endings().contains(&it));
            only.map_or(speaks, |only| only == *checker)
        };
        let checks = ALL.into_iter().filter(fits).filter_map(|checker| {
            let inside = |folder: &&Path| roots.iter().any(|root| folder.starts_with(root));
            let mut above = folder_of(about).ancestors().take_while(inside);
            let is_marked =
                |folder: &Path| checker.marks().iter().any(|mark| folder.join(mark).is_file());
            let folder = above.find(|folder| is_marked(folder))?;
            let (folder, name) = (folder.to_owned(), checker.name());
            Some(Self { checker, folder, program: PathBuf::new(), name })
        });
        checks.collect()
    }

    /// Returns the check with its program, or the name of what is missing.
    pub(super) fn find_program(self, search_path: &str) -> Result<Self, &'static str> {
        let own = self.folder.join(OWN_TSC);
        if self.checker == CodeChecker::Tsc && own.is_file() {
            return Ok(Self { program: own, name: OWN_TSC, ..self });
        }
        let folders = search_path.split(':').map(Path::new).filter(|folder| folder.is_absolute());
        let program = folders.map(|folder| folder.join(self.name)).find(|path| path.is_file());
        program.map(|program| Self { program, ..self }).ok_or(self.checker.name())
    }

    pub(super) fn arguments(&self) -> impl Iterator<Item = &'static str> {
        self.checker.arguments().iter().copied()
    }

    /// Returns the command as one would type it.
    pub(super) fn line(&self) -> String {
        std::iter::once(self.name).chain(self.arguments()).collect::<Vec<_>>().join(" ")
    }
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn read_list(
    said: Option<&Value>,
    read: fn(&Value) -> Option<CheckerMessage>,
) -> Vec<CheckerMessage> {
    said.and_then(Value::as_array).into_iter().flatten().filter_map(read).collect()
}

fn word<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// One line of JSON, of which only messages of the compiler count.
fn of_cargo(line: &str) -> Option<CheckerMessage> {
    let said = json(line).filter(|said| word(said, "/reason") == Some("compiler-message"))?;
    let message = said.get("message")?;
    let spans = message.get("spans").and_then(Value::as_array)?;
    let main =
        spans.iter().find(|span| span.get("is_primary").and_then(Value::as_bool) == Some(true));
    let text = word(message, "/message")?.to_owned();
    // Sums up what was said before.
    if main.is_none() && (text.starts_with("aborting due to") || text.contains(" emitted")) {
        return None;
    }
    Some(CheckerMessage {
        file: main.and_then(|span| word(span, "/file_name")).map(PathBuf::from),
        line: main.map_or(0, |span| number(span, "/line_start")),
        column: main.map_or(0, |span| number(span, "/column_start")),
        level: CheckerSeverity::from_word(word(message, "/level")?)?,
        code: word(message, "/code/code").map(str::to_owned),
        text,
    })
}

/// `src/a.ts(3,5): error TS2322: Type …`
fn of_tsc(line: &str) -> Option<CheckerMessage> {
    let (place, rest) = line.split_once("): ")?;
    let (file, place) = place.rsplit_once('(')?;
    let (row, column) = place.split_once(',')?;
    let (head, text) = rest.split_once(": ")?;
    let (level, code) = head.split_once(' ')?;
    Some(CheckerMessage {
        file: Some(PathBuf::from(file)),
        line: row.parse().ok()?,
        column: column.parse().ok()?,
        level: CheckerSeverity::from_word(level)?,
        code: Some(code.to_owned()),
        text: text.to_owned(),
    })
}

fn of_ruff(said: &Value) -> Option<CheckerMessage> {
    let code = word(said, "/code").map(str::to_owned);
    Some(CheckerMessage {
        file: Some(PathBuf::from(word(said, "/filename")?)),
        line: number(said, "/location/row"),
        column: number(said, "/location/column"),
        // What has no rule, or the rule for it, could not even be read.
        level: match code.as_deref() {
            None | Some("E999" | "invalid-syntax") => CheckerSeverity::Error,
            Some(_) => CheckerSeverity::Warning,
        },
        code,
        text: word(said, "/message")?.to_owned(),
    })
}

fn of_pyright(said: &Value) -> Option<CheckerMessage> {
    Some(CheckerMessage {
        file: Some(PathBuf::from(word(said, "/file")?)),
        line: number(said, "/range/start/line") + 1,
        column: number(said, "/range/start/character") + 1,
        level: CheckerSeverity::from_word(word(said, "/severity")?)?,
        code: word(said, "/rule").map(str::to_owned),
        text: word(said, "/message")?.to_owned(),
    })
}

#[cfg(test)]
mod tests;
