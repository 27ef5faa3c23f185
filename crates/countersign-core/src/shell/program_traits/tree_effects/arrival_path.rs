//! Where a source arrives that is copied, moved or linked.

use std::path::{Path, PathBuf};

use super::super::super::TreeKind;
use super::super::super::argument_grammar::ParsedArguments;
use super::super::super::machine_view::MachineView;
use super::file_operand::FileOperand;
use crate::EffectTarget;

/// Where a source arrives.
pub(super) struct ArrivalPath {
    /// Where its tree begins.
    pub(super) path: PathBuf,
    /// Where that leads.
    pub(super) target: EffectTarget,
    /// Where that lies, if a link stands there.
    pub(super) entry: Option<EffectTarget>,
}

impl ArrivalPath {
    /// Into a folder under its own name, or at the very place.
    pub(super) fn for_source(
        from: &FileOperand,
        to: &FileOperand,
        sources: usize,
        given: &ParsedArguments<'_>,
        view: MachineView<'_>,
    ) -> Result<Self, String> {
        // A slash behind a name that is not there yet makes no folder: the tree takes that name.
        let is_folder = view.machine().kind(&to.target.path) == Some(TreeKind::Folder);
        let into = is_folder || sources > 1;
        match &from.name {
            Some(name) if into && !is_exact(given) => {
                Self::from_path(&to.target.path.join(name), view)
            }
            _ => {
                let entry = Some(&to.entry).filter(|_| to.is_link()).cloned();
                Ok(Self { path: to.target.path.clone(), target: to.target.clone(), entry })
            }
        }
    }

    /// What is not there yet may be made a folder by what runs before.
    pub(super) fn inside_future_folder(
        from: &FileOperand,
        to: &FileOperand,
        given: &ParsedArguments<'_>,
        view: MachineView<'_>,
    ) -> Option<Self> {
        let missing = view.machine().kind(&to.target.path) == Some(TreeKind::Missing);
        let name = from.name.as_ref().filter(|_| missing && !is_exact(given))?;
        Self::from_path(&to.target.path.join(name), view).ok()
    }

    fn from_path(path: &Path, view: MachineView<'_>) -> Result<Self, String> {
        let text = path.to_str().ok_or("a name is not text")?;
        let root = Path::new("/");
        let target = view.machine().target(root, text).ok_or("where it arrives is unknown")?;
        let entry = view.machine().entry(root, text).filter(|lies| lies.path != target.path);
        Ok(Self { path: target.path.clone(), target, entry })
    }
}

fn is_exact(given: &ParsedArguments<'_>) -> bool {
    given.has_one_of("-T --no-target-directory")
}
