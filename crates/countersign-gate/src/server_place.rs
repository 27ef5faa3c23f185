//! The place of this process among the servers on a database, and the locks it holds there.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use uuid::Uuid;

use crate::blocking::run_blocking;
use crate::store::{FileLock, StoreError};

/// What this process holds as a server.
pub(crate) struct ServerMembership {
    folder: Option<PathBuf>,
    /// What this server holds as long as it is there, by which its successor knows that it is gone.
    held: Mutex<HeldLocks>,
    /// Told when runs may have been left behind, and when this server was fenced.
    pub(crate) changed: Arc<Notify>,
}

#[derive(Default)]
struct HeldLocks {
    file: Option<FileLock>,
    place: Option<(String, FileLock)>,
}

impl ServerMembership {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, held: Mutex::default(), changed: Arc::default() }
    }

    /// Keeps the lock of a database that is a file.
    pub(crate) fn keep_file_lock(&self, lock: Option<FileLock>) {
        self.lock().file = lock;
    }

    /// Returns the place of this server: the same for all that ever hold its folder, else a new one.
    pub(crate) async fn place_id(&self) -> Result<String, StoreError> {
        let known = self.lock().place.as_ref().map(|(place, _)| place.clone());
        let (None, Some(folder)) = (&known, self.folder.clone()) else {
            return Ok(known.unwrap_or_else(|| Uuid::now_v7().to_string()));
        };
        let held = run_blocking(move || lock_folder(&folder).map_err(StoreError::folder)).await?;
        let place = held.as_ref().map_or_else(|| Uuid::now_v7().to_string(), |it| it.0.clone());
        self.lock().place = held;
        Ok(place)
    }

    fn lock(&self) -> MutexGuard<'_, HeldLocks> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Holds a folder; none if another server does.
fn lock_folder(folder: &Path) -> std::io::Result<Option<(String, FileLock)>> {
    let Some(lock) = FileLock::acquire(&folder.join("server.lock"))? else { return Ok(None) };
    let file = folder.join("server.id");
    let known = std::fs::read_to_string(&file).ok().and_then(|id| id.trim().parse::<Uuid>().ok());
    let id = known.unwrap_or_else(Uuid::now_v7);
    if known.is_none() {
        std::fs::write(&file, id.to_string())?;
    }
    Ok(Some((id.to_string(), lock)))
}
