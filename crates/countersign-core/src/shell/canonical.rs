//! The canonical form: the small command language in which a command runs that nobody was asked about.
//!
//! The reader accepts only what this language can express; everything else is opaque. What is executed is
//! this form, run by our executor or printed for bash, and never the text it was read from. So a
//! difference between our reading and bash's can change what a command prints, not what it may do.

mod plain_text;
mod printer;

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longer forms are not executed.
const MAX_BYTES: usize = 24 * 1024;

/// A command line in the form in which it is executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanonicalCommandLine {
    /// What our executor runs.
    pub script: CanonicalScript,
    /// The same as text: running it with bash does what the executor does.
    pub text: String,
}

impl CanonicalCommandLine {
    /// Returns a tool's input with the canonical text as its `command`.
    pub fn apply_to_input<'a>(&self, input: &'a Value) -> Cow<'a, Value> {
        if input.get("command").and_then(Value::as_str) == Some(self.text.as_str()) {
            return Cow::Borrowed(input);
        }
        let mut input = input.clone();
        if let Some(command) = input.get_mut("command") {
            *command = Value::String(self.text.clone());
        }
        Cow::Owned(input)
    }

    /// Returns a tool's input with the program as its `command` and the words behind it as its `args`.
    ///
    /// A form that is more than one program with its words stays as the input is.
    pub fn apply_argv_to_input<'a>(&self, input: &'a Value) -> Cow<'a, Value> {
        let Some((program, words)) = self.program_and_words() else { return Cow::Borrowed(input) };
        let mut input = input.clone();
        if let Some(fields) = input.as_object_mut() {
            fields.insert("command".to_owned(), program.into());
            if !words.is_empty() || fields.contains_key("args") {
                fields.insert("args".to_owned(), words.into());
            }
        }
        Cow::Owned(input)
    }

    /// Returns the file that runs and the words it gets, where that is all there is to it.
    pub fn program_and_words(&self) -> Option<(String, Vec<String>)> {
        let CanonicalScript::Command(command) = &self.script else { return None };
        let CanonicalCommand { assignments, words, program, redirections } = command;
        if !assignments.is_empty() || !redirections.is_empty() {
            return None;
        }
        let program = program.as_ref()?.to_str()?.to_owned();
        let words = words.iter().skip(1).map(|word| word.as_literal().map(str::to_owned));
        Some((program, words.collect::<Option<_>>()?))
    }

    /// Returns the same with the file that runs, where it is a single command.
    #[must_use]
    pub fn with_program(mut self, program: PathBuf) -> Self {
        if let CanonicalScript::Command(command) = &mut self.script {
            command.program = Some(program);
        }
        self
    }

    /// Returns the canonical form of a command line, given what was written and how it was read.
    ///
    /// A text that is plain already stays as it was written. The error says why there is no form.
    pub(super) fn new(written: &str, script: CanonicalScript) -> Result<Self, String> {
        let text = if plain_text::is_plain(written, &script) {
            written.to_owned()
        } else {
            printer::print(&script)
        };
        // It is handed over as one argument, and shown to people.
        if text.len() > MAX_BYTES {
            return Err("written out, it is too long to be run without asking".to_owned());
        }
        Ok(Self { script, text })
    }

    /// Returns the same with every word quoted, for where even a plain text would be read otherwise.
    #[must_use]
    pub fn with_quoted_words(self) -> Self {
        Self { text: printer::print(&self.script), ..self }
    }
}

/// A script of the canonical language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "of", rename_all = "snake_case")]
pub enum CanonicalScript {
    /// One command.
    Command(CanonicalCommand),
    /// Scripts that run at once, each with the output of the one before as its input.
    Pipeline(Vec<CanonicalScript>),
    /// Scripts that run one after the other. An empty sequence succeeds.
    Sequence(Vec<CanonicalScript>),
    /// The second runs if the first succeeds.
    And(Box<CanonicalScript>, Box<CanonicalScript>),
    /// The second runs if the first fails.
    Or(Box<CanonicalScript>, Box<CanonicalScript>),
    /// Succeeds if the script fails.
    Not(Box<CanonicalScript>),
    /// Tells afterwards how long the script took.
    Timed(Box<CanonicalScript>),
    /// Runs in a shell of its own: no variable and no `cd` outlives it.
    Subshell(Box<CanonicalScript>),
    /// Runs with these redirections.
    Redirected(Box<CanonicalScript>, Vec<CanonicalRedirection>),
    /// Runs one of two scripts.
    If {
        /// What decides.
        condition: Box<CanonicalScript>,
        /// Runs if the condition succeeds.
        then: Box<CanonicalScript>,
        /// Runs if it fails.
        otherwise: Box<CanonicalScript>,
    },
    /// Runs again and again.
    While {
        /// What decides, before every round.
        condition: Box<CanonicalScript>,
        /// Whether it runs as long as the condition fails, not as long as it succeeds.
        until: bool,
        /// Runs in every round.
        body: Box<CanonicalScript>,
    },
}

impl CanonicalScript {
    /// Returns the script that does nothing, and succeeds.
    pub fn no_op() -> Self {
        Self::Sequence(Vec::new())
    }

    /// Calls a function with every command, in whatever it stands, words included.
    pub fn for_each_command(&mut self, change: &mut dyn FnMut(&mut CanonicalCommand)) {
        match self {
            Self::Command(command) => {
                let assigned = command.assignments.iter_mut().map(|it| &mut it.value);
                for word in command.words.iter_mut().chain(assigned) {
                    for piece in &mut word.0 {
                        if let WordPiece::Output(script) = piece {
                            script.for_each_command(change);
                        }
                    }
                }
                change(command);
            }
            Self::Pipeline(scripts) | Self::Sequence(scripts) => {
                for script in scripts {
                    script.for_each_command(change);
                }
            }
            Self::And(first, second) | Self::Or(first, second) => {
                first.for_each_command(change);
                second.for_each_command(change);
            }
            Self::Not(inner)
            | Self::Timed(inner)
            | Self::Subshell(inner)
            | Self::Redirected(inner, _) => inner.for_each_command(change),
            Self::If { condition, then, otherwise } => {
                for script in [condition, then, otherwise] {
                    script.for_each_command(change);
                }
            }
            Self::While { condition, body, .. } => {
                condition.for_each_command(change);
                body.for_each_command(change);
            }
        }
    }

    /// Returns a sequence, flattened where that changes nothing.
    pub(super) fn in_sequence(scripts: Vec<Self>) -> Self {
        let mut flat = Vec::new();
        for script in scripts {
            match script {
                Self::Sequence(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            1 => flat.pop().unwrap_or_else(Self::no_op),
            _ => Self::Sequence(flat),
        }
    }

    /// Returns a script with redirections, if there are any.
    pub(super) fn with_redirections(self, redirections: Vec<CanonicalRedirection>) -> Self {
        if redirections.is_empty() { self } else { Self::Redirected(Box::new(self), redirections) }
    }
}

/// One command: a program or a builtin with its words, or assignments alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanonicalCommand {
    /// Variables given to the program; of the shell itself where there are no words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<CanonicalAssignment>,
    /// The program's name and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<CanonicalWord>,
    /// The file that runs; none for a builtin, or where the name is looked up when it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// Where its streams lead, in the order in which that is set up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirections: Vec<CanonicalRedirection>,
}

/// A variable and what it is set to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanonicalAssignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: CanonicalWord,
}

/// One argument: it stays one, whatever its pieces turn out to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CanonicalWord(pub Vec<WordPiece>);

impl CanonicalWord {
    /// Returns the word that is this text.
    pub fn literal(text: impl Into<String>) -> Self {
        Self(vec![WordPiece::Literal(text.into())])
    }

    /// Returns the text, if nothing in it is decided only when it runs.
    pub fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [WordPiece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Adds a piece; texts that meet become one.
    pub(super) fn push(&mut self, piece: WordPiece) {
        match (self.0.last_mut(), piece) {
            (Some(WordPiece::Literal(text)), WordPiece::Literal(more)) => text.push_str(&more),
            (_, piece) => self.0.push(piece),
        }
    }
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "of", rename_all = "snake_case")]
pub enum WordPiece {
    /// Exactly this text.
    Literal(String),
    /// What a variable holds when the command runs.
    Variable(String),
    /// The exit code of the command before.
    Status,
    /// What a script prints, without the newlines at its end.
    Output(Box<CanonicalScript>),
}

/// Where a stream of a command leads. Only the three standard streams are redirected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CanonicalRedirection {
    /// Standard input comes from a file.
    Read {
        /// The file.
        path: String,
    },
    /// A stream goes into a file.
    Write {
        /// Which stream: 1 or 2.
        stream: u8,
        /// The file.
        path: String,
        /// Whether the file keeps what it holds.
        append: bool,
    },
    /// A stream goes where another one goes now.
    Duplicate {
        /// Which stream: 1 or 2.
        stream: u8,
        /// The other one: 1 or 2.
        to: u8,
    },
    /// Standard input is a text; a newline is added.
    Text {
        /// The text.
        text: CanonicalWord,
    },
}

#[cfg(test)]
mod tests;
