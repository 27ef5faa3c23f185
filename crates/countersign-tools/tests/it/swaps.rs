//! A folder that changes places with a link to another, all the time, while tools work in it.
//!
//! Whoever runs a command beside another call can do that. What was judged to lie inside stays there.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use countersign_core::Permit;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::world::World;

const NOTEBOOK: &str = r#"{"cells": [{"cell_type": "markdown", "source": "mine"}]}"#;

/// How often each tool is called meanwhile.
const TIMES: usize = 60;

#[tokio::test]
async fn what_is_read_inside_is_never_what_lies_outside() {
    let swapped = Swapped::begin();
    for (tool, input) in [
        ("Read", json!({"file_path": "d/f"})),
        ("Grep", json!({"pattern": "THE-KEY", "path": "d", "output_mode": "content"})),
        ("Glob", json!({"pattern": "*-outside", "path": "d"})),
        ("ListDir", json!({"path": "d"})),
    ] {
        for told in swapped.calls(tool, &input).await {
            assert!(!told.contains("d/only-outside"), "{tool}: {told}");
            assert!(!told.contains("THE-KEY is here"), "{tool}: {told}");
        }
    }
}

#[tokio::test]
async fn what_is_written_inside_is_never_written_outside() {
    let swapped = Swapped::begin();
    let edit = json!({"old_string": "mine", "new_string": "mine!"});
    let patch = |body: &str| json!({"patch": format!("*** Begin Patch\n{body}*** End Patch\n")});
    // Each can be done again and again, but for the last two.
    for (tool, input) in [
        ("Write", json!({"file_path": "d/w", "content": "written"})),
        ("Edit", json!({"file_path": "d/f", "old_string": "mine", "new_string": "mine!"})),
        ("MultiEdit", json!({"file_path": "d/f", "edits": [edit]})),
        ("NotebookEdit", json!({"notebook_path": "d/n.ipynb", "new_source": "edited"})),
        ("ApplyPatch", patch("*** Update File: d/p\n@@\n-mine\n+mine\n+more\n")),
        ("ApplyPatch", patch("*** Add File: d/added\n+x\n")),
        ("ApplyPatch", patch("*** Delete File: d/gone\n")),
    ] {
        swapped.calls(tool, &input).await;
        let there = |name: &str| fs::read_to_string(swapped.world.outside.join(name)).unwrap();
        assert_eq!(there("f"), "mine\nTHE-KEY is here\n", "{tool}");
        assert_eq!((there("n.ipynb"), there("p")), (NOTEBOOK.to_owned(), "mine\n".to_owned()));
        let mut names: Vec<_> = fs::read_dir(&swapped.world.outside)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["f", "gone", "n.ipynb", "only-outside", "p"], "{tool}");
    }
}

/// A workspace in which `d` is a folder one moment and leads outside the next.
struct Swapped {
    world: World,
    stop: Arc<AtomicBool>,
    swapping: Option<JoinHandle<()>>,
}

impl Swapped {
    fn begin() -> Self {
        let world = World::new();
        for (name, text) in [("f", "mine\n"), ("p", "mine\n"), ("gone", ""), ("n.ipynb", NOTEBOOK)]
        {
            world.write(&format!("d/{name}"), text);
            fs::write(world.outside.join(name), text).unwrap();
        }
        fs::write(world.outside.join("f"), "mine\nTHE-KEY is here\n").unwrap();
        fs::write(world.outside.join("only-outside"), "").unwrap();
        world.link(&world.outside, "link");
        let [one, other]: [PathBuf; 2] = ["d", "link"].map(|name| world.path(name));
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let swapping = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                std::thread::yield_now();
            }
        });
        Self { world, stop, swapping: Some(swapping) }
    }

    /// Makes a call many times, each time as one that was judged to stay inside; returns what was said.
    async fn calls(&self, tool: &str, input: &Value) -> Vec<String> {
        let mut said = Vec::new();
        for _ in 0..TIMES {
            let permit = self.inside(tool, input);
            said.push(match self.world.run_permit(permit).await {
                Ok(output) => output.content,
                Err(refused) => refused.to_string(),
            });
        }
        said
    }

    fn inside(&self, tool: &str, input: &Value) -> Permit {
        loop {
            let Ok(permit) = self.world.permitted(tool, input.clone()) else { continue };
            let effects = json!(permit.effects()).to_string();
            if !effects.contains(r#""side":"outside""#) {
                assert!(effects.contains(r#""side":"inside""#), "{effects}");
                return permit;
            }
        }
    }
}

impl Drop for Swapped {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let swapping = self.swapping.take();
        assert!(swapping.is_none_or(|thread| thread.join().is_ok()), "nothing was swapped");
    }
}
