//! An approval and the rehearsal of its command: shown while it waits, part of what a yes is bound to.

use super::{AlreadySettled, Approval, Status};
use crate::{CommandPreview, Digest, Preview, Rehearsal};

impl Approval {
    /// Shows with a command that waits how its rehearsal stands. What a yes is bound to changes only
    /// where a yes keeps what the rehearsal did.
    pub fn rehearse(self, rehearsal: Rehearsal) -> Result<Self, AlreadySettled> {
        if self.status() != Status::AwaitingApproval {
            return Err(AlreadySettled(Box::new(self)));
        }
        Ok(self.with_rehearsal(Some(rehearsal)))
    }

    /// Returns the request as somebody saw it who names this digest: with its rehearsal or, if they
    /// decided before that was over, without. Gives it back where they saw neither.
    pub fn as_seen(self, seen: &Digest) -> Result<Self, Box<Self>> {
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
        self.preview.as_ref().and_then(Preview::rehearsal).and_then(Rehearsal::kept)
    }

    fn with_rehearsal(self, rehearsal: Option<Rehearsal>) -> Self {
        let preview = self.preview.map(|preview| match preview {
            Preview::Command(command) => {
                Preview::Command(CommandPreview { rehearsal, ..command }).masked()
            }
            other => other,
        });
        Self { preview, ..self }.bound()
    }
}
