//! `find`: tests, printing, and programs that only read what it finds.

use super::super::grammar::{self, Eye};
use super::super::{TreeEntry, TreeKind, Value, Word, script};
use super::programs;
use crate::{Effect, Side, Target};

/// What the operands of a program have to be that is run on what was found: files, or any text.
const TAKE_FILES: &[&str] = &["file*", "path*", "text*", "text file*"];

/// Tests and actions, with the kinds of their values.
const PRIMARIES: &[(&str, &str)] = &[
    ("-a", ""),
    ("-and", ""),
    ("-o", ""),
    ("-or", ""),
    ("-not", ""),
    ("!", ""),
    ("(", ""),
    (")", ""),
    (",", ""),
    ("-daystart", ""),
    ("-depth", ""),
    ("-d", ""),
    ("-mount", ""),
    ("-xdev", ""),
    ("-noleaf", ""),
    ("-ignore_readdir_race", ""),
    ("-noignore_readdir_race", ""),
    ("-warn", ""),
    ("-nowarn", ""),
    ("-maxdepth", "text"),
    ("-mindepth", "text"),
    ("-regextype", "text"),
    ("-amin", "text"),
    ("-atime", "text"),
    ("-cmin", "text"),
    ("-ctime", "text"),
    ("-mmin", "text"),
    ("-mtime", "text"),
    ("-anewer", "path"),
    ("-cnewer", "path"),
    ("-newer", "path"),
    ("-samefile", "path"),
    ("-newermt", "moment"),
    ("-newerct", "moment"),
    ("-newerat", "moment"),
    ("-empty", ""),
    ("-executable", ""),
    ("-readable", ""),
    ("-writable", ""),
    ("-false", ""),
    ("-true", ""),
    ("-fstype", "text"),
    ("-gid", "text"),
    ("-group", "text"),
    ("-uid", "text"),
    ("-user", "text"),
    ("-nouser", ""),
    ("-nogroup", ""),
    ("-name", "text"),
    ("-iname", "text"),
    ("-path", "text"),
    ("-ipath", "text"),
    ("-wholename", "text"),
    ("-iwholename", "text"),
    ("-regex", "text"),
    ("-iregex", "text"),
    ("-lname", "text"),
    ("-ilname", "text"),
    ("-inum", "text"),
    ("-links", "text"),
    ("-perm", "text"),
    ("-size", "text"),
    ("-type", "text"),
    ("-xtype", "text"),
    ("-used", "text"),
    ("-print", ""),
    ("-print0", ""),
    ("-printf", "text"),
    ("-ls", ""),
    ("-prune", ""),
    ("-quit", ""),
];

/// Returns what a `find` reads, or why it may do more.
pub(super) fn reads(args: &[Word], eye: Eye<'_>) -> Result<Vec<Effect>, String> {
    let is_start = |word: &&Word| match &word.value {
        Value::Literal(text) => !text.starts_with(['-', '(', '!', ')', ',']),
        Value::Glob(pattern) => {
            !pattern.starts_with(['-', '*', '?', '[', '\\', '(', '!', ')', ','])
        }
        Value::Text | Value::Words => false,
    };
    let options =
        args.iter().take_while(|word| matches!(word.literal(), Some("-H" | "-P"))).count();
    let args = args.get(options..).unwrap_or_default();
    let starts: Vec<_> = args.iter().take_while(is_start).collect();
    let given = starts.len();
    let mut effects = Vec::new();
    for start in &starts {
        effects.extend(eye.reads(start)?);
    }
    if starts.is_empty() {
        effects.extend(eye.reads(&Word::plain("."))?);
    }
    let here = Word::plain(".");
    let starts = if starts.is_empty() { vec![&here] } else { starts };
    let (found, runs) = expression(args.get(given..).unwrap_or_default(), &starts, eye)?;
    effects.extend(found);
    if runs {
        let filter = Filter::of(args);
        for start in starts {
            for target in eye.targets(start)? {
                effects.extend(filter.opened(&target, eye)?);
            }
        }
    }
    Ok(effects)
}

/// Returns what the tests and actions read, and whether one of them runs a program on what is found.
fn expression(
    words: &[Word],
    starts: &[&Word],
    eye: Eye<'_>,
) -> Result<(Vec<Effect>, bool), String> {
    let mut effects = Vec::new();
    let mut runs = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word
            .literal()
            .ok_or_else(|| format!("`{}` may turn out to be an action", word.text))?;
        if name == "-exec" {
            let ends = |word: &&Word| !matches!(word.literal(), Some(";" | "+"));
            let command: Vec<_> = words.by_ref().take_while(ends).collect();
            effects.extend(run_on_found(&command, starts, eye)?);
            runs = true;
            continue;
        }
        let known = PRIMARIES.iter().find(|(primary, _)| *primary == name);
        let (_, kind) =
            known.ok_or_else(|| format!("`{name}` is not among the tests known to be harmless"))?;
        if kind.is_empty() {
            continue;
        }
        let value = words.next().ok_or_else(|| format!("`{name}` lacks its value"))?;
        value
            .literal()
            .ok_or_else(|| format!("`{}` may turn out to be several words", value.text))?;
        match *kind {
            "path" => effects.extend(eye.reads(value)?),
            kind => effects.extend(script::check(kind, value, eye)?),
        }
    }
    Ok((effects, runs))
}

/// A program that takes files and only reads them, given what is found: names that begin as the
/// starting points do, so none of them is an option.
fn run_on_found(command: &[&Word], starts: &[&Word], eye: Eye<'_>) -> Result<Vec<Effect>, String> {
    let (head, args) = command.split_first().ok_or("`-exec` lacks its command")?;
    let name = head.literal().filter(|_| !head.expanded).unwrap_or_default();
    let takes_files = |entry: &&grammar::Entry| {
        entry.names.contains(&name) && TAKE_FILES.contains(&entry.operands)
    };
    let entry = programs::ALL.iter().find(takes_files);
    let entry =
        entry.ok_or_else(|| format!("`{name}` is not known to only read what it is given"))?;
    if eye.machine().trusted_program(name).is_none() {
        return Err(format!("`{name}` is not found among the programs that are trusted"));
    }
    if args.iter().any(|word| word.shown().contains("{}") && word.literal() != Some("{}")) {
        return Err("`{}` stands in the middle of a word".to_owned());
    }
    let mut effects = Vec::new();
    for start in starts {
        let start =
            if start.shown().starts_with('-') { Word::plain(".") } else { (*start).clone() };
        let put = |word: &&Word| {
            if word.literal() == Some("{}") { start.clone() } else { (*word).clone() }
        };
        let args: Vec<_> = args.iter().map(put).collect();
        effects.extend(grammar::apply(entry, &args, eye)?);
    }
    Ok(effects)
}

/// What can be said for certain of the files that are found.
struct Filter {
    /// They are files, no links.
    files: bool,
    /// How their names end.
    ending: Option<String>,
}

impl Filter {
    /// Tests before the first program that are joined by nothing but "and" hold of all it is given.
    fn of(args: &[Word]) -> Self {
        let first = args.iter().position(|word| word.literal() == Some("-exec"));
        let tests = args.get(..first.unwrap_or_default()).unwrap_or_default();
        let joins = |word: &Word| matches!(word.shown(), "-o" | "-or" | "!" | "-not" | "," | "(");
        if args.iter().any(joins) {
            return Self { files: false, ending: None };
        }
        let value = |name: &str| {
            let pairs = tests.iter().zip(tests.iter().skip(1));
            let mut pairs = pairs.filter(|(test, _)| test.literal() == Some(name));
            pairs.find_map(|(_, value)| value.literal())
        };
        let ending = value("-name").and_then(|pattern| pattern.strip_prefix('*'));
        let ending = ending.filter(|it| !it.contains(['*', '?', '[', '\\'])).map(str::to_owned);
        Self { files: value("-type") == Some("f"), ending }
    }

    fn may_find(&self, entry: &TreeEntry) -> bool {
        let name = entry.path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        self.ending.as_ref().is_none_or(|ending| name.ends_with(ending.as_str()))
    }

    /// Returns the secrets that are opened, and where links lead that are.
    fn opened(&self, start: &Target, eye: Eye<'_>) -> Result<Vec<Effect>, String> {
        let mut effects = vec![Effect::ReadAll(start.clone())];
        if start.place.side == Side::Outside {
            return Ok(effects);
        }
        let unseen = || grammar::unseen(&start.path);
        let tree = eye.machine().tree(&start.path).ok_or_else(unseen)?;
        for entry in tree.entries.iter().filter(|entry| self.may_find(entry)) {
            if entry.is_secret() {
                effects.push(Effect::Read(Target::new(entry.path.clone(), entry.place)));
            }
            if entry.kind == TreeKind::Link && !self.files {
                let led = entry.path.to_str();
                let led = led.and_then(|path| eye.machine().target(&start.path, path));
                let led = led.ok_or_else(unseen)?;
                if eye.machine().kind(&led.path) == Some(TreeKind::Folder) {
                    return Err(format!("`{}` leads to a folder", entry.path.display()));
                }
                effects.push(Effect::Read(led));
            }
        }
        Ok(effects)
    }
}
