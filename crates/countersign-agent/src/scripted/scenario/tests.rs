use super::*;

#[test]
fn the_guide_does_not_lie() {
    let guide = include_str!("../../../../../docs/guide/scripted-model.md");
    let examples = fenced(guide, "toml");
    assert!(examples.len() >= 4, "found {}", examples.len());
    for example in examples {
        if let Err(error) = Scenario::parse(&example) {
            panic!("{error}\n{example}");
        }
    }
    let mistakes = fenced(guide, "toml,error");
    let messages = fenced(guide, "text");
    assert_eq!(mistakes.len(), messages.len());
    for (mistake, message) in mistakes.iter().zip(messages) {
        assert_eq!(Scenario::parse(mistake).unwrap_err().to_string(), message.trim());
    }
}

#[test]
fn the_demo_is_a_scenario() {
    assert_eq!(Scenario::demo().unwrap().name(), "demo");
}

#[test]
fn what_is_left_out_has_a_value() {
    let scenario = Scenario::parse("[[script]]\n[[script.turn]]\nsay = 'hi'").unwrap();
    assert_eq!((scenario.name.as_str(), scenario.key.is_none()), ("scripted", true));
    let step = &scenario.scripts[0].turns[0].steps[0];
    assert_eq!((step.manner.chunk.get(), step.manner.pace, step.next), (24, Duration::ZERO, 1));
}

#[test]
fn a_mistake_names_its_place() {
    fails("", "a scenario needs at least one [[script]]");
    fails("[[script]]\nprompt = 'x'", "script 1 (`x`): needs at least one [[script.turn]]");
    fails(
        "[[script]]\nprompt = '('\n[[script.turn]]\nsay = 'x'",
        "script 1 (`(`): `prompt` is not a regular expression",
    );
    fails("[[script]]\n[[script.turn]]", "script 1, turn 1: says nothing");
    turn_fails(
        "when = { is_error = true }\nsay = 'x'",
        "turn 1: `when` belongs into an alternative",
    );
    turn_fails(
        "say = 'x'\nnext = 'y'",
        "turn 1: `next` names `y`, which is not a turn of this script",
    );
    turn_fails("say = '{{1}}'", "turn 1: nothing gives a value to `{{1}}`");
    turn_fails("say = 'x'\nexpect = {}", "turn 1: `expect` asks for nothing");
    turn_fails("say = 'x'\ncut = {}", "turn 1: `cut` needs `after_bytes` or `after_events`");
    turn_fails("call = { tool = 'X', id = 'a', repeat = 2 }", "turn 1: a fixed `id` cannot repeat");
    turn_fails(
        "say = 'x'\n[[script.turn.either]]\nsay = 'y'",
        "turn 1: `either` goes with nothing",
    );
    turn_fails(
        "[[script.turn.either]]\nname = 'a'\nsay = 'y'",
        "turn 1, alternative 1: an alternative has no `name`",
    );
    turn_fails(
        "[[script.turn.either]]\nsay = 'y'\n[[script.turn.either]]\nsay = 'z'",
        "turn 1, alternative 2: comes after an alternative without `when`",
    );
    turn_fails(
        "name = 'a'\nsay = 'x'\n[[script.turn]]\nname = 'a'\nsay = 'y'",
        "script 1: two turns are named `a`",
    );
    turn_fails(
        "say = 'x'\n[[script]]\n[[script.turn]]\nsay = 'y'",
        "script 2: comes after a script that fits every prompt",
    );
}

#[test]
fn a_key_that_does_not_exist_is_shown_in_its_line() {
    let error = Scenario::parse("[[script]]\n[[script.turn]]\nsya = 'x'").unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("unknown field `sya`"), "{error}");
    turn_fails("call = { tol = 'X' }", "a call is { tool = ");
    turn_fails("chunk = 0\nsay = 'x'", "nonzero");
}

fn turn_fails(turn: &str, message: &str) {
    fails(&format!("[[script]]\n[[script.turn]]\n{turn}"), message);
}

fn fails(text: &str, message: &str) {
    let error = Scenario::parse(text).unwrap_err().to_string();
    assert!(error.contains(message), "`{error}` should say `{message}`");
}

/// Returns the blocks of a Markdown text that are marked with `kind`.
fn fenced(text: &str, kind: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(marked) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if marked == kind {
                blocks.push(block.join("\n"));
            }
        }
    }
    blocks
}
