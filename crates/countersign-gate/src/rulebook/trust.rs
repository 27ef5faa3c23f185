//! Which contents of workspaces' files their user has trusted: a small file of our own.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::{fs, io};

use countersign_core::Digest;

use super::rule_files::read_bounded;

/// The digest that is trusted, by root. A file that cannot be read trusts nothing.
#[derive(Debug, Default)]
pub(super) struct TrustedDigests {
    bytes: Vec<u8>,
    digests: BTreeMap<String, Digest>,
}

impl TrustedDigests {
    /// Reads the file anew. It is small, and what it says must hold at once.
    pub(super) fn refresh(&mut self, file: &Path) {
        let bytes = read_bounded(file).unwrap_or_default();
        if bytes != self.bytes {
            self.digests = serde_json::from_slice(&bytes).unwrap_or_default();
            self.bytes = bytes;
        }
    }

    pub(super) fn is_trusted(&self, root: &Path, digest: &Digest) -> bool {
        root.to_str().and_then(|root| self.digests.get(root)) == Some(digest)
    }
}

/// Adds a digest to the file, which is replaced whole.
pub(super) fn add_trusted_digest(file: &Path, root: &Path, digest: &Digest) -> io::Result<()> {
    let root =
        root.to_str().ok_or_else(|| io::Error::other("the workspace's path is not UTF-8"))?;
    let mut digests: BTreeMap<String, Digest> = match read_bounded(file) {
        Ok(bytes) => serde_json::from_slice(&bytes)?,
        Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
        Err(error) => return Err(error),
    };
    digests.insert(root.to_owned(), digest.clone());
    let folder = file.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let draft = folder.join(format!(".trust-{}", uuid::Uuid::now_v7()));
    let written = write(&draft, &serde_json::to_vec_pretty(&digests)?)
        .and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        // The draft may not even be there; what matters is told already.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(file)?;
    file.write_all(bytes)?;
    file.sync_all()
}
