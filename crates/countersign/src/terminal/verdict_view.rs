//! A verdict as scripts and people read it: without secrets.

use countersign_client::evaluation::CallEvaluation;
use countersign_core::{GrantProposal, Verdict, VerdictAction, mask_input, mask_text};
use serde_json::{Value, json};

/// How many reasons a sentence gives.
const SAID: usize = 3;

/// Returns a verdict for scripts.
pub(crate) fn object(id: &Value, judged: &CallEvaluation) -> Value {
    let CallEvaluation { plan, risk, verdict, .. } = judged;
    let reasons: Vec<_> = texts(verdict, None);
    let effects = serde_json::to_value(&plan.effects).unwrap_or_default();
    let canonical = plan.canonical.as_ref().filter(|_| verdict.outcome == VerdictAction::Allow);
    let mut object = json!({
        "id": id,
        "verdict": verdict.outcome,
        "risk": risk,
        "reasons": reasons,
        "effects": mask_input(&effects),
        "rules": verdict.rules(),
    });
    if let (Value::Object(fields), Some(canonical)) = (&mut object, canonical) {
        // Whoever runs it needs it whole: it is the caller's own text.
        fields.insert("canonical".to_owned(), canonical.text.clone().into());
    }
    object
}

/// Returns the same with its parts, and with what "always" could mean.
pub(crate) fn detailed_object(
    id: &Value,
    judged: &CallEvaluation,
    proposals: &[GrantProposal],
) -> Value {
    let mut object = object(id, judged);
    let parts = judged.plan.commands.iter().enumerate().map(|(at, part)| {
        let said = judged.verdict.action_for_part(at).unwrap_or(VerdictAction::Allow);
        let reasons = judged.verdict.reasons_for_part(at).map(|reason| mask_text(&reason.text));
        json!({
            "text": mask_text(&part.text),
            "verdict": said,
            "reasons": reasons.collect::<Vec<_>>(),
        })
    });
    let parts: Vec<_> = parts.collect();
    if let Value::Object(fields) = &mut object {
        fields.insert("parts".to_owned(), parts.into());
        fields.insert("always".to_owned(), json!(proposals));
    }
    object
}

/// Returns a verdict in a sentence.
pub(crate) fn sentence(judged: &CallEvaluation) -> String {
    let CallEvaluation { risk, verdict, .. } = judged;
    let texts = texts(verdict, Some(verdict.outcome));
    let more = texts.len().saturating_sub(SAID);
    let mut said = texts.into_iter().take(SAID).collect::<Vec<_>>().join("; ");
    if more > 0 {
        said = format!("{said}; and {more} more");
    }
    format!("{} ({risk}): {said}", word(verdict.outcome))
}

fn texts(verdict: &Verdict, only: Option<VerdictAction>) -> Vec<String> {
    let mut once = Vec::new();
    for reason in verdict.reasons.iter().filter(|it| only.is_none_or(|only| it.outcome == only)) {
        let text = mask_text(&reason.text);
        if !once.contains(&text) {
            once.push(text);
        }
    }
    once
}

fn word(outcome: VerdictAction) -> &'static str {
    match outcome {
        VerdictAction::Allow => "allow",
        VerdictAction::Ask => "ask",
        VerdictAction::Deny => "deny",
    }
}
