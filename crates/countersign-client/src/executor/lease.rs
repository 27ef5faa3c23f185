//! The lease on a call: kept by renewing it, which also carries what the command prints.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_api::lease::{LeaseBody, LeaseShown};
use countersign_api::received::{ReceivedLeaseAnswer, ReceivedSignal};
use countersign_core::ExecutionId;
use countersign_gate::Clock;
use jiff::Timestamp;

use crate::api_client::ApiClient;
use crate::retry::retry_delays;

/// How often a lease is renewed, and how long that may take.
const RENEW: Duration = Duration::from_secs(10);

/// How soon output is sent, if there is some.
const SEND: Duration = Duration::from_secs(2);

/// How long a lease is if the server does not say.
const USUAL: Duration = Duration::from_secs(30);

/// Above this many bytes output that waits to be sent is cut at its front.
const WAITING: usize = 64 * 1024;

/// What running commands have printed and nobody has been told of yet.
#[derive(Default)]
pub(crate) struct OutputBuffers(Mutex<HashMap<ExecutionId, OutputBuffer>>);

#[derive(Default)]
struct OutputBuffer {
    waiting: String,
    /// How many bytes of the front were dropped.
    dropped: usize,
    total: usize,
}

impl OutputBuffers {
    /// Takes a piece of output.
    pub(crate) fn add(&self, call: ExecutionId, piece: &str) {
        let mut outputs = self.lock();
        let output = outputs.entry(call).or_default();
        output.total += piece.len();
        output.waiting.push_str(piece);
        if output.waiting.len() > WAITING * 2 {
            let cut = output.waiting.ceil_char_boundary(output.waiting.len() - WAITING);
            output.waiting.drain(..cut);
            output.dropped += cut;
        }
    }

    /// Returns how many bytes came in all.
    pub(crate) fn total(&self, call: ExecutionId) -> usize {
        self.lock().get(&call).map_or(0, |output| output.total)
    }

    /// Forgets a call.
    pub(crate) fn end(&self, call: ExecutionId) {
        self.lock().remove(&call);
    }

    fn waits(&self, call: ExecutionId) -> bool {
        self.lock().get(&call).is_some_and(|output| !output.waiting.is_empty())
    }

    fn take(&self, call: ExecutionId) -> Option<String> {
        let mut outputs = self.lock();
        let output = outputs.get_mut(&call).filter(|output| !output.waiting.is_empty())?;
        let text = std::mem::take(&mut output.waiting);
        match std::mem::take(&mut output.dropped) {
            0 => Some(text),
            dropped => Some(format!("… [{dropped} bytes not shown] …\n{text}")),
        }
    }

    /// Takes back what could not be sent.
    fn give_back(&self, call: ExecutionId, text: Option<String>) {
        if let (Some(mut text), Some(output)) = (text, self.lock().get_mut(&call)) {
            text.push_str(&output.waiting);
            output.waiting = text;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ExecutionId, OutputBuffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lease on one call.
pub(crate) struct RenewableLease<'a> {
    server: &'a ApiClient,
    clock: &'a dyn Clock,
    outputs: &'a OutputBuffers,
    call: ExecutionId,
    /// None where the server gave none: then there is nothing to renew.
    token: Option<String>,
    // Locked while it is renewed: one after the other.
    held: tokio::sync::Mutex<LeaseTerm>,
}

/// For how long the call is ours.
///
/// The two machines' clocks may differ by any time, so moments of the server are compared with
/// moments of the server only.
#[derive(Clone, Copy, Debug)]
struct LeaseTerm {
    /// When it was last renewed, by a clock of ours that goes evenly.
    since: Duration,
    length: Duration,
    /// When that is over, by the server's clock.
    until: Option<Timestamp>,
}

impl LeaseTerm {
    fn from_signal(signal: &ReceivedSignal, now: Duration) -> Self {
        let until = signal.lease.as_ref().and_then(|lease| lease.expires_at);
        let length = until.zip(signal.timestamp).map(|(until, now)| until - now);
        let length = length.and_then(|length| Duration::try_from(length).ok());
        let length = length.filter(|length| !length.is_zero()).unwrap_or(USUAL);
        Self { since: now, length, until }
    }

    /// Returns what is left of it.
    fn left(self, now: Duration) -> Duration {
        (self.since + self.length).saturating_sub(now)
    }

    /// Returns it as renewed by a request that was sent `now`.
    fn renewed(self, now: Duration, until: Option<Timestamp>) -> Self {
        let more = until.zip(self.until).map(|(until, before)| until - before);
        let more = more.and_then(|more| Duration::try_from(more).ok());
        let length = more.map_or(self.length, |more| self.left(now) + more);
        Self { since: now, length, until: until.or(self.until) }
    }
}

/// Why a call is not ours any more, in words.
#[derive(Debug)]
pub(crate) struct LeaseLoss(pub(crate) String);

impl<'a> RenewableLease<'a> {
    pub(crate) fn new(
        signal: &ReceivedSignal,
        server: &'a ApiClient,
        outputs: &'a OutputBuffers,
        clock: &'a dyn Clock,
    ) -> Self {
        let token = signal.lease.as_ref().map(|lease| lease.token.clone());
        let held = LeaseTerm::from_signal(signal, clock.running_for()).into();
        Self { server, clock, outputs, call: signal.tool_id, token, held }
    }

    /// Returns the token, to send along with the result.
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Makes sure that the call is ours right now; waits for a server that is away.
    ///
    /// A signal that was long on its way runs nothing.
    pub(crate) async fn confirm(&self) -> Result<(), LeaseLoss> {
        let mut waits = retry_delays();
        while let Err(why) = self.renew().await? {
            self.check_time(&why).await?;
            self.clock.sleep(waits.next().unwrap_or_default()).await;
        }
        Ok(())
    }

    /// Renews it for as long as it lasts; returns when and why the call is not ours any more.
    pub(crate) async fn renew_until_lost(&self) -> LeaseLoss {
        if self.token.is_none() {
            return std::future::pending().await;
        }
        loop {
            let third = self.held.lock().await.length / 3;
            self.clock.sleep(SEND.min(third)).await;
            let since = self.clock.running_for().saturating_sub(self.held.lock().await.since);
            if since < RENEW.min(third) && !self.outputs.waits(self.call) {
                continue;
            }
            let renewed = match self.renew().await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(why)) => self.check_time(&why).await,
                Err(gone) => Err(gone),
            };
            if let Err(gone) = renewed {
                return gone;
            }
        }
    }

    /// Checks that the lease has not run out while the server was away.
    async fn check_time(&self, why: &str) -> Result<(), LeaseLoss> {
        if !self.held.lock().await.left(self.clock.running_for()).is_zero() {
            return Ok(());
        }
        Err(LeaseLoss(format!("the server was away until the lease ran out ({why})")))
    }

    /// Renews it once. The inner error says why the server cannot be asked now.
    async fn renew(&self) -> Result<Result<(), String>, LeaseLoss> {
        let Some(token) = &self.token else { return Ok(Ok(())) };
        let mut held = self.held.lock().await;
        let asked = self.clock.running_for();
        let output = self.outputs.take(self.call);
        let lease = Some(LeaseShown::Token(token.clone()));
        let body = LeaseBody { lease, output: output.clone() };
        let path = ["tools", &self.call.to_string(), "lease"];
        match self.server.post::<ReceivedLeaseAnswer>(&path, &body, RENEW).await {
            Ok(given) => {
                *held = held.renewed(asked, given.lease.and_then(|lease| lease.expires_at));
                Ok(Ok(()))
            }
            Err(error) => match error.into_refusal() {
                Ok(refusal) => Err(LeaseLoss(refusal.message)),
                Err(why) => {
                    self.outputs.give_back(self.call, output);
                    Ok(Err(why))
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signal that came late leaves two seconds; renewing it gives the usual thirty.
    #[test]
    fn how_long_a_lease_lasts_is_told_by_the_server_alone() {
        let at = |second: i64| Some(Timestamp::from_second(second).unwrap());
        let seconds = Duration::from_secs;
        let held = LeaseTerm { since: seconds(100), length: seconds(2), until: at(9_000) };
        assert_eq!(held.left(seconds(101)), seconds(1));
        let renewed = held.renewed(seconds(101), at(9_029));
        assert_eq!((renewed.since, renewed.length), (seconds(101), seconds(30)));
        assert_eq!(renewed.left(seconds(132)), Duration::ZERO);
        let unsaid = renewed.renewed(seconds(111), None);
        assert_eq!((unsaid.since, unsaid.length), (seconds(111), seconds(30)));
    }

    #[test]
    fn output_that_waits_is_bounded_and_says_what_is_missing() {
        let outputs = OutputBuffers::default();
        let call = uuid::Uuid::nil().into();
        assert!(!outputs.waits(call) && outputs.take(call).is_none());
        outputs.add(call, "one ");
        outputs.add(call, "two");
        let taken = outputs.take(call);
        assert_eq!(taken.as_deref(), Some("one two"));
        outputs.add(call, " three");
        outputs.give_back(call, taken);
        assert_eq!(outputs.take(call).as_deref(), Some("one two three"));
        for _ in 0..1000 {
            outputs.add(call, &"é".repeat(500));
        }
        let text = outputs.take(call).unwrap();
        assert!(text.starts_with("… [") && text.ends_with('é') && text.len() < WAITING * 2 + 100);
        assert_eq!(outputs.total(call), 13 + 1_000_000);
        outputs.end(call);
        assert_eq!(outputs.total(call), 0);
    }
}
