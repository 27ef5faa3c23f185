//! Opening a gate: on a file, on a server, in memory, or only to look.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::blocking::run_blocking;
use crate::client_look_waiters::ClientLookWaiters;
use crate::clock::Clock;
use crate::executor_queue::ExecutorQueues;
use crate::feed_queue::{FeedPublisher, feed_queue};
use crate::gate::{Gate, GateInner};
use crate::live::ProjectChannels;
use crate::rule_cache::RuleCache;
use crate::rulebook::Rulebook;
use crate::server_place::ServerMembership;
use crate::settings::GateSettings;
use crate::settings_cache::SettingsCache;
use crate::store::{CommitHook, DatabaseUrl, FileLock, Store, StoreError};
use crate::timeouts::DecisionTimeouts;
use crate::waiters::DecisionWaiters;
use crate::{change_feed, deadlines, feed_exchange, retention};

impl Gate {
    /// Opens the gate, to serve by it.
    pub async fn open(
        settings: GateSettings,
        clock: Arc<dyn Clock>,
        rulebook: Arc<Rulebook>,
    ) -> Result<Self, StoreError> {
        let (told, hints) = feed_queue();
        let channels = Arc::new(ProjectChannels::default());
        let on_commit = commit_hook(&channels, Some(told));
        let (url, time) = (settings.database.clone(), clock.clone());
        let opened = run_blocking(move || {
            let lock = FileLock::for_database(&url)?;
            Ok((Store::open(&url, lock.is_some(), time, on_commit)?, lock))
        });
        let (store, lock) = opened.await?;
        let bus = change_feed::from_settings(&settings)?.filter(|_| store.is_shared());
        let gate = Self::from_store(store, channels, clock, &settings, rulebook);
        gate.inner().membership.keep_file_lock(lock);
        tokio::spawn(deadlines::enforce_deadlines(Arc::downgrade(gate.arc())));
        if let Some(period) = settings.keep_events {
            tokio::spawn(retention::enforce_retention(Arc::downgrade(gate.arc()), period));
        }
        if gate.inner().store.is_shared() {
            feed_exchange::spawn_exchange(&gate, bus, hints);
        }
        Ok(gate)
    }

    /// Opens a gate that forgets everything when the process ends.
    pub fn in_memory(
        clock: Arc<dyn Clock>,
        timeouts: DecisionTimeouts,
        rulebook: Arc<Rulebook>,
    ) -> Result<Self, StoreError> {
        let channels = Arc::new(ProjectChannels::default());
        let store = Store::in_memory(clock.clone(), commit_hook(&channels, None))?;
        let nowhere = DatabaseUrl::Sqlite(PathBuf::new());
        let settings = GateSettings { timeouts, ..GateSettings::for_database(nowhere) };
        let gate = Self::from_store(store, channels, clock, &settings, rulebook);
        tokio::spawn(deadlines::enforce_deadlines(Arc::downgrade(gate.arc())));
        Ok(gate)
    }

    /// Opens the gate to look at its record, beside the servers that own it.
    ///
    /// Deadlines are left to them: whoever waits there would not hear of them.
    pub async fn open_to_read(
        database: DatabaseUrl,
        clock: Arc<dyn Clock>,
        rulebook: Arc<Rulebook>,
    ) -> Result<Self, StoreError> {
        let channels = Arc::new(ProjectChannels::default());
        let on_commit = commit_hook(&channels, None);
        let (url, time) = (database.clone(), clock.clone());
        let store = run_blocking(move || Store::open(&url, false, time, on_commit)).await?;
        Ok(Self::from_store(
            store,
            channels,
            clock,
            &GateSettings::for_database(database),
            rulebook,
        ))
    }

    fn from_store(
        store: Store,
        channels: Arc<ProjectChannels>,
        clock: Arc<dyn Clock>,
        settings: &GateSettings,
        rulebook: Arc<Rulebook>,
    ) -> Self {
        let inner = Arc::new(GateInner {
            store,
            clock,
            asked: Arc::new(Notify::new()),
            channels,
            waiting: DecisionWaiters::default(),
            timeouts: settings.timeouts,
            settled: SettingsCache::default(),
            pending_limit: settings.pending_limit,
            rules: RuleCache::new(rulebook),
            history: Arc::default(),
            membership: ServerMembership::new(settings.place.clone()),
            executors: ExecutorQueues::default(),
            client_looks: ClientLookWaiters::default(),
        });
        Self::from_inner(inner)
    }
}

/// Returns what is done after each commit: whoever is here is told, and what carries hints to others.
fn commit_hook(channels: &Arc<ProjectChannels>, told: Option<FeedPublisher>) -> CommitHook {
    let channels = channels.clone();
    Arc::new(move |project, seq| {
        channels.announce_entry(project, seq);
        if let Some(told) = &told {
            told.publish(project);
        }
    })
}
