//! A verdict as scripts and people read it: without secrets.

use countersign_core::{Outcome, Proposal, Verdict, masked, masked_text};
use serde_json::{Value, json};

use super::judge::Judged;

/// How many reasons a sentence gives.
const SAID: usize = 3;

/// Returns a verdict for scripts.
pub(super) fn object(id: &Value, judged: &Judged) -> Value {
    let Judged { plan, risk, verdict, .. } = judged;
    let reasons: Vec<_> = texts(verdict, None);
    let effects = serde_json::to_value(&plan.effects).unwrap_or_default();
    let canonical = plan.canonical.as_ref().filter(|_| verdict.outcome == Outcome::Allow);
    let mut object = json!({
        "id": id,
        "verdict": verdict.outcome,
        "risk": risk,
        "reasons": reasons,
        "effects": masked(&effects),
        "rules": verdict.rules(),
    });
    if let (Value::Object(fields), Some(canonical)) = (&mut object, canonical) {
        // Whoever runs it needs it whole: it is the caller's own text.
        fields.insert("canonical".to_owned(), canonical.text.clone().into());
    }
    object
}

/// Returns the same with its parts, and with what "always" could mean.
pub(super) fn in_full(id: &Value, judged: &Judged, proposals: &[Proposal]) -> Value {
    let mut object = object(id, judged);
    let parts = judged.plan.commands.iter().enumerate().map(|(at, part)| {
        let said = judged.verdict.of_part(at).unwrap_or(Outcome::Allow);
        let reasons = judged.verdict.about(at).map(|reason| masked_text(&reason.text));
        json!({
            "text": masked_text(&part.text),
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
pub(super) fn sentence(judged: &Judged) -> String {
    let Judged { risk, verdict, .. } = judged;
    let texts = texts(verdict, Some(verdict.outcome));
    let more = texts.len().saturating_sub(SAID);
    let mut said = texts.into_iter().take(SAID).collect::<Vec<_>>().join("; ");
    if more > 0 {
        said = format!("{said}; and {more} more");
    }
    format!("{} ({risk}): {said}", word(verdict.outcome))
}

fn texts(verdict: &Verdict, only: Option<Outcome>) -> Vec<String> {
    let mut once = Vec::new();
    for reason in verdict.reasons.iter().filter(|it| only.is_none_or(|only| it.outcome == only)) {
        let text = masked_text(&reason.text);
        if !once.contains(&text) {
            once.push(text);
        }
    }
    once
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allow => "allow",
        Outcome::Ask => "ask",
        Outcome::Deny => "deny",
    }
}
