//! Programs: which file a name runs, and whether somebody else could have put it there.

use std::path::{Path, PathBuf};

use countersign_core::shell::TreeKind;
use rustix::process::geteuid;

use super::status_cache::StatusCache;
use crate::files::workspace::Workspace;
use crate::machine::Environment;

/// Folders whose programs are the system's own: nothing that runs as the user can change them.
const SYSTEM: &[&str] =
    &["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Folders that are shared, whatever their modes say.
const SHARED: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"];

/// May be written by everybody.
const OTHERS_WRITE: u32 = 0o002;

/// Variables by which a program loads code, or reads settings that name some.
const LOADING: &[&str] = &[
    "BASH_ENV",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "ENV",
    "GCONV_PATH",
    "GETCONF_DIR",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LESSOPEN",
    "LOCPATH",
    "MAGIC",
    "NODE_OPTIONS",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RIPGREP_CONFIG_PATH",
    "RUBYOPT",
    "SHELLOPTS",
    "BASHOPTS",
];

/// Variables that make programs read their arguments otherwise, or give them more of them.
const ARGUING: &[&str] = &[
    "GREP_OPTIONS",
    "GZIP",
    "POSIXLY_CORRECT",
    "TAR_OPTIONS",
    "UNZIP",
    "UNZIPOPT",
    "XZ_DEFAULTS",
    "XZ_OPT",
    "_POSIX2_VERSION",
];

/// A program that stands in for others, and the files that tell it which.
struct VersionManager {
    name: &'static str,
    steered_by: &'static [&'static str],
    /// The variables that tell it, too.
    variables: &'static [&'static str],
}

const MANAGERS: &[VersionManager] = &[
    VersionManager {
        name: "rustup",
        steered_by: &["rust-toolchain", "rust-toolchain.toml"],
        variables: &["RUSTUP_TOOLCHAIN"],
    },
    VersionManager {
        name: "pyenv",
        steered_by: &[".python-version"],
        variables: &["PYENV_VERSION"],
    },
    VersionManager { name: "rbenv", steered_by: &[".ruby-version"], variables: &["RBENV_VERSION"] },
    VersionManager {
        name: "nodenv",
        steered_by: &[".node-version"],
        variables: &["NODENV_VERSION"],
    },
    VersionManager {
        name: "fnm",
        steered_by: &[".node-version", ".nvmrc", "package.json"],
        variables: &[],
    },
    VersionManager { name: "volta-shim", steered_by: &["package.json"], variables: &[] },
];

/// Programs that `rustup` stands in for, also where they are copies of it.
const RUST: &[&str] = &[
    "cargo",
    "cargo-clippy",
    "cargo-fmt",
    "cargo-miri",
    "clippy-driver",
    "rls",
    "rust-analyzer",
    "rust-gdb",
    "rust-gdbgui",
    "rust-lldb",
    "rustc",
    "rustdoc",
    "rustfmt",
];

/// What `PATH` makes of a program's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FoundProgram {
    /// No folder has it, and none of them is the workspace's.
    Nowhere,
    /// The first that has its name can be trusted.
    Trusted(ResolvedProgram),
    /// It cannot be trusted, depends on where the command runs, or cannot be told.
    Unclear,
}

/// What stands behind a program's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ResolvedProgram {
    /// This file.
    Itself(PathBuf),
    /// A file that runs another, which these files choose.
    StandIn { file: PathBuf, steered_by: &'static [&'static str] },
}

/// The folders in which programs are looked up.
pub(super) struct SearchPath {
    /// None for one that is whatever the command's folder makes of it.
    folders: Vec<Option<PathBuf>>,
}

impl SearchPath {
    /// Reads `PATH`; none if it is not set.
    pub(super) fn from_environment(environment: &Environment) -> Option<Self> {
        let folders = environment.get("PATH")?.split(':').map(PathBuf::from);
        Some(Self { folders: folders.map(|it| Some(it).filter(|it| it.is_absolute())).collect() })
    }

    /// Looks a name up.
    pub(super) fn look_up(
        &self,
        name: &str,
        workspace: &Workspace,
        disk: &StatusCache,
    ) -> FoundProgram {
        for folder in &self.folders {
            let Some(folder) = folder else { return FoundProgram::Unclear };
            if disk.status(&folder.join(name)).is_ok() {
                let found = trusted(folder, name, workspace, disk);
                return found.map_or(FoundProgram::Unclear, FoundProgram::Trusted);
            }
            // What is not in a folder of the workspace now may be there when the command runs.
            if is_ours(folder, workspace, disk) {
                return FoundProgram::Unclear;
            }
        }
        FoundProgram::Nowhere
    }
}

fn is_ours(folder: &Path, workspace: &Workspace, disk: &StatusCache) -> bool {
    if is_system(folder) {
        return false;
    }
    let real = disk.real_path(folder);
    let real = real.as_deref().unwrap_or(folder);
    workspace.roots().iter().any(|root| real.starts_with(root) || folder.starts_with(root))
}

fn is_system(folder: &Path) -> bool {
    SYSTEM.iter().any(|system| folder == Path::new(system))
}

/// Returns what stands behind a name in a folder of `PATH`, if nobody but the system and the user
/// could have put it there.
fn trusted(
    folder: &Path,
    name: &str,
    workspace: &Workspace,
    disk: &StatusCache,
) -> Option<ResolvedProgram> {
    let real = disk.real_path(&folder.join(name))?;
    if disk.kind(&real) != Some(TreeKind::File) {
        return None;
    }
    let inside = |path: &Path| workspace.roots().iter().any(|root| path.starts_with(root));
    if inside(&real) || inside(folder) {
        return None;
    }
    if !is_system(folder) {
        let folder = disk.real_path(folder)?;
        if inside(&folder) || !is_kept(&folder, disk) || !is_kept(&real, disk) {
            return None;
        }
    }
    stand_in(folder, name, &real, disk)
}

/// Returns whether a real path and all above it belong to the system or the user, and to nobody else.
fn is_kept(path: &Path, disk: &StatusCache) -> bool {
    let user = geteuid().as_raw();
    let kept = |path: &Path| {
        disk.status(path).is_ok_and(|status| {
            let own = status.owner == 0 || status.owner == user;
            own && status.mode & OTHERS_WRITE == 0
        })
    };
    !SHARED.iter().any(|shared| path.starts_with(shared)) && path.ancestors().all(kept)
}

/// A program that is named like a manager, lies in its folder of stand-ins, or beside it.
fn stand_in(folder: &Path, name: &str, real: &Path, disk: &StatusCache) -> Option<ResolvedProgram> {
    let named = real.file_name()?.to_str()?;
    let is_rust = RUST.contains(&name) && disk.status(&folder.join("rustup")).is_ok();
    let shims = real.components().rev().nth(1).is_some_and(|it| it.as_os_str() == "shims");
    let manager = if is_rust {
        Some("rustup")
    } else if shims {
        // `~/.pyenv/shims`: whose they are says the folder above. Those of others are not known.
        let above = real.parent()?.parent()?.file_name()?.to_str()?;
        Some(above.trim_start_matches('.'))
    } else {
        MANAGERS.iter().map(|it| it.name).find(|manager| *manager == named)
    };
    let Some(manager) = manager else { return Some(ResolvedProgram::Itself(real.to_owned())) };
    let known = MANAGERS.iter().find(|it| it.name == manager)?;
    Some(ResolvedProgram::StandIn { file: folder.join(name), steered_by: known.steered_by })
}

/// Whether the environment makes programs load what may lie in the workspace, or read their
/// arguments in another way.
pub(super) fn is_steered(environment: &Environment, workspace: &Workspace) -> bool {
    let roots = workspace.roots();
    let leads_here = |value: &str| {
        value.split([':', ' ', '=']).any(|it| {
            let path = Path::new(it.trim_start_matches('|'));
            let named = it.contains('/') || it == ".";
            named && (path.is_relative() || roots.iter().any(|root| path.starts_with(root)))
        })
    };
    let is_set = |name: &&str| environment.get(name).is_some();
    LOADING.iter().filter_map(|name| environment.get(name)).any(leads_here)
        || ARGUING.iter().any(is_set)
        || environment.names().any(|name| name.starts_with("BASH_FUNC_"))
}

/// Whether the environment gives a program options of its own: settings of `rg`, the toolchain of a
/// manager.
pub(super) fn is_told(name: &str, program: &ResolvedProgram, environment: &Environment) -> bool {
    let variables = match program {
        ResolvedProgram::Itself(_) if name == "rg" => &["RIPGREP_CONFIG_PATH"][..],
        ResolvedProgram::Itself(_) => &[],
        ResolvedProgram::StandIn { steered_by, .. } => {
            let manager = MANAGERS.iter().find(|it| it.steered_by == *steered_by);
            manager.map_or(&[][..], |it| it.variables)
        }
    };
    variables.iter().any(|name| environment.get(name).is_some_and(|value| !value.is_empty()))
}
