//! Whether a text may be parsed at all, and what in it would mislead a reader.

use super::HardDenial;

/// Longer texts are not read: no honest command is.
const MAX_BYTES: usize = 8 * 1024;
/// Deeper ones are not read either.
const MAX_DEPTH: usize = 64;
/// What can nest, counted without looking at quotes: an upper bound that no trick lowers.
const MAX_OPENERS: usize = 512;
/// With fewer, the parser's stack need is known to be small.
const FEW_OPENERS: usize = 16;
/// More blanks in a row, inside a line, push what follows out of sight.
const MAX_BLANKS: usize = 8;

/// Words that open or close a block.
const OPENING: &[&str] = &[
    "if", "elif", "else", "then", "while", "until", "for", "case", "select", "do", "function",
    "coproc", "time",
];

/// How much stack a text may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackDemand {
    /// Any thread will do.
    Small,
    /// Needs a thread of its own.
    Large,
}

/// Something in the text that a person would not see, or would see wrongly.
pub(super) struct TextHazard {
    pub(super) text: String,
    /// Whether it may hide what the command does, so that a person must look.
    pub(super) hides: bool,
}

/// Returns how large a text is, or why it is not parsed.
pub(super) fn admit(text: &str) -> Result<StackDemand, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("it is longer than {MAX_BYTES} bytes, too long to be read"));
    }
    if let Some(control) = text.chars().find(|c| is_control(*c)) {
        return Err(format!("it holds the control character U+{:04X}", u32::from(control)));
    }
    if has_odd_delimiter(text) {
        return Err("where its here-document ends is not a plain word".to_owned());
    }
    let (openers, depth) = nesting(text);
    if openers > MAX_OPENERS || depth > MAX_DEPTH {
        return Err("it is nested too deeply to be read".to_owned());
    }
    Ok(if openers <= FEW_OPENERS { StackDemand::Small } else { StackDemand::Large })
}

/// Returns what no command may hold, parsed or not.
pub(super) fn find_denials(text: &str) -> Vec<HardDenial> {
    let nul = text.contains('\0');
    let denial =
        || HardDenial { reason: "it holds a NUL byte, which no program can be given".to_owned() };
    nul.then(denial).into_iter().collect()
}

/// Whether a here-document ends at something else than a plain word.
///
/// The parser never comes back from a `<<$(` without an end, and nobody means one.
fn has_odd_delimiter(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_-.+:/!'\"\\".contains(c);
    let ends = |c: char| c.is_whitespace() || ";|&<>".contains(c);
    let mut rest = text;
    while let Some(at) = rest.find("<<") {
        let after = rest.get(at + 2..).unwrap_or_default();
        let Some(here) = after.strip_prefix('<') else {
            let word = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\t']);
            let word = word.split(ends).next().unwrap_or_default();
            // `))` closes arithmetic, in which `<<` shifts.
            if word.is_empty() || !word.trim_end_matches(')').chars().all(plain) {
                return true;
            }
            rest = after;
            continue;
        };
        rest = here;
    }
    false
}

/// Counts what opens a nesting, and how deep it seems to go.
fn nesting(text: &str) -> (usize, usize) {
    let (mut openers, mut depth, mut deepest) = (0_usize, 0_usize, 0_usize);
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => {
                openers += 1;
                depth += 1;
            }
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            '`' | '!' | '&' | '|' => openers += 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    (openers + words.filter(|word| OPENING.contains(word)).count(), deepest)
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Returns what in the text would mislead the person who reads it.
pub(super) fn find_hazards(text: &str) -> Vec<TextHazard> {
    let mut found = Vec::new();
    for (what, test) in HIDDEN {
        if let Some(c) = text.chars().find(|c| test(*c)) {
            let text = format!("the text holds {what} (U+{:04X})", u32::from(c));
            found.push(TextHazard { text, hides: true });
        }
    }
    if text.lines().any(is_padded) || text.contains("\n\n\n\n") {
        let text = "a long blank pushes part of the text out of sight".to_owned();
        found.push(TextHazard { text, hides: true });
    }
    if let Some(c) = text.chars().find(|c| is_false_operator(*c))
        && !text.chars().any(is_wide_script)
    {
        let text = format!("`{c}` looks like a character of the shell and is none");
        found.push(TextHazard { text, hides: true });
    }
    if let Some(word) = text.split_whitespace().find(|word| mixes_scripts(word)) {
        let text = format!("`{word}` mixes letters of different scripts that look alike");
        found.push(TextHazard { text, hides: false });
    }
    found
}

type CharTest = fn(char) -> bool;

/// Characters that are not seen, or that move what is seen.
const HIDDEN: &[(&str, CharTest)] = &[
    ("a control character", is_control),
    (
        "a character that changes the direction of the text",
        |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'),
    ),
    ("an invisible character", |c| {
        matches!(c, '\u{00ad}' | '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
    }),
    ("a blank or a line break that the shell does not take for one", |c| {
        matches!(
            c,
            '\u{00a0}' | '\u{1680}' | '\u{2000}'
                ..='\u{200a}'
                    | '\u{2028}'
                    | '\u{2029}'
                    | '\u{202f}'
                    | '\u{205f}'
                    | '\u{2800}'
                    | '\u{3000}'
        )
    }),
];

/// Whether a line has a long blank with something behind it; indentation is not one.
fn is_padded(line: &str) -> bool {
    let mut blanks = 0;
    for c in line.trim().chars() {
        blanks = if matches!(c, ' ' | '\t') { blanks + 1 } else { 0 };
        if blanks > MAX_BLANKS {
            return true;
        }
    }
    false
}

/// Characters that look like `;` `|` `&` `$` `<` `>` `/` or a quote.
fn is_false_operator(c: char) -> bool {
    matches!(
        c,
        '\u{037e}'
            | '\u{ff1b}'
            | '\u{ff5c}'
            | '\u{ff06}'
            | '\u{ff04}'
            | '\u{ff1c}'
            | '\u{ff1e}'
            | '\u{ff40}'
            | '\u{ff0f}'
            | '\u{2044}'
            | '\u{2215}'
            | '\u{2223}'
            | '\u{01c0}'
            | '\u{204f}'
    )
}

/// Scripts in whose texts wide punctuation is everyday.
fn is_wide_script(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Whether Latin letters stand beside Cyrillic or Greek ones in one word.
fn mixes_scripts(word: &str) -> bool {
    let look_alike = |c: char| matches!(c, '\u{0370}'..='\u{03ff}' | '\u{0400}'..='\u{052f}');
    word.chars().any(look_alike) && word.chars().any(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_safely_is_not_parsed() {
        assert_eq!(admit("ls -la | head"), Ok(StackDemand::Small));
        assert_eq!(admit(&"ls && ".repeat(40)), Ok(StackDemand::Large));
        assert!(admit(&"x".repeat(MAX_BYTES + 1)).is_err());
        assert!(admit(&"{ ".repeat(65)).is_err());
        // Closing brackets in quotes lower the depth, never the count.
        assert!(admit(&"{ ')' ".repeat(600)).is_err());
        for control in ["ls \0", "ls \r", "ls \x1b[0m", "ls \x08s", "ls \u{85}"] {
            assert!(admit(control).is_err(), "{control:?}");
        }
    }

    #[test]
    fn what_misleads_a_reader_is_told() {
        check("echo \u{202e}x", true);
        check("ls\u{a0}-la", true);
        check("echo a\u{200b}b", true);
        check("ls          ; touch pwned", true);
        check("\u{0441}at README.md", false);
        assert!(find_hazards("if true; then\n            echo hé\nfi").is_empty());
    }

    fn check(text: &str, hides: bool) {
        assert!(find_hazards(text).iter().any(|it| it.hides == hides), "{text:?}");
    }
}
