//! A conversation: prompts in, turns out, and control in between.

use std::ops::Deref;

mod controls;
mod open;
mod prompt;

pub use controls::Controls;
pub(crate) use open::open;
pub use prompt::{Priority, Prompt};

use crate::control::{Backlog, InitializeResponse, Session};
use crate::error::{ConnectError, SessionEnd};
use crate::options::Options;
use crate::process::Exit;
use crate::transport::{Subprocess, Transport};
use crate::turn::{Messages, Turn};

/// A conversation with one CLI.
///
/// ```no_run
/// use countersign_claude::{Client, Options};
///
/// # async fn talk() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::connect(Options::new()).await?;
/// println!("{}", client.send("What files are here?")?.text().await?);
/// println!("{}", client.send("And which is the largest?")?.text().await?);
/// client.close().await;
/// # Ok(())
/// # }
/// ```
///
/// Dropping it closes the CLI's input, gives it a moment to write its transcript, and ends it with
/// everything it started. [`close`](Self::close) does the same and waits.
pub struct Client {
    session: Session,
    offers: InitializeResponse,
    controls: Controls,
    verbatim: bool,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("pid", &self.pid()).finish_non_exhaustive()
    }
}

impl Client {
    /// Starts a CLI and waits until it is ready.
    pub async fn connect(options: Options) -> Result<Self, ConnectError> {
        Self::connect_over(&Subprocess, options).await
    }

    /// Starts a CLI by other means.
    pub async fn connect_over(
        transport: &dyn Transport,
        options: Options,
    ) -> Result<Self, ConnectError> {
        let (session, offers) = open(transport, &options, None).await?;
        let controls = Controls::new(&session, &options);
        Ok(Self { session, offers, controls, verbatim: options.verbatim_prompts })
    }

    /// Sends a prompt. One that is sent while another's turn runs waits for its own.
    pub fn send(&self, prompt: impl Into<Prompt>) -> Result<Turn, SessionEnd> {
        let prompt = prompt.into();
        let uuid = prompt.uuid().to_owned();
        let queue = self.session.shared().send_prompt(&uuid, &prompt.to_line(self.verbatim))?;
        Ok(Turn::new(uuid, queue))
    }

    /// Returns what belongs to no turn from now on: turns nobody asked for, such as when a
    /// background task is done, and what is said between turns. Without this it is thrown away.
    pub fn unsolicited(&self) -> Messages {
        Messages::new(self.session.shared().unsolicited())
    }

    /// Returns what the CLI offered when it started.
    pub fn offers(&self) -> &InitializeResponse {
        &self.offers
    }

    /// Returns the controls by themselves: they can be cloned, and outlive a borrow of the client.
    pub fn controls(&self) -> &Controls {
        &self.controls
    }

    /// Returns the CLI's process id.
    pub fn pid(&self) -> Option<u32> {
        self.session.pid()
    }

    /// Returns how much was read from the CLI and not yet by the caller.
    pub fn backlog(&self) -> &Backlog {
        self.session.shared().backlog()
    }

    /// Returns why the session is over, if it is.
    pub fn ended(&self) -> Option<SessionEnd> {
        self.session.shared().end()
    }

    /// Returns the end of the CLI's error output.
    pub fn stderr(&self) -> String {
        self.session.shared().stderr()
    }

    /// Returns what is over once the CLI is gone.
    pub(crate) fn gone(&self) -> impl Future<Output = ()> + Send + 'static {
        self.session.gone()
    }

    /// Ends the conversation and waits until the CLI is gone.
    pub async fn close(mut self) -> Exit {
        self.session.close().await
    }
}

/// What a session that runs can be told, so that `client.interrupt()` will do.
impl Deref for Client {
    type Target = Controls;

    fn deref(&self) -> &Controls {
        &self.controls
    }
}
