//! `find`: tests, printing, and programs that only read what it finds.

use super::super::argument_grammar;
use super::super::machine_view::MachineView;
use super::super::{CommandWord, TreeEntry, TreeKind, WordValue, argument_kinds};
use super::FORMS;
use crate::{Effect, EffectTarget, WorkspaceSide};

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

/// The arguments of a `find`: where it starts, and its tests and actions.
struct FindCall<'a> {
    /// How many options stand before the starting points.
    options: usize,
    starts: &'a [CommandWord],
    expression: &'a [CommandWord],
}

impl<'a> FindCall<'a> {
    fn new(args: &'a [CommandWord]) -> Self {
        let is_start = |word: &&CommandWord| match &word.value {
            WordValue::Literal(text) => !text.starts_with(['-', '(', '!', ')', ',']),
            WordValue::Glob(pattern) => {
                !pattern.starts_with(['-', '*', '?', '[', '\\', '(', '!', ')', ','])
            }
            WordValue::Text | WordValue::Words => false,
        };
        let options =
            args.iter().take_while(|word| matches!(word.literal(), Some("-H" | "-P"))).count();
        let rest = args.get(options..).unwrap_or_default();
        let given = rest.iter().take_while(is_start).count();
        let (starts, expression) = rest.split_at_checked(given).unwrap_or_default();
        Self { options, starts, expression }
    }

    /// Returns the starting points; the current folder where none is given.
    fn starts<'b>(&self, here: &'b CommandWord) -> Vec<&'b CommandWord>
    where
        'a: 'b,
    {
        if self.starts.is_empty() { vec![here] } else { self.starts.iter().collect() }
    }
}

/// Returns what a `find` reads, or why it may do more.
pub(super) fn prove_find(
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let call = FindCall::new(args);
    let here = CommandWord::from_literal(".");
    let starts = call.starts(&here);
    let mut effects = Vec::new();
    for start in &starts {
        effects.extend(view.reads(start)?);
    }
    let (found, runs) = expression(call.expression, &starts, view)?;
    effects.extend(found);
    if runs {
        let first = call.expression.iter().position(|word| word.literal() == Some("-exec"));
        let filter = FindFilter::from_expression(call.expression, first.unwrap_or_default());
        effects.extend(filter.opened_below(&starts, view)?);
    }
    Ok(effects)
}

/// Returns what is read by a program that is given the names that a `find` prints.
pub(super) fn reads_of_taker(
    args: &[CommandWord],
    program: &[CommandWord],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let call = FindCall::new(args);
    let here = CommandWord::from_literal(".");
    let starts = call.starts(&here);
    let program: Vec<_> = program.iter().collect();
    let mut effects = run_on_found(&program, &starts, view)?;
    let filter = FindFilter::from_expression(call.expression, call.expression.len());
    effects.extend(filter.opened_below(&starts, view)?);
    Ok(effects)
}

/// Returns the arguments of a `find` that prints names and nothing else with every name ended by NUL, and
/// whether it ends them so as it is.
pub(super) fn end_names_by_nul(args: &[CommandWord]) -> Option<(Vec<String>, bool)> {
    let call = FindCall::new(args);
    let texts = |words: &[CommandWord]| -> Option<Vec<String>> {
        words.iter().map(|word| word.literal().map(str::to_owned)).collect()
    };
    let mut expression = texts(call.expression)?;
    let mut actions = Vec::new();
    let mut joins = false;
    let mut globals = 0;
    let mut at = 0;
    while let Some(name) = expression.get(at) {
        let (_, kind) = PRIMARIES.iter().find(|(primary, _)| primary == name)?;
        let next = at + 1 + usize::from(!kind.is_empty());
        match name.as_str() {
            "-print" | "-print0" => actions.push(at),
            "-printf" | "-ls" | "-quit" => return None,
            "-o" | "-or" | "," => joins = true,
            "-maxdepth" | "-mindepth" | "-depth" | "-mount" | "-xdev" if globals == at => {
                globals = next;
            }
            _ => {}
        }
        at = next;
    }
    let ends_by_nul = match actions.as_slice() {
        [] => {
            if joins {
                expression.insert(globals, "(".to_owned());
                expression.push(")".to_owned());
            }
            expression.push("-print0".to_owned());
            false
        }
        [last] if *last + 1 == expression.len() => {
            let written = expression.pop()? == "-print0";
            expression.push("-print0".to_owned());
            written
        }
        _ => return None,
    };
    let before = texts(args.get(..call.options + call.starts.len())?)?;
    Some((before.into_iter().chain(expression).collect(), ends_by_nul))
}

/// Returns what the tests and actions read, and whether one of them runs a program on what is found.
fn expression(
    words: &[CommandWord],
    starts: &[&CommandWord],
    view: MachineView<'_>,
) -> Result<(Vec<Effect>, bool), String> {
    let mut effects = Vec::new();
    let mut runs = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word
            .literal()
            .ok_or_else(|| format!("`{}` may turn out to be an action", word.text))?;
        if name == "-exec" {
            let ends = |word: &&CommandWord| !matches!(word.literal(), Some(";" | "+"));
            let command: Vec<_> = words.by_ref().take_while(ends).collect();
            effects.extend(run_on_found(&command, starts, view)?);
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
            "path" => effects.extend(view.reads(value)?),
            kind => effects.extend(argument_kinds::check(kind, value, view)?),
        }
    }
    Ok((effects, runs))
}

/// A program that takes files and only reads them, given what is found: names that begin as the
/// starting points do, so none of them is an option.
pub(super) fn run_on_found(
    command: &[&CommandWord],
    starts: &[&CommandWord],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let (head, args) = command.split_first().ok_or("`-exec` lacks its command")?;
    let name = head.literal().filter(|_| !head.expanded).unwrap_or_default();
    let takes_files = |entry: &&argument_grammar::ProgramSpec| {
        entry.names.contains(&name) && TAKE_FILES.contains(&entry.operands)
    };
    let entry = FORMS.iter().find(takes_files);
    let entry =
        entry.ok_or_else(|| format!("`{name}` is not known to only read what it is given"))?;
    if view.machine().trusted_program(name).is_none() {
        return Err(format!("`{name}` is not found among the programs that are trusted"));
    }
    if args.iter().any(|word| word.effective_text().contains("{}") && word.literal() != Some("{}"))
    {
        return Err("`{}` stands in the middle of a word".to_owned());
    }
    let mut effects = Vec::new();
    for start in starts {
        let start = if start.effective_text().starts_with('-') {
            CommandWord::from_literal(".")
        } else {
            (*start).clone()
        };
        let put = |word: &&CommandWord| {
            if word.literal() == Some("{}") { start.clone() } else { (*word).clone() }
        };
        let args: Vec<_> = args.iter().map(put).collect();
        effects.extend(argument_grammar::apply(entry, &args, view)?);
    }
    Ok(effects)
}

/// What can be said for certain of the files that are found.
struct FindFilter {
    /// They are files, no links.
    files: bool,
    /// How their names end.
    ending: Option<String>,
}

impl FindFilter {
    /// Tests before the first program that are joined by nothing but "and" hold of all it is given.
    fn from_expression(expression: &[CommandWord], first: usize) -> Self {
        let joins = |word: &CommandWord| matches!(word.effective_text(), "-o" | "-or" | "," | "(");
        if expression.iter().any(joins) {
            return Self { files: false, ending: None };
        }
        let tests = expression.get(..first).unwrap_or_default();
        let value = |name: &str| {
            let is_not = |word: Option<&CommandWord>| {
                matches!(word.map(CommandWord::effective_text), Some("!" | "-not"))
            };
            let found = |at: &usize| {
                let test = tests.get(*at).and_then(CommandWord::literal) == Some(name);
                test && !is_not(at.checked_sub(1).and_then(|before| tests.get(before)))
            };
            let at = (0..tests.len()).find(found)?;
            tests.get(at + 1).and_then(CommandWord::literal)
        };
        let ending = value("-name").and_then(|pattern| pattern.strip_prefix('*'));
        let ending = ending.filter(|it| !it.contains(['*', '?', '[', '\\'])).map(str::to_owned);
        Self { files: value("-type") == Some("f"), ending }
    }

    /// Returns what is opened below all starting points.
    fn opened_below(
        &self,
        starts: &[&CommandWord],
        view: MachineView<'_>,
    ) -> Result<Vec<Effect>, String> {
        let mut effects = Vec::new();
        for start in starts {
            for target in view.targets(start)? {
                effects.extend(self.opened(&target, view)?);
            }
        }
        Ok(effects)
    }

    fn may_find(&self, entry: &TreeEntry) -> bool {
        let name = entry.path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        self.ending.as_ref().is_none_or(|ending| name.ends_with(ending.as_str()))
    }

    /// Returns the secrets that are opened, and where links lead that are.
    fn opened(&self, start: &EffectTarget, view: MachineView<'_>) -> Result<Vec<Effect>, String> {
        let mut effects = vec![Effect::ReadAll(start.clone())];
        if start.place.side == WorkspaceSide::Outside {
            return Ok(effects);
        }
        let unseen = || argument_grammar::describe_unknown_tree(&start.path);
        let tree = view.machine().tree(&start.path).ok_or_else(unseen)?;
        for entry in tree.entries.iter().filter(|entry| self.may_find(entry)) {
            if entry.is_secret() {
                effects.push(Effect::Read(EffectTarget::new(entry.path.clone(), entry.place)));
            }
            if entry.kind == TreeKind::Link && !self.files {
                let led = entry.path.to_str();
                let led = led.and_then(|path| view.machine().target(&start.path, path));
                let led = led.ok_or_else(unseen)?;
                if view.machine().kind(&led.path) == Some(TreeKind::Folder) {
                    return Err(format!("`{}` leads to a folder", entry.path.display()));
                }
                effects.push(Effect::Read(led));
            }
        }
        Ok(effects)
    }
}
