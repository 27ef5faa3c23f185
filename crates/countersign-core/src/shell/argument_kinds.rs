//! The kinds of arguments, and the little languages some of them are written in.

mod sed;

use super::machine_view::MachineView;
use super::{CommandWord, WordValue, variable};
use crate::Effect;

/// Returns what an argument of this kind makes its program do, or why it is not that kind.
pub(super) fn check(
    kind: &str,
    word: &CommandWord,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    match kind {
        // A pattern shows the names in its folder.
        "text" if matches!(word.value, WordValue::Glob(_)) => return view.reads(word),
        "text" => return Ok(Vec::new()),
        "file" | "archive" if word.literal() == Some("-") => return Ok(Vec::new()),
        "path" | "file" => return view.reads(word),
        "packed" => return with_endings(word, PACKED, view),
        // `unzip` passes over a lone `-` and opens the next word.
        "zip"
            if !word.effective_text().starts_with('-')
                && !word.effective_text().contains(['*', '?', '[', '\\']) =>
        {
            return with_endings(word, &[".zip", ".ZIP"], view);
        }
        // `host:file` is a file of another machine.
        "archive" if !word.effective_text().contains(':') => return view.reads(word),
        "input" if !word.effective_text().starts_with(['@', '*', '?', '[']) => {
            return view.reads(word);
        }
        "write" => return writes(word, view),
        _ => {}
    }
    let text = match &word.value {
        WordValue::Literal(text) => text.as_str(),
        WordValue::Text if kind == "number" => return Ok(Vec::new()),
        _ => return Err(format!("what `{}` stands for is decided only when it runs", word.text)),
    };
    if kind == "ref" {
        return revision(text, view);
    }
    let fits = match kind {
        "number" => is_number(text),
        "format" => !checks_signatures(text),
        "key" => is_open_key(text),
        "plus" => text.starts_with('+'),
        "columns" => !text.contains("env"),
        // A time zone may be a file, which is opened.
        "moment" => !text.contains("TZ="),
        "port" => is_port(text),
        // Below the service that the program is set up for, not an address of its own.
        "endpoint" => !text.contains("://") && !text.starts_with("//") && !text.contains('@'),
        "getmethod" => text.eq_ignore_ascii_case("get"),
        "accept" => text.to_ascii_lowercase().starts_with("accept:") && !text.contains('\n'),
        "shown" => variable::may_be_shown(text),
        "nowhere" => matches!(text, "/dev/null" | "/dev/stdout" | "/dev/stderr"),
        "jsontool" => text == "json.tool",
        "goversion" => text == "version",
        "goenv" => text == "env",
        "gosetting" => GO_SETTINGS.contains(&text),
        "ps" => text.chars().all(|c| "auxwfjlhvrTN".contains(c)),
        "printf" => !text.starts_with('-') && !sets_variable(text),
        "tarkey" => {
            text.contains('t') && text.ends_with('f') && text.chars().all(|c| "tvzjJf".contains(c))
        }
        "sed" => sed::is_harmless(text),
        "awk" => awk(text),
        "jq" => jq(text),
        _ => false,
    };
    if fits { Ok(Vec::new()) } else { Err(format!("`{text}` is not known to be harmless here")) }
}

/// A pattern shows the names in its folder; what it matches is written.
fn writes(word: &CommandWord, view: MachineView<'_>) -> Result<Vec<Effect>, String> {
    let mut effects = Vec::new();
    if let WordValue::Glob(pattern) = &word.value {
        effects.extend(view.pattern_folder_targets(pattern)?.into_iter().map(Effect::Read));
    }
    effects.extend(view.named_targets(word)?.into_iter().map(Effect::Write));
    Ok(effects)
}

/// What `gzip` puts behind a name that it does not find.
const PACKED: &[&str] = &[".gz", ".z", ".Z", "-gz", "-z", "_z", ".taz", ".tgz"];

/// A file, or the one with an ending that is opened in its place.
fn with_endings(
    word: &CommandWord,
    endings: &[&str],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let mut effects = view.reads(word)?;
    for ending in endings {
        if let Some(name) = word.literal() {
            effects.extend(view.reads(&CommandWord::from_literal(&format!("{name}{ending}")))?);
        }
    }
    Ok(effects)
}

/// Settings of `go` that hold no address with a password in it, and for which it runs nothing.
const GO_SETTINGS: &[&str] = &[
    "CGO_ENABLED",
    "GOARCH",
    "GOBIN",
    "GOCACHE",
    "GOEXE",
    "GOHOSTARCH",
    "GOHOSTOS",
    "GOMOD",
    "GOMODCACHE",
    "GOOS",
    "GOPATH",
    "GOROOT",
    "GOVERSION",
    "GOWORK",
];

/// A protocol, ports, or both: no host, which would be looked up.
fn is_port(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | ',' | '-'))
}

fn is_number(text: &str) -> bool {
    let digits =
        text.trim_start_matches(['+', '-']).trim_end_matches(|c: char| c.is_ascii_alphabetic());
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// Whether a format has `%n`, which stores into the variable that its argument names.
fn sets_variable(format: &str) -> bool {
    let after = format.replace("%%", "");
    let mut conversions = after.split('%').skip(1);
    conversions.any(|it| {
        it.trim_start_matches(|c: char| "#0- +'*.123456789hljztL$".contains(c)).starts_with('n')
    })
}

/// Whether a format shows signatures, which starts the program that checks them.
fn checks_signatures(format: &str) -> bool {
    let shows = |it: &str| it.trim_start_matches(['+', '-', ' ']).starts_with('G');
    format.split('%').skip(1).any(shows) || format.contains("signature")
}

/// A revision, a path, or a path in a revision: all that may be a path is read as one.
fn revision(text: &str, view: MachineView<'_>) -> Result<Vec<Effect>, String> {
    let mut effects = view.reads(&CommandWord::from_literal(text))?;
    if let Some((_, path)) = text.split_once(':')
        && !path.is_empty()
    {
        effects.extend(view.reads(&CommandWord::from_literal(path))?);
    }
    Ok(effects)
}

/// Keys of git's configuration that hold no password.
fn is_open_key(key: &str) -> bool {
    let key = key.to_lowercase();
    // Without a dot it is no key but one of git's newer commands (`git config edit`).
    key.contains('.')
        && !["cred", "header", "token", "pass", "secret", "cookie", "auth", "key"]
            .iter()
            .any(|secret| key.contains(secret))
}

/// `test` and `[`: no variable names, and nothing unknown where it could become an operator.
pub(super) fn test(args: &[CommandWord], view: MachineView<'_>) -> Result<Vec<Effect>, String> {
    let literal = |word: &CommandWord| word.literal().map(str::to_owned);
    let shapes: Vec<_> = args.iter().map(literal).collect();
    let shapes: Vec<_> = shapes.iter().map(Option::as_deref).collect();
    match shapes.as_slice() {
        [] | [Some(_)] => Ok(Vec::new()),
        [Some("!"), ..] => test(args.get(1..).unwrap_or_default(), view),
        [Some("-n" | "-z"), _] | [_, Some("=" | "==" | "!="), _] if !is_many(args) => {
            Ok(Vec::new())
        }
        [Some(unary), Some(path)] if is_file_test(unary) => {
            view.reads(&CommandWord::from_literal(path))
        }
        [Some("-t"), Some(_)] => Ok(Vec::new()),
        [_, Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"), _] => numbers(args),
        [Some(one), Some("-nt" | "-ot" | "-ef"), Some(two)] => {
            let mut effects = view.reads(&CommandWord::from_literal(one))?;
            effects.extend(view.reads(&CommandWord::from_literal(two))?);
            Ok(effects)
        }
        _ => joined_tests(args, &shapes, view),
    }
}

/// `a -a b`, `a -o b`, without parentheses.
fn joined_tests(
    args: &[CommandWord],
    shapes: &[Option<&str>],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let at = shapes.iter().position(|shape| matches!(shape, Some("-a" | "-o")));
    let at = at.filter(|at| *at > 0 && shapes.iter().all(Option::is_some));
    let at = at.ok_or("this form of `test` is not known to be harmless")?;
    let (one, two) = args.split_at_checked(at).unwrap_or_default();
    let mut effects = test(one, view)?;
    effects.extend(test(two.get(1..).unwrap_or_default(), view)?);
    Ok(effects)
}

fn is_many(args: &[CommandWord]) -> bool {
    args.iter().any(|word| matches!(word.value, WordValue::Words | WordValue::Glob(_)))
}

fn is_file_test(operator: &str) -> bool {
    let mut chars = operator.chars();
    chars.next() == Some('-')
        && chars.next().is_some_and(|c| "bcdefghkLprsSuwxGON".contains(c))
        && chars.next().is_none()
}

fn numbers(args: &[CommandWord]) -> Result<Vec<Effect>, String> {
    let known =
        |word: &CommandWord| word.literal().is_none_or(is_number) && word.value != WordValue::Words;
    let (one, two) = (args.first().is_some_and(known), args.get(2).is_some_and(known));
    if one && two { Ok(Vec::new()) } else { Err("it compares what may be no number".to_owned()) }
}

/// Programs of `awk` that neither run, write, nor read anything but their operands.
fn awk(program: &str) -> bool {
    let banned = [
        "system", "getline", "close", "fflush", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB", "ARGV",
        "ARGC", "@", "\\\n",
    ];
    let piped = program.replace("||", "").contains('|');
    // Before the first `print` a `>` compares; after it, it may write.
    let compared = program.replace(">=", "");
    let writes =
        compared.find("print").zip(compared.rfind('>')).is_some_and(|(print, at)| at > print);
    !piped && !writes && !banned.iter().any(|word| program.contains(word))
}

/// Filters of `jq` that read neither modules nor the environment.
fn jq(filter: &str) -> bool {
    let mut before = ' ';
    let mut rest = filter;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let (skipped, word) = rest.split_at_checked(start).unwrap_or(("", ""));
        before = skipped.chars().last().unwrap_or(before);
        let end =
            word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(word.len());
        let (name, after) = word.split_at_checked(end).unwrap_or((word, ""));
        let read = matches!(
            name,
            "import"
                | "include"
                | "modulemeta"
                | "input_filename"
                | "ENV"
                | "getpath_env"
                | "get_search_list"
        );
        if read || (name == "env" && before != '.') || name == "__loc__" {
            return false;
        }
        before = ' ';
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awk_programs_compute_and_print() {
        for program in [
            "{print $1}",
            "$3 > 5",
            "$3 > 5 {print $1}",
            "NR==1 || NR==3 {print}",
            "END {print NR}",
            "$1 >= 2 {print}",
        ] {
            assert!(awk(program), "{program}");
        }
        for program in [
            "{print > \"pwned\"}",
            "BEGIN{system(\"x\")}",
            "{\"x\" | getline}",
            "{print | \"sh\"}",
            "@load \"x\"",
            "BEGIN{print ENVIRON[\"T\"]}",
            "BEGIN{ARGV[1]=\"/etc/shadow\"}",
            "{printf \"x\" >> \"f\"}",
        ] {
            assert!(!awk(program), "{program}");
        }
    }

    #[test]
    fn jq_filters_read_only_their_input() {
        for filter in [".", ".a.b[]", ".env", "map(select(.x > 1)) | length", ".scripts | keys"] {
            assert!(jq(filter), "{filter}");
        }
        for filter in ["env", "$ENV", "env.TOKEN", "import \"a\" as a; .", "include \"x\"; ."] {
            assert!(!jq(filter), "{filter}");
        }
    }
}
