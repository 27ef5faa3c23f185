//! Pins: what a person has seen of an MCP server and consented to, kept in a small file of our own.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use countersign_core::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::declaration::{McpProgramDeclaration, McpServerDeclaration};
use crate::machine::Environment;

/// Above this many bytes a file is not pinned: it cannot be one that is run.
const FILE_LIMIT: u64 = 1024 * 1024 * 1024;

/// A server as it was consented to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpServerPin {
    /// How it is reached.
    pub declared: McpServerDeclaration,
    /// The program and those of its words that are files, each with what was in it.
    pub files: BTreeMap<PathBuf, Digest>,
    /// What it calls itself.
    pub server: String,
    /// Its tools, as they described themselves.
    pub tools: Vec<McpToolPin>,
}

/// A tool as it described itself when a person looked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpToolPin {
    /// Its name at the server.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// What it takes.
    pub input_schema: Value,
}

/// The pins of all workspaces, by root and by the server's name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct McpPinFile(BTreeMap<String, BTreeMap<String, McpServerPin>>);

impl McpPinFile {
    /// Reads the file; none is there until something is pinned.
    pub fn read(file: &Path) -> io::Result<Self> {
        match std::fs::read(file) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Returns the pin of a server.
    pub fn get(&self, root: &Path, name: &str) -> Option<&McpServerPin> {
        self.0.get(root.to_str()?)?.get(name)
    }

    /// Returns the pins of a workspace.
    pub fn for_root(&self, root: &Path) -> impl Iterator<Item = (&String, &McpServerPin)> {
        root.to_str().and_then(|root| self.0.get(root)).into_iter().flatten()
    }

    /// Sets the pin of a server, or takes it away.
    pub fn set(&mut self, root: &Path, name: &str, pin: Option<McpServerPin>) -> io::Result<()> {
        let root = root.to_str().ok_or_else(|| io::Error::other("the path is not UTF-8"))?;
        let pins = self.0.entry(root.to_owned()).or_default();
        match pin {
            Some(pin) => drop(pins.insert(name.to_owned(), pin)),
            None => drop(pins.remove(name)),
        }
        self.0.retain(|_, pins| !pins.is_empty());
        Ok(())
    }

    /// Writes the file, whole or not at all, for its owner alone.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        static DRAFTS: AtomicU64 = AtomicU64::new(0);
        let folder = file.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
        let draft = folder.join(format!(".mcp-{}-{number}", std::process::id()));
        let written = self.fill(&draft).and_then(|()| std::fs::rename(&draft, file));
        if written.is_err() {
            // The draft may not even be there; what matters is told already.
            let _ = std::fs::remove_file(&draft);
        }
        written
    }

    fn fill(&self, draft: &Path) -> io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(draft)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.sync_all()
    }
}

/// Returns what is in the files that starting a server runs: the program, and every word that names a
/// file. What those load in turn is theirs to answer for.
pub(super) fn files(
    declared: &McpServerDeclaration,
    root: &Path,
    environment: &Environment,
) -> io::Result<BTreeMap<PathBuf, Digest>> {
    let McpServerDeclaration::Program(declared) = declared else { return Ok(BTreeMap::new()) };
    let missing = || {
        let why = format!("there is no program `{}`", declared.command);
        io::Error::new(ErrorKind::NotFound, why)
    };
    let program = environment.find_program(&declared.command, root).ok_or_else(missing)?;
    let files = std::iter::once(program).chain(words(declared, root));
    files.map(|path| Ok((path.clone(), digest(&path)?))).collect()
}

/// Returns those words of a program that name files.
pub(super) fn words(
    declared: &McpProgramDeclaration,
    root: &Path,
) -> impl Iterator<Item = PathBuf> {
    declared.args.iter().map(|word| root.join(word)).filter(|path| path.is_file())
}

fn digest(path: &Path) -> io::Result<Digest> {
    let metadata = path.metadata()?;
    if !metadata.is_file() || metadata.len() > FILE_LIMIT {
        return Err(io::Error::other(format!("`{}` cannot be pinned", path.display())));
    }
    Ok(Digest::for_bytes(&std::fs::read(path)?))
}
