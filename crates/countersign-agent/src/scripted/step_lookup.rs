//! Finds the place in a scenario that a request leads to. Pure.

use std::fmt::Write;

use super::request_summary::{ConversationRound, RequestSummary, ToolCallResult};
use super::scenario::{ResultCondition, Scenario, ScenarioScript, ScriptStep, ScriptTurn, shorten};
use super::template::{CaptureGroups, TemplateValues};

/// The step that comes now, and what fills its gaps.
#[derive(Debug)]
pub(super) struct StepMatch<'s> {
    pub(super) step: &'s ScriptStep,
    pub(super) context: TemplateValues,
}

/// Returns the step for a request, or why there is none.
///
/// Walks through the script again, from the prompt on, with the results that came in between.
/// So nothing has to be remembered of a conversation.
pub(super) fn find<'s>(
    scenario: &'s Scenario,
    asked: &RequestSummary,
) -> Result<StepMatch<'s>, String> {
    let script =
        scenario.scripts.iter().find(|script| fits(script, asked)).ok_or_else(|| {
            format!("no script fits the prompt `{}`", shorten(&asked.prompt, 200))
        })?;
    let mut position = 0;
    let mut current = None;
    for round in &asked.rounds {
        let turn = script.turns.get(position).ok_or_else(|| {
            let place =
                current.map_or_else(String::new, |step: &ScriptStep| step.place.to_string());
            format!("the script ends here: there is no turn after {place}")
        })?;
        let step = choose(turn, round)?;
        position = step.next;
        current = Some(step);
    }
    match (current, asked.rounds.last()) {
        (Some(step), Some(round)) => cue(script, step, round, asked),
        _ => Err("nothing was asked".to_owned()),
    }
}

fn fits(script: &ScenarioScript, asked: &RequestSummary) -> bool {
    let prompt = script.prompt.as_ref().is_none_or(|it| it.is_match(&asked.prompt));
    let system = script.system.as_ref().is_none_or(|it| it.is_match(&asked.system));
    prompt && system
}

fn choose<'s>(turn: &'s ScriptTurn, round: &ConversationRound) -> Result<&'s ScriptStep, String> {
    let fitting = turn.steps.iter().find(|step| match &step.when {
        None => true,
        Some(condition) => condition.look_at(round).holds,
    });
    fitting.ok_or_else(|| {
        let place = turn.steps.first().map_or_else(String::new, |step| step.place.to_string());
        format!("{place}: neither this nor another alternative fits what came: {}", list(round))
    })
}

fn cue<'s>(
    script: &ScenarioScript,
    step: &'s ScriptStep,
    round: &ConversationRound,
    asked: &RequestSummary,
) -> Result<StepMatch<'s>, String> {
    let when = step.when.as_ref().map(|condition| condition.look_at(round)).unwrap_or_default();
    let expect = step.expect.as_ref().map(|condition| condition.look_at(round));
    if let (Some(found), Some(condition)) = (&expect, &step.expect)
        && !found.holds
    {
        return Err(format!(
            "{}: expected {}, but what came is: {}",
            step.place,
            condition.describe(),
            list(round)
        ));
    }
    let expected = expect.map(|found| found.groups).unwrap_or_default();
    let prompt_groups = script.prompt.as_ref().and_then(|regex| {
        regex.captures(&asked.prompt).map(|found| CaptureGroups::from_captures(regex, &found))
    });
    let context = TemplateValues {
        prompt: asked.prompt.clone(),
        prompt_groups: prompt_groups.unwrap_or_default(),
        result: when.came.map_or_else(|| all_texts(round), |came| came.text.clone()),
        result_groups: when.groups.or(expected),
        call: when.came.map_or_else(|| round.last_call.clone(), |came| came.call.clone()),
        cwd: asked.cwd().to_owned(),
        index: 1,
    };
    Ok(StepMatch { step, context })
}

/// What a condition found among the results.
#[derive(Debug, Default)]
struct ConditionMatch<'r> {
    holds: bool,
    /// The first result that fits.
    came: Option<&'r ToolCallResult>,
    groups: CaptureGroups,
}

impl ResultCondition {
    fn look_at<'r>(&self, round: &'r ConversationRound) -> ConditionMatch<'r> {
        let mut fitting = round.results.iter().filter(|came| self.fits(came));
        let came = fitting.next();
        let count = fitting.count() + usize::from(came.is_some());
        let groups = came.zip(self.result.as_ref()).and_then(|(came, regex)| {
            regex.captures(&came.text).map(|found| CaptureGroups::from_captures(regex, &found))
        });
        let holds = self.count.map_or(count > 0, |wanted| wanted == count);
        ConditionMatch { holds, came, groups: groups.unwrap_or_default() }
    }

    fn fits(&self, came: &ToolCallResult) -> bool {
        let text = self.result.as_ref().is_none_or(|it| it.is_match(&came.text));
        let error = self.is_error.is_none_or(|it| it == came.is_error);
        text && error
    }

    fn describe(&self) -> String {
        let mut words = match self.count {
            Some(count) => format!("{count} results"),
            None => "a result".to_owned(),
        };
        // Writing to a string does not fail.
        if let Some(regex) = &self.result {
            let _ = write!(words, " like `{regex}`");
        }
        match self.is_error {
            Some(true) => words.push_str(" that is an error"),
            Some(false) => words.push_str(" that is no error"),
            None => {}
        }
        words
    }
}

fn all_texts(round: &ConversationRound) -> String {
    round.results.iter().map(|came| came.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Returns the results in words for an error.
fn list(round: &ConversationRound) -> String {
    if round.results.is_empty() {
        return "no results".to_owned();
    }
    let one = |came: &ToolCallResult| {
        let kind = if came.is_error { "error" } else { "result" };
        format!("{kind} `{}`", shorten(&came.text, 200))
    };
    round.results.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
