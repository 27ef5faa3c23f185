//! A credential file: the token in the first line and, below it, the key by which its server is known.
//!
//! ```text
//! cs_agent_0b51…
//! server ed25519:9f3c…
//! ```

use std::io::Write;
use std::path::{Path, PathBuf};

use countersign_gate::ServerPublicKey;
use secrecy::{ExposeSecret, SecretString};

/// The word before the server's key.
const SERVER: &str = "server ";

/// A token, and who may be told it.
#[derive(Clone, Debug)]
pub struct ServerCredential {
    /// The token.
    pub token: SecretString,
    /// The key of the only server that may be told the token; none where it is not known.
    pub server_key: Option<ServerPublicKey>,
}

/// Why a credential file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// It cannot be read.
    #[error("could not read the token file `{}`", .0.display())]
    Read(PathBuf, #[source] std::io::Error),
    /// It holds something else than a token and a key.
    #[error("the token file `{}` {why}", .file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// It cannot be written.
    #[error("could not write the token file `{}`", .0.display())]
    Write(PathBuf, #[source] std::io::Error),
}

impl ServerCredential {
    /// Reads a file. A line that is not understood is an error: it may be a key with a slip in it.
    pub fn read(file: &Path) -> Result<Self, CredentialError> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| CredentialError::Read(file.to_owned(), error))?;
        Self::parse(&text).map_err(|why| CredentialError::Malformed { file: file.to_owned(), why })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.trim().lines();
        let token = lines.next().unwrap_or_default().trim().to_owned();
        let mut server_key = None;
        for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
            let key = line.strip_prefix(SERVER).ok_or("has a line that is not understood")?;
            server_key = Some(key.trim().parse().map_err(|why| format!("has a bad key: {why}"))?);
        }
        Ok(Self { token: token.into(), server_key })
    }

    /// Writes a file for its owner alone; what was there before is replaced whole.
    pub fn write(&self, file: &Path) -> Result<(), CredentialError> {
        let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let key = self.server_key.as_ref().map(|key| format!("{SERVER}{key}\n"));
        let text = format!("{}\n{}", self.token.expose_secret(), key.unwrap_or_default());
        let write = || -> std::io::Result<()> {
            // Made for its owner alone from the start.
            let mut draft = tempfile::NamedTempFile::new_in(folder)?;
            draft.write_all(text.as_bytes())?;
            draft.as_file().sync_all()?;
            draft.persist(file)?;
            Ok(())
        };
        write().map_err(|error| CredentialError::Write(file.to_owned(), error))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_was_written_is_read_back_and_only_its_owner_can() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let key: ServerPublicKey = format!("ed25519:{}", "0f".repeat(32)).parse().unwrap();
        ServerCredential { token: "cs_agent_1".into(), server_key: Some(key.clone()) }
            .write(&file)
            .unwrap();
        let read = ServerCredential::read(&file).unwrap();
        assert_eq!((read.token.expose_secret(), read.server_key), ("cs_agent_1", Some(key)));
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_token_alone_is_enough_and_a_bad_key_is_not_passed_over() {
        let read = ServerCredential::parse("  secret \n").unwrap();
        assert_eq!((read.token.expose_secret(), read.server_key), ("secret", None));
        for bad in ["t\nserver ed25519:12", "t\nserved ed25519:12", "t\nx"] {
            assert!(ServerCredential::parse(bad).is_err(), "{bad}");
        }
    }
}
