//! `countersign openapi`: prints the description of the API.

pub(crate) fn run() -> anyhow::Result<()> {
    crate::output::line(&serde_json::to_string_pretty(&countersign_server::openapi())?);
    Ok(())
}
