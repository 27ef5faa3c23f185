//! The launcher: what runs inside first, closes every door behind itself and becomes the program.
//!
//! It is the binary itself, started once more: nothing may be done between fork and exec without
//! `unsafe`, and bubblewrap would not survive a fence that stands before its mounts are made.

use std::ffi::OsString;
use std::io;
use std::path::Path;

#[cfg(feature = "sandbox")]
use super::landlock::{self, LandlockError, LandlockScope};
use super::launch_spec::LaunchSpec;
#[cfg(feature = "sandbox")]
use super::seccomp::{self, SocketFamilies};
use super::{capabilities, overlay, port_forward, probe};
use crate::machine::executor;
use crate::machine::process;

/// How the launcher says that there is no sandbox; the rehearsal looks for it.
pub(crate) const NOT_SET_UP: &str = "the sandbox could not be set up: ";

/// Why the program was not started. Nothing of it has run.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// The launcher was not called by the sandbox.
    #[error("only the sandbox starts its launcher: {0}")]
    Order(String),
    /// The sandbox could not be set up.
    #[error("{NOT_SET_UP}{0}")]
    Open(String),
    /// The program that was to be the launcher was built without a sandbox.
    #[error("this build has no sandbox; build it with the feature `sandbox`")]
    LeftOut,
    /// The program could not be started.
    #[error("`{program}` could not be started: {cause}")]
    Program {
        /// Which one.
        program: String,
        /// Why not.
        cause: io::Error,
    },
}

#[cfg(feature = "sandbox")]
impl From<LandlockError> for EnterError {
    fn from(error: LandlockError) -> Self {
        Self::Open(error.to_string())
    }
}

/// Does what the order says and becomes the program, or runs a canonical script and returns its exit
/// code. Also returns if that fails, or after a probe.
///
/// `words` are the order, and the program with its arguments or a script; or what the launcher is asked beside
/// that, once inside: to forward a port, to mount overlays, or to try what it can reach.
pub fn enter(words: &[OsString]) -> Result<u8, EnterError> {
    match words {
        [what, script] if what == executor::MARK => return execute(script),
        [what, socket] if what == port_forward::FORWARD => {
            return Err(port_forward::forward(socket));
        }
        [what, layers, program, arguments @ ..] if what == overlay::OVERLAY => {
            return Err(overlay::mount_and_become(layers, program, arguments));
        }
        [what, attempts] if what == probe::PROBE => return probe::attempt(attempts).map(|()| 0),
        _ => {}
    }
    let Some((order, [program, arguments @ ..])) = words.split_first() else {
        return Err(EnterError::Order("it needs an order and a program".to_owned()));
    };
    prepare(order)?;
    if let (true, [script]) = (program == executor::MARK, arguments) {
        return execute(script);
    }
    let cause = process::replace(Path::new(program), arguments);
    Err(EnterError::Program { program: program.to_string_lossy().into_owned(), cause })
}

/// Runs a canonical script where the launcher is, with the environment that it was given.
fn execute(script: &OsString) -> Result<u8, EnterError> {
    let text = script.to_str().unwrap_or_default();
    let script =
        serde_json::from_str(text).map_err(|error| EnterError::Order(error.to_string()))?;
    #[expect(clippy::disallowed_methods, reason = "whoever started the launcher chose it")]
    let cwd = std::env::current_dir().map_err(|error| EnterError::Open(error.to_string()))?;
    let environment = std::env::vars_os();
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let code = executor::execute(&script, cwd, environment.filter_map(text));
    Ok(u8::try_from(code).unwrap_or(1))
}

fn prepare(order: &OsString) -> Result<(), EnterError> {
    if !cfg!(feature = "sandbox") {
        return Err(EnterError::LeftOut);
    }
    let text = order.to_str().unwrap_or_default();
    let order: LaunchSpec =
        serde_json::from_str(text).map_err(|error| EnterError::Order(error.to_string()))?;
    let open = |what: &str, cause: io::Error| EnterError::Open(format!("{what}: {cause}"));
    if let Some(door) = &order.proxy {
        port_forward::start(door).map_err(|cause| open("the way to its proxy", cause))?;
    }
    order.limits.apply(order.has_view).map_err(|errno| open("its limits", errno.into()))?;
    if !order.has_view {
        capabilities::give_up().map_err(|errno| open("its rights", errno.into()))?;
    }
    close_fence(&order)
}

#[cfg(not(feature = "sandbox"))]
fn close_fence(_: &LaunchSpec) -> Result<(), EnterError> {
    Err(EnterError::LeftOut)
}

#[cfg(feature = "sandbox")]
fn close_fence(order: &LaunchSpec) -> Result<(), EnterError> {
    let reach = landlock::close(order)?;
    let sockets = match reach {
        _ if !order.has_view => SocketFamilies::None,
        LandlockScope::FilesAndSockets => SocketFamilies::ApartAndUnix,
        LandlockScope::Files => SocketFamilies::Apart,
    };
    seccomp::close(sockets).map_err(|error| EnterError::Open(format!("seccomp: {error}")))
}
