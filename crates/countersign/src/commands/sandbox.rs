//! The sandbox of this machine: what it is worth, said at the start, and what runs first inside it.

use std::path::Path;

use anyhow::bail;
use countersign_tools::{Level, Sandbox, Setup};

use crate::cli::{SandboxExecArgs, SandboxSwitch};
use crate::hint::Hinted;
use crate::{environment, output, record};

/// `countersign sandbox-exec`: closes every door and becomes the command.
pub(crate) fn exec(args: &SandboxExecArgs) -> anyhow::Result<()> {
    Ok(countersign_tools::enter(&args.words)?)
}

/// Finds out what the sandbox is worth, and says it.
pub(crate) async fn probe(switch: SandboxSwitch, data: Option<&Path>) -> anyhow::Result<Sandbox> {
    if switch == SandboxSwitch::Off {
        output::note("Sandbox: off. A command that is approved can do anything its user can.");
        return Ok(Sandbox::off());
    }
    let sandbox = found(data).await?;
    if switch == SandboxSwitch::Required && !sandbox.level().holds() {
        let why = sandbox.why().unwrap_or("it was tried, and did not hold");
        bail!(Hinted {
            error: anyhow::anyhow!("there is no whole sandbox here, and it is required: {why}"),
            hint: REMEDY.to_owned(),
        });
    }
    output::note(&format!("Sandbox: {}", worth(&sandbox)));
    Ok(sandbox)
}

/// Finds out what the sandbox is worth.
pub(crate) async fn found(data: Option<&Path>) -> anyhow::Result<Sandbox> {
    Ok(Sandbox::probe(setup(data)?).await)
}

/// What can be done where there is none.
const REMEDY: &str = "install bubblewrap (Debian: apt-get install bubblewrap) and let users make \
namespaces; docs/guide/sandbox.md says how";

fn setup(data: Option<&Path>) -> anyhow::Result<Setup> {
    let state = record::data_folder(data)?.join("sandbox");
    let launcher = environment::own_program()?;
    let launcher = launcher.to_string_lossy().into_owned();
    Ok(Setup::new(vec![launcher, "sandbox-exec".to_owned()], state))
}

/// Says what it is worth, and what to do where that is little.
pub(crate) fn worth(sandbox: &Sandbox) -> String {
    let level = sandbox.level();
    let why = sandbox.why().map(|why| format!(" ({why})")).unwrap_or_default();
    match level {
        Level::Full | Level::View => format!("{level}{why}. Commands run inside."),
        Level::Fence => format!(
            "{level}{why}. Commands cannot write outside the workspace and have no network, but see its \
             keys and can change what is protected in it.\nhint: {REMEDY}"
        ),
        Level::None => format!(
            "{level}{why}. A command that is approved can do anything its user can.\nhint: {REMEDY}"
        ),
    }
}
