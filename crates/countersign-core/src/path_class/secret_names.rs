//! Secrets by name: a folder is judged once, then each name in it in a fraction of the time.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::sensitive_names::{DATA, EXAMPLES, PROCESS, SECRET};
use super::{ending, folded};

/// A folder, judged: which names in it hold secrets. For those who look at very many.
#[derive(Clone, Debug)]
pub struct SecretNames {
    above: Vec<Cow<'static, str>>,
    judged: FolderSecrecy,
}

impl SecretNames {
    /// Judges a resolved folder, given the workspace roots (resolved too).
    pub fn in_folder(folder: &Path, roots: &[PathBuf]) -> Self {
        let inside = roots.iter().find_map(|root| folder.strip_prefix(root).ok());
        let above = inside.unwrap_or(folder).components().filter_map(folded);
        let above: Vec<_> = above.map(|name| Cow::Owned(name.into_owned())).collect();
        let judged = FolderSecrecy::for_folder(&above, inside.is_some());
        Self { above, judged }
    }

    /// Returns whether the place of a file of that name is [`SensitiveKind::Secret`](super::SensitiveKind::Secret).
    pub fn hold(&self, name: &OsStr) -> bool {
        // What is no name, `..` for instance, is not looked at by anybody who lists a folder.
        folded(Component::Normal(name)).is_none_or(|name| self.judged.holds(&self.above, &name))
    }
}

/// Returns whether a path, as its folded components, holds secrets.
pub(super) fn hold_secrets(path: &[Cow<'_, str>], inside: bool) -> bool {
    let Some((name, above)) = path.split_last() else { return false };
    FolderSecrecy::for_folder(above, inside).holds(above, name)
}

/// What a folder, as its folded components, means for everything in it.
#[derive(Clone, Copy, Debug)]
struct FolderSecrecy {
    /// It is a folder of keys, or in one: nothing in it is an example.
    in_folder: bool,
    /// It is in a place of which everything but examples is secret.
    in_place: bool,
    in_processes: bool,
}

impl FolderSecrecy {
    fn for_folder(above: &[Cow<'_, str>], inside: bool) -> Self {
        let any_in = |names: &[&str]| above.iter().any(|it| names.contains(&it.as_ref()));
        let mut ended = (1..=above.len()).filter_map(|end| above.get(..end)?.split_last());
        let in_run = ended.any(|(name, above)| ends_a_run(above, name));
        let in_processes = !inside && above.first().is_some_and(|it| it == "proc");
        let in_place = in_run || (in_processes && any_in(PROCESS));
        Self { in_folder: any_in(SECRET.folders), in_place, in_processes }
    }

    fn holds(self, above: &[Cow<'_, str>], name: &str) -> bool {
        let ending = ending(name).unwrap_or_default();
        let in_folder = self.in_folder || SECRET.folders.contains(&name);
        // `.env.example` by convention holds none, and `id_rsa.pub` is for everyone.
        if EXAMPLES.contains(&ending) && !in_folder {
            return false;
        }
        in_folder
            || self.in_place
            || (self.in_processes && PROCESS.contains(&name))
            || SECRET.files.contains(&name)
            || SECRET.starts.iter().any(|start| name.starts_with(start))
            || SECRET.endings.contains(&ending)
            || says_so(name, ending)
            || ends_a_run(above, name)
    }
}

/// Returns whether a name says of itself that it holds secrets.
fn says_so(name: &str, ending: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let data = || {
        name.starts_with("secrets.")
            || name.starts_with("secret.")
            || has(&["credentials", "service-account", "service_account", "serviceaccount"])
            || has(&["client_secret", "adminsdk"])
    };
    (DATA.contains(&ending) && data())
        || (matches!(ending, "asc" | "gpg") && has(&["private", "secret"]))
}

/// Returns whether a listed run of components ends with this name.
fn ends_a_run(above: &[Cow<'_, str>], name: &str) -> bool {
    let ends = |run: &&str| {
        let Some(before) = run.strip_suffix(name) else { return false };
        let Some(before) = before.strip_suffix('/') else { return before.is_empty() };
        let mut above = above.iter().rev();
        before.rsplit('/').all(|part| above.next().is_some_and(|it| it == part))
    };
    SECRET.paths.iter().any(ends)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{PathClass, SensitiveKind};
    use super::*;

    #[test]
    fn a_run_of_components_is_found_wherever_it_stands() {
        check("/ws/.docker/config.json", true);
        check("/ws/.config/gh/hosts.yml", true);
        check("/ws/.config/gh", true);
        check("/ws/x.config/gh", false);
        check("/ws/config.json", false);
        check("/ws/a.docker/config.json", false);
        check("/ws/etc/sudoers.d/x", true);
    }

    #[track_caller]
    fn check(path: &str, secret: bool) {
        let roots = [PathBuf::from("/ws")];
        let place = PathClass::from_path(Path::new(path), &roots);
        assert_eq!(place.special == Some(SensitiveKind::Secret), secret, "{path}");
        let (folder, name) = path.rsplit_once('/').unwrap();
        assert_eq!(SecretNames::in_folder(Path::new(folder), &roots).hold(name.as_ref()), secret);
    }

    proptest! {
        /// Judged in two steps or in one: it is the same.
        #[test]
        fn a_folder_and_its_names_are_judged_as_the_whole_path_is(
            parts in prop::collection::vec(part(), 1..6), inside in any::<bool>(),
        ) {
            let roots = [PathBuf::from("/ws")];
            let start = Path::new(if inside { "/ws" } else { "/" });
            let path = parts.iter().fold(start.to_owned(), |path, part| path.join(part));
            let whole = PathClass::from_path(&path, &roots).special == Some(SensitiveKind::Secret);
            let (folder, name) = (path.parent().unwrap(), path.file_name().unwrap());
            prop_assert_eq!(SecretNames::in_folder(folder, &roots).hold(name), whole, "{:?}", path);
        }
    }

    /// Parts of paths, many of them telling.
    fn part() -> impl Strategy<Value = String> {
        let runs = SECRET.paths.iter().flat_map(|run| run.split('/'));
        let known: Vec<_> = [SECRET.folders, SECRET.files, SECRET.starts, PROCESS, EXAMPLES, DATA]
            .concat()
            .into_iter()
            .chain(runs)
            .chain(["proc", "a", "1", ".Env", "x.pem", "credentials.json", "private.asc", ".SSH "])
            .collect();
        let known = prop::sample::select(known);
        (known, prop::sample::select(vec!["", "", "", "x", ".pub", ".example", ".json", "."]))
            .prop_map(|(name, more)| format!("{name}{more}"))
    }
}
