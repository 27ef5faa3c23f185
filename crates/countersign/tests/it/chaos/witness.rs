//! The witness: what came of every call, put together from outside. It asks no server what it believes
//! but holds three things against each other: the traces that tools left on the disk, what the model
//! was told, and what clients were told.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::load::{Rule, Talk, call_of};

/// What came of one call that asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// How its requests were settled, a word each, as the log has it at the end.
    pub(super) settled: Vec<String>,
    /// How often it ran.
    pub(super) runs: usize,
    /// What the model was told of it.
    pub(super) told: Vec<Told>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Done,
    Rejected,
    /// It may have run or not.
    Interrupted,
    /// Something that no call of this load should end in.
    Failed,
    /// There is a call in the conversation without a result.
    Nothing,
}

/// What is wrong with a fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    RanTwice,
    RanUnapproved,
    /// It was approved, and did not run.
    LostApproval,
    /// A request that nobody decided came to an end, or never came to one.
    LostRequest,
    /// It stands otherwise than people decided.
    Turned,
    AskedTwice,
    /// The model was told nothing, or more than once, or something else than what happened.
    Mistold,
}

impl Fate {
    /// Returns what is wrong with it, if anything is.
    pub(super) fn wrong(&self, rule: Rule) -> Option<Wrong> {
        let approved = match self.settled.as_slice() {
            _ if self.runs > 1 => return Some(Wrong::RanTwice),
            [] if self.runs > 0 => return Some(Wrong::RanUnapproved),
            [_, _, ..] => return Some(Wrong::AskedTwice),
            [one] if one == "APPROVED" => true,
            [one] if one == "REJECTED" => false,
            [] | [_] => return Some(Wrong::LostRequest),
        };
        let is_turned = match rule {
            Rule::Approve => !approved,
            Rule::Reject => approved,
            Rule::Contested => false,
        };
        let is_well = match self.told.as_slice() {
            [Told::Done] => approved && self.runs == 1,
            [Told::Interrupted] => approved,
            [Told::Rejected] => !approved,
            _ => false,
        };
        match (approved, self.runs) {
            _ if is_turned => Some(Wrong::Turned),
            (false, 1..) => Some(Wrong::RanUnapproved),
            _ if is_well => None,
            (true, 0) => Some(Wrong::LostApproval),
            _ => Some(Wrong::Mistold),
        }
    }
}

/// Returns what came of the calls of a conversation.
///
/// `asked` says how the requests of each call stand, `conversation` is what the model was last sent.
pub(super) fn fates(
    talk: &Talk,
    asked: &BTreeMap<String, Vec<String>>,
    conversation: &[Value],
    root: &Path,
) -> BTreeMap<String, Fate> {
    let mut fates: BTreeMap<String, Fate> = BTreeMap::new();
    for call in &talk.calls {
        let settled = asked.get(call).cloned().unwrap_or_default();
        let fate = Fate { settled, runs: runs(root, call), told: Vec::new() };
        fates.insert(call.clone(), fate);
    }
    for used in blocks(conversation).filter(|block| block["type"] == "tool_use") {
        let Some(call) = call_of(&used["input"]) else { continue };
        let results = blocks(conversation).filter(|it| it["tool_use_id"] == used["id"]);
        let mut told: Vec<_> = results.map(Told::of).collect();
        if told.is_empty() {
            told.push(Told::Nothing);
        }
        fates.entry(call.to_owned()).or_default().told.extend(told);
    }
    fates
}

/// Returns how the requests of each call stand in the log: a word each, `PENDING` for one that waits.
pub(super) fn settled<'a>(log: impl Iterator<Item = &'a Value>) -> BTreeMap<String, Vec<String>> {
    let mut calls: BTreeMap<&str, &str> = BTreeMap::new();
    let mut words: BTreeMap<&str, &str> = BTreeMap::new();
    for message in log {
        let request = message["request_id"].as_str().unwrap_or_default();
        match message["type"].as_str() {
            Some("tool_approval_request") => {
                calls.insert(request, call_of(&message["tool_input"]).unwrap_or("?"));
                words.entry(request).or_insert("PENDING");
            }
            Some("tool_approval_resolved") => {
                words.insert(request, message["status"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }
    let mut settled: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (request, word) in words {
        let call = calls.get(request).copied().unwrap_or("?");
        settled.entry(call.to_owned()).or_default().push(word.to_owned());
    }
    settled
}

/// Returns the results of reads that the model was told, and whether each is what it must be.
pub(super) fn reads(conversation: &[Value]) -> Vec<Told> {
    let used = blocks(conversation).filter(|it| it["type"] == "tool_use" && it["name"] == "Read");
    let told = used.flat_map(|used| {
        blocks(conversation).filter(|it| it["tool_use_id"] == used["id"]).map(Told::of)
    });
    told.collect()
}

impl Told {
    fn of(result: &Value) -> Self {
        let text = match &result["content"] {
            Value::String(text) => text.as_str(),
            blocks => blocks[0]["text"].as_str().unwrap_or_default(),
        };
        match result["is_error"].as_bool().unwrap_or_default() {
            false => Self::Done,
            true if text.starts_with("User rejected") => Self::Rejected,
            true if text.starts_with("Interrupted") => Self::Interrupted,
            true => Self::Failed,
        }
    }
}

/// Returns how often a call ran, by the traces it left.
fn runs(root: &Path, call: &str) -> usize {
    let log = std::fs::read_to_string(root.join(format!("witness/{call}.log")));
    let lines = log.unwrap_or_default().lines().filter(|line| *line == call).count();
    let written = std::fs::read_to_string(root.join(format!("written/{call}.txt")));
    lines + usize::from(written.is_ok_and(|text| text == call))
}

/// Returns the calls that left traces.
pub(super) fn traces(root: &Path) -> Vec<String> {
    let files = ["witness", "written"].map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let names = files.into_iter().flatten().map(|file| file.unwrap().path());
    names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

fn blocks(conversation: &[Value]) -> impl Iterator<Item = &Value> {
    conversation.iter().filter_map(|message| message["content"].as_array()).flatten()
}

/// The checks see what they are there to see, also when nothing is wrong with the servers.
#[test]
fn every_wrong_fate_is_seen() {
    use self::Told::{Done, Failed, Interrupted, Nothing, Rejected};
    let check = |settled: &[&str], runs, told: &[Told], wrong: Option<Wrong>| {
        let settled = settled.iter().map(|&word| word.to_owned()).collect();
        let fate = Fate { settled, runs, told: told.to_vec() };
        assert_eq!(fate.wrong(Rule::Contested), wrong, "{fate:?}");
    };
    check(&["APPROVED"], 1, &[Done], None);
    check(&["APPROVED"], 1, &[Interrupted], None);
    check(&["APPROVED"], 0, &[Interrupted], None);
    check(&["REJECTED"], 0, &[Rejected], None);
    check(&["APPROVED"], 2, &[Done], Some(Wrong::RanTwice));
    check(&["REJECTED"], 1, &[Rejected], Some(Wrong::RanUnapproved));
    check(&[], 1, &[Done], Some(Wrong::RanUnapproved));
    check(&["APPROVED"], 0, &[Done], Some(Wrong::LostApproval));
    check(&["APPROVED"], 0, &[], Some(Wrong::LostApproval));
    check(&["APPROVED"], 0, &[Failed], Some(Wrong::LostApproval));
    check(&["CANCELLED"], 0, &[], Some(Wrong::LostRequest));
    check(&["PENDING"], 0, &[Nothing], Some(Wrong::LostRequest));
    check(&[], 0, &[], Some(Wrong::LostRequest));
    check(&["APPROVED", "APPROVED"], 1, &[Done], Some(Wrong::AskedTwice));
    check(&["APPROVED"], 1, &[], Some(Wrong::Mistold));
    check(&["APPROVED"], 1, &[Done, Done], Some(Wrong::Mistold));
    check(&["REJECTED"], 0, &[Done], Some(Wrong::Mistold));
    let approved = Fate { settled: vec!["APPROVED".to_owned()], runs: 1, told: vec![Done] };
    assert_eq!(approved.wrong(Rule::Reject), Some(Wrong::Turned));
}
