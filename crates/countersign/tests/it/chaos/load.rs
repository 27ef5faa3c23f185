//! The load: what the models call, how each call can be told apart, and what is decided on it.

use fastrand::Rng;
use serde_json::{Value, json};

/// What every read reads.
pub(super) const SEED: &str = "what everybody may read\n";

/// How many ways to talk there are.
const SHAPES: usize = 6;

/// The conversations that can be had: as a scenario for the model, and as lists of what they call.
pub(super) struct Load {
    shapes: Vec<Shape>,
}

/// One way to talk: what is called in each answer.
#[derive(Clone)]
struct Shape(Vec<Vec<Kind>>);

/// A kind of call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A command that leaves a line; after this many milliseconds.
    Bash(u16),
    /// A file that is written.
    Write,
    /// Asks nobody.
    Read,
}

/// What deciders say to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Approve,
    Reject,
    /// One says yes, one says no: whoever is first.
    Contested,
}

/// A conversation.
#[derive(Clone, Debug)]
pub(super) struct Talk {
    /// Its id, for the server and for the names of its calls.
    pub(super) name: String,
    pub(super) prompt: String,
    /// The calls that ask, by name.
    pub(super) calls: Vec<String>,
    pub(super) reads: usize,
}

impl Load {
    pub(super) fn new(rng: &mut Rng) -> Self {
        Self { shapes: (0..SHAPES).map(|_| Shape::new(rng)).collect() }
    }

    /// Returns the conversation of a number.
    pub(super) fn talk(&self, number: usize) -> Talk {
        let name = format!("c{number}");
        let shape = number % self.shapes.len();
        let kinds = self.shapes[shape].0.iter().flatten();
        let asking = (1..).zip(kinds).filter(|(_, kind)| **kind != Kind::Read);
        let calls: Vec<_> = asking.map(|(place, _)| format!("{name}-{place}")).collect();
        let all = self.shapes[shape].0.iter().flatten().count();
        let reads = all - calls.len();
        Talk { prompt: format!("shape {shape} as {name}"), name, calls, reads }
    }

    /// Returns what the model says, as a scenario.
    pub(super) fn scenario(&self, rng: &mut Rng) -> String {
        let scripts: Vec<_> =
            (0..).zip(&self.shapes).map(|(number, shape)| shape.script(number, rng)).collect();
        // Answers take a moment, so that some are half said when the server dies.
        toml::to_string(&json!({"name": "chaos", "chunk": 12, "pace_ms": 2, "script": scripts}))
            .unwrap()
    }
}

impl Shape {
    fn new(rng: &mut Rng) -> Self {
        let kind = |rng: &mut Rng| match rng.u8(..10) {
            0..3 => Kind::Bash(0),
            3..6 => Kind::Bash(rng.u16(10..250)),
            6..8 => Kind::Write,
            _ => Kind::Read,
        };
        let answer = |rng: &mut Rng| (0..rng.usize(1..=2)).map(|_| kind(rng)).collect();
        Self((0..rng.usize(4..=7)).map(|_| answer(rng)).collect())
    }

    fn script(&self, number: usize, rng: &mut Rng) -> Value {
        let mut places = 1..;
        let mut turns = Vec::new();
        for kinds in &self.0 {
            let calls: Vec<_> =
                kinds.iter().zip(places.by_ref()).map(|(kind, place)| kind.call(place)).collect();
            let delay = rng.u16(..40);
            turns.push(json!({"say": "I go on with it.", "delay_ms": delay, "call": calls}));
        }
        turns.push(json!({"say": "Done."}));
        json!({"prompt": format!(r"^shape {number} as (?<name>\S+)$"), "turn": turns})
    }
}

impl Kind {
    fn call(self, place: usize) -> Value {
        let id = format!("{{{{prompt.name}}}}-{place}");
        match self {
            Self::Bash(0) => bash(&format!("printf '%s\\n' {id} >> witness/{id}.log")),
            Self::Bash(wait) => {
                bash(&format!("sleep 0.{wait:03}; printf '%s\\n' {id} >> witness/{id}.log"))
            }
            Self::Write => json!({"tool": "Write", "input":
                {"file_path": format!("written/{id}.txt"), "content": id}}),
            Self::Read => json!({"tool": "Read", "input": {"file_path": "seed.txt"}}),
        }
    }
}

fn bash(command: &str) -> Value {
    json!({"tool": "Bash", "input": {"command": command}})
}

/// Returns the name of a call by its input; none for a read.
pub(super) fn call_of(input: &Value) -> Option<&str> {
    let between = |text: &'static str, field: &str, end: &str| {
        let (_, name) = input[field].as_str()?.rsplit_once(text)?;
        name.strip_suffix(end)
    };
    between("witness/", "command", ".log").or_else(|| between("written/", "file_path", ".txt"))
}

/// Returns what is decided on a call. By its name alone, so that everybody knows what must come of it.
pub(super) fn rule_of(call: &str) -> Rule {
    match call.bytes().map(usize::from).sum::<usize>() % 10 {
        0 | 5 => Rule::Reject,
        7 => Rule::Contested,
        _ => Rule::Approve,
    }
}
