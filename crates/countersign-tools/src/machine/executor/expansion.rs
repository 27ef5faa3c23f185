//! Words: what is decided only when a script runs.

use std::io::Read;

use countersign_core::shell::{CanonicalScript, CanonicalWord, WordPiece};

use super::shell::CanonicalShell;
use super::streams::CommandStreams;

/// What a command prints into another one's words is cut off here.
const LONGEST: u64 = 16 * 1024 * 1024;

impl CanonicalShell {
    /// Returns what a word stands for now. It stays one word.
    pub(super) fn expand(
        &mut self,
        word: &CanonicalWord,
        streams: &CommandStreams,
    ) -> Result<String, String> {
        let mut text = String::new();
        for piece in &word.0 {
            match piece {
                WordPiece::Literal(literal) => text.push_str(literal),
                WordPiece::Status => text.push_str(&self.status.to_string()),
                WordPiece::Variable(name) => match self.variables.get(name) {
                    Some(value) => text.push_str(value),
                    None if self.options.needs_variables => {
                        return Err(format!("{name}: unbound variable"));
                    }
                    None => {}
                },
                WordPiece::Output(script) => text.push_str(&self.output_of(script, streams)?),
            }
        }
        Ok(text)
    }

    /// Returns what a script prints, without the newlines at its end.
    fn output_of(
        &mut self,
        script: &CanonicalScript,
        streams: &CommandStreams,
    ) -> Result<String, String> {
        let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        std::thread::scope(|scope| {
            let streams = streams.clone().writing(writer);
            scope.spawn(move || self.apart(script, &streams));
            reader.take(LONGEST).read_to_end(&mut bytes)
        })
        .map_err(|error| error.to_string())?;
        bytes.retain(|byte| *byte != 0);
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.trim_end_matches('\n').to_owned())
    }
}
