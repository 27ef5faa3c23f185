//! Variables that steer programs: they make them load or run something of the environment's choice.

use super::environment::Environment;

/// How the names of such variables begin.
const PREFIXES: &[&str] = &["LD_", "DYLD_", "GIT_", "BASH_FUNC_"];

/// Those that steer by their whole name.
const NAMES: &[&str] = &[
    "BASH_ENV",
    "BASHOPTS",
    "DBUS_SESSION_BUS_ADDRESS",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "SSH_AUTH_SOCK",
    "XDG_RUNTIME_DIR",
];

/// Returns the environment without what steers programs.
pub(crate) fn remove_steering_variables(environment: &Environment) -> Environment {
    environment.without(steers)
}

/// Returns whether a variable makes programs load something.
pub(crate) fn steers(name: &str) -> bool {
    PREFIXES.iter().any(|start| name.starts_with(start)) || NAMES.contains(&name)
}
