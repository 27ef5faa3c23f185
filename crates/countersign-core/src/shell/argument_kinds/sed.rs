//! Scripts of `sed` that print, delete or substitute: addresses, then `p d q Q = l n N`, `s` or `y`,
//! and blocks of them.
//!
//! Commands that write, read or run (`w W r R e`, the flags `w` and `e` of `s`) are not among them.

/// Returns whether a script does nothing but edit what it prints.
///
/// Whether a delimiter inside `[…]` ends a part is read differently by different `sed`s: the script
/// has to be harmless as most read it, and harmless or wrong as the others do.
pub(super) fn is_harmless(script: &str) -> bool {
    read(script, true) == SedVerdict::Harmless && read(script, false) != SedVerdict::Unknown
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SedVerdict {
    Harmless,
    /// `sed` refuses the script, and runs none of it.
    Refused,
    Unknown,
}

/// Why a script is not read to its end.
type SedStopReason = SedVerdict;

fn read(script: &str, brackets: bool) -> SedVerdict {
    let mut rest = script.trim();
    let mut blocks = 0_usize;
    while !rest.is_empty() {
        rest = match command(rest, brackets, &mut blocks) {
            Ok(after) => after.trim_start_matches([';', '\n', ' ']),
            Err(stop) => return stop,
        };
    }
    if blocks == 0 { SedVerdict::Harmless } else { SedVerdict::Unknown }
}

fn command<'a>(
    script: &'a str,
    brackets: bool,
    blocks: &mut usize,
) -> Result<&'a str, SedStopReason> {
    if let Some(after) = script.strip_prefix('}') {
        *blocks = blocks.checked_sub(1).ok_or(SedVerdict::Unknown)?;
        return ended(after, *blocks > 0);
    }
    let mut rest = address(script, brackets)?;
    if let Some(more) = rest.strip_prefix(',') {
        rest = address(more.trim_start().trim_start_matches(['+', '~']), brackets)?;
    }
    let rest = rest.trim_start_matches(' ').trim_start_matches(['!', ' ']);
    let mut chars = rest.chars();
    let name = chars.next().ok_or(SedVerdict::Unknown)?;
    let after = chars.as_str();
    let end = match name {
        '{' => {
            *blocks += 1;
            return Ok(after);
        }
        'p' | 'd' | '=' | 'l' | 'n' | 'N' | 'D' | 'P' | 'g' | 'G' | 'h' | 'H' | 'x' => after,
        'q' | 'Q' => after.trim_start_matches(|c: char| c.is_ascii_digit()),
        's' => {
            let flags = parts(after, brackets)?;
            let end = flags.trim_start_matches(|c: char| c.is_ascii_digit() || "gpiIM".contains(c));
            if end.starts_with(['/', '|', '*', '$', ']', ')', '(', '^', '.', '+', '?', '\\']) {
                return Err(SedVerdict::Refused);
            }
            end
        }
        'y' => parts(after, brackets)?,
        _ => return Err(SedVerdict::Unknown),
    };
    ended(end, *blocks > 0)
}

/// After a command comes the next one, the end of a block, or nothing.
fn ended(text: &str, in_block: bool) -> Result<&str, SedStopReason> {
    let end = text.trim_start_matches(' ');
    let fits = end.is_empty() || end.starts_with([';', '\n']) || (in_block && end.starts_with('}'));
    if fits { Ok(end) } else { Err(SedVerdict::Unknown) }
}

fn address(script: &str, brackets: bool) -> Result<&str, SedStopReason> {
    if let Some(rest) = script.strip_prefix('/') {
        return Ok(part(rest, '/', brackets)?.trim_start_matches(['I', 'M']));
    }
    if let Some(rest) = script.strip_prefix('$') {
        return Ok(rest);
    }
    Ok(script.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~'))
}

/// The two parts after `s` or `y`; returns what follows them.
fn parts(text: &str, brackets: bool) -> Result<&str, SedStopReason> {
    let delimiter = text.chars().next().filter(char::is_ascii_punctuation).filter(|c| *c != '\\');
    let delimiter = delimiter.ok_or(SedVerdict::Unknown)?;
    let rest = part(text.strip_prefix(delimiter).unwrap_or_default(), delimiter, brackets)?;
    // What is put in is no pattern: brackets mean nothing there.
    part(rest, delimiter, false)
}

/// One part up to its delimiter; returns what follows it.
fn part(text: &str, delimiter: char, brackets: bool) -> Result<&str, SedStopReason> {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next().ok_or(SedVerdict::Unknown)?),
            '\n' => return Err(SedVerdict::Unknown),
            c if c == delimiter => return Ok(chars.as_str()),
            '[' if brackets => {
                let rest = bracket(chars.as_str()).ok_or(SedVerdict::Unknown)?;
                chars = rest.chars();
            }
            _ => {}
        }
    }
    Err(SedVerdict::Unknown)
}

/// Skips what stands in `[…]`; nothing that has its own brackets but classes (`[:alpha:]`).
fn bracket(text: &str) -> Option<&str> {
    let text = text.strip_prefix('^').unwrap_or(text);
    let mut rest = text.strip_prefix(']').unwrap_or(text);
    loop {
        let at = rest.find([']', '[', '\n', '\\'])?;
        let (_, found) = rest.split_at_checked(at)?;
        if let Some(after) = found.strip_prefix(']') {
            return Some(after);
        }
        if let Some(class) = found.strip_prefix("[:") {
            rest = class.split_once(":]")?.1;
        } else if let Some(after) = found.strip_prefix('\\') {
            // Some take it for itself, some as an escape: a bracket behind it would be unclear.
            rest = Some(after).filter(|after| !after.starts_with([']', '[', '\n']))?;
        } else {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_print_or_substitute() {
        for script in [
            "1,20p",
            "5p",
            "$p",
            "/a/p",
            "/a/,/b/p",
            "1~2p",
            "2,+3p",
            "s/a/b/",
            "s/a/b/gp",
            "s|a|b|2;p",
            "1!d",
            "10q",
            "$=",
            "y/a/b/",
            "/a/{p}",
            "/a/,/b/{p}",
            "1,5{=;p}",
            "/a/{p;q}",
            "1{p\n}",
            "/a/{/b/{p}}",
            "s/[^/]*$//",
            "s/^[ \\t]*//",
            "s/[[:space:]]//g",
            "s,[a-z],x,",
            "s/.*\"v\": \"\\([^\"]*\\)\".*/\\1/p",
            "s/[0-9]/n/",
            "1d;$d",
        ] {
            assert!(is_harmless(script), "{script}");
        }
    }

    #[test]
    fn what_writes_reads_or_runs_is_not_harmless() {
        for script in [
            "1w pwned",
            "w",
            "s/x/y/w pwned",
            "s/x/y/e",
            "1e touch",
            "e",
            "r /etc/passwd",
            "s/a/b/gw x",
            "s/[/]/x/w pwned",
            "1{w x\n}",
            "p;w x",
            "s/a/b",
            "\\,a,w x",
            "a text",
            "F",
            "s\na\nb\nw x",
            "s/[/x/w pwned/]/b/",
            "s/[/;w pwned\n/]/b/",
            "1{p",
            "}",
            "1{p}}",
            "1{p}w x",
            "{e}",
            "/a/{e}",
            "s/[]/x/w pwned",
            "s/[^]/]/x/e",
            "s/[\\]/]/x/w p",
            "s/a/[/w pwned",
            "s/a/[/]/w pwned",
            "p}w x",
            "1{s/a/b/w x\n}",
            "y/[/]/w x",
            "/[/]/w x",
            "v",
            "R x",
            "W x",
            "i\\",
            "c x",
            "ta",
            ":a;ba",
        ] {
            assert!(!is_harmless(script), "{script}");
        }
    }
}
