//! Variables: what a child inside knows of the environment.

use crate::machine::{Environment, remove_steering_variables};

/// How the names of variables end that hold keys.
const KEYS: &[&str] = &["_TOKEN", "_KEY", "_SECRET", "_PASSWORD", "_CREDENTIALS", "_AUTH"];

/// Returns the environment without what steers programs and what may be a key.
pub(super) fn scrub_environment(environment: &Environment) -> Environment {
    let is_key = |name: &str| KEYS.iter().any(|end| name.to_ascii_uppercase().ends_with(end));
    let kept = remove_steering_variables(environment).without(is_key);
    // A cache that a build cannot do without, where it can be written.
    kept.with(&[pair("TMPDIR", "/tmp"), pair("GOCACHE", "/tmp/go-build")])
}

/// Returns what leads programs to the proxy at a port inside.
pub(super) fn by_proxy(port: u16) -> Vec<(String, String)> {
    let url = format!("http://127.0.0.1:{port}");
    let names =
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    // Without the last, Node.js does not look at the others.
    names.iter().map(|name| pair(name, &url)).chain([pair("NODE_USE_ENV_PROXY", "1")]).collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
