//! Words of others, made safe to stand in a sentence of ours.

use std::fmt::Write;

/// Above this many characters a quoted text is cut.
const LIMIT: usize = 120;

/// Returns a text on one line, with what could deceive the eye spelled out, cut where it is long.
pub fn escape_to_line(text: &str) -> String {
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count >= LIMIT {
            out.push('…');
            break;
        }
        match character {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            deceiving if deceives(deceiving) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(deceiving));
            }
            plain => out.push(plain),
        }
    }
    out
}

/// Returns a text with what could deceive the eye, or steer a terminal, spelled out; lines stay lines.
pub fn escape_invisible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if deceives(character) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out
}

/// Returns whether a character hides, reorders or erases what stands around it.
pub(crate) fn deceives(character: char) -> bool {
    let harmless = matches!(character, '\n' | '\t');
    let bidirectional = matches!(
        character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let invisible = matches!(
        character,
        '\u{00ad}' | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    (character.is_control() && !harmless) || bidirectional || invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_deceives_the_eye_is_spelled_out() {
        assert_eq!(escape_to_line("a\nb\tc"), "a⏎b c");
        assert_eq!(escape_to_line("a\u{202e}b\u{1b}[2K"), "a\\u{202e}b\\u{1b}[2K");
        assert_eq!(escape_to_line("naïve 試"), "naïve 試");
        assert_eq!(escape_invisible("a\nb\u{1b}[2K\r\u{9b}"), "a\nb\\u{1b}[2K\\u{d}\\u{9b}");
        assert_eq!(escape_to_line(&"x".repeat(500)).chars().count(), LIMIT + 1);
    }
}
