//! Effects: what a call would do to the world, in words the rules understand.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::PathClass;

/// A path that an effect touches, resolved, with what is known about where it lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectTarget {
    /// Absolute, links resolved as far as the path exists.
    pub path: PathBuf,
    /// Where that is.
    pub place: PathClass,
    /// How it was written, absolute and without `..`, where links led elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<PathBuf>,
    /// How people read it, where it lies on another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

impl EffectTarget {
    /// Returns a path that is what it says.
    pub fn new(path: impl Into<PathBuf>, place: PathClass) -> Self {
        Self { path: path.into(), place, via: None, shown: None }
    }

    /// Returns the same as people read it who know it from another machine.
    #[must_use]
    pub fn with_display_path(self, shown: String) -> Self {
        Self { shown: Some(shown), ..self }
    }

    /// Returns the path as people read it.
    pub fn display_path(&self) -> String {
        self.shown.clone().unwrap_or_else(|| self.path.display().to_string())
    }

    /// Returns the same as reached by a path that was written so.
    #[must_use]
    pub fn with_written_path(self, path: PathBuf) -> Self {
        let via = Some(path).filter(|path| *path != self.path);
        Self { via, ..self }
    }

    /// Returns all names it goes by: where it leads, and how it was written.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.path.as_path()).chain(self.via.as_deref())
    }
}

/// One thing a call would do.
///
/// A planner that cannot tell says [`Effect::Opaque`]: no recognised effect is not no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Effect {
    /// Reads a file or a folder.
    Read(EffectTarget),
    /// Reads everything below a folder.
    ReadAll(EffectTarget),
    /// Creates or changes a file.
    Write(EffectTarget),
    /// Removes a file, or a folder that holds nothing.
    Delete(EffectTarget),
    /// Removes a folder with all that is in it.
    DeleteAll(EffectTarget),
    /// Moves a file or a folder; what lay at the new place is gone.
    Rename {
        /// Where it was.
        from: EffectTarget,
        /// Where it will be.
        to: EffectTarget,
    },
    /// Talks to another machine.
    Net {
        /// Which one, where the call says so.
        host: Option<String>,
    },
    /// Sets a variable of the environment in which later programs run.
    Env {
        /// The variable.
        name: String,
    },
    /// Runs a program.
    Exec {
        /// The words it is started with.
        argv: Vec<String>,
        /// The file that would run, where it was found.
        program: Option<PathBuf>,
    },
    /// Runs a program that only reads if it is what its name says; which it is, nobody here can tell.
    ReadsByName {
        /// The words it is started with.
        argv: Vec<String>,
    },
    /// Reads from a service, with the person's credentials.
    RemoteRead {
        /// The program that does it.
        program: String,
    },
    /// Starts another agent.
    SpawnAgent {
        /// Which one.
        agent: String,
    },
    /// Leaves something behind that runs after the call is over.
    RunsLater {
        /// What.
        what: String,
    },
    /// Runs outside the sandbox that holds every other command.
    LeavesSandbox,
    /// Does what is never part of the work, such as destroying the system: denied whoever asks.
    Forbidden {
        /// Why.
        why: String,
    },
    /// Does something that could not be determined.
    Opaque {
        /// Why not.
        why: String,
    },
}

impl Effect {
    /// Returns what it changes: what is written, removed or moved, and where to.
    pub fn changed_targets(&self) -> Vec<&EffectTarget> {
        match self {
            Self::Write(target) | Self::Delete(target) | Self::DeleteAll(target) => vec![target],
            Self::Rename { from, to } => vec![from, to],
            Self::Read(_)
            | Self::ReadAll(_)
            | Self::Net { .. }
            | Self::Env { .. }
            | Self::Exec { .. }
            | Self::ReadsByName { .. }
            | Self::RemoteRead { .. }
            | Self::SpawnAgent { .. }
            | Self::RunsLater { .. }
            | Self::LeavesSandbox
            | Self::Forbidden { .. }
            | Self::Opaque { .. } => Vec::new(),
        }
    }

    /// Returns whether the effect leaves the world as it was.
    pub fn is_read_only(&self) -> bool {
        match self {
            Self::Read(_) | Self::ReadAll(_) => true,
            Self::Write(_)
            | Self::Delete(_)
            | Self::DeleteAll(_)
            | Self::Rename { .. }
            | Self::Net { .. }
            | Self::Env { .. }
            | Self::Exec { .. }
            | Self::ReadsByName { .. }
            | Self::RemoteRead { .. }
            | Self::SpawnAgent { .. }
            | Self::RunsLater { .. }
            | Self::LeavesSandbox
            | Self::Forbidden { .. }
            | Self::Opaque { .. } => false,
        }
    }
}
