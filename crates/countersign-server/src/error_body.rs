//! The bodies of errors that show what stands instead of what was wanted.

use axum::Json;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use countersign_api::approval::ApprovalView;
use countersign_api::error::ErrorBody;
use countersign_api::execution::ExecutionView;
use countersign_gate::StoreError;

use crate::app::App;
use crate::call_context::ContextLookup;
use crate::error::{ConflictingExecution, UnwrittenError};

/// Adds to the answers that are errors what stands instead of what was wanted.
pub(crate) async fn fill_error_body(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    let Some(unwritten) = response.extensions_mut().remove::<UnwrittenError>() else {
        return response;
    };
    match unwritten.write(&app).await {
        Ok(body) => (response.status(), Json(body)).into_response(),
        // The error itself is there; only what stands is not.
        Err(_) => response,
    }
}

impl UnwrittenError {
    async fn write(self, app: &App) -> Result<ErrorBody, StoreError> {
        let mut contexts = ContextLookup::new(app.gate.store());
        let (approval, execution) = match self.stands {
            ConflictingExecution::Approval(approval) => {
                let context = contexts.find(&approval).await?;
                (Some(ApprovalView::new(&approval, context)), None)
            }
            ConflictingExecution::Execution(call) => {
                let context = contexts.find(&call).await?;
                (None, Some(ExecutionView::new(&call, context)))
            }
        };
        Ok(ErrorBody { success: false, error: self.error, approval, execution })
    }
}
