//! Hints between servers: a log has grown, so whoever waits for it looks.
//!
//! A hint carries the name of a project and nothing else. Who hears one reads the log, which is the
//! truth. A look every second finds what no hint told of, so that with a dead bus all is slower and
//! nothing is wrong.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use countersign_core::{Event, ProjectId};
use tokio::sync::mpsc;

use crate::change_feed::ChangeFeed;
use crate::feed_queue::FeedOutbox;
use crate::gate::{Gate, GateInner};
use crate::store::StoreError;

/// How often the logs are looked at without a hint.
const LOOK: Duration = Duration::from_secs(1);

/// How long to rest after the bus was lost.
const REST: Duration = Duration::from_secs(1);

/// How many entries are read at a time to see who is to be woken.
const PAGE: usize = 512;

/// How many hints may be under way to us; one that finds no room is found by the next look.
const HEARD: usize = 1024;

/// Tells other servers what grows here and hears what grows there, as long as the gate is there.
pub(crate) fn spawn_exchange(gate: &Gate, bus: Option<Box<dyn ChangeFeed>>, to_tell: FeedOutbox) {
    let (heard, hints) = mpsc::channel(HEARD);
    tokio::spawn(watch_logs(Arc::downgrade(gate.arc()), hints));
    if let Some(bus) = bus {
        let clock = gate.clock().clone();
        tokio::spawn(async move {
            // Ends when nobody hears any more: the gate is gone.
            while !heard.is_closed() {
                let error = bus.carry(&to_tell, &heard).await;
                tracing::warn!(%error, "the bus was lost; the logs are looked at every second");
                clock.sleep(REST).await;
            }
        });
    }
}

/// Looks at the logs, when something is heard and every second.
async fn watch_logs(inner: Weak<GateInner>, mut hints: mpsc::Receiver<ProjectId>) {
    let mut heads = LogHeads::default();
    let mut failing = false;
    loop {
        let Some(clock) = inner.upgrade().map(|inner| inner.clock.clone()) else { return };
        let heard = tokio::select! {
            heard = hints.recv() => heard,
            () = clock.sleep(LOOK) => None,
        };
        let Some(gate) = inner.upgrade().map(Gate::from_inner) else { return };
        let mut only: HashSet<_> = heard.into_iter().collect();
        while let Ok(more) = hints.try_recv() {
            only.insert(more);
        }
        let looked = heads.check_logs(&gate, &only).await;
        if let Err(error) = &looked
            && !failing
        {
            let error: &dyn std::error::Error = error;
            tracing::warn!(error, "the logs could not be looked at");
        }
        failing = looked.is_err();
    }
}

/// How far each log has been looked at.
#[derive(Default)]
struct LogHeads(HashMap<ProjectId, u64>);

impl LogHeads {
    /// Looks at some logs, or at all, and tells whoever waits here of what is new.
    async fn check_logs(
        &mut self,
        gate: &Gate,
        only: &HashSet<ProjectId>,
    ) -> Result<(), StoreError> {
        let store = &gate.inner().store;
        let heads = if only.is_empty() {
            store.heads().await?
        } else {
            let mut heads = Vec::new();
            for project in only {
                heads.push((project.clone(), store.head(project).await?));
            }
            heads
        };
        for (project, head) in heads {
            let known = self.0.get(&project).copied();
            if known.is_some_and(|known| known >= head) {
                continue;
            }
            gate.inner().channels.announce_entry(&project, head);
            // What was there before we first looked is known to whoever began to wait since.
            wake_waiters(gate, &project, known.unwrap_or(0), head).await?;
            self.0.insert(project, head);
        }
        Ok(())
    }
}

/// Wakes who waits here for what was decided between two numbers.
async fn wake_waiters(
    gate: &Gate,
    project: &ProjectId,
    after: u64,
    head: u64,
) -> Result<(), StoreError> {
    let waiting = &gate.inner().waiting;
    if waiting.is_empty() {
        return Ok(());
    }
    // From far behind it is cheaper to let everybody look.
    if head.saturating_sub(after) > 4 * PAGE as u64 {
        waiting.wake_all();
        return Ok(());
    }
    let mut after = after;
    while after < head {
        let page = gate.inner().store.entries(project, after, head, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.seq;
        for entry in page {
            if let Event::ApprovalResolved { approval, .. } = entry.event {
                waiting.wake(approval);
            }
        }
    }
    gate.inner().asked.notify_waiters();
    Ok(())
}
