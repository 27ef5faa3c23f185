//! An operand, as one command in one folder finds it.

use std::path::Path;

use super::super::super::WordValue;
use super::super::super::argument_grammar::ParsedArguments;
use super::super::super::machine_view::MachineView;
use crate::EffectTarget;

/// An operand, as one command in one folder finds it.
pub(super) struct FileOperand {
    /// As it was written.
    pub(super) written: String,
    /// The last name as it was written; none for `.`, `..` and `/`.
    pub(super) name: Option<String>,
    /// Where it lies.
    pub(super) entry: EffectTarget,
    /// Where it leads.
    pub(super) target: EffectTarget,
}

impl FileOperand {
    pub(super) fn is_link(&self) -> bool {
        self.entry.path != self.target.path
    }

    /// Both where it lies and where it leads, once if that is the same.
    pub(super) fn places(&self) -> impl Iterator<Item = &EffectTarget> {
        let led = self.is_link().then_some(&self.target);
        std::iter::once(&self.entry).chain(led)
    }
}

pub(super) fn split(operands: &[FileOperand]) -> Result<(&FileOperand, &[FileOperand]), String> {
    let (to, sources) = operands.split_last().ok_or("an operand is missing")?;
    if sources.is_empty() { Err("an operand is missing".to_owned()) } else { Ok((to, sources)) }
}

/// The operands as they are found in each folder the command may run in.
pub(super) fn in_each_folder(
    given: &ParsedArguments<'_>,
    view: MachineView<'_>,
) -> Result<Vec<Vec<FileOperand>>, String> {
    if given.operands.is_empty() {
        return Err("an operand is missing".to_owned());
    }
    let folders = view.folders()?.iter();
    folders.map(|cwd| operands_in(cwd, given, view)).collect()
}

fn operands_in(
    cwd: &Path,
    given: &ParsedArguments<'_>,
    view: MachineView<'_>,
) -> Result<Vec<FileOperand>, String> {
    let mut found = Vec::new();
    for (at, word) in given.operands.iter().enumerate() {
        match &word.value {
            WordValue::Literal(path) => found.push(operand(cwd, path, view)?),
            // The last one must be one word.
            WordValue::Glob(pattern) if at + 1 < given.operands.len() || at == 0 => {
                let matched = view.named_targets(word)?;
                if matched.is_empty() {
                    found.push(operand(cwd, pattern, view)?);
                }
                for target in matched {
                    let written = target.names().last().and_then(Path::to_str);
                    let written = written.ok_or("a name is not text")?;
                    found.push(operand(Path::new("/"), written, view)?);
                }
            }
            WordValue::Glob(_) | WordValue::Text | WordValue::Words => {
                return Err(format!("what `{}` names is decided only when it runs", word.text));
            }
        }
    }
    Ok(found)
}

fn operand(cwd: &Path, path: &str, view: MachineView<'_>) -> Result<FileOperand, String> {
    let machine = view.machine();
    let unknown = || format!("where `{path}` leads is unknown");
    let target = machine.target(cwd, path).ok_or_else(unknown)?;
    let entry = machine.entry(cwd, path).ok_or_else(unknown)?;
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = Some(last.to_owned()).filter(|last| !matches!(last.as_str(), "" | "." | ".."));
    Ok(FileOperand { written: path.to_owned(), name, entry, target })
}
