//! Opening a gate: on a file, on a server, in memory, or only to look.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::client_looks::ClientLooks;
use crate::clock::Clock;
use crate::executors::Executors;
use crate::gate::{Gate, Inner};
use crate::hints::Told;
use crate::live::Channels;
use crate::membership::Membership;
use crate::projects::Settled;
use crate::rulebook::Rulebook;
use crate::rules::Rules;
use crate::store::{DatabaseUrl, Lock, OnCommit, Store, StoreError};
use crate::timeouts::Timeouts;
use crate::waiting::Waiting;
use crate::{bus, deadlines, hints, retention};

/// What a gate is opened with. Not to be printed: what carries hints may be named with a password.
#[derive(Clone)]
pub struct Settings {
    /// Where it keeps everything.
    pub database: DatabaseUrl,
    /// How long people have to decide.
    pub timeouts: Timeouts,
    /// How many requests of one project may wait at the same time.
    pub pending_limit: u64,
    /// A folder that one server at a time can hold: who holds it next knows that the one before is dead.
    pub place: Option<PathBuf>,
    /// What carries hints between servers, if not the database itself.
    pub bus: Option<String>,
    /// How long the log is kept; for good where it is not given.
    pub keep_events: Option<Duration>,
}

impl Settings {
    /// How many requests of one project may wait unless something else is said.
    pub const PENDING_LIMIT: u64 = 10_000;

    /// Returns the defaults for a database.
    pub fn of(database: DatabaseUrl) -> Self {
        Self {
            database,
            timeouts: Timeouts::default(),
            pending_limit: Self::PENDING_LIMIT,
            place: None,
            bus: None,
            keep_events: None,
        }
    }
}

impl Gate {
    /// Opens the gate, to serve by it.
    pub async fn open(
        settings: Settings,
        clock: Arc<dyn Clock>,
        rulebook: Arc<Rulebook>,
    ) -> Result<Self, StoreError> {
        let (told, hints) = hints::queue();
        let channels = Arc::new(Channels::default());
        let on_commit = on_commit(&channels, Some(told));
        let (url, time) = (settings.database.clone(), clock.clone());
        let opened = off_runtime(move || {
            let lock = Lock::of_database(&url)?;
            Ok((Store::open(&url, lock.is_some(), time, on_commit)?, lock))
        });
        let (store, lock) = opened.await?;
        let bus = bus::of(&settings)?.filter(|_| store.is_shared());
        let gate = Self::over(store, channels, clock, &settings, rulebook);
        gate.inner().membership.keep(lock);
        tokio::spawn(deadlines::keep(Arc::downgrade(gate.arc())));
        if let Some(period) = settings.keep_events {
            tokio::spawn(retention::keep(Arc::downgrade(gate.arc()), period));
        }
        if gate.inner().store.is_shared() {
            hints::exchange(&gate, bus, hints);
        }
        Ok(gate)
    }

    /// Opens a gate that forgets everything when the process ends.
    pub fn in_memory(
        clock: Arc<dyn Clock>,
        timeouts: Timeouts,
        rulebook: Arc<Rulebook>,
    ) -> Result<Self, StoreError> {
        let channels = Arc::new(Channels::default());
        let store = Store::in_memory(clock.clone(), on_commit(&channels, None))?;
        let nowhere = DatabaseUrl::Sqlite(PathBuf::new());
        let settings = Settings { timeouts, ..Settings::of(nowhere) };
        let gate = Self::over(store, channels, clock, &settings, rulebook);
        tokio::spawn(deadlines::keep(Arc::downgrade(gate.arc())));
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
        let channels = Arc::new(Channels::default());
        let on_commit = on_commit(&channels, None);
        let (url, time) = (database.clone(), clock.clone());
        let store = off_runtime(move || Store::open(&url, false, time, on_commit)).await?;
        Ok(Self::over(store, channels, clock, &Settings::of(database), rulebook))
    }

    fn over(
        store: Store,
        channels: Arc<Channels>,
        clock: Arc<dyn Clock>,
        settings: &Settings,
        rulebook: Arc<Rulebook>,
    ) -> Self {
        let inner = Arc::new(Inner {
            store,
            clock,
            asked: Arc::new(Notify::new()),
            channels,
            waiting: Waiting::default(),
            timeouts: settings.timeouts,
            settled: Settled::default(),
            pending_limit: settings.pending_limit,
            rules: Rules::new(rulebook),
            history: Arc::default(),
            membership: Membership::new(settings.place.clone()),
            executors: Executors::default(),
            client_looks: ClientLooks::default(),
        });
        Self::from_inner(inner)
    }
}

/// Returns what is done after each commit: whoever is here is told, and what carries hints to others.
fn on_commit(channels: &Arc<Channels>, told: Option<Told>) -> OnCommit {
    let channels = channels.clone();
    Arc::new(move |project, seq| {
        channels.logged(project, seq);
        if let Some(told) = &told {
            told.grew(project);
        }
    })
}

/// Opens something where that may block.
pub(crate) async fn off_runtime<T: Send + 'static>(
    open: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(open).await.map_err(|_| StoreError::Closed)?
}
