//! Where sessions are: one folder for each working directory, one file for each session.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use uuid::Uuid;

use super::{SessionError, info, line_file};

/// A session's file.
#[derive(Clone, Debug)]
pub(super) struct SessionFile {
    pub(super) id: Uuid,
    pub(super) path: PathBuf,
    pub(super) modified: SystemTime,
    pub(super) size: u64,
}

impl SessionFile {
    /// The folder for what belongs to the session beside its file.
    pub(super) fn folder(&self) -> PathBuf {
        self.path.with_extension("")
    }
}

/// Every session there is.
pub(super) fn list_all(config: &Path) -> Result<Vec<SessionFile>, SessionError> {
    let mut files = Vec::new();
    for project in list_folder_if_present(&config.join("projects"))? {
        files.extend(list_project(&project)?);
    }
    Ok(dedup_by_id(files))
}

/// The sessions that began in a directory.
pub(super) fn find_by_directory(
    config: &Path,
    directory: &Path,
) -> Result<Vec<SessionFile>, SessionError> {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let projects = config.join("projects");
    let key = project_key(&directory.to_string_lossy());
    let mut files = list_project(&projects.join(&key))?;
    if files.is_empty() {
        // The CLI shortens long names in a way of its own, and what it takes for the same letter
        // may be spelled in two ways: what is in the file decides.
        let wanted = directory.to_string_lossy();
        for project in list_folder_if_present(&projects)? {
            let sessions = list_project(&project)?;
            let belongs = |file: &SessionFile| {
                info::read_session_info(file)
                    .is_ok_and(|info| info.cwd.as_deref() == Some(&*wanted))
            };
            files.extend(sessions.into_iter().filter(belongs));
        }
    }
    Ok(dedup_by_id(files))
}

/// The file of a session, wherever it began.
pub(super) fn find_by_id(config: &Path, id: &str) -> Result<SessionFile, SessionError> {
    let uuid = Uuid::try_parse(id).map_err(|_| SessionError::NotAnId(id.to_owned()))?;
    let name = format!("{}.jsonl", uuid.hyphenated());
    let projects = list_folder_if_present(&config.join("projects"))?;
    let found =
        projects.into_iter().filter_map(|project| inspect_session_file(project.join(&name)));
    found.max_by_key(|file| file.modified).ok_or_else(|| SessionError::NotFound(id.to_owned()))
}

/// The subagents of a session and their files, wherever below its folder they are.
pub(super) fn subagents(session: &SessionFile) -> Result<Vec<(String, PathBuf)>, SessionError> {
    let mut agents = Vec::new();
    let mut folders = vec![session.folder().join("subagents")];
    while let Some(folder) = folders.pop() {
        for path in list_folder_if_present(&folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let agent = name.strip_prefix("agent-").and_then(|name| name.strip_suffix(".jsonl"));
            match agent {
                Some(agent) => agents.push((agent.to_owned(), path.clone())),
                None if path.is_dir() => folders.push(path.clone()),
                None => {}
            }
        }
    }
    agents.sort();
    Ok(agents)
}

/// The name of a directory's folder: each UTF-16 unit that is no ASCII letter or digit is a dash.
fn project_key(directory: &str) -> String {
    let dashed = directory.chars().flat_map(|c| {
        let kept = if c.is_ascii_alphanumeric() { c } else { '-' };
        std::iter::repeat_n(kept, c.len_utf16())
    });
    dashed.collect()
}

fn list_project(project: &Path) -> Result<Vec<SessionFile>, SessionError> {
    Ok(list_folder_if_present(project)?.into_iter().filter_map(inspect_session_file).collect())
}

/// Looks whether a path is a session's file.
fn inspect_session_file(path: PathBuf) -> Option<SessionFile> {
    let name = path.file_name()?.to_str()?;
    let id = Uuid::try_parse(name.strip_suffix(".jsonl")?).ok()?;
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Some(SessionFile { id, modified, size: metadata.len(), path })
}

/// A session may lie in two folders, such as when its directory was moved: the newer one counts.
fn dedup_by_id(mut files: Vec<SessionFile>) -> Vec<SessionFile> {
    files.sort_by_key(|file| (file.id, std::cmp::Reverse(file.modified)));
    files.dedup_by_key(|file| file.id);
    files
}

/// What is in a folder; nothing if there is no such folder.
fn list_folder_if_present(folder: &Path) -> Result<Vec<PathBuf>, SessionError> {
    match line_file::list_folder(folder) {
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        entries => entries.map_err(SessionError::disk_error(folder)),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::project_key;

    #[test]
    fn a_directory_is_named_by_its_letters_and_digits() {
        assert_eq!(project_key("/home/ana/my_project.2"), "-home-ana-my-project-2");
        assert_eq!(project_key("/home/bjørn"), "-home-bj-rn");
        assert_eq!(project_key("/😀"), "---");
    }
}
