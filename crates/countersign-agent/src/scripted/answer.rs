//! An answer in the API's own words: as one object, or as the events of a stream.

use serde_json::{Map, Value, json};

use super::scenario::{ScriptStep, ScriptedCall};
use super::step_lookup::StepMatch;
use super::template::TemplateValues;
use crate::model::AnswerUsage;

/// What the model says.
#[derive(Clone, Debug)]
pub(super) struct ScriptedAnswer {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) content: Vec<Value>,
    pub(super) stop_reason: String,
    pub(super) usage: AnswerUsage,
}

impl ScriptedAnswer {
    /// Says a step.
    ///
    /// `offers_tools` is whether the request lets the model call any; `length` is that of the
    /// request; `new_id` makes ids that have not been there before.
    pub(super) fn from_step(
        cue: &StepMatch<'_>,
        model: &str,
        offers_tools: bool,
        length: usize,
        new_id: &mut dyn FnMut(&str) -> String,
    ) -> Self {
        let StepMatch { step, context } = cue;
        let mut content = Vec::new();
        if let Some(think) = &step.think {
            let thinking = think.render(context);
            let signature = seal(&thinking);
            content.push(json!({"type": "thinking", "thinking": thinking, "signature": signature}));
        }
        if let Some(say) = &step.say {
            content.push(json!({"type": "text", "text": say.render(context)}));
        }
        let calls = if offers_tools { step.calls.as_slice() } else { &[] };
        content.extend(calls.iter().flat_map(|call| tool_uses(call, context, new_id)));
        let stop_reason = step.stop_reason.clone().unwrap_or_else(|| {
            if calls.is_empty() { "end_turn".to_owned() } else { "tool_use".to_owned() }
        });
        let usage = usage(step, length, &content);
        Self { id: new_id("msg"), model: model.to_owned(), content, stop_reason, usage }
    }

    /// Returns the answer as one object.
    pub(super) fn whole(&self) -> Value {
        json!({
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": self.content,
            "stop_reason": self.stop_reason,
            "stop_sequence": null,
            "usage": self.usage,
        })
    }

    /// Returns the answer as events, its texts in pieces of `chunk` characters.
    pub(super) fn events(&self, chunk: usize) -> Vec<Value> {
        let start = json!({
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": AnswerUsage { output_tokens: 1, ..self.usage },
        });
        let mut events = vec![json!({"type": "message_start", "message": start})];
        for (index, block) in self.content.iter().enumerate() {
            events.push(block_start(index, block));
            if index == 0 {
                events.push(json!({"type": "ping"}));
            }
            let deltas = deltas(block, chunk).into_iter();
            events.extend(deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(json!({
            "type": "message_delta",
            "delta": {"stop_reason": self.stop_reason, "stop_sequence": null},
            "usage": {"output_tokens": self.usage.output_tokens},
        }));
        events.push(json!({"type": "message_stop"}));
        events
    }
}

/// Returns the seal of a thought. Like the real one it fits no other thought.
pub(super) fn seal(thinking: &str) -> String {
    // FNV-1a: nothing to keep secret here, only to notice changes.
    let hash = thinking.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("scripted-{hash:016x}")
}

fn tool_uses(
    call: &ScriptedCall,
    context: &TemplateValues,
    new_id: &mut dyn FnMut(&str) -> String,
) -> Vec<Value> {
    let mut one = |index| {
        let context = TemplateValues { index, ..context.clone() };
        let id = match &call.id {
            Some(id) => id.render(&context),
            None => new_id("toolu"),
        };
        let input = call.input.render(&context);
        json!({"type": "tool_use", "id": id, "name": call.tool, "input": input})
    };
    (1..=call.repeat).map(&mut one).collect()
}

/// Returns what the answer costs: as the scenario says, or about a token for four characters.
fn usage(step: &ScriptStep, length: usize, content: &[Value]) -> AnswerUsage {
    let written: usize = content.iter().map(|block| block.to_string().len()).sum();
    let mut usage = AnswerUsage {
        input_tokens: tokens(length),
        output_tokens: tokens(written),
        ..AnswerUsage::default()
    };
    usage.update(step.usage);
    usage
}

/// Returns about how many tokens a text of this length has.
pub(super) fn tokens(length: usize) -> u64 {
    u64::try_from(length / 4 + 1).unwrap_or(u64::MAX)
}

/// Returns the event that begins a block: the block with the parts that come in pieces left out.
fn block_start(index: usize, block: &Value) -> Value {
    let mut block = block.as_object().cloned().unwrap_or_default();
    for (key, empty) in [
        ("text", json!("")),
        ("thinking", json!("")),
        ("signature", json!("")),
        ("input", Value::Object(Map::new())),
    ] {
        if let Some(value) = block.get_mut(key) {
            *value = empty;
        }
    }
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn deltas(block: &Value, chunk: usize) -> Vec<Value> {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => {
            let pieces = pieces(text("text"), chunk).into_iter();
            pieces.map(|piece| json!({"type": "text_delta", "text": piece})).collect()
        }
        "thinking" => {
            let pieces = pieces(text("thinking"), chunk).into_iter();
            let thought = pieces.map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
            let seal = json!({"type": "signature_delta", "signature": text("signature")});
            thought.chain([seal]).collect()
        }
        "tool_use" => {
            // The real API begins with an empty piece, which is all that comes of an empty input.
            let input = block.get("input").map(Value::to_string).filter(|input| input != "{}");
            let pieces = pieces(&input.unwrap_or_default(), chunk);
            let pieces = [String::new()].into_iter().chain(pieces);
            pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect()
        }
        _ => Vec::new(),
    }
}

fn pieces(text: &str, chunk: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(chunk).map(|piece| piece.iter().collect()).collect()
}
