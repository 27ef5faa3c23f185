//! What a bench measured, as one line of JSON.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

/// What one bench measured.
pub(crate) struct BenchMeasurement {
    pub(crate) bench: &'static str,
    pub(crate) case: String,
    /// How long each round took.
    pub(crate) rounds: Vec<Duration>,
    /// How long all of them took together.
    pub(crate) seconds: f64,
    /// What the processor was busy for meanwhile.
    pub(crate) cpu: Duration,
    pub(crate) notes: String,
}

impl BenchMeasurement {
    pub(crate) fn print(self) {
        self.print_with(&[]);
    }

    /// Prints the line with further numbers at its end.
    pub(crate) fn print_with(mut self, further: &[(&str, f64)]) {
        self.rounds.sort_unstable();
        let n = self.rounds.len();
        #[expect(clippy::cast_precision_loss, reason = "counts of rounds are small")]
        let per_second = n as f64 / self.seconds;
        let cpu_each = self.cpu.as_micros() / u128::try_from(n.max(1)).unwrap_or(1);
        let mut line = json!({
            "bench": self.bench,
            "system": "countersign",
            "case": self.case,
            "role": "ours",
            "n": n,
            "seconds": self.seconds,
            "per_s": per_second,
            "p50_us": micros(&self.rounds, 50),
            "p99_us": micros(&self.rounds, 99),
            "rss_mb": peak_memory(),
            "cpu_us": u64::try_from(cpu_each).unwrap_or(u64::MAX),
            "notes": self.notes,
        });
        if let Some(fields) = line.as_object_mut() {
            fields.extend(further.iter().map(|(name, number)| ((*name).to_owned(), json!(number))));
        }
        print_line(&line.to_string());
    }
}

/// Returns a percentile of sorted durations, in microseconds.
pub(crate) fn micros(sorted: &[Duration], percent: usize) -> f64 {
    let at = sorted.len().saturating_sub(1) * percent / 100;
    sorted.get(at).map_or(0.0, |round| round.as_secs_f64() * 1e6)
}

/// Returns the most memory the process has had, in megabytes.
pub(crate) fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Returns for how long the process has kept a processor busy, to a hundredth of a second.
pub(crate) fn busy() -> Duration {
    let ticks = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name before the last `)` may hold anything; user and system time are 12 and 13 after it.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let user: u64 = fields.next()?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        Some(user + system)
    };
    Duration::from_millis(ticks().unwrap_or(0) * 10)
}

/// Runs something and says how long it took, by the wall and by the processor.
pub(crate) fn timed<T>(
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<(T, f64, Duration)> {
    let (started, busy_before) = (Instant::now(), busy());
    let done = work()?;
    Ok((done, started.elapsed().as_secs_f64(), busy().saturating_sub(busy_before)))
}

/// Writes a line to stdout. A reader that went away is not an error of ours.
pub(crate) fn print_line(text: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
