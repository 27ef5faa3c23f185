//! The desk: requests that wait for this person, one after the other, and what they say to them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use countersign_core::{ApprovalId, ExecutionId};
use countersign_gate::{Clock, SystemClock};
use countersign_tools::shown;
use tokio::sync::mpsc::UnboundedSender;

use super::News;
use super::card::Card;
use super::decision::{Answer, Decision};
use super::event::Request;
use super::keyboard::Editor;
use super::screen::Screen;
use super::told::Told;

/// What is typed this soon after a card appeared was not meant for it: nobody reads that fast.
const GLANCE: Duration = Duration::from_millis(400);

/// Where requests are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    Here,
    /// Not here, and what is said about that.
    Elsewhere(&'static str),
}

/// The requests of the project, as this person sees them.
pub(super) struct Desk {
    pub(super) asking: Asking,
    screen: Arc<Screen>,
    news: UnboundedSender<News>,
    // INVARIANT: unless the stage is idle, the first one is what is shown.
    queue: VecDeque<Request>,
    stage: Stage,
    card: Option<Card>,
    editor: Editor,
    /// Every request that was put on the desk, or left to others: none comes twice.
    known: HashSet<ApprovalId>,
    /// What is left to others, to tell what came of it.
    left: HashMap<ApprovalId, Request>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
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

impl Desk {
    pub(super) fn new(asking: Asking, screen: Arc<Screen>, news: UnboundedSender<News>) -> Self {
        Self {
            asking,
            screen,
            news,
            queue: VecDeque::new(),
            stage: Stage::Idle,
            card: None,
            editor: Editor::default(),
            known: HashSet::new(),
            left: HashMap::new(),
        }
    }

    /// Returns the requests that wait here.
    pub(super) fn waiting(&self) -> Vec<ApprovalId> {
        self.queue.iter().map(|request| request.approval_id).collect()
    }

    /// Takes a request, unless it was here before.
    pub(super) fn arrive(&mut self, request: Request) {
        if !request.waits() {
            let status = request.status.clone().unwrap_or_default();
            return self.settle(request.approval_id, &status, None);
        }
        if !self.known.insert(request.approval_id) {
            return;
        }
        if let Asking::Elsewhere(why) = self.asking {
            return self.leave(request, why);
        }
        self.queue.push_back(request);
        self.show_next();
    }

    /// Takes away a request that somebody else, or time, has decided.
    pub(super) fn settle(&mut self, id: ApprovalId, status: &str, by: Option<String>) {
        if let Some(request) = self.left.remove(&id) {
            return self.tell_settled(&request, status, by);
        }
        let Some(at) = self.queue.iter().position(|request| request.approval_id == id) else {
            return;
        };
        // What we have said ourselves, we hear from the answer.
        if at == 0 && self.stage == Stage::Deciding {
            return;
        }
        if let Some(request) = self.queue.remove(at) {
            if at == 0 && self.stage != Stage::Idle {
                self.take_down();
            }
            self.tell_settled(&request, status, by);
        }
        self.show_next();
    }

    /// The same for whoever knows the call only.
    pub(super) fn settle_call(&mut self, call: ExecutionId, status: &str) {
        let mut all = self.queue.iter().chain(self.left.values());
        let found = all.find(|request| request.tool_id == call);
        if let Some(id) = found.map(|request| request.approval_id) {
            self.settle(id, status, None);
        }
    }

    /// Leaves everything to others from now on.
    pub(super) fn leave_to_others(&mut self, why: &'static str) {
        self.asking = Asking::Elsewhere(why);
        self.take_down();
        for request in std::mem::take(&mut self.queue) {
            self.leave(request, why);
        }
    }

    fn leave(&mut self, request: Request, why: &'static str) {
        let (id, sentence) = (request.approval_id, request.sentence().to_owned());
        self.screen.tell(&Told::Waits { id, sentence, why });
        self.left.insert(id, request);
    }

    fn tell_settled(&self, request: &Request, status: &str, by: Option<String>) {
        let (id, sentence) = (request.approval_id, request.sentence().to_owned());
        self.screen.tell(&Told::Settled { id, sentence, status: status.to_owned(), by });
    }

    /// The card has been there long enough to be read.
    pub(super) fn ready(&mut self, id: ApprovalId) {
        let shown = self.queue.front().is_some_and(|request| request.approval_id == id);
        if shown && self.stage == Stage::Glancing {
            self.editor.clear();
            self.stage = Stage::Choosing;
            self.draw_prompt();
        }
    }

    /// Takes what was typed; returns the decision if it is one.
    pub(super) fn typed(&mut self, text: &str) -> Option<Decision> {
        for letter in text.chars() {
            if !matches!(self.stage, Stage::Choosing | Stage::Explaining) {
                return None;
            }
            let Some(line) = self.editor.take(letter) else {
                self.draw_prompt();
                continue;
            };
            self.screen.end_prompt(true);
            if let Some(decision) = self.said(line.trim()) {
                return Some(decision);
            }
        }
        None
    }

    /// Hears what became of a decision of ours.
    pub(super) fn answered(&mut self, id: ApprovalId, answer: Answer) {
        let Some(request) = self.queue.front().filter(|it| it.approval_id == id) else { return };
        match answer {
            Answer::Stands { status, by } => {
                self.tell_settled(request, &status, by);
                self.queue.pop_front();
                self.stage = Stage::Idle;
            }
            Answer::Changed(fresh) => {
                let text = "it has changed since you saw it: look again";
                self.screen.tell(&Told::Warning(text.to_owned()));
                self.queue.pop_front();
                self.queue.push_front(*fresh);
                self.stage = Stage::Idle;
            }
            Answer::NotSent(why) => {
                let text = format!("your decision did not reach the server ({why}): say it again");
                self.screen.tell(&Told::Warning(text));
                self.stage = Stage::Choosing;
                self.editor.clear();
                return self.draw_prompt();
            }
            Answer::MayNot(why) => {
                self.screen.tell(&Told::Warning(format!("you may not decide here: {why}")));
                self.stage = Stage::Idle;
                return self.leave_to_others("elsewhere: this token may not decide");
            }
        }
        self.show_next();
    }

    fn said(&mut self, line: &str) -> Option<Decision> {
        let request = self.queue.front()?;
        if self.stage == Stage::Explaining {
            let decision = Decision::reject(request, line);
            self.stage = Stage::Deciding;
            return Some(decision);
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (word, rest.trim()) {
            ("a" | "approve", "") => {
                let decision = Decision::approve(request);
                self.stage = Stage::Deciding;
                return Some(decision);
            }
            ("r" | "reject", "") => {
                self.stage = Stage::Explaining;
                self.draw_prompt();
            }
            ("r" | "reject", words) => {
                let decision = Decision::reject(request, words);
                self.stage = Stage::Deciding;
                return Some(decision);
            }
            ("s" | "skip", "") => self.skip(),
            ("v" | "view", "") => {
                if let Some(card) = &self.card {
                    self.screen.print(&card.whole());
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
        if self.stage != Stage::Idle {
            return;
        }
        let Some(request) = self.queue.front().cloned() else { return };
        let id = request.approval_id;
        let (paint, more) = (self.screen.paint, self.queue.len() - 1);
        let card = Card::new(&request, more, SystemClock.now(), paint);
        self.screen.print(&format!("\n{}", card.short(paint)));
        self.card = Some(card);
        self.stage = Stage::Glancing;
        let news = self.news.clone();
        tokio::spawn(async move {
            SystemClock.sleep(GLANCE).await;
            let _ = news.send(News::Glanced(id));
        });
    }

    /// Takes the card that is shown off the screen.
    fn take_down(&mut self) {
        self.screen.end_prompt(false);
        self.editor.clear();
        self.card = None;
        self.stage = Stage::Idle;
    }

    /// Shows the line that is being typed at, if there is one.
    pub(super) fn draw_prompt(&self) {
        let question = match self.stage {
            Stage::Choosing if self.card.as_ref().is_some_and(Card::is_long) => {
                "[a]pprove  [r]eject  [s]kip  [v]iew all"
            }
            Stage::Choosing => "[a]pprove  [r]eject  [s]kip",
            Stage::Explaining => "what should happen instead? (may be empty)",
            Stage::Idle | Stage::Glancing | Stage::Deciding => return,
        };
        // Other lines may have come between the card and this one.
        let tool = self.queue.front().map(|request| shown(&request.tool_name)).unwrap_or_default();
        self.screen.prompt(&format!("{tool}: {question} › "), self.editor.line());
    }
}
