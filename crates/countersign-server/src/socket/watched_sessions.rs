//! Which conversations a client hears of.

use std::collections::HashSet;

use countersign_core::SessionId;

/// What a client watches. Requests for approval it hears of in any case.
pub(super) enum WatchedSessions {
    /// Those it started itself, or decided something in: S1's plain client.
    Own(HashSet<SessionId>),
    /// One it asked to resume, and those it starts.
    Resumed(Option<SessionId>, HashSet<SessionId>),
}

impl WatchedSessions {
    pub(super) fn add(&mut self, session: SessionId) {
        match self {
            Self::Own(own) | Self::Resumed(_, own) => own.insert(session),
        };
    }

    /// Adds a conversation that waited for this client, and in which it has decided; one that resumed has
    /// said what it wants to hear of.
    pub(super) fn add_decided(&mut self, session: SessionId) {
        if let Self::Own(own) = self {
            own.insert(session);
        }
    }

    pub(super) fn resume(&mut self, session: Option<SessionId>) {
        *self = Self::Resumed(session, HashSet::new());
    }

    pub(super) fn is_resumed(&self) -> bool {
        matches!(self, Self::Resumed(..))
    }

    pub(super) fn has(&self, session: &SessionId) -> bool {
        match self {
            Self::Own(own) => own.contains(session),
            Self::Resumed(None, _) => true,
            Self::Resumed(Some(resumed), own) => resumed == session || own.contains(session),
        }
    }
}
