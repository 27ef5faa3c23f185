//! An approval and the rehearsal of its command: shown while it waits, part of what a yes is bound to.

use super::{Execution, ExecutionStatus, StateConflict};
use crate::{CommandPreview, Digest, Preview, RehearsalState};

impl Execution {
    /// Shows with a command that waits how its rehearsal stands. What a yes is bound to changes only
    /// where a yes keeps what the rehearsal did.
    pub(crate) fn record_rehearsal(self, rehearsal: RehearsalState) -> Result<Self, StateConflict> {
        if self.status() != ExecutionStatus::AwaitingApproval {
            return Err(StateConflict(Box::new(self)));
        }
        Ok(self.with_rehearsal(Some(rehearsal)))
    }

    /// Returns the request as somebody saw it who names this digest: with its rehearsal or, if they
    /// decided before that was over, without. Gives it back where they saw neither.
    pub fn restore_seen_version(self, seen: &Digest) -> Result<Self, Box<Self>> {
        if self.digest == *seen {
            return Ok(self);
        }
        if self.kept_rehearsal().is_some() {
            let without = self.clone().with_rehearsal(None);
            if without.digest == *seen {
                return Ok(without);
            }
        }
        Err(Box::new(self))
    }

    /// Returns the digest of the rehearsal that a yes keeps.
    pub fn kept_rehearsal(&self) -> Option<&Digest> {
        self.preview.as_ref().and_then(Preview::rehearsal).and_then(RehearsalState::kept_digest)
    }

    fn with_rehearsal(self, rehearsal: Option<RehearsalState>) -> Self {
        let preview = self.preview.map(|preview| match preview {
            Preview::Command(command) => {
                Preview::Command(CommandPreview { rehearsal, ..command }).mask_secrets()
            }
            other => other,
        });
        Self { preview, ..self }.with_updated_binding()
    }
}
