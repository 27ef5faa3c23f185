//! The oracle: commands are made up, judged by the real binary, and what would run unasked is run in a
//! jail. No file may change, no program of the workspace may start, nothing outside or secret may show.
//!
//! What it cannot see: what a command does after five seconds, and on machines that have other programs.

mod archive;
mod batch;
mod choice;
mod corpus;
mod edits;
mod everyday;
mod examination;
mod finding;
mod git_config;
mod given_file;
mod jail;
mod manifest;
mod mutation;
mod parentheses;
mod payload;
mod posix_shell;
mod process;
mod program_table;
mod report;
mod script;
mod self_check;
mod settings;
mod shrinking;
mod stale_state;
mod table_options;
mod tokens;
mod trace;
mod variant;
mod verdict;
mod world;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use self::batch::{CommandBatch, GeneratorSources};
use self::corpus::Corpus;
use self::examination::{Examination, Examiner, ExecutedBy, Harm, offers_executor};
use self::finding::OracleFinding;
use self::program_table::ProgramTable;
use self::report::OracleReport;
use self::settings::{OracleSettings, leaves_out_bubblewrap};
use self::shrinking::shrink;
use self::verdict::{AllowedCommand, BatchVerdict, judge_commands};
use self::world::{RepositoryTemplates, World};

/// So many commands share a jail.
const TOGETHER: usize = 16;

/// In one of so many jails strace watches.
const TRACED: usize = 6;

/// After so many findings in one jail a round is over.
const ENOUGH: usize = 3;

/// A jail mostly waits for the kernel, so there are more workers than processors.
const WORKERS: usize = 4;

/// What is allowed unasked does no harm. With `COUNTERSIGN_ORACLE_EXPECT=classes` the other way round:
/// of an old binary, every class of harm that is known must be found.
#[test]
fn what_runs_unasked_does_no_harm() {
    if leaves_out_bubblewrap() {
        return;
    }
    let settings = OracleSettings::from_environment();
    let oracle = Oracle::new(settings);
    let started = Instant::now();
    let report = oracle.run();
    report.print(oracle.settings.seed, &oracle.sources.corpus.sources, started.elapsed());
    assert!(report.executed > 0, "nothing was executed, so nothing was shown");
    if oracle.settings.expects_every_class {
        assert_eq!(report.missing_classes(), [""; 0], "classes of which nothing was found");
        return;
    }
    let (found, unanswered) = (report.findings.len(), report.unanswered.len());
    assert!(
        found + unanswered == 0,
        "{found} commands that would run unasked did harm, {unanswered} batches got no verdicts: see \
         above; `make oracle SEED={}` tries the same again",
        oracle.settings.seed
    );
}

/// Everything that a run needs, shared by its workers.
struct Oracle {
    settings: OracleSettings,
    sources: GeneratorSources,
    templates: RepositoryTemplates,
    has_executor: bool,
    deadline: Instant,
    next_round: AtomicU64,
    report: Mutex<OracleReport>,
}

impl Oracle {
    fn new(settings: OracleSettings) -> Self {
        let corpus = Corpus::read(settings.shared.as_deref());
        Self {
            sources: GeneratorSources { table: ProgramTable::read(), corpus },
            templates: RepositoryTemplates::create(),
            has_executor: offers_executor(&settings.binary),
            deadline: Instant::now() + settings.duration,
            next_round: AtomicU64::new(0),
            report: Mutex::default(),
            settings,
        }
    }

    /// Runs rounds until the time is over.
    fn run(&self) -> OracleReport {
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    while Instant::now() < self.deadline && !self.is_done() {
                        self.run_round(self.next_round.fetch_add(1, Ordering::Relaxed));
                    }
                });
            }
        });
        std::mem::take(&mut *self.report.lock().unwrap())
    }

    /// Returns whether everything was found that is expected.
    fn is_done(&self) -> bool {
        self.settings.expects_every_class
            && self.report.lock().unwrap().missing_classes().is_empty()
    }

    fn run_round(&self, round: u64) {
        let batch = CommandBatch::generate(self.settings.seed, round, &self.sources);
        // Of an old binary the point is to find something of everything.
        let expects = self.settings.expects_every_class;
        if expects && self.report.lock().unwrap().has_enough_of(&batch) {
            return;
        }
        let world = World::build(&batch.variant, &self.templates);
        let judged = judge_commands(&self.settings.binary, &world, batch.mode, &batch.commands);
        let allowed = match judged {
            BatchVerdict::Judged(allowed) => allowed,
            BatchVerdict::Unanswered(why) => {
                let why = format!("seed {}, round {round}: {why}", self.settings.seed);
                self.report.lock().unwrap().unanswered.push(why);
                return;
            }
        };
        {
            let mut report = self.report.lock().unwrap();
            report.rounds += 1;
            report.judged += batch.commands.len();
            report.allowed += allowed.len();
            let family = report.families.entry(batch.family).or_default();
            *family = (family.0 + batch.commands.len(), family.1 + allowed.len());
        }
        for (number, together) in allowed.chunks(TOGETHER).enumerate() {
            if Instant::now() >= self.deadline {
                return;
            }
            let place = usize::try_from(round).unwrap() + number;
            let is_traced = place.is_multiple_of(TRACED) && has_strace();
            let found = self
                .executors()
                .into_iter()
                .map(|by| self.examine(round, &batch, &world, together, (by, is_traced)));
            // More of the same say nothing new; the time is better spent on other rounds.
            if found.sum::<usize>() >= ENOUGH {
                return;
            }
        }
    }

    fn executors(&self) -> Vec<ExecutedBy<'_>> {
        let executor = self.has_executor.then_some(ExecutedBy::Executor(&self.settings.binary));
        [ExecutedBy::Bash].into_iter().chain(executor).collect()
    }

    fn examine(
        &self,
        round: u64,
        batch: &CommandBatch,
        world: &World,
        commands: &[AllowedCommand],
        (by, is_traced): (ExecutedBy<'_>, bool),
    ) -> usize {
        let examiner =
            Examiner::new(world, batch.mode).comparing_sides(!batch.variant.tracks_secrets);
        let results = examiner.examine_batch(commands, by, is_traced);
        self.report.lock().unwrap().traced += if is_traced { commands.len() } else { 0 };
        let mut found = 0;
        for (command, result) in commands.iter().zip(results) {
            self.report.lock().unwrap().count(&result);
            if let Examination::Harmful(harm) = result {
                self.record(round, batch, world, command, harm, (by, is_traced));
                found += 1;
            }
        }
        found
    }

    fn record(
        &self,
        round: u64,
        batch: &CommandBatch,
        world: &World,
        command: &AllowedCommand,
        harm: Harm,
        (by, is_traced): (ExecutedBy<'_>, bool),
    ) {
        let mut finding = OracleFinding {
            seed: self.settings.seed,
            round,
            family: batch.family,
            variant: batch.variant.clone(),
            mode: batch.mode,
            command: command.command.clone(),
            canonical: command.canonical.clone(),
            harm,
        };
        // The lock is not held while commands run.
        let is_wanted = self.report.lock().unwrap().wants_example(finding.class());
        let is_wanted = is_wanted && Instant::now() < self.deadline;
        let shorter = is_wanted.then(|| {
            shrink(
                &self.settings.binary,
                world,
                batch.mode,
                command,
                (by, is_traced),
                !batch.variant.tracks_secrets,
            )
        });
        if let Some((shorter, harm)) = shorter.flatten() {
            finding = OracleFinding {
                command: shorter.command,
                canonical: shorter.canonical,
                harm,
                ..finding
            };
        }
        self.report.lock().unwrap().findings.push(finding);
    }
}

fn has_strace() -> bool {
    process::PATH.split(':').any(|folder| Path::new(folder).join("strace").is_file())
}
