//! `countersign model`: a scripted Messages API on loopback.

use std::sync::Arc;

use anyhow::Context;
use countersign_agent::{Scenario, scripted};
use countersign_gate::SystemClock;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::ModelArgs;
use crate::commands::serve::stop_signal;
use crate::output;
use crate::runtime::runtime;

pub(crate) fn run(args: &ModelArgs) -> anyhow::Result<()> {
    let scenario = match &args.scenario {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("could not read `{}`", file.display()))?;
            Scenario::parse(&text).with_context(|| format!("`{}`", file.display()))?
        }
        None => Scenario::demo()?,
    };
    runtime()?.block_on(async {
        let listener = TcpListener::bind(args.listen)
            .await
            .with_context(|| format!("could not listen on {}", args.listen))?;
        output::line(&format!("listening on http://{}/", listener.local_addr()?));
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        tokio::spawn(async move {
            stop_signal().await;
            stop.cancel();
        });
        scripted::serve(listener, scenario, Arc::new(SystemClock), shutdown).await?;
        Ok(())
    })
}
