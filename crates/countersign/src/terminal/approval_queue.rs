//! The queue: requests that wait for this person, one after the other, and what they say to them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use countersign_api::call_status::CallStatus;
use countersign_api::received::{ReceivedApprovalRequest, ReceivedStatus};
use countersign_client::{DecisionReply, OutgoingDecision};
use countersign_core::{ApprovalId, ExecutionId};
use countersign_gate::{Clock, SystemClock};
use countersign_tools::escape_to_line;
use tokio::sync::mpsc::UnboundedSender;

use super::approval_card::ApprovalCard;
use super::client_event::ClientEvent;
use super::client_message::ClientMessage;
use super::keyboard::LineEditor;
use super::screen::TerminalScreen;

/// What is typed this soon after a card appeared was not meant for it: nobody reads that fast.
const GLANCE: Duration = Duration::from_millis(400);

/// Where requests are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecisionLocation {
    Here,
    /// Not here, and what is said about that.
    Elsewhere(&'static str),
}

/// The requests of the project, as this person sees them.
pub(crate) struct ApprovalQueue {
    pub(crate) asking: DecisionLocation,
    screen: Arc<TerminalScreen>,
    news: UnboundedSender<ClientMessage>,
    // INVARIANT: unless the stage is idle, the first one is what is shown.
    queue: VecDeque<ReceivedApprovalRequest>,
    stage: PromptStage,
    card: Option<ApprovalCard>,
    editor: LineEditor,
    /// Every request that was put in the queue, or left to others: none comes twice.
    known: HashSet<ApprovalId>,
    /// What is left to others, to tell what came of it.
    left: HashMap<ApprovalId, ReceivedApprovalRequest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PromptStage {
    /// No card is shown.
    Idle,
    /// One was shown just now.
    Glancing,
    /// A letter is waited for.
    Choosing,
    /// The words that go with a rejection are waited for.
    Explaining,
    /// The decision is on its way.
    Deciding,
}

impl ApprovalQueue {
    pub(crate) fn new(
        asking: DecisionLocation,
        screen: Arc<TerminalScreen>,
        news: UnboundedSender<ClientMessage>,
    ) -> Self {
        Self {
            asking,
            screen,
            news,
            queue: VecDeque::new(),
            stage: PromptStage::Idle,
            card: None,
            editor: LineEditor::default(),
            known: HashSet::new(),
            left: HashMap::new(),
        }
    }

    /// Returns the requests that wait here.
    pub(crate) fn waiting(&self) -> Vec<ApprovalId> {
        self.queue.iter().map(|request| request.approval_id).collect()
    }

    /// Takes a request, unless it was here before.
    pub(crate) fn add_request(&mut self, request: ReceivedApprovalRequest) {
        if !request.waits() {
            let status = request.status.map_or("", CallStatus::as_str);
            return self.settle(request.approval_id, status, None);
        }
        if !self.known.insert(request.approval_id) {
            return;
        }
        if let DecisionLocation::Elsewhere(why) = self.asking {
            return self.leave(request, why);
        }
        self.queue.push_back(request);
        self.show_next();
    }

    /// Takes away a request that somebody else, or time, has decided.
    pub(crate) fn settle(&mut self, id: ApprovalId, status: &str, by: Option<String>) {
        if let Some(request) = self.left.remove(&id) {
            return self.tell_settled(&request, status, by);
        }
        let Some(at) = self.queue.iter().position(|request| request.approval_id == id) else {
            return;
        };
        // What we have said ourselves, we hear from the answer.
        if at == 0 && self.stage == PromptStage::Deciding {
            return;
        }
        if let Some(request) = self.queue.remove(at) {
            if at == 0 && self.stage != PromptStage::Idle {
                self.take_down();
            }
            self.tell_settled(&request, status, by);
        }
        self.show_next();
    }

    /// The same for whoever knows the call only.
    pub(crate) fn settle_call(&mut self, call: ExecutionId, status: &str) {
        let mut all = self.queue.iter().chain(self.left.values());
        let found = all.find(|request| request.tool_id == call);
        if let Some(id) = found.map(|request| request.approval_id) {
            self.settle(id, status, None);
        }
    }

    /// Leaves everything to others from now on.
    pub(crate) fn leave_to_others(&mut self, why: &'static str) {
        self.asking = DecisionLocation::Elsewhere(why);
        self.take_down();
        for request in std::mem::take(&mut self.queue) {
            self.leave(request, why);
        }
    }

    fn leave(&mut self, request: ReceivedApprovalRequest, why: &'static str) {
        let (id, sentence) = (request.approval_id, request.sentence().to_owned());
        self.screen.print_event(&ClientEvent::Waits { id, sentence, why });
        self.left.insert(id, request);
    }

    fn tell_settled(&self, request: &ReceivedApprovalRequest, status: &str, by: Option<String>) {
        let (id, sentence) = (request.approval_id, request.sentence().to_owned());
        self.screen.print_event(&ClientEvent::Settled {
            id,
            sentence,
            status: status.to_owned(),
            by,
        });
    }

    /// The card has been there long enough to be read.
    pub(crate) fn open_prompt(&mut self, id: ApprovalId) {
        let shown = self.queue.front().is_some_and(|request| request.approval_id == id);
        if shown && self.stage == PromptStage::Glancing {
            self.editor.clear();
            self.stage = PromptStage::Choosing;
            self.draw_prompt();
        }
    }

    /// Takes what was typed; returns the decision if it is one.
    pub(crate) fn handle_typed_text(&mut self, text: &str) -> Option<OutgoingDecision> {
        for letter in text.chars() {
            if !matches!(self.stage, PromptStage::Choosing | PromptStage::Explaining) {
                return None;
            }
            let Some(line) = self.editor.take(letter) else {
                self.draw_prompt();
                continue;
            };
            self.screen.end_prompt(true);
            if let Some(decision) = self.handle_line(line.trim()) {
                return Some(decision);
            }
        }
        None
    }

    /// Hears what became of a decision of ours.
    pub(crate) fn handle_decision_reply(&mut self, id: ApprovalId, answer: DecisionReply) {
        let Some(request) = self.queue.front().filter(|it| it.approval_id == id) else { return };
        match answer {
            DecisionReply::Stands { status, by } => {
                let status = status.as_ref().map_or("no longer waits", ReceivedStatus::as_str);
                self.tell_settled(request, status, by);
                self.queue.pop_front();
                self.stage = PromptStage::Idle;
            }
            DecisionReply::Changed(fresh) => {
                let text = "it has changed since you saw it: look again";
                self.screen.print_event(&ClientEvent::Warning(text.to_owned()));
                self.queue.pop_front();
                self.queue.push_front(*fresh);
                self.stage = PromptStage::Idle;
            }
            DecisionReply::NotSent(why) => {
                let text = format!("your decision did not reach the server ({why}): say it again");
                self.screen.print_event(&ClientEvent::Warning(text));
                self.stage = PromptStage::Choosing;
                self.editor.clear();
                return self.draw_prompt();
            }
            DecisionReply::MayNot(why) => {
                self.screen
                    .print_event(&ClientEvent::Warning(format!("you may not decide here: {why}")));
                self.stage = PromptStage::Idle;
                return self.leave_to_others("elsewhere: this token may not decide");
            }
        }
        self.show_next();
    }

    fn handle_line(&mut self, line: &str) -> Option<OutgoingDecision> {
        let request = self.queue.front()?;
        if self.stage == PromptStage::Explaining {
            let decision = OutgoingDecision::reject(request, line);
            self.stage = PromptStage::Deciding;
            return Some(decision);
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (word, rest.trim()) {
            ("a" | "approve", "") => {
                let decision = OutgoingDecision::approve(request);
                self.stage = PromptStage::Deciding;
                return Some(decision);
            }
            ("r" | "reject", "") => {
                self.stage = PromptStage::Explaining;
                self.draw_prompt();
            }
            ("r" | "reject", words) => {
                let decision = OutgoingDecision::reject(request, words);
                self.stage = PromptStage::Deciding;
                return Some(decision);
            }
            ("s" | "skip", "") => self.skip(),
            ("v" | "view", "") => {
                if let Some(card) = &self.card {
                    self.screen.print(&card.full_text());
                }
                self.draw_prompt();
            }
            _ => {
                if !line.is_empty() {
                    self.screen.print("say a, r or s (r can be followed by what to do instead)");
                }
                self.draw_prompt();
            }
        }
        None
    }

    fn skip(&mut self) {
        if let Some(request) = self.queue.pop_front() {
            self.leave(request, "skipped here");
        }
        self.take_down();
        self.show_next();
    }

    /// Shows the first request, if none is shown.
    fn show_next(&mut self) {
        if self.stage != PromptStage::Idle {
            return;
        }
        let Some(request) = self.queue.front().cloned() else { return };
        let id = request.approval_id;
        let (paint, more) = (self.screen.paint, self.queue.len() - 1);
        let card = ApprovalCard::new(&request, more, SystemClock.now(), paint);
        self.screen.print(&format!("\n{}", card.short(paint)));
        self.card = Some(card);
        self.stage = PromptStage::Glancing;
        let news = self.news.clone();
        tokio::spawn(async move {
            SystemClock.sleep(GLANCE).await;
            let _ = news.send(ClientMessage::Glanced(id));
        });
    }

    /// Takes the card that is shown off the screen.
    fn take_down(&mut self) {
        self.screen.end_prompt(false);
        self.editor.clear();
        self.card = None;
        self.stage = PromptStage::Idle;
    }

    /// Shows the line that is being typed at, if there is one.
    pub(crate) fn draw_prompt(&self) {
        let question = match self.stage {
            PromptStage::Choosing if self.card.as_ref().is_some_and(ApprovalCard::is_long) => {
                "[a]pprove  [r]eject  [s]kip  [v]iew all"
            }
            PromptStage::Choosing => "[a]pprove  [r]eject  [s]kip",
            PromptStage::Explaining => "what should happen instead? (may be empty)",
            PromptStage::Idle | PromptStage::Glancing | PromptStage::Deciding => return,
        };
        // Other lines may have come between the card and this one.
        let tool = self
            .queue
            .front()
            .map(|request| escape_to_line(&request.tool_name))
            .unwrap_or_default();
        self.screen.prompt(&format!("{tool}: {question} › "), self.editor.line());
    }
}
