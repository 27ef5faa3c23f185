//! The last look at a text that was not understood: its tokens, without grammar.

use super::hard_denial::{self, DenialContext};
use super::{CommandWord, HardDenial, ShellContext};

/// Texts longer than this are looked at in part: denials stand near the front or not at all.
const MAX_BYTES: usize = 64 * 1024;
/// So many tokens are taken for a program's name, each with so many arguments.
const MAX_TOKENS: usize = 2_000;
const MAX_ARGUMENTS: usize = 64;

/// Splits a text into what may be commands, quotes and escapes dropped.
fn segments(text: &str) -> Vec<Vec<String>> {
    let end =
        text.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_BYTES).unwrap_or(text.len());
    let text = text.get(..end).unwrap_or_default().replace("${HOME}", "$HOME").replace("\\\n", "");
    let clean: String = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '\0')).collect();
    let is_break = |c: char| {
        matches!(c, ';' | '&' | '|' | '\n' | '\r' | '(' | ')' | '{' | '}' | '`' | '<' | ',')
    };
    let segments = clean.split(is_break).map(|segment| {
        segment
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|token| !token.is_empty())
            .map(str::to_owned)
            .collect()
    });
    segments.filter(|segment: &Vec<_>| !segment.is_empty()).collect()
}

/// Returns the denials that may be hidden in a text.
pub(super) fn find_denials(text: &str, context: &ShellContext<'_>) -> Vec<HardDenial> {
    let folders = [context.cwd.to_owned()];
    let scene = DenialContext { context, folders: Some(&folders) };
    let mut found: Vec<HardDenial> = bomb(text).into_iter().collect();
    let mut budget = MAX_TOKENS;
    for segment in segments(text) {
        let words: Vec<_> = segment.iter().map(|token| CommandWord::from_literal(token)).collect();
        found.extend(redirected(&segment));
        let mut rest = words.as_slice();
        while let [head, after @ ..] = rest
            && budget > 0
        {
            budget -= 1;
            let few = after.get(..MAX_ARGUMENTS).unwrap_or(after);
            let name = head.effective_text().rsplit('/').next().unwrap_or_default();
            found.extend(hard_denial::check_call(name.trim_start_matches(['$', '!']), few, &scene));
            rest = after;
        }
    }
    found.dedup();
    found
}

fn redirected(segment: &[String]) -> Option<HardDenial> {
    let mut after = segment.iter().skip_while(|token| !token.contains('>'));
    let mark = after.next()?;
    let target = mark
        .rsplit('>')
        .next()
        .filter(|it| !it.is_empty())
        .or_else(|| after.next().map(String::as_str))?;
    hard_denial::check_write(target)
}

/// `:(){ :|:& };:` in any spelling.
fn bomb(text: &str) -> Option<HardDenial> {
    let squeezed: String = text.chars().take(MAX_BYTES).filter(|c| !c.is_whitespace()).collect();
    if ["forkwhilefork", "forkwhile1", "while(1){fork", "whileTrue:os.fork"]
        .iter()
        .any(|it| squeezed.contains(it))
    {
        return Some(HardDenial { reason: "it is a fork bomb".to_owned() });
    }
    let bare: String = squeezed.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let removes =
        ["rmtree(", "rmSync(", "rmdirSync(", "rm_rf(", "rm_r(", "remove_tree(", "deltree("];
    let everything = ["/)", "/,", "/*", "~)", "~,"];
    if removes.iter().any(|call| {
        bare.split(call).skip(1).any(|rest| everything.iter().any(|it| rest.starts_with(it)))
    }) {
        return Some(HardDenial { reason: "it removes everything there is".to_owned() });
    }
    let (before, after) = squeezed.split_once("(){")?;
    let name = before.rsplit([';', '&', '|', '\'', '"', '(', '{']).next()?;
    (!name.is_empty()).then(|| hard_denial::check_function(name, after)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_what_may_be_commands() {
        let found = segments("echo \"a b\" | sh -c 'rm -rf /'; x=$(ls)");
        let found: Vec<_> = found.iter().map(|it| it.join(" ")).collect();
        assert_eq!(found, ["echo a b", "sh -c rm -rf /", "x=$", "ls"]);
    }
}
