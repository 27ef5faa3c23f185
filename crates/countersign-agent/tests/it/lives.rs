//! Lives: one database under one process after the other, each of which dies without a word.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use countersign_core::ToolOutput;
use countersign_gate::{DatabaseUrl, DecisionTimeouts, Gate, GateSettings, Rulebook, new_id};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::workshop::{Own, Workshop};

pub(crate) struct Lives {
    pub(crate) shop: Workshop,
    pub(crate) witness: Witness,
    data: TempDir,
}

/// What has run, each time it did. The tools write it themselves.
#[derive(Clone)]
pub(crate) struct Witness(PathBuf);

impl Witness {
    pub(crate) fn saw(&self) -> Vec<String> {
        let seen = std::fs::read_to_string(&self.0).unwrap_or_default();
        seen.lines().map(str::to_owned).collect()
    }

    /// Returns when so many have run, or are running.
    pub(crate) async fn sees(&self, number: usize) {
        while self.saw().len() < number {
            tokio::task::yield_now().await;
        }
    }

    fn notes(&self, what: &str) {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&self.0).unwrap();
        writeln!(file, "{what}").unwrap();
    }
}

impl Lives {
    pub(crate) fn playing(scenario: &str) -> Self {
        let shop = runtime().block_on(async { Workshop::playing(scenario) });
        let data = tempfile::tempdir().unwrap();
        Self { shop, witness: Witness(data.path().join("witness")), data }
    }

    /// Gives a tool called `Own` that writes into the witness first and then does this.
    pub(crate) fn with_witness<A>(
        mut self,
        fitted: impl FnOnce(Own) -> Own,
        then: impl Fn(usize) -> A + Send + Sync + 'static,
    ) -> Self
    where
        A: Future<Output = ToolOutput> + Send + 'static,
    {
        let witness = self.witness.clone();
        let own = Own::new(move |input: Value| {
            witness.notes(input["what"].as_str().unwrap_or("it"));
            then(witness.saw().len())
        });
        self.shop = self.shop.with_tool(fitted(own));
        self
    }

    /// Lives once more. When this returns the process is dead: nothing in it was told.
    pub(crate) fn live<T>(&mut self, life: impl AsyncFnOnce(&Workshop) -> T) -> T {
        let process = runtime();
        let (file, clock) = (self.data.path().join("gate.db"), self.shop.clock.clone());
        let (settings, book) =
            (GateSettings::for_database(DatabaseUrl::Sqlite(file)), Arc::new(Rulebook::none()));
        self.shop.gate = process.block_on(async {
            let gate = Gate::open(settings, clock.clone(), book.clone()).await.unwrap();
            gate.join().await.unwrap();
            gate
        });
        let lived = process.block_on(life(&self.shop));
        // Tasks are dropped where they stand, and can start no others.
        drop(process);
        // What was on its way to the disk when it died has come there before the next one looks.
        let after = runtime();
        after.block_on(self.shop.gate.cancel(new_id())).unwrap();
        // And what it held is free.
        let none = async { Gate::in_memory(clock, DecisionTimeouts::default(), book).unwrap() };
        self.shop.gate = after.block_on(none);
        lived
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}
