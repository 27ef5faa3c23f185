//! A command with all its kin, watched until none of them is left.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::world::World;

/// Everyone who holds the pipe `alive`: it ends when the last of them does.
pub(crate) struct Kin {
    up: Option<oneshot::Receiver<()>>,
    gone: JoinHandle<()>,
}

impl Kin {
    pub(crate) fn watch(world: &World) -> Self {
        let path: PathBuf = world.fifo("alive");
        let (tell, up) = oneshot::channel();
        let gone = tokio::task::spawn_blocking(move || {
            let mut pipe = BufReader::new(File::open(path).unwrap());
            pipe.read_line(&mut String::new()).unwrap();
            let _ = tell.send(());
            pipe.read_to_end(&mut Vec::new()).unwrap();
        });
        Self { up: Some(up), gone }
    }

    pub(crate) async fn up(&mut self) {
        self.up.take().unwrap().await.unwrap();
    }

    pub(crate) async fn gone(self) {
        timeout(Duration::from_secs(20), self.gone).await.unwrap().unwrap();
    }
}
