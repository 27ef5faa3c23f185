//! The report of a run: how much was tried, and what was found.

use std::collections::BTreeMap;
use std::time::Duration;

use super::batch::{CommandBatch, CommandFamily};
use super::examination::Examination;
use super::finding::{CLASSES, OracleFinding};

/// What a run has done so far.
#[derive(Default)]
pub(super) struct OracleReport {
    pub(super) rounds: usize,
    /// How many commands of each family were judged, and how many of them allowed.
    pub(super) families: BTreeMap<CommandFamily, (usize, usize)>,
    pub(super) judged: usize,
    pub(super) allowed: usize,
    pub(super) executed: usize,
    pub(super) traced: usize,
    pub(super) stopped: usize,
    pub(super) without_program: usize,
    pub(super) unsteady: usize,
    /// Batches that the binary gave no verdicts on, and why.
    pub(super) unanswered: Vec<String>,
    pub(super) findings: Vec<OracleFinding>,
}

impl OracleReport {
    pub(super) fn count(&mut self, examined: &Examination) {
        self.executed += 1;
        match examined {
            Examination::Stopped => self.stopped += 1,
            Examination::WithoutProgram => self.without_program += 1,
            Examination::Unsteady => self.unsteady += 1,
            Examination::Harmless | Examination::Harmful(_) => {}
        }
    }

    /// Returns whether another example of a finding's class is worth the work of shrinking it.
    pub(super) fn wants_example(&self, class: &str) -> bool {
        self.findings.iter().filter(|it| it.class() == class).count() < 3
    }

    /// Returns the classes of which nothing was found.
    pub(super) fn missing_classes(&self) -> Vec<&'static str> {
        let counts = self.count_classes();
        CLASSES.iter().map(|it| it.0).filter(|name| !counts.contains_key(name)).collect()
    }

    /// Returns whether enough was found of everything that a batch aims at.
    pub(super) fn has_enough_of(&self, batch: &CommandBatch) -> bool {
        let counts = self.count_classes();
        let aims = batch.aimed_classes();
        aims.iter().all(|it| counts.get(it).is_some_and(|count| *count >= 3))
    }

    fn count_classes(&self) -> BTreeMap<&'static str, usize> {
        self.findings.iter().fold(BTreeMap::new(), |mut counts, finding| {
            *counts.entry(finding.class()).or_default() += 1;
            counts
        })
    }

    /// Prints the numbers, every finding once, and how many there are of each class.
    #[expect(clippy::print_stdout, reason = "the numbers are what the test is run for")]
    pub(super) fn print(&self, seed: u64, sources: &str, took: Duration) {
        let Self {
            rounds,
            judged,
            allowed,
            executed,
            traced,
            stopped,
            without_program,
            unsteady,
            ..
        } = self;
        println!(
            "oracle, seed {seed}: {rounds} rounds, {judged} commands judged, {allowed} allowed, {executed} executed \
             ({:.0} per second), {traced} of them traced; {stopped} stopped, {without_program} without their program, \
             {unsteady} print something else each time; {} batches without an answer; {} findings; from {sources}",
            self.rate(took),
            self.unanswered.len(),
            self.findings.len(),
        );
        for (family, (judged, allowed)) in &self.families {
            println!("  {family:?}: {allowed} of {judged} allowed");
        }
        for why in &self.unanswered {
            println!("  no verdicts: {why}");
        }
        for finding in self.shortest_examples() {
            println!("{}", finding.to_line());
        }
        let counts = self.count_classes();
        for (name, what) in CLASSES.iter().chain([&("new", "none of the known classes")]) {
            if let Some(count) = counts.get(name) {
                println!("  class {name} ({what}): {count}");
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of rows are small")]
    fn rate(&self, took: Duration) -> f64 {
        self.executed as f64 / took.as_secs_f64().max(0.001)
    }

    /// Returns the shortest commands of each class.
    fn shortest_examples(&self) -> Vec<&OracleFinding> {
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|it| (it.class(), it.command.len()));
        let mut printed: BTreeMap<&str, usize> = BTreeMap::new();
        findings.retain(|it| {
            let count = printed.entry(it.class()).or_default();
            *count += 1;
            *count <= 8
        });
        findings
    }
}
