//! Ways out, each really tried: none leads anywhere, and each attempt is told of in plain words.
//!
//! What is tried does no harm where it succeeds. The script is a file of the workspace, so that nothing
//! in it is named by the call: what a call names, somebody has said yes to.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

use countersign_tools::ResourceLimits;
use serde_json::json;

use crate::kin::Kin;
use crate::world::{World, assert_has};

/// How every sentence about the sandbox begins.
const SANDBOX: &str = "The command ran in a sandbox: ";
const NETWORK: &str = "there is no network";
const WRITES: &str = "only the workspace and `/tmp` can be written";
const HIDDEN: &str = "files that hold keys";
const CLOSED: &str = "mounts, devices, namespaces, tracing";

#[tokio::test]
async fn writing_outside() {
    let Some(world) = World::in_sandbox().await else { return };
    let target = "/etc/countersign-escape";
    let output = attempt(&world, &format!("echo x > {target}")).await;
    assert!(!fs::exists(target).unwrap());
    assert_told(&output, WRITES);
    let beside = world.outside.join("beside");
    attempt(&world, &format!("echo x > {}", beside.display())).await;
    assert!(!beside.exists());
}

#[tokio::test]
async fn reading_keys() {
    let Some(world) = World::in_sandbox().await else { return };
    let key = world.outside.join("home/.ssh/id_rsa");
    fs::create_dir_all(key.parent().unwrap()).unwrap();
    fs::write(&key, "OF-THE-HOME").unwrap();
    world.write(".env", "OF-THE-PROJECT");
    world.write("sub/deploy.pem", "OF-THE-PROJECT");
    world.write("1/2/3/4/5/6/7/8/9/10/11/12/.env", "OF-THE-PROJECT");
    let script = "cat ~/.ssh/id_rsa; cat .env; cat sub/deploy.pem; grep -r OF-THE . ; cp -r . /tmp/all; \
                  cat /tmp/all/.env";
    let output = attempt(&world, script).await;
    assert!(!output.contains("OF-THE-"), "{output}");
    assert_told(&output, HIDDEN);
    assert_eq!(world.text(".env"), "OF-THE-PROJECT");
    assert_told(&attempt(&world, "cat /etc/shadow").await, HIDDEN);
}

#[tokio::test]
async fn what_a_call_names_was_judged_and_is_given() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write(".env", "KEY=1");
    world.write(".vscode/settings.json", "{}");
    world.write(".vscode/tasks.json", "{}");
    let output = world.ok("Bash", json!({"command": "cat .env"})).await;
    assert_eq!(output, "KEY=1");
    let command = "echo 1 > .vscode/settings.json; echo 2 > \"$(printf .vscode/tasks.json)\"";
    let output = world.run("Bash", json!({"command": command})).await.unwrap();
    assert_told(&output.content, WRITES);
    assert_eq!(world.text(".vscode/settings.json"), "1\n");
    assert_eq!(world.text(".vscode/tasks.json"), "{}");
}

#[tokio::test]
async fn a_port_of_this_machine() {
    let Some(world) = World::in_sandbox().await else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let output = attempt(&world, &format!("echo hi > /dev/tcp/127.0.0.1/{port}")).await;
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_told(&output, NETWORK);
}

#[tokio::test]
async fn datagrams() {
    let Some(world) = World::in_sandbox().await else { return };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let port = socket.local_addr().unwrap().port();
    let script = format!("exec 3>/dev/udp/127.0.0.1/{port}; echo a >&3; echo b >&3");
    let output = attempt(&world, &script).await;
    assert_eq!(socket.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_told(&output, NETWORK);
}

#[tokio::test]
async fn names_of_hosts() {
    let Some(world) = World::in_sandbox().await else { return };
    let output = attempt(&world, "exec 3<>/dev/tcp/countersign.invalid/80").await;
    assert_told(&output, NETWORK);
}

#[tokio::test]
async fn abstract_sockets() {
    let Some(world) = World::in_sandbox().await else { return };
    let name = format!("countersign-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    listener.set_nonblocking(true).unwrap();
    let script = format!(
        r#"perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
        connect(S, pack("S a*", AF_UNIX, "\0{name}")) or die "connect: $!"'"#
    );
    let output = attempt(&world, &script).await;
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_told(&output, CLOSED);
}

#[tokio::test]
async fn sockets_of_services() {
    let Some(world) = World::in_sandbox().await else { return };
    let folder = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
    let path = folder.path().join("service");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let path = path.display();
    let script = format!(
        r#"perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
        connect(S, pack_sockaddr_un("{path}")) or die "{path}: $!"'; ls /run"#
    );
    let output = attempt(&world, &script).await;
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_told(&output, CLOSED);
    assert!(!output.contains("docker") && !output.contains("dbus"), "{output}");
}

#[tokio::test]
async fn sockets_in_the_home() {
    let Some(world) = World::in_visible_sandbox().await else { return };
    let folder = world.outside.join("home/.docker/desktop");
    fs::create_dir_all(&folder).unwrap();
    let stream = UnixListener::bind(folder.join("docker.sock")).unwrap();
    stream.set_nonblocking(true).unwrap();
    let datagrams = UnixDatagram::bind(folder.join("log.sock")).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let script = r#"ls ~/.docker/desktop
        perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
            connect(S, pack_sockaddr_un("$ENV{HOME}/.docker/desktop/docker.sock")) or die "connect: $!"'
        for kind in 2 3; do
            perl -MSocket -e 'socketpair(A, B, AF_UNIX, shift, 0) or die "socketpair: $!";
                send(A, "hi", 0, pack_sockaddr_un("$ENV{HOME}/.docker/desktop/log.sock")) or die "send: $!"' $kind
        done
        perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die "socketpair: $!";
            connect(A, pack_sockaddr_un("$ENV{HOME}/.docker/desktop/docker.sock")) or die "again: $!"'"#;
    let output = attempt(&world, script).await;
    assert_has(&output, "docker.sock\nlog.sock");
    assert_has(&output, "again: ");
    assert_eq!(stream.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(datagrams.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_told(&output, CLOSED);
}

#[tokio::test]
async fn the_roots_of_other_processes() {
    let Some(world) = World::in_sandbox().await else { return };
    let key = world.outside.join("own/token");
    fs::write(&key, "THE-TOKEN").unwrap();
    let key = key.display();
    let script = format!(
        "for it in /proc/[0-9]*; do cat $it/root{key} $it/cwd/../outside/own/token $it/environ; done; \
         cat {key}"
    );
    let output = attempt(&world, &script).await;
    assert!(!output.contains("THE-TOKEN"), "{output}");
    let us = std::process::id();
    let output = attempt(&world, &format!("kill -0 {us}; ls /proc/{us}/fd")).await;
    assert_told(&output, "it sees no processes but its own");
}

#[tokio::test]
async fn settings_of_the_kernel() {
    let Some(world) = World::in_sandbox().await else { return };
    // Opened, never written: where this succeeds, nothing is changed.
    for setting in ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches"] {
        let output = attempt(&world, &format!(": >> {setting} && echo OPENED")).await;
        assert!(!output.contains("OPENED"), "{output}");
        assert_has(&output, SANDBOX);
    }
}

#[tokio::test]
async fn mounts_and_namespaces() {
    let Some(world) = World::in_sandbox().await else { return };
    for script in [
        "mount -t tmpfs none /mnt",
        "umount /tmp",
        "unshare --user --map-root-user true",
        "unshare --mount true",
        "unshare --net true",
        "/usr/sbin/chroot / true",
    ] {
        let output = attempt(&world, &format!("{script} && echo OUT")).await;
        assert!(!output.contains("OUT"), "{script}: {output}");
        assert_told(&output, CLOSED);
    }
    let output = attempt(&world, "nsenter --target 1 --mount true && echo OUT").await;
    assert!(!output.contains("OUT"), "{output}");
    assert_has(&output, SANDBOX);
}

#[tokio::test]
async fn system_calls_that_open_ways_out() {
    let Some(world) = World::in_sandbox().await else { return };
    let numbers: &[(&str, u32)] = if cfg!(target_arch = "x86_64") {
        &[
            ("ptrace", 101),
            ("process_vm_readv", 310),
            ("bpf", 321),
            ("keyctl", 250),
            ("io_uring_setup", 425),
            ("perf_event_open", 298),
            ("ptrace, the x32 way", 0x4000_0209),
        ]
    } else {
        &[("ptrace", 117), ("process_vm_readv", 270), ("bpf", 280), ("io_uring_setup", 425)]
    };
    for (name, number) in numbers {
        let call =
            format!("perl -e 'syscall({number}, 0, 0, 0, 0, 0) < 0 and die \"$!\"; print \"OUT\"'");
        let output = attempt(&world, &call).await;
        assert!(!output.contains("OUT"), "{name}: {output}");
        assert_told(&output, CLOSED);
    }
    // 40 is vsock, which leads to the machine around a virtual one; 17 sees every packet.
    for family in [40, 17, 38] {
        let call = format!("perl -e 'socket(S, {family}, 1, 0) or die \"$!\"; print \"OUT\"'");
        assert_told(&attempt(&world, &call).await, CLOSED);
    }
}

#[tokio::test]
async fn rights_of_an_owner() {
    let Some(world) = World::in_sandbox().await else { return };
    let output = attempt(&world, "cp /bin/true mine && chmod 4755 mine").await;
    assert_eq!(world.mode("mine") & 0o6000, 0);
    assert_told(&output, CLOSED);
    let output = attempt(&world, "install -m 2755 /bin/true other").await;
    assert_eq!(world.mode("other") & 0o6000, 0);
    assert_told(&output, CLOSED);
    let output = attempt(&world, "grep -E 'NoNewPrivs|CapEff|CapBnd' /proc/self/status").await;
    let nothing = "0000000000000000";
    assert_has(&output, &format!("CapEff:\t{nothing}\nCapBnd:\t{nothing}\nNoNewPrivs:\t1"));
}

#[tokio::test]
async fn devices() {
    let Some(world) = World::in_sandbox().await else { return };
    assert_told(&attempt(&world, "mknod disk b 8 0").await, CLOSED);
    assert!(!world.path("disk").exists());
    let output =
        attempt(&world, "ls /dev; ls /dev/mem /dev/kmsg /dev/sda /dev/vda && echo OUT").await;
    assert!(!output.contains("OUT") && !output.contains("loop"), "{output}");
}

#[tokio::test]
async fn links_swapped_while_it_runs() {
    let Some(world) = World::in_sandbox().await else { return };
    let key = world.outside.join("own/key");
    fs::write(&key, "THE-KEY").unwrap();
    let (outside, key) = (world.outside.display(), key.display());
    let script = format!(
        "mkdir real
        for i in $(seq 200); do ln -sfn {outside} d; ln -sfn real d; done &
        for i in $(seq 200); do echo x > d/planted; cat d/own/key; done 2>/dev/null
        wait; ln -s {key} k; cat k; ln -s /etc/countersign-escape e; echo x > e"
    );
    let output = attempt(&world, &script).await;
    assert!(!output.contains("THE-KEY"), "{output}");
    assert!(!world.outside.join("planted").exists());
    assert!(!fs::exists("/etc/countersign-escape").unwrap());
    assert_told(&output, WRITES);
}

#[tokio::test]
async fn hard_links() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write(".env", "THE-KEY");
    let output = attempt(&world, "ln .env copy; ln /etc/passwd p; cat copy").await;
    assert!(!output.contains("THE-KEY") && !world.path("copy").exists(), "{output}");
    assert!(!world.path("p").exists());
    assert_told(&output, "can be linked to");
}

#[tokio::test]
async fn what_steers_later_runs() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write(".git/hooks/pre-commit.sample", "");
    world.write("countersign.toml", "");
    world.write("sub/.mcp.json", "{}");
    for script in [
        "echo evil > .git/hooks/pre-commit",
        "echo evil > .git/config",
        "echo 'allow = [\"Bash\"]' > countersign.toml",
        "echo evil > sub/.mcp.json",
        "mkdir -p .claude && echo evil > .claude/settings.json",
        "mkdir -p .vscode && echo evil > .vscode/tasks.json",
        "echo evil > .mcp.json/x",
    ] {
        let output = attempt(&world, script).await;
        assert_told(&output, WRITES);
    }
    assert_told(&attempt(&world, "mv .git .tig && mkdir .git").await, "neither moved nor removed");
    assert_eq!(world.names(), [".git", "attempt.sh", "countersign.toml", "sub"]);
    assert_eq!(world.text("countersign.toml"), "");
    let output = attempt(&world, "echo evil > lefthook.yml").await;
    assert_has(&output, "/lefthook.yml` steers what runs later");
    assert!(!world.path("lefthook.yml").exists());
    assert_eq!(world.text("put-aside.lefthook.yml"), "evil\n");
}

#[tokio::test]
async fn folders_moved_from_under_what_steers_later_runs() {
    let Some(world) = World::in_sandbox().await else { return };
    let files = [".github/workflows/ci.yml", "pkg/.vscode/tasks.json", "lib/.git/hooks/pre-commit"];
    for file in files {
        world.write(file, "real");
    }
    world.write("pkg/a", "a");
    for file in files {
        let top = file.split('/').next().unwrap();
        let folder = file.rsplit_once('/').unwrap().0;
        let script = format!(
            "mv {top} away; mkdir -p {folder}; echo evil > {file}; rm -rf {top}
            perl -e 'rename \"{top}\", \"away\" or die \"$!\"'; mkdir -p {folder}; echo evil > {file}"
        );
        let output = attempt(&world, &script).await;
        assert_told(&output, "neither moved nor removed");
        assert_eq!(world.text(file), "real");
        assert!(!world.path("away").exists());
    }
    assert!(!world.path("pkg/a").exists(), "all the rest of a folder can be removed");
    let work = "mkdir pkg/b && echo 1 > pkg/b/x && mv pkg/b pkg/c && mv pkg/c/x y && mv y pkg/ && cat pkg/y";
    assert_eq!(attempt(&world, work).await, "1");
    // What the call itself says of a folder was judged.
    world.ok("Bash", json!({"command": "mv .github gh"})).await;
    assert_eq!(world.text("gh/workflows/ci.yml"), "real");
}

#[tokio::test]
async fn what_steers_later_runs_below_the_top() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("pkg/a", "a");
    world.write("1/2/3/4/5/6/7/8/9/a", "a");
    let script = "mkdir -p new/.github/workflows pkg/.vscode node_modules/p/.vscode
        echo evil > new/.github/workflows/x.yml; echo evil > pkg/.vscode/tasks.json
        echo evil > 1/2/3/4/5/6/7/8/9/.mcp.json";
    let output = attempt(&world, script).await;
    for name in ["new/.github/workflows", "pkg/.vscode", "1/2/3/4/5/6/7/8/9/.mcp.json"] {
        assert_has(&output, &format!("/{name}` steers what runs later"));
        assert!(!world.path(name).exists(), "{name}");
    }
    assert_eq!(world.text("new/.github/put-aside.workflows/x.yml"), "evil\n");
    assert!(world.path("node_modules/p/.vscode").exists());
    let named = "mkdir -p pkg/.vscode && echo 1 > pkg/.vscode/tasks.json";
    world.ok("Bash", json!({"command": named})).await;
    assert_eq!(world.text("pkg/.vscode/tasks.json"), "1\n");
}

/// This test starts itself once more where its workspace is mounted a second time.
#[tokio::test]
async fn a_second_mount_of_the_workspace() {
    const SECOND: &str = "COUNTERSIGN_TEST_SECOND_MOUNT";
    #[expect(clippy::disallowed_methods, reason = "this is how it knows that it was started again")]
    let places = std::env::var(SECOND);
    let Ok(places) = places else {
        let Some(world) = World::in_visible_sandbox().await else { return };
        let [real, second] = ["real", "second"].map(|name| world.outside.join(name));
        for folder in [&real, &second] {
            fs::create_dir(folder).unwrap();
        }
        #[expect(clippy::disallowed_methods, reason = "what it tests starts again from here")]
        let status = std::process::Command::new("bwrap")
            .args(["--unshare-user", "--dev-bind", "/", "/", "--bind"])
            .args([&real, &second])
            .arg("--")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "sandbox::escapes::a_second_mount_of_the_workspace", "--nocapture"])
            .env(SECOND, format!("{}\n{}", real.display(), second.display()))
            .status()
            .unwrap();
        assert!(status.success());
        return;
    };
    let (real, second) = places.split_once('\n').unwrap();
    let world = World::in_sandbox_at(real.as_ref()).await;
    world.write(".env", "THE-KEY");
    world.write("plain", "plain");
    fs::create_dir(world.outside.join("home/.aws")).unwrap();
    fs::write(world.outside.join("home/.aws/credentials"), "THE-KEY").unwrap();
    let there = world.root.strip_prefix(real).unwrap().to_owned();
    let [root, home] = [there.join("."), there.join("../outside/home")]
        .map(|below| std::path::Path::new(second).join(below).display().to_string());
    assert_eq!(fs::read_to_string(format!("{root}/.env")).unwrap(), "THE-KEY");
    let script =
        format!("cat {root}/.env {home}/.aws/credentials; ls {root}; ls {home}; cat plain");
    let output = attempt(&world, &script).await;
    assert!(!output.contains("THE-KEY"), "{output}");
    assert_has(&output, "plain");
    assert_told(&output, HIDDEN);
}

#[tokio::test]
async fn the_launcher_and_what_lies_around_it() {
    let Some(world) = World::in_sandbox().await else { return };
    let output =
        attempt(&world, "echo evil > /run/countersign/launcher; touch /dev/x /run/x").await;
    assert_told(&output, WRITES);
}

#[tokio::test]
async fn too_many_processes() {
    let Some(world) = limited(|limits| limits.processes = 64).await else { return };
    let bomb = "f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & sleep 60; }; }; f 9; wait";
    let output = attempt(&world, bomb).await;
    assert_has(&output, SANDBOX);
    assert!(output.contains("more than 64 processes") || output.contains("number of processes"));
}

#[tokio::test]
async fn too_much_memory() {
    let Some(world) = limited(|limits| limits.memory = 256 << 20).await else { return };
    let one = attempt(&world, r#"perl -e '$x = "a" x 600_000_000; print length $x'"#).await;
    assert_told(&one, "memory");
    let many = r#"for i in 1 2 3 4 5 6; do perl -e '$x = "a" x 80_000_000; sleep 60' & done; wait"#;
    assert_told(&attempt(&world, many).await, "more than 256 MiB of memory");
}

#[tokio::test]
async fn too_much_on_disk() {
    let Some(world) = limited(|limits| (limits.file, limits.temporary) = (8 << 20, 16 << 20)).await
    else {
        return;
    };
    let output = attempt(&world, "head -c 64M /dev/zero > big").await;
    assert_eq!(fs::metadata(world.path("big")).unwrap().len(), 8 << 20);
    assert_told(&output, "the size of a file is limited");
    let fill = "for i in 1 2 3 4; do head -c 7M /dev/zero > /tmp/$i || exit; done";
    assert_told(&attempt(&world, fill).await, "`/tmp` is private, in memory, and limited");
    let fill = fill.replace("/tmp/", "/dev/shm/");
    assert_told(&attempt(&world, &fill).await, "limited");
}

#[tokio::test]
async fn too_much_output() {
    let Some(world) = World::in_sandbox().await else { return };
    let output = attempt(&world, "yes | head -c 50000000").await;
    assert!(output.len() < 40_000);
    assert_has(&output, "characters cut");
}

#[tokio::test]
async fn what_stays_in_the_background() {
    let Some(world) = World::in_sandbox().await else { return };
    let mut kin = Kin::watch(&world);
    let script =
        "exec 9>alive; setsid setsid sleep 1000 < /dev/null > /dev/null 2>&1 & echo up > alive";
    attempt(&world, script).await;
    kin.up().await;
    kin.gone().await;
}

/// Runs a script inside and returns what came of it, with what was said of the sandbox.
pub(super) async fn attempt(world: &World, script: &str) -> String {
    world.write("attempt.sh", script);
    let output = world.run("Bash", json!({"command": "bash attempt.sh", "timeout": 60_000})).await;
    output.unwrap().content
}

#[track_caller]
fn assert_told(output: &str, wall: &str) {
    let said = output.lines().find(|line| line.starts_with(SANDBOX));
    let said = said.unwrap_or_else(|| panic!("nothing is said of the sandbox: {output}"));
    assert_has(said, wall);
}

async fn limited(change: impl FnOnce(&mut ResourceLimits)) -> Option<World> {
    World::in_sandbox_of(|setup| change(&mut setup.limits)).await
}
