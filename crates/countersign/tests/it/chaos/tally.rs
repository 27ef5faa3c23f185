//! The tally: all that was seen, counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::OWNERS;
use super::load::rule_of;
use super::notes::{Held, Noted, Reading};
use super::witness::{Fate, Told, Wrong, fates, reads, settled, traces};

/// What there is to count.
pub(super) struct Seen<'a> {
    pub(super) noted: &'a Noted,
    /// All of the log, read in peace at the end.
    pub(super) log: &'a [Value],
    pub(super) root: &'a Path,
}

impl Held {
    fn is_success(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result["subtype"] == "success")
    }

    /// Returns the conversation as the model was last sent it. Who was declared dead may still have
    /// asked after that, but knows less.
    fn conversation(&self) -> &[Value] {
        self.requests.iter().max_by_key(|request| request.len()).map_or(&[], Vec::as_slice)
    }
}

/// What else must not be.
const OTHERS_WRONG: [&str; 8] = [
    "GAPS",
    "LEFT WAITING",
    "LOST DECISIONS",
    "LOST ENTRIES",
    "LOST RUNS",
    "REWRITTEN HISTORIES",
    "STRANGERS",
    "WRONG READS",
];

#[derive(Default)]
pub(super) struct Tally {
    counts: BTreeMap<&'static str, usize>,
    /// What must not be, by what it is.
    wrong: BTreeMap<&'static str, Vec<String>>,
}

impl Tally {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        let noted = seen.noted;
        let mut tally = Self::default();
        // What must be none is to be seen to be none.
        let must_be_none = Wrong::ALL.map(Wrong::name).into_iter().chain(OTHERS_WRONG);
        tally.wrong.extend(must_be_none.map(|name| (name, Vec::new())));
        tally.wrong.insert("OTHER", noted.wrong.clone());
        tally.count_calls(seen);
        tally.look_for_strangers(seen);
        for held in &noted.held {
            tally.look_at_talk(held);
        }
        for reading in &noted.readings {
            tally.compare(reading, seen.log);
        }
        for request in seen.log.iter().filter(|it| it["status"] == "PENDING") {
            tally.wrong("LEFT WAITING", format!("{}", request["tool_input"]));
        }
        tally.look_at_interruptions(noted);
        tally
    }

    pub(super) fn is_well(&self) -> bool {
        self.wrong.values().all(Vec::is_empty)
    }

    /// Returns what is wrong, the first few of each kind.
    pub(super) fn complaint(&self) -> String {
        let kinds = self.wrong.iter().filter(|(_, what)| !what.is_empty());
        let lines = kinds.map(|(kind, what)| {
            let first: String = what.iter().take(4).map(|it| format!("\n  - {it}")).collect();
            format!("{} {kind}:{first}\n", what.len())
        });
        lines.collect()
    }

    fn count_calls(&mut self, seen: &Seen<'_>) {
        let asked = settled(seen.log.iter());
        for held in &seen.noted.held {
            let conversation = held.conversation();
            for (call, fate) in fates(&held.talk, &asked, conversation, seen.root) {
                // A run that broke off never came to it; that it broke off is counted elsewhere.
                if fate == Fate::default() && !held.is_success() {
                    self.add("never called", 1);
                    continue;
                }
                let wrong = fate.wrong(rule_of(&call));
                self.add("calls that ask", 1);
                self.add("approved", usize::from(fate.settled == ["APPROVED"]));
                self.add("rejected", usize::from(fate.settled == ["REJECTED"]));
                self.add("ran", fate.runs);
                match (fate.told.as_slice(), fate.runs) {
                    ([Told::Interrupted], 0) => self.add("interrupted, did not run", 1),
                    ([Told::Interrupted], _) => self.add("interrupted, ran", 1),
                    _ => {}
                }
                if let Some(wrong) = wrong {
                    self.wrong(wrong.name(), format!("{call} ({:?}): {fate:?}", rule_of(&call)));
                }
            }
        }
    }

    /// Whatever ran or was asked for belongs to a conversation that somebody began.
    fn look_for_strangers(&mut self, seen: &Seen<'_>) {
        let known: BTreeSet<_> = seen.noted.held.iter().flat_map(|held| &held.talk.calls).collect();
        let asked = settled(seen.log.iter()).into_keys();
        // A file is written beside its place and then put there; killed in between, that much is left.
        let (halves, traces): (Vec<_>, Vec<_>) =
            traces(seen.root).into_iter().partition(|name| name.starts_with(".countersign-"));
        self.add("files left half written", halves.len());
        for stranger in asked.chain(traces).filter(|call| !known.contains(call)) {
            self.wrong("STRANGERS", format!("nobody called {stranger}"));
        }
    }

    fn look_at_talk(&mut self, held: &Held) {
        let name = &held.talk.name;
        self.add("conversations", 1);
        self.add("requests to the model", held.requests.len());
        match &held.result {
            Some(_) if held.is_success() => {}
            Some(result) => self.wrong("LOST RUNS", format!("{name}: {}", result["content"])),
            None => self.wrong("LOST RUNS", format!("{name} did not come to its end")),
        }
        let conversation = held.conversation();
        let reads = reads(conversation);
        self.add("reads", reads.len());
        let fine = |told: &Told| matches!(told, Told::Done | Told::Interrupted);
        if held.is_success() && (reads.len() != held.talk.reads || !reads.iter().all(fine)) {
            self.wrong("WRONG READS", format!("{name} has {}: {reads:?}", held.talk.reads));
        }
        // What the model has once been told stays as it was told.
        for earlier in &held.requests {
            if !conversation.starts_with(earlier) {
                let before = Value::from(earlier.clone());
                self.wrong("REWRITTEN HISTORIES", format!("{name} was before: {before}"));
                break;
            }
        }
    }

    /// Everything a client was told while servers died stands in the log, and the other way round.
    ///
    /// The socket does not tell every entry, so the numbers alone show no gap. But an entry that came
    /// up behind a number already served, or was skipped by a resume, is there at the end and was
    /// never told; and one that was told and lost is not there.
    fn compare(&mut self, reading: &Reading, log: &[Value]) {
        let is_told = |it: &&Value| it["type"] != "tool_approval_request" && reading.is_of(it);
        let log: BTreeMap<_, _> =
            log.iter().filter(is_told).filter_map(|it| Some((it["seq"].as_u64()?, it))).collect();
        self.add("entries read live", reading.entries.len());
        for (seq, entry) in &reading.entries {
            if log.get(seq) != Some(&entry) {
                let name = if entry["type"] == "tool_approval_resolved" {
                    "LOST DECISIONS"
                } else {
                    "LOST ENTRIES"
                };
                self.wrong(name, format!("{} was told {entry}", reading.of));
            }
        }
        for (seq, entry) in log.iter().filter(|(seq, _)| !reading.entries.contains_key(seq)) {
            self.wrong("GAPS", format!("{} never heard of {seq}: {entry}", reading.of));
        }
    }

    /// Only what was running when a server was hit may be interrupted. How much that was nobody can
    /// see from outside; but it was no more than two calls of each conversation that went on.
    fn look_at_interruptions(&mut self, noted: &Noted) {
        self.add("kills", noted.kills);
        self.add("pauses", noted.pauses);
        self.add("bus stopped or started", noted.bus);
        self.add("connections", noted.reconnects);
        self.add("decisions that came second", noted.too_late);
        let interrupted = self.get("interrupted, ran") + self.get("interrupted, did not run");
        let most = (noted.kills + noted.pauses) * 2 * OWNERS;
        if interrupted > most {
            self.wrong("OTHER", format!("{interrupted} were interrupted, {most} may have been"));
        }
    }

    fn add(&mut self, name: &'static str, count: usize) {
        *self.counts.entry(name).or_default() += count;
    }

    fn wrong(&mut self, kind: &'static str, what: String) {
        self.wrong.entry(kind).or_default().push(what);
    }

    fn get(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or_default()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wrong = self.wrong.iter().map(|(name, what)| (name, what.len()));
        let all = wrong.chain(self.counts.iter().map(|(name, count)| (name, *count)));
        all.into_iter().try_for_each(|(name, count)| writeln!(f, "  {count:>7}  {name}"))
    }
}

impl Wrong {
    const ALL: [Self; 7] = [
        Self::RanTwice,
        Self::RanUnapproved,
        Self::LostApproval,
        Self::LostRequest,
        Self::Turned,
        Self::AskedTwice,
        Self::Mistold,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::RanTwice => "DOUBLE EXECUTIONS",
            Self::RanUnapproved => "UNAPPROVED EXECUTIONS",
            Self::LostApproval => "LOST APPROVALS",
            Self::LostRequest => "LOST REQUESTS",
            Self::Turned => "TURNED DECISIONS",
            Self::AskedTwice => "ASKED TWICE",
            Self::Mistold => "MISTOLD RESULTS",
        }
    }
}

/// What a client was told and what the log says at the end are held against each other both ways.
#[test]
fn what_a_client_missed_or_dreamt_is_seen() {
    use super::notes::Notes;
    use serde_json::json;
    let entry = |seq: u64, text: &str| json!({"type": "assistant", "seq": seq, "text": text});
    let decided = json!({"type": "tool_approval_resolved", "seq": 4, "request_id": "r"});
    let log = [entry(1, "a"), entry(2, "b"), entry(3, "c")];
    let (mut reading, notes) = (Reading::new("somebody", None), Notes::default());
    for message in [&entry(1, "a"), &entry(3, "x"), &decided, &entry(3, "x")] {
        reading.take(message, &notes);
    }
    let mut tally = Tally::default();
    tally.compare(&reading, &log);
    let counted: Vec<_> = tally.wrong.iter().map(|(kind, what)| (*kind, what.len())).collect();
    assert_eq!(counted, [("GAPS", 1), ("LOST DECISIONS", 1), ("LOST ENTRIES", 1)]);
    assert_eq!(notes.lock().wrong.len(), 1, "3 came after 4");
}
