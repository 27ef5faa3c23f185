//! `$'…'`: text with the escapes of C.

use super::WordScanner;

impl<'a> WordScanner<'a> {
    pub(super) fn ansi_c(&mut self) {
        let mut body = String::new();
        loop {
            match self.take() {
                Some('\'') => break,
                Some('\\') => match self.ansi_escape() {
                    Some(c) => body.push(c),
                    None => return self.opaque("an escape in `$'…'` is not understood"),
                },
                Some(c) => body.push(c),
                None => return self.opaque("a quote is not closed"),
            }
        }
        self.literal(&body);
    }

    fn ansi_escape(&mut self) -> Option<char> {
        match self.take()? {
            'n' => Some('\n'),
            't' => Some('\t'),
            c @ ('\\' | '\'' | '"' | '?') => Some(c),
            'x' => self.code(16, 2),
            'u' => self.code(16, 4),
            'U' => self.code(16, 8),
            c @ '0'..='7' => {
                let first = c.to_digit(8)?;
                let more = self.digits(8, 2);
                let rest = u32::from_str_radix(more, 8).unwrap_or(0);
                char::from_u32(first * 8_u32.pow(u32::try_from(more.len()).ok()?) + rest)
            }
            _ => None,
        }
        // Beyond ASCII the byte and the character are not the same thing, nor in every locale.
        .filter(|c| *c != '\0' && c.is_ascii())
    }

    fn code(&mut self, radix: u32, most: usize) -> Option<char> {
        let digits = self.digits(radix, most);
        char::from_u32(u32::from_str_radix(digits, radix).ok()?)
    }

    fn digits(&mut self, radix: u32, most: usize) -> &'a str {
        let length = self.rest.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let (digits, rest) = self.rest.split_at_checked(length).unwrap_or(("", self.rest));
        self.rest = rest;
        digits
    }
}
