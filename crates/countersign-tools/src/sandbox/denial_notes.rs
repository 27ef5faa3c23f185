//! Notes: what a sandbox has kept a command from, said so that model and person understand it.
//!
//! A program that meets a wall says so in its own words, if at all. Where its output has words that
//! walls cause, the walls that are there are named, with the way to ask for more.

use super::proxy::ProxyTraffic;
use super::{IsolationLevel, NetworkAccess};

/// How to get out, said once at the end where nobody knows another way.
pub(super) const LEAVING: &str = "If it has to be done outside, call again with \
`dangerouslyDisableSandbox: true`: a person is asked, every time.";

/// A wall, the words it causes, and what to say of it.
const WALLS: &[(&[&str], &str)] = &[
    (
        &["Read-only file system", "EROFS"],
        "only the workspace and `/tmp` can be written; what steers later runs (`.git`, settings of \
         editors and agents, …) only where the call itself names it",
    ),
    (
        &["Device or resource busy", "EBUSY"],
        "what is protected or hidden in the workspace can be neither moved nor removed",
    ),
    (
        &[
            "Operation not permitted",
            "EPERM",
            "not permitted",
            "must be superuser",
            "mount: ",
            "Bad system call",
        ],
        "mounts, devices, namespaces, tracing, rights of other users, Unix sockets and odd ones are \
         closed",
    ),
    (
        &["cross-device link", "EXDEV"],
        "nothing outside the workspace, and nothing hidden in it, can be linked to; into and out of a \
         folder with something protected in it, files can only be copied",
    ),
    (&["No such process"], "it sees no processes but its own"),
    (
        &[
            "Cannot allocate memory",
            "MemoryError",
            "out of memory",
            "Out of memory",
            "ENOMEM",
            "memory exhausted",
            "cannot allocate",
        ],
        "memory is limited",
    ),
    (&["File too large", "EFBIG", "File size limit exceeded"], "the size of a file is limited"),
    (&["No space left on device", "ENOSPC"], "`/tmp` is private, in memory, and limited"),
    (
        &["Resource temporarily unavailable", "EAGAIN", "fork: retry", "Cannot fork"],
        "the number of processes is limited",
    ),
];

/// Words of what cannot be opened, and what to say of it.
const DENIED: &[&str] = &["Permission denied", "EACCES"];
const DENIED_IN_VIEW: &str = "files that hold keys (`.env`, `.ssh`, …) and the folders of Countersign \
are hidden; a key's file is shown only where the call itself names it";
/// Without a view nothing can be said of single files in the workspace.
const DENIED_BY_FENCE: &str = "only the workspace and `$TMPDIR` can be written; keys outside the \
workspace and the folders of Countersign are hidden";

/// Words of a network that is not there.
const UNREACHABLE: &[&str] = &[
    "Network is unreachable",
    "ENETUNREACH",
    "Could not resolve",
    "could not resolve",
    "name resolution",
    "Name or service not known",
    "ENOTFOUND",
    "EAI_AGAIN",
    "getaddrinfo",
    "dns error",
    "no servers could be reached",
    "Connection refused",
    "ECONNREFUSED",
    "Failed to connect",
    "failed to connect",
    "Could not connect",
    "Couldn't connect",
    "Address family not supported",
    "from proxy after CONNECT",
    "Proxy CONNECT aborted",
    "CONNECT tunnel failed",
];

/// Returns what to say at the end of an output, if anything.
pub(super) fn explain_denials(
    texts: &[&str],
    level: IsolationLevel,
    network: &NetworkAccess,
    traffic: &ProxyTraffic,
    leaving: &str,
) -> Vec<String> {
    let has =
        |words: &[&str]| words.iter().any(|word| texts.iter().any(|text| text.contains(word)));
    let mut walls: Vec<String> = Vec::new();
    if !traffic.refused.is_empty() {
        let hosts: Vec<_> = traffic.refused.iter().map(|host| format!("`{host}`")).collect();
        walls.push(format!("its proxy did not let it reach {}", hosts.join(", ")));
    } else if has(UNREACHABLE) {
        walls.push(match network {
            NetworkAccess::Off => {
                "there is no network, not even this machine's own ports".to_owned()
            }
            NetworkAccess::Hosts(hosts) => format!(
                "of the network only {} can be reached, over HTTP and HTTPS",
                hosts.iter().map(|host| format!("`{host}`")).collect::<Vec<_>>().join(", ")
            ),
            NetworkAccess::Public => {
                "the network can be reached over HTTP and HTTPS only, and never this machine's own"
                    .to_owned()
            }
        });
    }
    let is_private = |line: &str| line.contains("No such file") && line.contains("/tmp/");
    if level.holds() && texts.iter().flat_map(|text| text.lines()).any(is_private) {
        walls.push("`/tmp` is private and empty at the start of every call".to_owned());
    }
    if has(DENIED) {
        walls.push(if level.holds() { DENIED_IN_VIEW } else { DENIED_BY_FENCE }.to_owned());
    }
    walls.extend(WALLS.iter().filter(|(words, _)| has(words)).map(|(_, wall)| (*wall).to_owned()));
    if walls.is_empty() {
        return Vec::new();
    }
    vec![format!("The command ran in a sandbox: {}. {leaving}", walls.join("; "))]
}
