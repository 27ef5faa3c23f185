//! The server that runs on a data folder: where it is, and what opens its door for its own user.
//!
//! It writes this file when it begins to serve and removes it when it stops. The token in it is good for
//! that one run of the server, and the file is for its owner alone. No tool of an agent touches the data
//! folder.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use countersign_client::ServerCredential;
use countersign_gate::ServerPublicKey;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::data_paths;

const NAME: &str = "server.json";

/// What the file says.
#[derive(Clone, Debug)]
pub(crate) struct RunningServer {
    /// Where it is reached from this machine.
    pub(crate) url: String,
    pub(crate) pid: u32,
    pub(crate) token: SecretString,
    pub(crate) server_key: ServerPublicKey,
}

#[derive(Deserialize, Serialize)]
struct RunningServerRecord {
    url: String,
    pid: u32,
    token: String,
    server_key: String,
}

/// The file of a server that runs; it goes when this does.
pub(crate) struct RunningServerFile {
    path: PathBuf,
    pid: u32,
}

impl RunningServer {
    /// Returns the server that says it runs on a data folder. It may have been killed since.
    pub(crate) fn find(data: Option<&Path>) -> Option<Self> {
        Self::read(&data_paths::data_path(data)?.join(NAME))
    }

    fn read(file: &Path) -> Option<Self> {
        let RunningServerRecord { url, pid, token, server_key } =
            serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        Some(Self { url, pid, token: token.into(), server_key: server_key.parse().ok()? })
    }

    /// Returns what opens its door.
    pub(crate) fn credential(&self) -> ServerCredential {
        let server_key = Some(self.server_key.clone());
        ServerCredential { token: self.token.clone(), server_key }
    }

    /// Writes the file, for its owner alone.
    pub(crate) fn write(&self, data: &Path) -> anyhow::Result<RunningServerFile> {
        let path = data.join(NAME);
        let text = serde_json::to_vec(&RunningServerRecord {
            url: self.url.clone(),
            pid: self.pid,
            token: self.token.expose_secret().to_owned(),
            server_key: self.server_key.to_string(),
        })?;
        let write = || -> std::io::Result<()> {
            let mut draft = tempfile::NamedTempFile::new_in(data)?;
            draft.write_all(&text)?;
            draft.persist(&path)?;
            Ok(())
        };
        write().with_context(|| format!("could not write `{}`", path.display()))?;
        Ok(RunningServerFile { path, pid: self.pid })
    }
}

impl Drop for RunningServerFile {
    fn drop(&mut self) {
        // Another server may have begun since.
        if RunningServer::read(&self.path).is_some_and(|it| it.pid == self.pid) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_there_while_the_server_is_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let server = RunningServer {
            url: "http://127.0.0.1:4180".to_owned(),
            pid: 7,
            token: "secret".into(),
            server_key: format!("ed25519:{}", "0f".repeat(32)).parse().unwrap(),
        };
        let file = server.write(folder.path()).unwrap();
        let path = folder.path().join(NAME);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let found = RunningServer::find(Some(folder.path())).unwrap();
        assert_eq!((found.url, found.pid), (server.url.clone(), 7));
        let next = RunningServer { pid: 8, ..server }.write(folder.path()).unwrap();
        drop(file);
        assert!(path.exists(), "it is the next server's");
        drop(next);
        assert!(!path.exists());
    }
}
