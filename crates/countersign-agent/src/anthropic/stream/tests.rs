use std::convert::Infallible;

use proptest::prelude::*;

use super::*;
use crate::message::{MessageBlock, ModelMessage};
use crate::reply::{ModelReply, ReplyDraft};

const ANSWER: &str = include_str!("tests/answer.sse");

#[tokio::test]
async fn an_answer_is_read_whole() {
    let reply = reply(ANSWER.as_bytes(), 7).await.unwrap();
    assert_eq!(reply.message.text(), "Grüße 👋, I'll look.");
    let call = reply.message.tool_uses().next().unwrap();
    assert_eq!(call.input, serde_json::json!({"file_path": "ä.txt", "limit": 3}));
    assert_eq!(reply.usage.output_tokens, 42);
    assert_eq!(reply.usage.cache_read_input_tokens, 7);
    assert!(matches!(reply.message.content.first(), Some(MessageBlock::Thinking(thought))
        if thought.signature.as_deref() == Some("EqoBsig==")));
}

#[tokio::test]
async fn line_endings_do_not_matter() {
    let plain = reply(ANSWER.as_bytes(), 1000).await.unwrap();
    for ending in ["\r\n", "\r"] {
        let other = ANSWER.replace('\n', ending);
        assert_eq!(reply(other.as_bytes(), 5).await.unwrap(), plain);
    }
    let marked = format!("\u{feff}: hello\n\n{ANSWER}");
    assert_eq!(reply(marked.as_bytes(), 1).await.unwrap(), plain);
}

#[tokio::test]
async fn an_answer_without_its_end_is_cut_off() {
    let end = ANSWER.find("event: message_stop").unwrap();
    let error = reply(&ANSWER.as_bytes()[..end], 64).await.unwrap_err();
    assert_eq!(error, ModelError::CutOff);
    assert_eq!(reply(b"", 1).await.unwrap_err(), ModelError::CutOff);
}

#[tokio::test]
async fn an_error_within_the_stream_is_typed() {
    let error =
        "event: error\ndata: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n";
    let begun = &ANSWER[..ANSWER.find("event: content_block_start").unwrap()];
    let stream = format!("{begun}{error}");
    assert_eq!(reply(stream.as_bytes(), 9).await.unwrap_err().code(), "overloaded");
}

#[tokio::test]
async fn nothing_is_read_after_the_end() {
    let stream = format!("{ANSWER}data: rubbish\n\n");
    assert!(reply(stream.as_bytes(), 4096).await.is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn how_the_bytes_are_cut_does_not_matter(sizes in prop::collection::vec(1usize..200, 1..50)) {
        let whole = block_on(reply(ANSWER.as_bytes(), usize::MAX)).unwrap();
        let mut rest = ANSWER.as_bytes();
        let mut chunks = Vec::new();
        for size in sizes.into_iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at(size.min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        prop_assert_eq!(block_on(fill(&mut ReplyDraft::new(), chunks)).unwrap(), whole);
    }

    #[test]
    fn an_interrupted_answer_is_acceptable_wherever_it_breaks(end in 0..ANSWER.len()) {
        let mut draft = ReplyDraft::new();
        let _ = block_on(fill(&mut draft, ANSWER.as_bytes()[..end].chunks(16)));
        if let Some(message) = draft.interrupted_message() {
            prop_assert!(is_acceptable(&message), "{message:?}");
        }
    }

    #[test]
    fn garbage_never_panics(garbage in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = block_on(reply(&garbage, 3));
    }

    #[test]
    fn a_damaged_answer_never_panics(at in 0..ANSWER.len(), byte in any::<u8>()) {
        let mut bytes = ANSWER.as_bytes().to_vec();
        bytes[at] = byte;
        let mut draft = ReplyDraft::new();
        let _ = block_on(fill(&mut draft, bytes.chunks(50)));
        let _ = draft.interrupted_message();
    }
}

/// What the API asks of an assistant's message that is sent back.
fn is_acceptable(message: &ModelMessage) -> bool {
    let blank = |block: &MessageBlock| matches!(block, MessageBlock::Text(text) if text.text.trim().is_empty());
    let unsigned = |block: &MessageBlock| {
        matches!(block, MessageBlock::Thinking(thought)
        if thought.signature.as_deref() != Some("EqoBsig=="))
    };
    let ends_well = !matches!(message.content.last(), None | Some(MessageBlock::Thinking(_)));
    ends_well
        && !message.content.iter().any(|block| blank(block) || unsigned(block))
        && message.tool_uses().all(|call| call.input.is_object() && call.broken_input.is_none())
}

async fn reply(bytes: &[u8], chunk: usize) -> Result<ModelReply, ModelError> {
    fill(&mut ReplyDraft::new(), bytes.chunks(chunk)).await
}

async fn fill(
    draft: &mut ReplyDraft,
    chunks: impl IntoIterator<Item = &[u8]>,
) -> Result<ModelReply, ModelError> {
    let chunks: Vec<Result<Bytes, Infallible>> =
        chunks.into_iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
    let mut events = events(stream::iter(chunks), "test".into());
    while let Some(event) = events.next().await {
        draft.apply(event?)?;
    }
    draft.finish()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
