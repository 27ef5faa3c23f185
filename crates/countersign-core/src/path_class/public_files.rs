//! Files outside every workspace that describe the machine and hold no secret.

use std::path::Path;

/// By their exact paths, links resolved: the system keeps them, and every program may read them.
const PUBLIC: &[&str] = &[
    "/etc/alpine-release",
    "/etc/debian_version",
    "/etc/fedora-release",
    "/etc/hostname",
    "/etc/lsb-release",
    "/etc/os-release",
    "/etc/redhat-release",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/uptime",
    "/proc/version",
    "/usr/lib/os-release",
];

/// Returns whether a resolved path is a file of the system that anybody may read unasked.
pub fn is_public(path: &Path) -> bool {
    PUBLIC.iter().any(|public| path == Path::new(public))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_files_are_public() {
        assert!(is_public(Path::new("/etc/os-release")) && is_public(Path::new("/proc/cpuinfo")));
        for path in
            ["/etc/passwd", "/etc", "/etc/os-release/x", "/proc/self/environ", "/ws/etc/hostname"]
        {
            assert!(!is_public(Path::new(path)), "{path}");
        }
    }
}
