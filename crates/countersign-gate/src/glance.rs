//! A glance at the rules of a project and at the servers' public key, for a program that has a moment and no server.
//!
//! One connection that only reads: no writer, no threads, no migration. So it can be taken for every call
//! of an agent, beside the server that owns the file.

use std::path::Path;

use countersign_core::rule::{Anchors, Layer, RuleSet};
use countersign_core::{ProjectId, SessionId};

use crate::identity::ServerPublicKey;
use crate::rules::compiled;
use crate::store::{StoreError, glance, public_key_of, rules_of};

/// Returns the rules that hold in a project and one of its conversations: those of the files given, and
/// those that the database in `file` keeps. Blocks.
///
/// On an error nothing is known of the kept ones: to go by the files alone would forget denials.
pub fn rules_at(
    file: &Path,
    project: &ProjectId,
    session: &SessionId,
    files: &[Layer],
    anchors: Anchors,
) -> Result<RuleSet, StoreError> {
    let stored = rules_of(glance(file)?.as_mut(), project, session)?;
    Ok(compiled(files, &stored, anchors))
}

/// Returns the public key of the servers of the database in `file`, if they have one. Blocks.
pub fn server_key_at(file: &Path) -> Result<Option<ServerPublicKey>, StoreError> {
    let found = public_key_of(glance(file)?.as_mut())?;
    let parsed = found.map(|text| text.parse()).transpose();
    parsed.map_err(|error: String| StoreError::corrupt("server key", error))
}
