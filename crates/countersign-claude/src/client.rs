//! A conversation: prompts in, turns out, and control in between.

use std::ops::Deref;

mod controls;
mod handshake;
mod prompt;

pub use controls::SessionControls;
pub(crate) use handshake::open_session;
pub use prompt::{PromptPriority, UserPrompt};

use crate::control::{ControlSession, InitializeResponse, MessageBacklog};
use crate::error::{ConnectError, SessionEnd};
use crate::options::Options;
use crate::process::ProcessExit;
use crate::transport::{SubprocessTransport, Transport};
use crate::turn::{MessageStream, TurnStream};

/// A conversation with one CLI.
///
/// ```no_run
/// use countersign_claude::{ClaudeClient, Options};
///
/// # async fn talk() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ClaudeClient::connect(Options::new()).await?;
/// println!("{}", client.send("What files are here?")?.text().await?);
/// println!("{}", client.send("And which is the largest?")?.text().await?);
/// client.close().await;
/// # Ok(())
/// # }
/// ```
///
/// Dropping it closes the CLI's input, gives it a moment to write its transcript, and ends it with
/// everything it started. [`close`](Self::close) does the same and waits.
pub struct ClaudeClient {
    session: ControlSession,
    offers: InitializeResponse,
    controls: SessionControls,
    verbatim: bool,
}

impl std::fmt::Debug for ClaudeClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClaudeClient").field("pid", &self.pid()).finish_non_exhaustive()
    }
}

impl ClaudeClient {
    /// Starts a CLI and waits until it is ready.
    pub async fn connect(options: Options) -> Result<Self, ConnectError> {
        Self::connect_with_transport(&SubprocessTransport, options).await
    }

    /// Starts a CLI by other means.
    pub async fn connect_with_transport(
        transport: &dyn Transport,
        options: Options,
    ) -> Result<Self, ConnectError> {
        let (session, offers) = open_session(transport, &options, None).await?;
        let controls = SessionControls::new(&session, &options);
        Ok(Self { session, offers, controls, verbatim: options.verbatim_prompts })
    }

    /// Sends a prompt. One that is sent while another's turn runs waits for its own.
    pub fn send(&self, prompt: impl Into<UserPrompt>) -> Result<TurnStream, SessionEnd> {
        let prompt = prompt.into();
        let uuid = prompt.uuid().to_owned();
        let queue = self.session.shared().send_prompt(&uuid, &prompt.to_line(self.verbatim))?;
        Ok(TurnStream::new(uuid, queue))
    }

    /// Returns what belongs to no turn from now on: turns nobody asked for, such as when a
    /// background task is done, and what is said between turns. Without this it is thrown away.
    pub fn unsolicited(&self) -> MessageStream {
        MessageStream::new(self.session.shared().unsolicited())
    }

    /// Returns what the CLI offered when it started.
    pub fn initialize_response(&self) -> &InitializeResponse {
        &self.offers
    }

    /// Returns the controls by themselves: they can be cloned, and outlive a borrow of the client.
    pub fn controls(&self) -> &SessionControls {
        &self.controls
    }

    /// Returns the CLI's process id.
    pub fn pid(&self) -> Option<u32> {
        self.session.pid()
    }

    /// Returns how much was read from the CLI and not yet by the caller.
    pub fn backlog(&self) -> &MessageBacklog {
        self.session.shared().backlog()
    }

    /// Returns why the session is over, if it is.
    pub fn end_reason(&self) -> Option<SessionEnd> {
        self.session.shared().end_reason()
    }

    /// Returns the end of the CLI's error output.
    pub fn stderr(&self) -> String {
        self.session.shared().stderr()
    }

    /// Returns what is over once the CLI is gone.
    pub(crate) fn wait_until_exited(&self) -> impl Future<Output = ()> + Send + 'static {
        self.session.wait_until_exited()
    }

    /// Ends the conversation and waits until the CLI is gone.
    pub async fn close(mut self) -> ProcessExit {
        self.session.close().await
    }
}

/// What a session that runs can be told, so that `client.interrupt()` will do.
impl Deref for ClaudeClient {
    type Target = SessionControls;

    fn deref(&self) -> &SessionControls {
        &self.controls
    }
}
