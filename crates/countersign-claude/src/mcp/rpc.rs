//! JSON-RPC replies.

use serde_json::{Value, json};

pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// Returns the reply that reports success.
pub(crate) fn success(id: &Value, result: Value) -> Value {
    let mut reply = json!({ "jsonrpc": "2.0", "id": id });
    if let Some(reply) = reply.as_object_mut() {
        reply.insert("result".to_owned(), result);
    }
    reply
}

/// Returns the reply that reports an error.
pub(crate) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
