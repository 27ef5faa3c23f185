//! A Rust SDK for the Claude Code CLI: transport, control protocol, client.
//!
//! The crate stands alone and knows nothing of the rest of the workspace. It has no public items
//! yet: the server answers the two CLI modes with a clear error until it does.
