//! The scripted model: says what a scenario says, and speaks the Messages API like the real one.
//!
//! A scenario is read by [`Scenario::parse`] (`scenario`, `template`). From a request alone `cue`
//! finds the place in it, `answer` says it, `checks` refuses what the real API refuses, and
//! `perform` plays the bytes in time. [`ScriptedModel`] does this in-process, [`serve`] over HTTP;
//! both keep the requests they got in [`RequestLog`].
//!
//! For people: `docs/guide/scripted-model.md`.

mod answer;
mod checks;
mod paced_stream;
mod player;
mod request_log;
mod request_summary;
mod scenario;
mod server;
mod step_lookup;
mod template;

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_gate::Clock;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::player::{ScenarioPlayer, ScenarioResponse};
pub use self::request_log::{RecordedRequest, RequestLog};
pub use self::scenario::{Scenario, ScenarioError, ScenarioPosition};
use crate::anthropic;
use crate::model::{Model, ModelError, ModelEventStream, ModelRequest};

/// A model that plays a scenario. Clones share the scenario's counters and records.
#[derive(Clone)]
pub struct ScriptedModel {
    player: Arc<ScenarioPlayer>,
    clock: Arc<dyn Clock>,
}

impl ScriptedModel {
    /// Returns a model that plays `scenario`, pausing by `clock`.
    pub fn new(scenario: Scenario, clock: Arc<dyn Clock>) -> Self {
        Self { player: Arc::new(ScenarioPlayer::new(scenario)), clock }
    }

    /// Returns the requests that came.
    pub fn recorded(&self) -> &RequestLog {
        self.player.recorded()
    }

    /// Plays the scenario to whoever connects, until `shutdown`.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: CancellationToken,
    ) -> io::Result<()> {
        let server = server::ScriptedServer {
            player: self.player.clone(),
            clock: self.clock.clone(),
            shutdown: shutdown.clone(),
        };
        axum::serve(listener, server.router())
            .with_graceful_shutdown(shutdown.cancelled_owned())
            .await
    }
}

/// Plays `scenario` to whoever connects to `listener`, until `shutdown`.
pub async fn serve(
    listener: TcpListener,
    scenario: Scenario,
    clock: Arc<dyn Clock>,
    shutdown: CancellationToken,
) -> io::Result<()> {
    ScriptedModel::new(scenario, clock).serve(listener, shutdown).await
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> &'static str {
        "scripted"
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelEventStream, ModelError> {
        let body = anthropic::body(request)?;
        match self.player.play("/v1/messages", body, self.clock.now()) {
            ScenarioResponse::Refused(error) => Err(error.refusal().into()),
            ScenarioResponse::Answer(performance) => {
                self.clock.sleep(performance.delay).await;
                let bytes = paced_stream::stream(performance, self.clock.clone());
                Ok(anthropic::events(bytes, "scripted".into()))
            }
        }
    }
}
