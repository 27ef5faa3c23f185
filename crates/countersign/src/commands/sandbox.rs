//! The sandbox of this machine: what it is worth, said at the start, and what runs first inside it.

use std::path::Path;

use anyhow::bail;
use countersign_tools::{IsolationLevel, Sandbox, SandboxSetup};

use crate::cli::{SandboxExecArgs, SandboxSwitch};
use crate::hint::HintedError;
use crate::{data_paths, environment, output};

/// `countersign sandbox-exec`: closes every door and becomes the command.
///
/// A canonical script is run here, and its exit code returned.
pub(crate) fn exec(args: &SandboxExecArgs) -> anyhow::Result<u8> {
    Ok(countersign_tools::enter(&args.words)?)
}

/// Finds out what the sandbox is worth, and says it.
pub(crate) async fn probe(switch: SandboxSwitch, data: Option<&Path>) -> anyhow::Result<Sandbox> {
    if switch == SandboxSwitch::Off {
        output::note(&format!("Sandbox: {OFF}"));
        return Ok(Sandbox::switched_off(&setup(data, STATE)?));
    }
    let sandbox = chosen(switch, setup(data, STATE)?).await?;
    output::note(&format!("Sandbox: {}", describe_level(&sandbox)));
    Ok(sandbox)
}

/// Finds out what the sandbox is worth for a command beside the server, which uses another.
pub(crate) async fn probe_beside_server(
    switch: SandboxSwitch,
    data: Option<&Path>,
) -> anyhow::Result<Sandbox> {
    if switch == SandboxSwitch::Off {
        return Ok(Sandbox::off());
    }
    chosen(switch, setup(data, BESIDE)?).await
}

async fn chosen(switch: SandboxSwitch, setup: SandboxSetup) -> anyhow::Result<Sandbox> {
    let sandbox = Sandbox::probe(setup).await;
    if switch == SandboxSwitch::Required && !sandbox.level().holds() {
        let why = sandbox.why().unwrap_or("it was tried, and did not hold");
        bail!(HintedError {
            error: anyhow::anyhow!(
                "a complete sandbox is required, and this machine has none: {why}"
            ),
            hint: REMEDY.to_owned(),
        });
    }
    Ok(sandbox)
}

/// Where in the data folder the server's sandbox has its state, and where that of other commands has.
const STATE: &str = "sandbox";
const BESIDE: &str = "sandbox-beside";

/// What is said where nobody wants one.
pub(crate) const OFF: &str = "off. A command that is approved can do anything its user can.";

/// What can be done where there is none.
const REMEDY: &str = "install bubblewrap (Debian: apt-get install bubblewrap) and let users make \
namespaces; docs/guide/sandbox.md says how";

fn setup(data: Option<&Path>, state: &str) -> anyhow::Result<SandboxSetup> {
    let state = data_paths::data_folder(data)?.join(state);
    let launcher = environment::own_program()?;
    let launcher = launcher.to_string_lossy().into_owned();
    Ok(SandboxSetup::new(vec![launcher, "sandbox-exec".to_owned()], state))
}

/// Says what it is worth, and what to do where that is little.
pub(crate) fn describe_level(sandbox: &Sandbox) -> String {
    let level = sandbox.level();
    let why = sandbox.why().map(|why| format!(" ({why})")).unwrap_or_default();
    match level {
        IsolationLevel::Full | IsolationLevel::View => {
            format!("{level}{why}. Commands run inside.")
        }
        IsolationLevel::Fence => format!(
            "{level}{why}. Commands cannot write outside the workspace and have no network, but see its \
             keys and can change what is protected in it.\nhint: {REMEDY}"
        ),
        IsolationLevel::None => format!(
            "{level}{why}. A command that is approved can do anything its user can.\nhint: {REMEDY}"
        ),
    }
}
