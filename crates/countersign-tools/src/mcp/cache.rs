//! Caches of launchers: `npx` and `uvx` run what lies there, and cannot do without writing to it.

use std::path::{Path, PathBuf};

use crate::machine::Environment;
use crate::sandbox::NetworkAccess;

/// What is known of a launcher.
#[derive(Debug, PartialEq, Eq)]
struct PackageLauncher {
    names: &'static [&'static str],
    /// The folders of a home that it writes to, each with the variable that names another.
    places: &'static [(&'static str, &'static str)],
    /// What keeps it from asking the registry first, which would only take long: where there is no
    /// network, and where the registry may not be among the hosts.
    offline: (&'static str, &'static str),
    reluctant: Option<(&'static str, &'static str)>,
}

const LAUNCHERS: &[PackageLauncher] = &[
    PackageLauncher {
        names: &["npm", "npx"],
        places: &[(".npm", "npm_config_cache")],
        offline: ("npm_config_offline", "true"),
        reluctant: Some(("npm_config_prefer_offline", "true")),
    },
    PackageLauncher {
        names: &["uv", "uvx"],
        places: &[(".cache/uv", "UV_CACHE_DIR"), (".local/share/uv/tools", "UV_TOOL_DIR")],
        offline: ("UV_OFFLINE", "1"),
        reluctant: None,
    },
];

/// The cache of a launcher.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LauncherCache {
    /// The folders that are there.
    pub(super) folders: Vec<PathBuf>,
    /// The variables of those that are not.
    missing: Vec<&'static str>,
    launcher: &'static PackageLauncher,
}

impl LauncherCache {
    /// Returns what to set for the launcher. What is missing it has in a place that is gone afterwards.
    pub(super) fn variables(&self, network: &NetworkAccess) -> Vec<(String, String)> {
        let PackageLauncher { offline, reluctant, .. } = self.launcher;
        let fresh = self.missing.iter().map(|name| (*name, format!("/tmp/{name}")));
        let (name, value) = match network {
            NetworkAccess::Off => *offline,
            NetworkAccess::Hosts(_) | NetworkAccess::Public => reluctant.unwrap_or_default(),
        };
        let asks = (!name.is_empty()).then(|| (name, value.to_owned()));
        fresh.chain(asks).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Returns the cache of a command, if it is a launcher.
pub(super) fn cache_for_command(command: &str, environment: &Environment) -> Option<LauncherCache> {
    let name = Path::new(command).file_name()?.to_str()?;
    let launcher = LAUNCHERS.iter().find(|launcher| launcher.names.contains(&name))?;
    let mut cache = LauncherCache { folders: Vec::new(), missing: Vec::new(), launcher };
    for (below, variable) in launcher.places {
        let named = environment.get(variable).map(PathBuf::from);
        let usual = || environment.get("HOME").map(|home| Path::new(home).join(below));
        // Links are followed here: what is laid over is the folder itself.
        let folder = named.or_else(usual).and_then(|folder| folder.canonicalize().ok());
        match folder.filter(|folder| folder.is_dir()) {
            Some(folder) => cache.folders.push(folder),
            None => cache.missing.push(variable),
        }
    }
    Some(cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_has_the_cache_of_its_user_or_a_fresh_one() {
        let home = tempfile::tempdir().unwrap();
        let environment: Environment =
            [("HOME".to_owned(), home.path().display().to_string())].into_iter().collect();
        let said = |cache: &LauncherCache, network: &NetworkAccess| {
            let set = cache.variables(network).into_iter();
            set.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        let fresh = cache_for_command("npx", &environment).unwrap();
        let place = "npm_config_cache=/tmp/npm_config_cache";
        assert_eq!(said(&fresh, &NetworkAccess::Off), [place, "npm_config_offline=true"]);
        assert_eq!(said(&fresh, &NetworkAccess::Public), [place, "npm_config_prefer_offline=true"]);
        std::fs::create_dir_all(home.path().join(".cache/uv")).unwrap();
        let known = cache_for_command("/opt/bin/uvx", &environment).unwrap();
        let folder = home.path().canonicalize().unwrap().join(".cache/uv");
        let tools = "UV_TOOL_DIR=/tmp/UV_TOOL_DIR";
        assert_eq!(said(&known, &NetworkAccess::Off), [tools, "UV_OFFLINE=1"]);
        assert_eq!(said(&known, &NetworkAccess::Public), [tools]);
        assert_eq!(known.folders, [folder]);
        assert_eq!(cache_for_command("node", &environment), None);
    }
}
