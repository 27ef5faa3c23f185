//! What `/metrics` keeps: the buckets of its histograms, and what each number means.

use std::time::Duration;

use anyhow::Context;
use countersign_gate::{Clock, SystemClock};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds in seconds of what a machine does: half a millisecond to ten seconds.
const MACHINE_TIMES: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Of what a person does: a second to an hour. Requests time out after minutes by default.
const PERSON_TIMES: &[f64] =
    &[1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0];

/// Of what a tool does: five milliseconds to ten minutes.
const TOOL_TIMES: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0,
];

/// How often new samples are sorted into their buckets.
const UPKEEP: Duration = Duration::from_secs(5);

/// Each histogram with its buckets and its meaning.
const HISTOGRAMS: &[(&str, &[f64], &str)] = &[
    ("countersign_verdict_seconds", MACHINE_TIMES, "Time to plan and judge a call."),
    (
        "countersign_decision_seconds",
        PERSON_TIMES,
        "Time from a call's submission to the decision, where a person was asked.",
    ),
    ("countersign_execution_seconds", TOOL_TIMES, "Time from a call's start to its result."),
];

/// Counts from now on what this process does; the handle renders it.
pub(super) fn install_recorder() -> anyhow::Result<PrometheusHandle> {
    let mut builder = PrometheusBuilder::new();
    for (name, buckets, _) in HISTOGRAMS {
        builder = builder
            .set_buckets_for_metric(Matcher::Full((*name).to_owned()), buckets)
            .context("metrics")?;
    }
    let recorder = builder.install_recorder().context("metrics")?;
    for (name, _, meaning) in HISTOGRAMS {
        metrics::describe_histogram!(*name, *meaning);
    }
    metrics::describe_gauge!(
        "countersign_oldest_waiting_seconds",
        "Age of the oldest request that waits for a person."
    );
    tokio::spawn(sort_samples(recorder.clone()));
    Ok(recorder)
}

/// Sorts new samples into their buckets now and then: until then each of them takes up memory, and
/// nobody may ever ask for `/metrics`.
async fn sort_samples(recorder: PrometheusHandle) {
    loop {
        SystemClock.sleep(UPKEEP).await;
        recorder.run_upkeep();
    }
}
