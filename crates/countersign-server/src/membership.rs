//! This server among the others on its database: what they leave behind goes on here, and what they
//! have taken over goes on there.

use countersign_gate::StoreError;

use crate::app::App;
use crate::runs;

/// Sees to it until the server stops.
pub(crate) async fn follow_membership(app: App) {
    loop {
        tokio::select! {
            () = app.gate.wait_for_membership_change() => {}
            () = app.stopping.cancelled() => return,
        }
        if let Err(error) = handle_membership_change(&app).await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "what other servers left behind could not be seen to");
        }
    }
}

async fn handle_membership_change(app: &App) -> Result<(), StoreError> {
    if app.gate.is_fenced() {
        tracing::warn!("this server was taken for dead; what it drove goes on elsewhere");
        app.runs.hand_over();
        app.gate.join().await?;
        metrics::counter!("countersign_fenced_total").increment(1);
    }
    runs::stop_requested_runs(app).await?;
    runs::resume_abandoned(app).await
}
