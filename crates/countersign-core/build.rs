//! Compiles what is known of programs (`programs/*.toml`) into tables.
//!
//! The tables are constants, so a verdict reads no file and parses nothing for them.
#![expect(clippy::disallowed_methods, reason = "cargo passes the output folder in a variable")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

const FOLDER: &str = "programs";

/// Options that refer to each other may be this deep.
const MAX_SHARED_DEPTH: usize = 4;

/// One file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramFile {
    #[serde(default)]
    programs: Vec<String>,
    #[serde(default)]
    globals: String,
    #[serde(default)]
    shared: BTreeMap<String, String>,
    #[serde(default)]
    verbs: BTreeMap<VerbClassName, Vec<String>>,
    #[serde(default)]
    form: Vec<ProgramForm>,
}

/// The names that classes of verbs have in the files.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
enum VerbClassName {
    Local,
    Build,
    Script,
    LockedInstall,
    RemoteRead,
    Install,
    Service,
    Discards,
    Outward,
    RunsCode,
    SecretRead,
}

/// One way of calling a program.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file")]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramForm {
    /// Those of the file, unless it says otherwise.
    #[serde(default)]
    programs: Vec<String>,
    #[serde(default)]
    commands: Vec<String>,
    #[serde(default)]
    options: String,
    #[serde(default)]
    operands: String,
    does: Option<FormEffect>,
    #[serde(default)]
    first_like_rest: String,
    #[serde(default)]
    walks: String,
    walk: Option<WalkName>,
    #[serde(default)]
    dereferences: String,
    #[serde(default)]
    needs: String,
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    unless_matched: Vec<String>,
    #[serde(default)]
    options_first: bool,
    #[serde(default)]
    may_change: bool,
    #[serde(default)]
    here: bool,
    words: Option<DashWordName>,
    #[serde(default)]
    builtin: bool,
    #[serde(default)]
    ok: Vec<String>,
    #[serde(default)]
    not: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FormEffect {
    RemoteRead,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WalkName {
    Searches,
    Compares,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DashWordName {
    Any,
    Raw,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(FOLDER)?.map(|entry| entry.map(|it| it.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "toml"));
    paths.sort();
    let (mut programs, mut git, mut verbs) = (String::new(), String::new(), String::new());
    for path in &paths {
        let at = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let file: ProgramFile =
            toml::from_str(&fs::read_to_string(path)?).map_err(|error| at(&error))?;
        for form in &file.form {
            let is_git = names_git(path);
            let written = write_form(form, &file, is_git).map_err(|why| at(&why))?;
            if is_git { &mut git } else { &mut programs }.push_str(&written);
        }
        verbs.push_str(&write_verbs(&file).map_err(|why| at(&why))?);
    }
    let tables = format!(
        "/// Forms of programs that are proven.\n\
         pub(super) const FORMS: &[ProgramSpec] = &[\n{programs}];\n\n\
         /// Forms of git; their names are its commands.\n\
         pub(super) const GIT_FORMS: &[ProgramSpec] = &[\n{git}];\n"
    );
    let verbs = format!(
        "/// What the sub-commands of programs do.\n\
         const VERBS: &[ProgramVerbs] = &[\n{verbs}];\n"
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo gave no OUT_DIR")?);
    fs::write(out.join("program_forms.rs"), tables)?;
    fs::write(out.join("program_verbs.rs"), verbs)?;
    Ok(())
}

/// git's forms are a table of their own: an audit of the repository comes before them.
fn names_git(path: &Path) -> bool {
    path.file_stem().is_some_and(|name| name == "git")
}

fn write_form(form: &ProgramForm, file: &ProgramFile, is_git: bool) -> Result<String, String> {
    let programs = if form.programs.is_empty() { &file.programs } else { &form.programs };
    let names = if is_git { &form.commands } else { programs };
    if names.is_empty() {
        return Err("a form names no program".to_owned());
    }
    if form.ok.is_empty() || form.not.is_empty() {
        return Err(format!("the form of `{}` lacks examples", names.join(", ")));
    }
    let mut text = format!(
        "    entry(&{names:?}, {:?}, {:?})",
        expand_shared(&form.options, &file.shared, MAX_SHARED_DEPTH)?,
        form.operands,
    );
    if !is_git && !form.commands.is_empty() {
        put(&mut text, format_args!(".commands(&{:?}, {:?})", form.commands, file.globals));
    }
    for (method, value) in [
        ("first_like_rest", &form.first_like_rest),
        ("walks", &form.walks),
        ("dereferences", &form.dereferences),
        ("needs", &form.needs),
    ] {
        if !value.is_empty() {
            put(&mut text, format_args!(".{method}({value:?})"));
        }
    }
    for (method, values) in [
        ("without", &form.without),
        ("unless_matched", &form.unless_matched),
        ("ok", &form.ok),
        ("not", &form.not),
    ] {
        if !values.is_empty() {
            put(&mut text, format_args!(".{method}(&{values:?})"));
        }
    }
    let flags = [
        (matches!(form.does, Some(FormEffect::RemoteRead)), "remote_read"),
        (matches!(form.walk, Some(WalkName::Searches)), "searches"),
        (matches!(form.walk, Some(WalkName::Compares)), "compares"),
        (matches!(form.words, Some(DashWordName::Any)), "any_word"),
        (matches!(form.words, Some(DashWordName::Raw)), "raw"),
        (form.options_first, "options_first"),
        (form.may_change, "may_change"),
        (form.here, "here"),
        (form.builtin, "builtin"),
    ];
    for (_, method) in flags.into_iter().filter(|(is_set, _)| *is_set) {
        put(&mut text, format_args!(".{method}()"));
    }
    text.push_str(",\n");
    Ok(text)
}

/// Puts the options of `[shared]` in the place of their name.
fn expand_shared(
    options: &str,
    shared: &BTreeMap<String, String>,
    left: usize,
) -> Result<String, String> {
    let mut words = Vec::new();
    for word in options.split_whitespace() {
        let Some(name) = word.strip_prefix('@') else {
            words.push(word.to_owned());
            continue;
        };
        let listed = shared.get(name).filter(|_| left > 0);
        let listed = listed.ok_or_else(|| format!("`[shared]` has no `{name}`"))?;
        words.push(expand_shared(listed, shared, left - 1)?);
    }
    Ok(words.join(" "))
}

fn write_verbs(file: &ProgramFile) -> Result<String, String> {
    if file.verbs.is_empty() {
        return Ok(String::new());
    }
    if file.programs.is_empty() {
        return Err("the verbs belong to no program: `programs` is missing".to_owned());
    }
    let mut all = Vec::new();
    for (class, verbs) in &file.verbs {
        all.extend(verbs.iter().map(|verb| (verb.as_str(), *class)));
    }
    all.sort_unstable();
    if let Some(twice) =
        all.windows(2).find(|pair| pair.first().map(|it| it.0) == pair.last().map(|it| it.0))
    {
        return Err(format!("a verb has two classes: {twice:?}"));
    }
    let mut text = format!(
        "    ProgramVerbs {{ programs: &{:?}, globals: {:?}, verbs: &[",
        file.programs, file.globals
    );
    for (verb, class) in all {
        put(&mut text, format_args!("({verb:?}, VerbClass::{class:?}), "));
    }
    text.push_str("] },\n");
    Ok(text)
}

/// Writing to a text cannot fail.
fn put(text: &mut String, more: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(more);
}
