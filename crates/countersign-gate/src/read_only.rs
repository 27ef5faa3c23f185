//! A glance at the rules of a project and at the servers' public key, for a program that has a moment and no server.
//!
//! One connection that only reads: no writer, no threads, no migration. So it can be taken for every call
//! of an agent, beside the server that owns the file.

use std::path::Path;

use countersign_core::rule::{PatternAnchors, RuleLayer, RuleSet};
use countersign_core::{ProjectId, SessionId};

#[cfg(feature = "identity")]
use crate::identity::ServerPublicKey;
use crate::rule_cache::compile_rules;
#[cfg(feature = "identity")]
use crate::store::read_public_key;
use crate::store::{StoreError, open_read_only, read_rules};

/// Returns the rules that hold in a project and one of its conversations: those of the files given, and
/// those that the database in `file` keeps. Blocks.
///
/// On an error nothing is known of the kept ones: to go by the files alone would forget denials.
pub fn load_rules(
    file: &Path,
    project: &ProjectId,
    session: &SessionId,
    files: &[RuleLayer],
    anchors: PatternAnchors,
) -> Result<RuleSet, StoreError> {
    let stored = read_rules(open_read_only(file)?.as_mut(), project, session)?;
    Ok(compile_rules(files, &stored, anchors))
}

#[cfg(feature = "identity")]
/// Returns the public key of the servers of the database in `file`, if they have one. Blocks.
pub fn load_server_key(file: &Path) -> Result<Option<ServerPublicKey>, StoreError> {
    let found = read_public_key(open_read_only(file)?.as_mut())?;
    let parsed = found.map(|text| text.parse()).transpose();
    parsed.map_err(|error: String| StoreError::corrupt("server key", error))
}
