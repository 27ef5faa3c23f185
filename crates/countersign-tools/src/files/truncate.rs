//! Output that is too long: its head and its tail, and how much was cut between them.

/// The two ends of a stream of any length, in little memory.
#[derive(Clone, Debug)]
pub(crate) struct HeadTailBuffer {
    /// How many characters either end keeps.
    keep: usize,
    head: String,
    head_count: usize,
    /// The last characters, and some before them that are yet to be dropped.
    tail: String,
    /// How many characters were dropped from the tail's front.
    dropped: usize,
    /// The start of a character whose end has not come yet.
    partial: Vec<u8>,
}

impl HeadTailBuffer {
    /// Returns a collector that keeps `keep` characters of either end.
    pub(crate) fn new(keep: usize) -> Self {
        Self {
            keep,
            head: String::new(),
            head_count: 0,
            tail: String::new(),
            dropped: 0,
            partial: Vec::new(),
        }
    }

    /// Takes the next bytes; what is not UTF-8 becomes `�`.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.partial.is_empty() {
            let rest = self.push_decoded(bytes).to_vec();
            self.partial = rest;
        } else {
            let mut whole = std::mem::take(&mut self.partial);
            whole.extend_from_slice(bytes);
            let rest = self.push_decoded(&whole).to_vec();
            self.partial = rest;
        }
    }

    /// Takes what can be decoded and returns the start of a character at the end.
    fn push_decoded<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        loop {
            let error = match std::str::from_utf8(bytes) {
                Ok(text) => {
                    self.push_str(text);
                    return &[];
                }
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            self.push_str(std::str::from_utf8(valid).unwrap_or_default());
            let Some(wrong) = error.error_len() else { return rest };
            self.push_str("\u{fffd}");
            bytes = rest.split_at(wrong).1;
        }
    }

    fn push_str(&mut self, text: &str) {
        let mut rest = text;
        if self.head_count < self.keep {
            let room = self.keep - self.head_count;
            let split = rest.char_indices().nth(room).map_or(rest.len(), |(index, _)| index);
            let (first, second) = rest.split_at(split);
            self.head.push_str(first);
            self.head_count += first.chars().count();
            rest = second;
        }
        self.tail.push_str(rest);
        // A character has up to four bytes. Dropping in large steps keeps the copying cheap.
        let most = self.keep * 4;
        if self.tail.len() > most * 2 {
            let split = self.tail.floor_char_boundary(self.tail.len() - most);
            self.dropped += self.tail.get(..split).unwrap_or_default().chars().count();
            self.tail.drain(..split);
        }
    }

    /// Returns how many characters came.
    pub(crate) fn count(&self) -> usize {
        self.head_count + self.dropped + self.tail.chars().count() + self.partial_count()
    }

    fn partial_count(&self) -> usize {
        usize::from(!self.partial.is_empty())
    }

    /// Returns the text within `budget` characters, the note about the cut not counted.
    ///
    /// No more than was kept comes back, whatever the budget.
    pub(crate) fn into_text_within(mut self, budget: usize) -> String {
        let total = self.count();
        if self.partial_count() > 0 {
            self.tail.push('\u{fffd}');
        }
        let budget = budget.min(self.keep * 2);
        if total <= budget {
            return self.head + &self.tail;
        }
        let head = start(&self.head, budget.div_ceil(2));
        // With a budget this small, what is dropped of the tail never reaches the head.
        let kept = self.head.clone() + &self.tail;
        let tail = end(&kept, budget / 2);
        let cut = total - budget;
        format!("{head}\n… [{cut} characters cut] …\n{tail}")
    }
}

/// Returns a text within `limit` characters, its middle cut and the cut told.
pub(crate) fn cap(text: &str, limit: usize) -> String {
    let mut capped = HeadTailBuffer::new(limit.div_ceil(2));
    capped.push(text.as_bytes());
    capped.into_text_within(limit)
}

/// Returns the first characters.
pub(crate) fn start(text: &str, count: usize) -> &str {
    let split = text.char_indices().nth(count).map_or(text.len(), |(index, _)| index);
    text.split_at(split).0
}

fn end(text: &str, count: usize) -> &str {
    let skip = text.chars().count().saturating_sub(count);
    let split = text.char_indices().nth(skip).map_or(text.len(), |(index, _)| index);
    text.split_at(split).1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(cap("", 10), "");
        assert_eq!(cap("0123456789", 10), "0123456789");
    }

    #[test]
    fn what_does_not_fit_keeps_both_ends_and_says_how_much_is_gone() {
        assert_eq!(cap("0123456789a", 10), "01234\n… [1 characters cut] …\n6789a");
    }

    #[test]
    fn bytes_that_are_no_text_do_not_stop_it() {
        let mut capped = HeadTailBuffer::new(100);
        capped.push(b"a\xff\xe2\x82");
        capped.push(b"\xacb\xe2\x82");
        assert_eq!(capped.into_text_within(100), "a\u{fffd}€b\u{fffd}");
    }

    proptest! {
        #[test]
        fn head_and_tail_survive_however_the_stream_was_cut(
            pieces in proptest::collection::vec("[aé試🦀]{0,40}", 0..40),
            keep in 1_usize..30,
        ) {
            let whole: Vec<char> = pieces.concat().chars().collect();
            let mut capped = HeadTailBuffer::new(keep);
            for byte in pieces.concat().as_bytes().chunks(3) {
                capped.push(byte);
            }
            prop_assert_eq!(capped.count(), whole.len());
            let budget = keep * 2;
            let shown = capped.into_text_within(budget);
            if whole.len() <= budget {
                prop_assert_eq!(shown, whole.iter().collect::<String>());
            } else {
                let head: String = whole[..keep].iter().collect();
                let tail: String = whole[whole.len() - keep..].iter().collect();
                let note = format!("\n… [{} characters cut] …\n", whole.len() - budget);
                prop_assert_eq!(shown, head + &note + &tail);
            }
        }
    }
}
