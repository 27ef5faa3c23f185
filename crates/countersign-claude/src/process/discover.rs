//! Where the CLI's program is.

use std::path::{Path, PathBuf};

use crate::options::EnvironmentVariables;

/// Places below the home folder that installers use.
const HOME_PLACES: [&str; 5] = [
    ".npm-global/bin/claude",
    ".local/bin/claude",
    "node_modules/.bin/claude",
    ".yarn/bin/claude",
    ".claude/local/claude",
];

/// The program was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the Claude Code CLI was not found; install it (`npm install -g @anthropic-ai/claude-code`) or \
     name it with `cli_path`. Searched: {}",
    .searched.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(", ")
)]
pub struct CliNotFoundError {
    /// Where it was searched.
    pub searched: Vec<PathBuf>,
}

/// Finds the program: the given one, else `claude` on the path, else where installers put it.
pub fn find_cli(
    given: Option<&Path>,
    variables: &EnvironmentVariables,
) -> Result<PathBuf, CliNotFoundError> {
    let places = match given {
        Some(path) if path.components().count() > 1 => vec![path.to_owned()],
        Some(name) => candidates_on_path(name, variables),
        None => {
            let mut places = candidates_on_path(Path::new(PROGRAM), variables);
            let home = variables.get("HOME").or_else(|| variables.get("USERPROFILE"));
            let home = home.map(Path::new).filter(|home| home.is_absolute());
            places.extend(home.into_iter().flat_map(|it| HOME_PLACES.map(|place| it.join(place))));
            places.push(PathBuf::from("/usr/local/bin/claude"));
            places
        }
    };
    match places.iter().find(|path| path.is_file()) {
        Some(found) => Ok(found.clone()),
        None => Err(CliNotFoundError { searched: places }),
    }
}

/// On Windows only the native program will do: `cmd.exe` would read a batch file's arguments anew.
const PROGRAM: &str = if cfg!(windows) { "claude.exe" } else { "claude" };

/// Relative entries of the path are left out: what they mean is up to whoever owns the folder.
fn candidates_on_path(name: &Path, variables: &EnvironmentVariables) -> Vec<PathBuf> {
    let folders = variables.get("PATH").into_iter().flat_map(std::env::split_paths);
    folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).collect()
}

/// Whether Windows would run the file through `cmd.exe`, which reads the arguments anew, so that
/// one of them could become a command.
pub(super) fn is_batch_file(program: &Path) -> bool {
    program.components().any(|part| {
        let part = part.as_os_str().to_string_lossy().to_ascii_lowercase();
        // A stream suffix (`x.cmd::$DATA`), dots and spaces at the end do not change what is run.
        let name = part.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
        matches!(name.rsplit_once('.'), Some((_, "cmd" | "bat")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_file_is_known_in_any_disguise() {
        let batch =
            ["claude.cmd", "Claude.BAT", "claude.cmd. ", "claude.cmd::$DATA", "x.bat/claude"];
        for path in batch {
            assert!(is_batch_file(Path::new(path)), "{path}");
        }
        for path in ["claude", "claude.exe", "cmd/claude", "claude.cmdx"] {
            assert!(!is_batch_file(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn the_path_comes_before_the_home_and_relative_entries_count_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (bin, home) = (folder.path().join("bin"), folder.path().join("home"));
        for place in [bin.join("claude"), home.join(".local/bin/claude")] {
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, "").unwrap();
        }
        let variables = |path: &Path| -> EnvironmentVariables {
            [("PATH", path.as_os_str()), ("HOME", home.as_os_str())].into_iter().collect()
        };
        assert_eq!(find_cli(None, &variables(&bin)), Ok(bin.join("claude")));
        assert_eq!(
            find_cli(None, &variables(Path::new("bin"))),
            Ok(home.join(".local/bin/claude"))
        );
        let missing = folder.path().join("nowhere");
        assert_eq!(
            find_cli(Some(&missing), &variables(&bin)),
            Err(CliNotFoundError { searched: vec![missing] })
        );
    }
}
