//! Client looks: what the client that would run a call says of its own machine, before anybody decides.

use serde::{Deserialize, Serialize};

use crate::{Digest, Effect};

/// What a client says of a call that it would run: about its own machine, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientLook {
    /// The project's folder there, as that machine writes it.
    pub root: String,
    /// The file that a call would write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<ClientFile>,
    /// The command that a call would run, if that only reads there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<ClientReadCommand>,
    /// Why the client would not run the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// A file of the client's machine, as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientFile {
    /// Its path there, links resolved.
    pub path: String,
    /// By what the client knows it again; none where there is no file.
    pub digest: Option<Digest>,
    /// Its text; none where there is no file, or none that can be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A command that only reads, as the client's own reading of it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientReadCommand {
    /// The program that would run, in a folder that only the system and the user can change.
    pub program: String,
    /// What it would read there.
    pub effects: Vec<Effect>,
}

/// Which client a call was judged and shown with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientWitness {
    /// The client, by the name under which calls are lent to it.
    pub client: String,
    /// The project's folder there.
    pub root: String,
}
