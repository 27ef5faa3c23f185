//! Paths as a model writes them: what no path of a call may look like.

use countersign_core::InvalidCall;

use crate::files::escape::escape_to_line;

/// Above this many bytes no system takes a path.
pub(crate) const LIMIT: usize = 4096;

/// Checks that a text can be the path of a call, before anybody looks where it leads.
pub(crate) fn check(path: &str) -> Result<(), InvalidCall> {
    if path.is_empty() {
        return Err(InvalidCall("the path is empty: name a file or folder".to_owned()));
    }
    if path.len() > LIMIT {
        let bytes = path.len();
        return Err(InvalidCall(format!("the path has {bytes} bytes, the limit is {LIMIT}")));
    }
    if path.chars().any(char::is_control) {
        return Err(InvalidCall(format!(
            "the path `{}` holds a control character (a line end, NUL or the like): such names \
             deceive whoever reads them; use another",
            escape_to_line(path)
        )));
    }
    if path.starts_with('~') {
        return Err(InvalidCall(format!(
            "`{0}`: `~` is not expanded here; give the absolute path, or `./{0}` for a file that \
             is called so",
            escape_to_line(path)
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_deceives_or_means_something_else_is_no_path() {
        for path in ["", "a\nb", "a\0", "\u{1b}[2K", "~", "~/a", "~root/a", &"x".repeat(5000)] {
            assert!(check(path).is_err(), "{path:?}");
        }
        for path in ["a", "/a/b", "./~", "a~", "naïve 試", "..", "-n"] {
            assert_eq!(check(path), Ok(()));
        }
    }
}
