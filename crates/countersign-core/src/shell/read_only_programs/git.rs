//! git's reading commands, and only in a folder whose configuration was audited and is clean.

mod exposed_secrets;

use super::super::CommandWord;
use super::super::argument_grammar::{ProgramSpec, entry};
use super::super::machine_view::MachineView;
use super::super::shell_state::ShellState;
use super::{ReadOnlyProof, first_that_fits};
use crate::{Effect, WorkspaceSide};

/// Options of everything that shows a difference.
macro_rules! diff_options {
    ($more:expr) => {
        concat!("-p -u -s -U=number -z -M[=number] -C[=number] -D -l=number -S=text -G=text -R -a -b -w -W -B[=text] --patch --no-patch --unified=number --raw --patch-with-raw --minimal --patience --histogram --diff-algorithm=text --stat[=text] --compact-summary --numstat --shortstat --dirstat[=text] --summary --patch-with-stat --color[=text] --no-color --color-moved[=text] --word-diff[=text] --word-diff-regex=text --color-words[=text] --no-renames --find-renames[=text] --find-copies[=text] --find-copies-harder --check --full-index --binary --abbrev[=number] --name-only --name-status --diff-filter=text --pickaxe-all --pickaxe-regex --relative[=text] --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context=number --function-context --no-ext-diff --no-textconv --ignore-submodules[=text] --src-prefix=text --dst-prefix=text --no-prefix --line-prefix=text --exit-code --quiet -q ", $more)
    };
}

/// Options of everything that lists commits.
macro_rules! log_options {
    ($more:expr) => {
        diff_options!(concat!("-# -n=number -i -E -F -P -c -m -t -g -L=ref -r --max-count=number --skip=number --since=text --after=text --until=text --before=text --author=text --committer=text --grep=text --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --remove-empty --merges --no-merges --min-parents=number --max-parents=number --first-parent --not --all --branches[=text] --tags[=text] --remotes[=text] --glob=text --exclude=text --reflog --walk-reflogs --merge --boundary --simplify-by-decoration --full-history --dense --sparse --ancestry-path[=text] --topo-order --date-order --author-date-order --reverse --oneline --format=format --pretty[=format] --abbrev-commit --no-abbrev-commit --encoding=text --notes[=text] --no-notes --graph --date=text --relative-date --parents --children --left-right --cherry --cherry-mark --cherry-pick --decorate[=text] --no-decorate --decorate-refs=text --decorate-refs-exclude=text --source --follow --full-diff --log-size --cc --count --left-only --right-only --objects --no-walk[=text] --do-walk --timestamp --no-color --clear-decorations --no-mailmap --mailmap --use-mailmap ", $more))
    };
}

/// The commands; `names` holds the words after `git`.
pub(super) const ALL: &[ProgramSpec] = &[
    entry(&["status"], "-s -b -z -u[=text] --short --branch --show-stash --porcelain[=text] --long --untracked-files[=text] --ignore-submodules[=text] --ignored[=text] --column[=text] --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames[=text]", "ref*")
        .here().ok(&["git status", "git status --porcelain=v1 -b", "git --no-pager status -s", "git -C . status", "git -C src status", "git -C /ws --no-pager status", "cd src && git status", "git -C src -C .. status"])
        .not(&["git -C ../x status", "git -C vendor status", "git -C '' status", "git -C status", "git -C \"$X\" status", "git -C src/* status", "touch x && git -C src status", "git --git-dir=x status", "git -c a=b status", "git -p status", "git status -v", "git status --porc", "cd vendor && git status", "git --work-tree=/ status", "git --exec-path=./bin status"]),
    entry(&["log", "whatchanged"], log_options!(""), "ref*").here()
        .ok(&["git log", "git log -p -1 -- Cargo.toml", "git log --oneline -10", "git log --grep='force push' --oneline", "git log --format='%h %s' -3", "git log -n5 main..HEAD", "git log -S foo -- src"])
        .not(&["git log --output=x", "git log --textconv", "git log --ext-diff", "git log --show-signature", "git log --format=%G?", "git log {--output=x,}", "git log -O x", "PAGER=./x git log", "git log *"]),
    entry(&["diff"], diff_options!("-1 -2 -3 -0 --cached --staged --base --ours --theirs --merge-base --cc -c"), "ref*").here()
        .ok(&["git diff", "git diff --stat", "git diff HEAD~1 -- src/", "git diff --cached", "git diff main...HEAD --name-only"])
        .not(&["git diff --output=x", "git diff \\--output=x", "git diff --no-index a b", "git diff --ext-diff", "git diff {--output=x,}", "git diff /etc/passwd /etc/shadow", "git diff --outp=x"]),
    entry(&["show"], log_options!(""), "ref*").here()
        .ok(&["git show --stat HEAD", "git show HEAD:Cargo.toml", "git show HEAD"])
        .not(&["git show --output=x", "git show HEAD:.env", "git show --textconv HEAD:a", "git show HEAD -- .env"]),
    entry(&["branch"], "-a -r -v -q --all --remotes --verbose --show-current --contains=text --no-contains=text --merged --no-merged --points-at=text --color[=text] --no-color --abbrev[=number] --column[=text] --sort=text --format=format --ignore-case -i", "").here()
        .ok(&["git branch", "git branch -a", "git branch --show-current", "git branch -vv", "git branch --contains HEAD"])
        .not(&["git branch newname", "git branch -D x", "git branch --del x", "git branch -m a b", "git branch -f a", "git branch -a x", "git branch --edit-description", "git branch -u origin/x"]),
    entry(&["branch"], "-a -r -v -l --list --all --remotes --verbose --sort=text --format=format --color[=text] -i --ignore-case", "text*").needs("-l --list").here()
        .ok(&["git branch --list 'feat/*'"]).not(&["git branch --list -D x"]),
    entry(&["branch"], "-a -r -v -q --all --remotes --verbose --merged[=text] --no-merged[=text] --contains[=text] --no-contains[=text] --points-at=text --sort=text --format=format --color[=text]", "text*").needs("--merged --no-merged --contains --no-contains").here()
        .ok(&["git branch --merged main", "git branch -r --no-merged main"]).not(&["git branch --merged -D x", "git branch --merge main", "git branch main --move"]),
    entry(&["tag"], "-n[=number] --sort=text --contains=text --no-contains=text --points-at=text --merged --no-merged --format=format --color[=text] --column[=text]", "").here()
        .ok(&["git tag", "git tag --sort=-creatordate"]).not(&["git tag v1", "git tag -d v1", "git tag -a v1", "git tag -s v1", "git tag -v v1", "git tag --verify v1"]),
    entry(&["tag"], "-n[=number] -l -i --list --sort=text --contains=text --points-at=text --merged=text --format=format --color[=text] --column[=text] --ignore-case", "text*").needs("-l --list").here()
        .ok(&["git tag --list", "git tag -l 'v*'"]).not(&["git tag -l -d v1"]),
    entry(&["rev-parse"], "-q --show-toplevel --show-prefix --show-cdup --abbrev-ref[=text] --short[=number] --verify --quiet --git-dir --absolute-git-dir --git-common-dir --git-path=text --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --symbolic --symbolic-full-name --all --branches[=text] --tags[=text] --remotes[=text] --show-object-format[=text] --path-format=text --revs-only --no-revs --flags --no-flags", "ref*").here()
        .ok(&["git rev-parse --show-toplevel", "git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD"]).not(&["git rev-parse --parseopt", "git rev-parse --sq-quote x", "git rev-parse --git-di"]),
    entry(&["ls-files"], "-c -d -i -k -m -o -s -t -u -v -x=text -z --cached --deleted --ignored --killed --modified --others --stage --unmerged --exclude=text --exclude-standard --full-name --error-unmatch --abbrev[=number] --directory --no-empty-directory --eol --deduplicate --format=format", "ref*").here()
        .ok(&["git ls-files | head", "git ls-files -o --exclude-standard"]).not(&["git ls-files -X f", "git ls-files --exclude-from=f", "git ls-files --with-tre=x"]),
    entry(&["ls-tree"], "-d -r -t -l -z --name-only --name-status --object-only --full-name --full-tree --abbrev[=number] --format=format", "ref ref*").here()
        .ok(&["git ls-tree -r HEAD --name-only"]).not(&["git ls-tree --name HEAD"]),
    entry(&["blame"], "-b -c -e -f -l -L=text -M[=number] -n -p -s -t -w -C[=number] --root --show-stats --reverse --first-parent --porcelain --line-porcelain --incremental --date=text --color-lines --color-by-age --score-debug --show-name --show-number --show-email --abbrev=number --since=text", "ref*").here()
        .ok(&["git blame -L 1,20 src/main.rs", "git blame HEAD -- a"]).not(&["git blame --contents f a", "git blame -S f a", "git blame --ignore-revs-file f a", "git blame .env"]),
    entry(&["shortlog"], "-c -n -s -e -w[=text] --numbered --summary --email --committer --group=text --since=text --until=text --all --no-merges --format=format --author=text", "ref*").here()
        .ok(&["git shortlog -sn HEAD"]).not(&["git shortlog --output=x", "git shortlog --format=%G? HEAD"]),
    entry(&["describe"], "--all --tags --contains --abbrev=number --candidates=number --exact-match --long --match=text --exclude=text --always --first-parent --dirty[=text] --broken[=text]", "ref*").here()
        .ok(&["git describe --tags --always"]).not(&["git describe --alway"]),
    entry(&["rev-list"], log_options!(""), "ref*").here()
        .ok(&["git rev-list --count HEAD", "git rev-list -n 1 main"]).not(&["git rev-list --use-bitmap-inde HEAD", "git rev-list --output=x HEAD"]),
    entry(&["grep"], "-a -A=number -B=number -C=number -c -E -e=text -F -G -h -H -i -I -l -L -m=number -n -o -p -P -q -v -w -W -z --text --after-context=number --before-context=number --context=number --count --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --files-with-matches --name-only --files-without-match --line-number --column --only-matching --show-function --function-context --invert-match --word-regexp --max-depth=number --max-count=number --heading --break --color[=text] --no-color --cached --untracked --exclude-standard --and --or --not --all-match --quiet --full-name --null", "text ref*").first_like_rest("-e").walks("--untracked").here()
        .ok(&["git grep foo", "git grep -n foo -- src", "git grep -e a --and -e b"]).not(&["git grep -Otouch foo", "git grep --open-files-in-pager=x foo", "git grep -O foo", "git grep -f list", "git grep --no-index x /etc", "git grep --textconv x", "git grep --recurse-submodules x", "git grep --untracked x", "git grep --untracked --no-exclude-standard x"]),
    entry(&["remote"], "-v --verbose", "").here().ok(&["git remote", "git remote -v"]).not(&["git remote update", "git remote add x y", "git remote show origin", "git remote -v update"]),
    entry(&["ls-remote"], "-q --quiet --get-url", "text?").needs("--get-url").here().ok(&["git ls-remote --get-url", "git ls-remote --get-url origin"]).not(&["git ls-remote", "git ls-remote origin", "git ls-remote --get-url --upload-pack=x origin"]),
    entry(&["remote get-url"], "--all --push", "text").here().ok(&["git remote get-url origin"]).not(&["git remote set-url origin x"]),
    entry(&["stash list"], log_options!(""), "").here().ok(&["git stash list"]).not(&["git stash", "git stash drop", "git stash list --output=x"]),
    entry(&["stash show"], diff_options!("--include-untracked --only-untracked"), "ref?").here().ok(&["git stash show -p"]).not(&["git stash show --output=x", "git stash pop"]),
    entry(&["worktree list"], "-v -z --porcelain --verbose", "").here().ok(&["git worktree list"]).not(&["git worktree add ../x", "git worktree prune"]),
    entry(&["config"], "--get=key --get-all=key --local --global --system --show-origin --show-scope --null -z --type=text --bool --int --path --default=text", "").needs("--get --get-all").here()
        .ok(&["git config --get user.name", "git config --local --get remote.origin.url"]).not(&["git config core.fsmonitor ./x", "git config --get a b", "git config --get http.extraheader", "git config -l", "git config --unset a", "git config -e", "git config -f x --get a"]),
    entry(&["config"], "--local --global --system --show-origin --show-scope --null -z --type=text --bool --int --path", "key").here()
        .ok(&["git config user.email"]).not(&["git config edit", "git config user.email x", "git config --edit", "git config list"]),
    entry(&["config"], "-l -z --list --name-only --local --global --system --show-scope --show-origin", "").needs("--name-only").here()
        .ok(&["git config --list --name-only"]).not(&["git config --list", "git config --name-only -e", "git config -l"]),
    entry(&["cherry"], "-v --abbrev[=number]", "ref*").here().ok(&["git cherry -v main"]).not(&["git cherry --abb"]),
    entry(&["show-ref"], "-d -s -q --head --heads --branches --tags --dereference --hash[=number] --verify --abbrev[=number] --quiet", "text*").here().ok(&["git show-ref --heads"]).not(&["git show-ref --exclude-existing", "git show-ref --hea"]),
    entry(&["for-each-ref"], "--count=number --sort=text --format=format --color[=text] --points-at=text --merged[=text] --no-merged[=text] --contains[=text] --no-contains[=text] --ignore-case", "text*").here().ok(&["git for-each-ref --format='%(refname)' refs/heads"]).not(&["git for-each-ref --shell", "git for-each-ref --format='%(signature)'"]),
    entry(&["merge-base"], "-a --all --octopus --is-ancestor --independent --fork-point", "ref*").here().ok(&["git merge-base main HEAD"]).not(&["git merge-base --oct a b"]),
    entry(&["name-rev"], "--tags --name-only --refs=text --always", "ref*").here().ok(&["git name-rev HEAD"]).not(&["git name-rev --stdi"]),
    entry(&["cat-file"], "-p -t -s -e", "ref").needs("-p -t -s -e").here().ok(&["git cat-file -p HEAD"]).not(&["git cat-file --textconv HEAD:a", "git cat-file --filters HEAD:a", "git cat-file -p HEAD:.env"]),
    entry(&["diff-tree"], diff_options!("-r -t -m -c --root --cc --no-commit-id --stdin --pretty[=format] --format=format"), "ref*").here().ok(&["git diff-tree --no-commit-id --name-only -r HEAD"]).not(&["git diff-tree --output=x HEAD"]),
    entry(&["reflog", "reflog show"], log_options!(""), "").here().ok(&["git reflog", "git reflog show -5"]).not(&["git reflog expire --all", "git reflog delete x"]),
    entry(&["symbolic-ref"], "-q --short --quiet", "text").here().ok(&["git symbolic-ref --short HEAD"]).not(&["git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d HEAD"]),
    entry(&["count-objects"], "-v -H --verbose --human-readable", "").here().ok(&["git count-objects -vH"]).not(&["git count-objects --verb"]),
    entry(&["check-ignore"], "-v -n -q --verbose --non-matching --quiet --no-index", "path*").here().ok(&["git check-ignore -v target"]).not(&["git check-ignore --std"]),
    entry(&["version", "--version"], "--build-options", "").ok(&["git --version", "git version"]).not(&["git --versio", "git help log"]),
];

/// Returns what a `git` reads, or why it may do more.
pub(super) fn prove_git(
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let (args, state) = enter_folder(args, view)?;
    let view = MachineView { state: &state, ..view };
    let mut words = args.iter().map(|word| word.literal().filter(|_| !word.expanded));
    let command = words.next().flatten().ok_or("which git command it runs is not clear")?;
    let args = args.get(1..).unwrap_or_default();
    let two = words.next().flatten().map(|second| format!("{command} {second}"));
    let two = two.filter(|two| ALL.iter().any(|entry| entry.names.contains(&two.as_str())));
    let (command, args) = match &two {
        Some(two) => (two.as_str(), args.get(1..).unwrap_or_default()),
        None => (command, args),
    };
    let mut effects = prove(command, args, view)?;
    if !matches!(command, "version" | "--version") {
        audit(view)?;
        compares_outside(command, args, view)?;
        effects.extend(whole_repository(command, view)?);
        effects.extend(exposed_secrets::find_exposed_secrets(command, args, view)?);
    }
    Ok(effects)
}

/// Takes off what stands before the command: `--no-pager`, and `-C` with the folder it moves to.
fn enter_folder<'w>(
    args: &'w [CommandWord],
    view: MachineView<'_>,
) -> Result<(&'w [CommandWord], ShellState), String> {
    let mut state = view.state.clone();
    let mut rest = args;
    loop {
        match rest {
            [option, more @ ..] if option.literal() == Some("--no-pager") => rest = more,
            [option, folder, more @ ..] if option.literal() == Some("-C") => {
                let unclear = || format!("which folder `{}` is, is not clear", folder.text);
                let path = folder.literal().filter(|path| !path.is_empty()).ok_or_else(unclear)?;
                let found = view.lowering.targets(path, &state)?;
                if found.iter().any(|target| target.place.side == WorkspaceSide::Outside) {
                    return Err(format!("`{path}` is not in the workspace"));
                }
                state.enter(found.into_iter().map(|target| target.path).collect());
                rest = more;
            }
            _ => return Ok((rest, state)),
        }
    }
}

fn prove(
    command: &str,
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    match first_that_fits(ALL, command, args, view) {
        ReadOnlyProof::Reads(effects) => Ok(effects),
        ReadOnlyProof::Unproven(why) => Err(why),
        ReadOnlyProof::Unlisted => {
            Err(format!("`git {command}` is not among the commands known to only read"))
        }
    }
}

/// Where there is no repository, `git diff` compares any two paths, and `git grep` may search them.
fn compares_outside(
    command: &str,
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Result<(), String> {
    let names_something = args.iter().any(|word| !word.effective_text().starts_with('-'));
    let may = command == "grep" || (command == "diff" && names_something);
    let machine = view.lowering.context.machine;
    let mut folders = view.state.folders.iter().flatten();
    if may && folders.any(|folder| machine.git_top(folder).is_none()) {
        return Err(format!("outside a repository `git {command}` reads any files it is given"));
    }
    Ok(())
}

/// Commands that tell of references and settings, and of no file.
const WITHOUT_FILES: &[&str] = &[
    "branch",
    "config",
    "count-objects",
    "describe",
    "for-each-ref",
    "ls-remote",
    "merge-base",
    "name-rev",
    "remote",
    "remote get-url",
    "rev-parse",
    "show-ref",
    "symbolic-ref",
    "tag",
    "worktree list",
];

/// Returns that git reads all of its repository, also from a folder inside it: `git diff` compares files
/// above the folder that it runs in, which may lie outside the workspace.
fn whole_repository(command: &str, view: MachineView<'_>) -> Result<Vec<Effect>, String> {
    if WITHOUT_FILES.contains(&command) {
        return Ok(Vec::new());
    }
    let mut effects = Vec::new();
    for folder in view.state.folders.iter().flatten() {
        let Some(top) = view.lowering.context.machine.git_top(folder) else { continue };
        if top == *folder {
            continue;
        }
        let path = top.to_str().ok_or("the name of git's repository is not UTF-8")?;
        let found = view.lowering.targets(path, view.state)?;
        effects.extend(found.into_iter().map(Effect::Read));
    }
    Ok(effects)
}

/// Every folder it may run in has a repository of its own, perhaps.
fn audit(view: MachineView<'_>) -> Result<(), String> {
    let machine = view.lowering.context.machine;
    let folders = view.state.folders.as_ref().ok_or("in which folder git runs is not clear")?;
    let changed = view.lowering.parts.iter().flat_map(|part| &part.effects);
    let changed = changed.into_iter().any(|effect| !effect.is_read_only());
    for folder in folders {
        match machine.git_hazards(folder) {
            Some(hazards) if hazards.is_empty() => {}
            Some(hazards) => {
                return Err(format!(
                    "git may run programs or show other files here: {}",
                    hazards.join(", ")
                ));
            }
            None => return Err("git's configuration here could not be checked".to_owned()),
        }
        // Three files make a folder a repository, and git takes the nearest.
        if changed && machine.git_top(folder).as_ref() != Some(folder) {
            return Err("what was changed before may make git use another repository".to_owned());
        }
    }
    Ok(())
}
