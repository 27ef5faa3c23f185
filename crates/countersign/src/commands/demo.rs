//! `countersign demo`: the product in one command, in a scratch workspace.

use anyhow::Context;
use countersign_gate::GateSettings;

use crate::cli::{DemoArgs, SandboxSwitch, ServeArgs};
use crate::commands::serve;
use crate::output;

const README: &str = "# A scratch workspace\n\nThis folder was made for the Countersign demo and goes \
                      away with it. Let the agent\nread it, write here, and run something: each step \
                      asks you first.\n";

pub(crate) fn run(args: DemoArgs) -> anyhow::Result<()> {
    output::set_note_format(args.common.log_format);
    let scratch = tempfile::Builder::new()
        .prefix("countersign-demo-")
        .tempdir()
        .context("could not make a scratch workspace")?;
    let workspace = scratch.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    std::fs::write(workspace.join("README.md"), README)?;
    output::note(
        "Demo: a scripted model answers, no API key is needed and nothing leaves this machine.",
    );
    output::note(&format!("The scratch workspace is {}", workspace.display()));
    let mut common = args.common;
    // A demo leaves nothing behind unless it is told where.
    common.data.get_or_insert_with(|| scratch.path().join("data"));
    let open = !args.no_open;
    serve::run(ServeArgs {
        common,
        root: vec![workspace],
        database: None,
        bus: None,
        pending_limit: GateSettings::PENDING_LIMIT,
        keep_events: None,
        model: None,
        system_prompt: None,
        max_tokens: None,
        claude: None,
        tool_approval_enabled: None,
        sandbox: SandboxSwitch::Auto,
        demo: true,
        open,
        public_url: None,
        allow_host: Vec::new(),
        api_key: None,
        base_url: None,
    })
}
