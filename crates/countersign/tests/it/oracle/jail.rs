//! The jail: bubblewrap with a root that cannot be written, no network, and one side of a world.

use std::fs;
use std::path::{Path, PathBuf};

use super::process::{PATH, clean_command, run_to_end};
use super::world::{World, WorldSide};

/// Runs the texts that it is given one after the other, each by a bash of its own.
const DRIVER: &str = r#"
ulimit -f 8192
out=$1 traced=$2; shift 2; n=0
for text; do
  input=$out/input; [ ! -e "$out/$n.in" ] || input=$out/$n.in
  if [ -n "$traced" ]; then
    timeout -s KILL 10 strace -f -qq -y -s 512 -o "$out/$n.trace" \
      -e trace=open,openat,openat2,creat,execve,execveat,connect /bin/bash -c "$text"
  else
    timeout -s KILL 5 /bin/bash -c "$text"
  fi < "$input" > "$out/$n.out" 2> "$out/$n.err"
  echo $? > "$out/$n.code"
  n=$((n+1))
done
"#;

/// What commands find on their standard input.
const INPUT: &str = "one\ntwo\nREADME.md\n";

/// The exit code of a command that was stopped.
const STOPPED: i32 = 137;

/// What a command did as far as it shows in its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandOutput {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// What strace saw, where it watched.
    pub(super) trace: Option<String>,
}

impl CommandOutput {
    pub(super) fn is_stopped(&self) -> bool {
        self.code == STOPPED
    }

    pub(super) fn misses_program(&self) -> bool {
        self.code == 127
    }
}

/// A text to run, with the input it gets where that is not the usual one.
#[derive(Clone, Debug)]
pub(super) struct JailedCommand {
    pub(super) text: String,
    pub(super) input: Option<String>,
}

impl JailedCommand {
    pub(super) fn from_text(text: &str) -> Self {
        Self { text: text.to_owned(), input: None }
    }
}

/// Runs commands on one side of a world, in order. Whatever they leave behind stays in its live folder.
pub(super) fn run_in_jail(
    world: &World,
    side: WorldSide,
    commands: &[JailedCommand],
    is_traced: bool,
    program: Option<&Path>,
) -> Vec<CommandOutput> {
    let output = world.output_folder(side);
    fs::remove_dir_all(&output).unwrap();
    fs::create_dir(&output).unwrap();
    fs::write(output.join("input"), INPUT).unwrap();
    for (index, command) in commands.iter().enumerate() {
        if let Some(input) = &command.input {
            fs::write(output.join(format!("{index}.in")), input).unwrap();
        }
    }
    let seconds = 20 + 10 * commands.len();
    let mut jail = clean_command("timeout");
    jail.args(["--signal=KILL", &seconds.to_string(), "bwrap"]).args(jail_options(world, side));
    if let Some(program) = program {
        jail.arg("--ro-bind").arg(program).arg(program_path(world));
    }
    jail.args(["/bin/bash", "-c", DRIVER, "driver"]).arg(world.output_mount());
    jail.arg(if is_traced { "traced" } else { "" });
    jail.args(commands.iter().map(|it| &it.text));
    let (code, _, said) = run_to_end(&mut jail, "");
    assert!(code.is_some() && !said.contains("bwrap:"), "the jail does not hold: {code:?} {said}");
    (0..commands.len()).map(|index| read_output(&output, index)).collect()
}

/// Returns where the jail finds the program that is tested.
pub(super) fn program_path(world: &World) -> PathBuf {
    world.output_mount().join("countersign")
}

fn jail_options(world: &World, side: WorldSide) -> Vec<String> {
    let path = |path: PathBuf| path.to_str().unwrap().to_owned();
    let (live, mount) = (world.live(side), world.mount());
    let mut options: Vec<String> = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        .into_iter()
        .chain(["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--as-pid-1"])
        .map(str::to_owned)
        .collect();
    for folder in ["/root", "/home"].into_iter().filter(|it| Path::new(it).is_dir()) {
        options.extend(["--tmpfs".to_owned(), folder.to_owned()]);
    }
    let binds = [
        (path(live.join("tmp")), "/tmp".to_owned()),
        (path(live), path(mount)),
        (path(world.output_folder(side)), path(world.output_mount())),
    ];
    for (from, to) in binds {
        options.extend(["--bind".to_owned(), from, to]);
    }
    let home = path(world.home());
    for (name, value) in [
        ("PATH", PATH),
        ("HOME", &home),
        ("TERM", "xterm"),
        ("LANG", "C.UTF-8"),
        ("USER", "someone"),
    ] {
        options.extend(["--setenv", name, value].map(str::to_owned));
    }
    options.extend(["--chdir".to_owned(), path(world.workspace())]);
    options
}

fn read_output(folder: &Path, index: usize) -> CommandOutput {
    let read = |ending: &str| {
        let bytes = fs::read(folder.join(format!("{index}.{ending}")));
        bytes.ok().map(|it| String::from_utf8_lossy(&it).into_owned())
    };
    let code = read("code").and_then(|it| it.trim().parse().ok());
    CommandOutput {
        // One that ended the driver, or came after it: it did not run to its end.
        code: code.unwrap_or(STOPPED),
        stdout: read("out").unwrap_or_default(),
        stderr: read("err").unwrap_or_default(),
        trace: read("trace"),
    }
}
