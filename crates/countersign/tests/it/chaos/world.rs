//! The world in which servers are killed: a workspace, a model that survives, clients, and the storm.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use countersign_gate::{Clock, SystemClock};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::decider::Decider;
use super::fleet::{Fleet, Order, Spec};
use super::link::{Door, is};
use super::load::{Load, SEED};
use super::model::Model;
use super::notes::{Notes, Reading};
use super::owner::Owner;
use super::plan::{Blow, Plan, Targets};
use super::services::{Bus, new_database};
use super::tally::{Seen, Tally};
use super::{OWNERS, SETTLING};
use crate::world::TOKEN;

pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) servers: usize,
    pub(super) has_postgres: bool,
    pub(super) has_bus: bool,
}

pub(super) struct World {
    pub(super) plan: Plan,
    setting: Setting,
    notes: Arc<Notes>,
    // Before the folder, in which it has its files.
    bus: Option<Bus>,
    folder: TempDir,
}

impl World {
    pub(super) fn new(setting: Setting) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "ws/witness", "ws/written"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("ws/seed.txt"), SEED).unwrap();
        let bus = setting.has_bus.then(|| Bus::start(folder.path().join("bus")));
        Self { plan: Plan::from_environment(), setting, notes: Arc::default(), bus, folder }
    }

    /// Lets the storm pass over it and counts what is left.
    pub(super) async fn run(mut self) -> (Tally, TempDir) {
        let load = Arc::new(Load::new(&mut self.plan.fork()));
        let model = Arc::new(Model::start(&load.scenario(&mut self.plan.fork())).await);
        let fleet = Fleet::start(self.specs(&model.url), &self.notes);
        assert!(fleet.listens().await, "no server: {}", self.notes.lock().wrong.join("\n"));
        let (storm, passed) = watch::channel(false);
        let (settled, over) = watch::channel(false);
        let owners = self.owners(&fleet, &load, &model, &passed);
        let deciders = self.deciders(&fleet, &over);
        self.storm(&fleet).await;
        storm.send_replace(true);
        // Who does not come to an end is found without one.
        let _ = timeout(SETTLING, owners.join_all()).await;
        settled.send_replace(true);
        match timeout(SETTLING, deciders.join_all()).await {
            Ok(readings) => self.notes.lock().readings.extend(readings),
            Err(_) => self.notes.wrong("the log cannot be read to its end".to_owned()),
        }
        let log = self.log(&fleet).await;
        fleet.stop().await;
        self.fill_in(&model);
        let root = self.folder.path().join("ws");
        let tally = Tally::of(&Seen { noted: &self.notes.lock(), log: &log, root: &root });
        (tally, self.folder)
    }

    fn specs(&self, model: &str) -> Vec<Spec> {
        let path = |name: &str| self.folder.path().join(name);
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let database = self.setting.has_postgres.then(new_database);
        let spec = |number: usize| {
            let mut args = vec!["serve".to_owned()];
            let mut add = |name: &str, value: String| args.extend([name.to_owned(), value]);
            add("--listen", "127.0.0.1:0".to_owned());
            add("--token", TOKEN.to_owned());
            add("--root", text(path("ws")));
            add("--data", text(path(&format!("data{number}"))));
            if let Some(url) = &database {
                add("--database", url.clone());
            }
            if let Some(bus) = &self.bus {
                add("--bus", bus.url.clone());
            }
            let env = vec![
                ("ANTHROPIC_API_KEY", "k-test".to_owned()),
                ("ANTHROPIC_BASE_URL", model.to_owned()),
            ];
            Spec { home: path("home"), args, env, log: path(&format!("server{number}.log")) }
        };
        (0..self.setting.servers).map(spec).collect()
    }

    fn owners(
        &mut self,
        fleet: &Fleet,
        load: &Arc<Load>,
        model: &Arc<Model>,
        passed: &watch::Receiver<bool>,
    ) -> JoinSet<()> {
        let numbers = Arc::new(AtomicUsize::new(1));
        let owner = |_| Owner {
            door: Door::new(fleet.addresses.clone(), self.plan.fork()),
            notes: self.notes.clone(),
            load: load.clone(),
            model: model.clone(),
            numbers: numbers.clone(),
        };
        (0..OWNERS).map(owner).map(|owner| owner.work(passed.clone())).collect()
    }

    /// Two who race for every request, each on whichever server it finds.
    fn deciders(&mut self, fleet: &Fleet, over: &watch::Receiver<bool>) -> JoinSet<Reading> {
        let decider = |says_yes: bool| Decider {
            door: Door::new(fleet.addresses.clone(), self.plan.fork()),
            notes: self.notes.clone(),
            rng: self.plan.fork(),
            says_yes,
            reading: Reading::new(if says_yes { "decider 1" } else { "decider 2" }, None),
        };
        [true, false].map(decider).map(|decider| decider.work(over.clone())).into_iter().collect()
    }

    /// Does to the servers what the plan says, and waits until nobody is paused any more.
    async fn storm(&mut self, fleet: &Fleet) {
        let mut paused: Option<(usize, Instant)> = None;
        for number in 0..self.plan.blows {
            let (wait, blow) = self.plan.next(number, &self.targets(paused));
            SystemClock.sleep(wait).await;
            match blow {
                Blow::Kill { server } => fleet.order(server, Order::Kill),
                Blow::Pause { server, lasts } => {
                    fleet.order(server, Order::Pause(lasts));
                    paused = Some((server, Instant::now() + lasts));
                }
                Blow::Bus => {
                    self.notes.lock().bus += 1;
                    tokio::task::block_in_place(|| self.bus.as_mut().unwrap().toggle());
                }
            }
        }
        if let Some((_, until)) = paused {
            sleep_until(until).await;
        }
    }

    /// One that is paused is left alone: killed, it would not come back late. One at a time, so that
    /// there is somebody to take over.
    fn targets(&self, paused: Option<(usize, Instant)>) -> Targets {
        let paused = paused.filter(|(_, until)| *until > Instant::now()).map(|(server, _)| server);
        Targets {
            servers: (0..self.setting.servers).filter(|it| Some(*it) != paused).collect(),
            may_pause: self.setting.servers > 1 && paused.is_none(),
            has_bus: self.bus.is_some(),
        }
    }

    /// Reads all of the log, in peace; what still waits comes first and has no number.
    async fn log(&mut self, fleet: &Fleet) -> Vec<Value> {
        let mut door = Door::new(fleet.addresses.clone(), self.plan.fork());
        let reading = async {
            loop {
                let mut link =
                    door.resume(&Reading::new("the last reader", None), &self.notes).await;
                let mut log = Vec::new();
                while let Ok(message) = link.hear().await {
                    if is(&message, "system", "caught_up") {
                        return log;
                    }
                    log.push(message);
                }
            }
        };
        timeout(SETTLING, reading).await.unwrap_or_default()
    }

    /// What never came to an end was said to the model all the same.
    fn fill_in(&self, model: &Model) {
        for held in self.notes.lock().held.iter_mut().filter(|held| held.result.is_none()) {
            held.requests = model.requests(&held.talk.prompt);
        }
    }
}
