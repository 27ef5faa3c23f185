//! The plan: what is done to the servers, and when. All of it comes from one seed.
#![expect(
    clippy::disallowed_methods,
    reason = "how long and from which seed is said by environment"
)]

use std::time::Duration;

use fastrand::Rng;

/// Longer than a server may be silent before others take over its runs (10 s), with some to spare for
/// the other to look twice.
const PAUSE: Duration = Duration::from_millis(12_500);

/// So many things are done in the short run.
const SHORT: usize = 6;

pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) blows: usize,
    rng: Rng,
}

/// What is done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Blow {
    /// SIGKILL, and started again at once.
    Kill { server: usize },
    /// SIGSTOP, and SIGCONT after a while.
    Pause { server: usize, lasts: Duration },
    /// The bus is stopped if it runs, and started if not.
    Bus,
}

/// What can be hit now.
pub(super) struct Targets {
    /// The servers that are not paused.
    pub(super) servers: Vec<usize>,
    pub(super) may_pause: bool,
    pub(super) has_bus: bool,
}

impl Plan {
    /// Reads `COUNTERSIGN_CHAOS_SEED` and `COUNTERSIGN_CHAOS_KILLS`.
    pub(super) fn from_environment() -> Self {
        let number = |name: &str| {
            let given = std::env::var(name).ok().filter(|it| !it.is_empty())?;
            Some(given.parse::<u64>().unwrap_or_else(|_| panic!("{name} is not a number: {given}")))
        };
        let seed = number("COUNTERSIGN_CHAOS_SEED").unwrap_or_else(|| fastrand::u64(..1_000_000));
        let blows = number("COUNTERSIGN_CHAOS_KILLS").map_or(SHORT, |it| it.try_into().unwrap());
        Self { seed, blows, rng: Rng::with_seed(seed) }
    }

    /// Returns randomness for somebody, so that who runs first does not change what others draw.
    pub(super) fn fork(&mut self) -> Rng {
        self.rng.fork()
    }

    /// Returns how long to wait, and what to do then.
    pub(super) fn next(&mut self, number: usize, targets: &Targets) -> (Duration, Blow) {
        let server = *self.rng.choice(&targets.servers).unwrap();
        let blow = match self.rng.u8(..10) {
            // The first one, so that the short run has one too.
            _ if targets.may_pause && number == 0 => self.pause(server),
            0..2 if targets.may_pause => self.pause(server),
            _ if targets.has_bus && number == 1 => Blow::Bus,
            2..5 if targets.has_bus => Blow::Bus,
            _ => Blow::Kill { server },
        };
        (self.wait(), blow)
    }

    /// Some come while the server is still starting, some when it has just started, most under load.
    fn wait(&mut self) -> Duration {
        let most = match self.rng.u8(..8) {
            0 => 20,
            1..3 => 250,
            _ => 1_500,
        };
        Duration::from_millis(self.rng.u64(..most))
    }

    fn pause(&mut self, server: usize) -> Blow {
        Blow::Pause { server, lasts: PAUSE + Duration::from_millis(self.rng.u64(..2_000)) }
    }
}

/// Returns whether a part is named in `COUNTERSIGN_TEST_WITHOUT`: the only way to go without it.
pub(crate) fn goes_without(part: &str) -> bool {
    let without = std::env::var("COUNTERSIGN_TEST_WITHOUT").unwrap_or_default();
    without.split(',').any(|name| name == part)
}

/// Returns the cluster that was started for the tests.
pub(super) fn cluster() -> String {
    std::env::var("COUNTERSIGN_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!(
            "COUNTERSIGN_TEST_POSTGRES is not set: `cargo nextest run` starts a cluster and sets it, \
             or give the URL of one (`scripts/postgres start DIR` prints it); \
             COUNTERSIGN_TEST_WITHOUT=postgres leaves these tests out"
        )
    })
}
