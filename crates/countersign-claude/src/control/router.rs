//! Which turn a message belongs to.

use std::sync::Arc;

use super::backlog::MessageBacklog;
use super::message_queue::{MessageReceiver, MessageSender};
use super::routing_header::{MessageAddress, RoutingKind};
use crate::error::{SessionEnd, StreamError};

/// The open turns, oldest first, and where the rest goes.
pub(super) struct MessageRouter {
    turns: Vec<OpenTurn>,
    /// Gets all messages, if there is one.
    everything: Option<MessageSender>,
    /// Gets what belongs to no turn, once somebody wants it.
    rest: Option<MessageSender>,
    /// Whether the CLI tells when it takes up a prompt; older ones do not.
    tells_starts: bool,
    backlog: Arc<MessageBacklog>,
    end: Option<SessionEnd>,
}

struct OpenTurn {
    uuid: String,
    started: bool,
    queue: MessageSender,
}

/// Whose message it is, among the open turns.
#[derive(Clone, Copy)]
enum TurnSelector<'a> {
    /// Those the message names; nobody's if it names none.
    Named(&'a [String]),
    /// Those the CLI has taken up.
    Started,
    /// The oldest, for want of a better guess.
    Oldest,
}

impl TurnSelector<'_> {
    fn include(self, place: usize, turn: &OpenTurn) -> bool {
        match self {
            Self::Named(prompts) => prompts.contains(&turn.uuid),
            Self::Started => turn.started,
            Self::Oldest => place == 0,
        }
    }
}

impl MessageRouter {
    pub(super) fn new(everything: Option<MessageSender>, backlog: Arc<MessageBacklog>) -> Self {
        Self { turns: Vec::new(), everything, rest: None, tells_starts: false, backlog, end: None }
    }

    pub(super) fn open_turn(&mut self, uuid: &str) -> Result<MessageReceiver, SessionEnd> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        let (queue, unread) = MessageSender::new(self.backlog.clone());
        self.turns.push(OpenTurn { uuid: uuid.to_owned(), started: false, queue });
        Ok(unread)
    }

    pub(super) fn unsolicited(&mut self) -> MessageReceiver {
        let (queue, unread) = MessageSender::new(self.backlog.clone());
        if self.end.is_none() {
            self.rest = Some(queue);
        }
        unread
    }

    /// Hands a message to its turns, and closes those it ends.
    pub(super) fn route(&mut self, address: &MessageAddress, line: String) {
        if address.kind == RoutingKind::Partial && self.backlog.should_drop_partial() {
            return;
        }
        if let Some(everything) = &mut self.everything {
            everything.push(Ok(line));
            return;
        }
        let owners = self.owners(address);
        self.deliver(owners, line);
        match &address.kind {
            RoutingKind::Result { .. } => self.close(owners),
            RoutingKind::Lifecycle { state } => self.apply_lifecycle(state, owners),
            RoutingKind::Partial | RoutingKind::Other => {}
        }
    }

    /// Notes when a prompt is taken up or taken back.
    ///
    /// One that is `completed` still waits for its result: a prompt sent while tools run is taken
    /// into the turn that runs, and done before that turn is.
    fn apply_lifecycle(&mut self, state: &str, owners: TurnSelector<'_>) {
        self.tells_starts = true;
        match state {
            "started" => {
                for (place, turn) in self.turns.iter_mut().enumerate() {
                    turn.started |= owners.include(place, turn);
                }
            }
            "queued" | "completed" => {}
            _ => self.close(owners),
        }
    }

    /// The CLI has come to rest: what it has taken up gets no result any more.
    pub(super) fn close_started_turns(&mut self) {
        self.turns.retain(|turn| !turn.started);
    }

    fn close(&mut self, owners: TurnSelector<'_>) {
        let mut place = 0;
        self.turns.retain(|turn| {
            place += 1;
            !owners.include(place - 1, turn)
        });
    }

    /// Returns whose message it is.
    fn owners<'a>(&self, address: &'a MessageAddress) -> TurnSelector<'a> {
        let unsolicited = address.kind == RoutingKind::Result { solicited: false };
        if !address.prompts.is_empty() || unsolicited {
            TurnSelector::Named(&address.prompts)
        } else if self.tells_starts {
            TurnSelector::Started
        } else {
            TurnSelector::Oldest
        }
    }

    fn deliver(&mut self, owners: TurnSelector<'_>, line: String) {
        let turns = self.turns.iter_mut().enumerate();
        let mut queues = turns
            .filter(|(place, turn)| owners.include(*place, turn))
            .map(|(_, turn)| &mut turn.queue);
        let Some(one) = queues.next().or(self.rest.as_mut()) else { return };
        for also in queues {
            also.push(Ok(line.clone()));
        }
        one.push(Ok(line));
    }

    /// Reports a line that could not be delivered, to whoever it may have been for.
    pub(super) fn report(&mut self, error: StreamError) {
        let tells_starts = self.tells_starts;
        let started = self.turns.iter_mut().filter(|turn| turn.started || !tells_starts);
        let queues = started.map(|turn| &mut turn.queue).take(1);
        if let Some(queue) = self.everything.iter_mut().chain(queues).chain(&mut self.rest).next() {
            queue.push(Err(error));
        }
    }

    /// Lets everybody have what came since the last time.
    pub(super) fn flush(&mut self) {
        let turns = self.turns.iter_mut().map(|turn| &mut turn.queue);
        turns.chain(&mut self.everything).chain(&mut self.rest).for_each(MessageSender::flush);
    }

    /// Closes all queues. A turn without a result learns why it has none; who reads everything
    /// learns of an end only if it was none to hope for.
    pub(super) fn finish(&mut self, end: &SessionEnd, is_good: bool) {
        self.end = Some(end.clone());
        let turns = std::mem::take(&mut self.turns).into_iter().map(|turn| turn.queue);
        let rest = self.everything.take().into_iter().chain(self.rest.take());
        for mut queue in turns.chain(rest.filter(|_| !is_good)) {
            queue.push(Err(StreamError::Ended(end.clone())));
        }
    }
}
