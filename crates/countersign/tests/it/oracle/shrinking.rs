//! Shrinking: a command that does harm loses what it does not need for it.

use std::path::Path;

use super::examination::{Examination, Examiner, ExecutedBy, Harm};
use super::tokens::split_tokens;
use super::verdict::{AllowedCommand, BatchVerdict, OracleMode, judge_commands};
use super::world::World;

/// So many shorter commands are run for one finding.
const TRIES: usize = 30;

/// Returns a shorter command that is still allowed and still does harm, and what harm.
pub(super) fn shrink(
    binary: &Path,
    world: &World,
    mode: OracleMode,
    command: &AllowedCommand,
    (by, is_traced): (ExecutedBy<'_>, bool),
    compares_sides: bool,
) -> Option<(AllowedCommand, Harm)> {
    let examiner = Examiner::new(world, mode).comparing_sides(compares_sides);
    let mut best: Option<(AllowedCommand, Harm)> = None;
    let mut tries = TRIES;
    let mut width = (split_tokens(&command.command).len() / 2).max(1);
    while width > 0 && tries > 0 {
        let longer = best.as_ref().map_or(&command.command, |it| &it.0.command);
        let BatchVerdict::Judged(allowed) =
            judge_commands(binary, world, mode, &drop_tokens(longer, width))
        else {
            return best;
        };
        let candidates = allowed.into_iter().take(tries);
        let harmful = candidates.into_iter().find_map(|shorter| {
            tries -= 1;
            match examiner.examine(&shorter, by, is_traced) {
                Examination::Harmful(harm) => Some((shorter, harm)),
                _ => None,
            }
        });
        match harmful {
            Some(found) => best = Some(found),
            None => width /= 2,
        }
    }
    best
}

/// Returns a command without so many of its tokens, for every place at which they can be left out.
fn drop_tokens(command: &str, width: usize) -> Vec<String> {
    let tokens = split_tokens(command);
    let places = 0..=tokens.len().saturating_sub(width);
    let shorter = places.map(|at| {
        let (front, back) = tokens.split_at(at);
        front.concat() + &back.iter().skip(width).map(String::as_str).collect::<String>()
    });
    let shorter = shorter.filter(|it| !it.trim().is_empty() && it.len() < command.len());
    shorter.take(80).collect()
}
