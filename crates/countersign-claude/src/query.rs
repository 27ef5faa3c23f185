//! One prompt, one run, no conversation.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt};

use crate::client::{SessionControls, UserPrompt, open_session};
use crate::control::{ControlSession, InitializeResponse, MessageBacklog, MessageSender};
use crate::error::{ConnectError, SessionEnd, StreamError};
use crate::message::{Message, ResultMessage};
use crate::options::Options;
use crate::transport::{SubprocessTransport, Transport};
use crate::turn::MessageStream;

/// Asks one thing and returns the stream of all that comes of it.
///
/// ```no_run
/// use countersign_claude::{Options, query};
///
/// # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
/// let mut answers = query("What is 2 + 2?", Options::new()).await?;
/// while let Some(message) = answers.next().await {
///     print!("{}", message?.text());
/// }
/// # Ok(())
/// # }
/// ```
pub async fn query(prompt: impl Into<UserPrompt>, options: Options) -> Result<Query, ConnectError> {
    query_with_transport(&SubprocessTransport, prompt, options).await
}

/// Asks one thing of a CLI that is started by other means.
pub async fn query_with_transport(
    transport: &dyn Transport,
    prompt: impl Into<UserPrompt>,
    options: Options,
) -> Result<Query, ConnectError> {
    let backlog = Arc::new(MessageBacklog::new(options.limits.backlog));
    let (queue, unread) = MessageSender::new(backlog);
    let (session, offers) = open_session(transport, &options, Some(queue)).await?;
    let prompt = prompt.into();
    let line = prompt.to_line(options.verbatim_prompts);
    let shared = session.shared().clone();
    let controls = SessionControls::new(&session, &options);
    shared.send_prompt(prompt.uuid(), &line).map_err(ConnectError::Ended)?;
    if options.needs_open_input() {
        tokio::spawn(async move { shared.end_input_after_run(options.limits.background).await });
    } else {
        shared.outgoing().close();
    }
    Ok(Query { messages: MessageStream::new(unread), session, offers, controls })
}

/// A run: the stream of all its messages, until the CLI is gone.
///
/// It may hold more than one result: what runs in the background reports back in turns of its own.
/// If the run fails, the last item says why. Dropping it ends the CLI.
#[must_use = "a run's messages come only to who reads them, and dropping it ends it"]
pub struct Query {
    messages: MessageStream,
    session: ControlSession,
    offers: InitializeResponse,
    controls: SessionControls,
}

impl std::fmt::Debug for Query {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Query").field("pid", &self.session.pid()).finish_non_exhaustive()
    }
}

impl Query {
    /// Returns the next message, or nothing once the run is over.
    pub async fn next(&mut self) -> Option<Result<Message, StreamError>> {
        StreamExt::next(self).await
    }

    /// Returns what the CLI offered when it started.
    pub fn initialize_response(&self) -> &InitializeResponse {
        &self.offers
    }

    /// Returns the controls by themselves: they can be cloned, and outlive a borrow of the run.
    pub fn controls(&self) -> &SessionControls {
        &self.controls
    }

    /// Returns the CLI's process id.
    pub fn pid(&self) -> Option<u32> {
        self.session.pid()
    }

    /// Reads the run to its end and returns the result of the prompt; a failure is an error.
    pub async fn result(mut self) -> Result<ResultMessage, SessionEnd> {
        let mut last = None;
        loop {
            match self.next().await {
                Some(Ok(Message::Result(result))) if result.answers_the_caller() => {
                    last = Some(result.into_body());
                }
                Some(Err(StreamError::Ended(end))) => return Err(end),
                Some(_) => {}
                None => return last.ok_or(SessionEnd::Closed),
            }
        }
    }
}

/// What a run can be told, so that `query.interrupt()` will do. Once its input is closed, which is
/// at once for a run that is never asked anything, the CLI hears nothing any more.
impl Deref for Query {
    type Target = SessionControls;

    fn deref(&self) -> &SessionControls {
        &self.controls
    }
}

impl Stream for Query {
    type Item = Result<Message, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.messages.poll_next_unpin(context)
    }
}
