//! What a client says is on its machine before anybody decides.

use countersign_core::ClientLook;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What is on the client's machine.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"client_id": "laptop", "root": "/home/me/shop", "path": "/home/me/shop/a.txt", "digest": "5f2c", "content": "one\ntwo\n"}))]
pub struct PreimageBody {
    /// The name that the client gave its stream, by `client_id` or `executor`.
    pub client_id: String,
    /// The project's folder on the client's machine.
    pub root: String,
    /// The file that the call would write, links resolved; left out for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A text by which the client knows the file again; none where there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The file's text, at most 10 MiB; left out where there is no file, or none that can be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The program that a command would run, if the client has found that it only reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What such a command would read there, as the client's own plan lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub effects: Option<Vec<Value>>,
    /// Why the client would not run the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// It was taken.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PreimageTaken {
    pub success: bool,
    pub tool_id: String,
}

impl PreimageBody {
    /// Returns what a client has found on its machine.
    pub fn from_look(look: ClientLook, client_id: String, root: String) -> Self {
        let ClientLook { file, command, refusal, .. } = look;
        let (path, digest, content) = match file {
            Some(file) => (Some(file.path), file.digest.map(|it| it.to_string()), file.content),
            None => (None, None, None),
        };
        let (program, effects) = match command {
            Some(command) => {
                let effects = command.effects.iter().filter_map(|it| serde_json::to_value(it).ok());
                (Some(command.program), Some(effects.collect()))
            }
            None => (None, None),
        };
        Self { client_id, root, path, digest, content, program, effects, refusal }
    }

    /// Returns why a client would not run a call.
    pub fn from_refusal(why: String, client_id: String, root: String) -> Self {
        Self {
            client_id,
            root,
            path: None,
            digest: None,
            content: None,
            program: None,
            effects: None,
            refusal: Some(why),
        }
    }
}
