//! What "always" is offered for, and what it never is.

use jiff::Timestamp;

use super::*;
use crate::policy::tests::{anchors, call, plan};

#[test]
fn what_is_run_all_day_is_offered_by_what_it_does() {
    check("mise run test", Some("Bash(mise run test:*)"));
    check("npm run lint", Some("Bash(npm run lint:*)"));
    check("go test ./... 2>&1 | tail -5", Some("Bash(go test:*)"));
    check("golangci-lint run 2>/dev/null", Some("Bash(golangci-lint run:*)"));
    check("timeout 60 npm test", Some("Bash(npm test:*)"));
    check("git add -A", Some("Bash(git add:*)"));
    check("git commit -m 'fix: a b'", Some("Bash(git commit:*)"));
    check("gh pr view 12", Some("Bash(gh pr view:*)"));
    check("./bin/tool explain", Some("Bash(./bin/tool:*)"));
}

#[test]
fn what_leaves_the_machine_or_throws_work_away_is_never_offered() {
    for command in [
        "git push",
        "git push 2>&1",
        "git reset --hard",
        "git clean -fd",
        "git branch -D x",
        "gh pr create --fill",
        "gh api -X DELETE repos/a/b",
        "npm install left-pad",
        "npm publish",
        "npm run deploy",
        "make release",
        "docker compose up",
        "docker run x",
        "kubectl delete pod x",
        "terraform apply",
        "npx x",
        "curl https://example.org",
        "python3 -c 1",
        "echo x | sh",
        "npm test > out.txt",
        "npm test &",
        "FOO=1 npm test",
        "cat .env",
        "claude -p x",
    ] {
        check(command, None);
    }
}

#[test]
fn nothing_broader_than_the_very_command_is_offered_where_more_could_follow() {
    // The same words can be the start of something worse, and nothing is known of the other program.
    check("git stash", Some("Bash(git stash)"));
    check("frobnicate --all", Some("Bash(frobnicate --all)"));
    check("make -j8", Some("Bash(make -j8)"));
}

#[test]
fn a_file_outside_offers_its_folder_only_far_below_the_home() {
    check("cat /home/me/notes.txt", Some("Read(//home/me/notes.txt)"));
    check("cat /home/me/.config/x.toml", Some("Read(//home/me/.config/x.toml)"));
    check("cat /etc/hosts", Some("Read(//etc/hosts)"));
    check("cat /home/me/code/other/a.md", Some("Read(//home/me/code/other/**)"));
}

#[test]
fn every_offer_allows_the_call_it_was_made_from_and_no_outward_one() {
    let outward = ["git push", "npm publish", "npm run deploy", "gh pr merge 1", "make release"];
    for command in ["mise run test", "git add -A", "npm run lint", "make check", "gh pr view 1"] {
        for proposal in offers(command) {
            for other in outward {
                let plan = plan(other);
                let is_covered =
                    allows(&proposal, &call(other), &plan, Risk::High, &anchors(), now());
                assert!(!is_covered, "{:?} allows {other}", proposal.rules);
            }
        }
    }
}

/// Compares the broadest rule that is offered.
#[track_caller]
fn check(command: &str, expected: Option<&str>) {
    let offers = offers(command);
    let broadest = offers.last().map(|proposal| proposal.rules.join(", "));
    assert_eq!(broadest.as_deref(), expected, "{command}: {offers:?}");
}

fn offers(command: &str) -> Vec<GrantProposal> {
    let plan = plan(command);
    propose_grants(&call(command), &plan, crate::risk::assess(&plan.effects), &anchors(), now())
}

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}
