//! Following all logs at once: every entry after the numbers that were there at the start, once, and
//! in order within each project.

use std::collections::{HashMap, VecDeque};

use countersign_core::ProjectId;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::gate::Gate;
use crate::store::{LogEntry, Store, StoreError};

/// How many entries are read at a time: bounds what one slow reader holds in memory.
const PAGE: usize = 128;

/// How far one log has been read, and how far it is known to go.
#[derive(Clone, Copy, Debug, Default)]
struct LogReadProgress {
    read: u64,
    known: u64,
}

/// One reader of the logs of all projects but its own.
///
/// It holds one page of entries and two numbers per project, however far behind it is.
#[derive(Debug)]
pub struct MultiLogFollower {
    store: Store,
    hints: broadcast::Receiver<(ProjectId, u64)>,
    except: ProjectId,
    positions: HashMap<ProjectId, LogReadProgress>,
    /// The projects that have entries to read, the next one first.
    behind: VecDeque<ProjectId>,
    page: VecDeque<(ProjectId, LogEntry)>,
    /// Whether hints were missed, so that the store must be asked how far the logs go.
    lagged: bool,
}

impl MultiLogFollower {
    pub(crate) fn new(
        store: Store,
        hints: broadcast::Receiver<(ProjectId, u64)>,
        except: ProjectId,
        heads: Vec<(ProjectId, u64)>,
    ) -> Self {
        let position = |(project, head)| (project, LogReadProgress { read: head, known: head });
        Self {
            store,
            hints,
            except,
            positions: heads.into_iter().map(position).collect(),
            behind: VecDeque::new(),
            page: VecDeque::new(),
            lagged: false,
        }
    }

    /// Returns the next entry and its project; waits for it if need be. None when the gate is gone.
    ///
    /// Dropping the future loses nothing: the next call starts where this one was.
    pub async fn next(&mut self) -> Option<Result<(ProjectId, LogEntry), StoreError>> {
        loop {
            if let Some(entry) = self.page.pop_front() {
                return Some(Ok(entry));
            }
            if let Some(project) = self.behind.front().cloned() {
                if let Err(error) = self.read_page(project).await {
                    return Some(Err(error));
                }
                continue;
            }
            if self.lagged {
                match self.store.heads().await {
                    Ok(heads) => heads.into_iter().for_each(|(of, head)| self.note_head(of, head)),
                    Err(error) => return Some(Err(error)),
                }
                self.lagged = false;
                continue;
            }
            match self.hints.recv().await {
                Ok((project, head)) => self.note_head(project, head),
                Err(RecvError::Lagged(_)) => self.lagged = true,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Notes how far a log goes. One that is new is read from its beginning.
    fn note_head(&mut self, project: ProjectId, head: u64) {
        if project == self.except {
            return;
        }
        let position = self.positions.entry(project.clone()).or_default();
        position.known = position.known.max(head);
        if position.read < position.known && !self.behind.contains(&project) {
            self.behind.push_back(project);
        }
    }

    /// Reads a page of the first project that is behind; if there is more, the others come first.
    async fn read_page(&mut self, project: ProjectId) -> Result<(), StoreError> {
        let LogReadProgress { read, known } =
            self.positions.get(&project).copied().unwrap_or_default();
        let page = self.store.entries(&project, read, known, PAGE).await?;
        // A short page is the last one up to `known`: numbers behind it are gone, not late.
        let last = page.last().map_or(known, |last| last.seq);
        let read = if page.len() < PAGE { known } else { last };
        self.positions.insert(project.clone(), LogReadProgress { read, known });
        self.page.extend(page.into_iter().map(|entry| (project.clone(), entry)));
        self.behind.pop_front();
        if read < known {
            self.behind.push_back(project);
        }
        Ok(())
    }
}

impl Gate {
    /// Follows the logs of all projects but one from now on, those of later projects too.
    pub async fn follow_all_but(
        &self,
        project: &ProjectId,
    ) -> Result<MultiLogFollower, StoreError> {
        let hints = self.inner().channels.listen_to_all();
        let store = self.inner().store.clone();
        let heads = store.heads().await?;
        Ok(MultiLogFollower::new(store, hints, project.clone(), heads))
    }
}
