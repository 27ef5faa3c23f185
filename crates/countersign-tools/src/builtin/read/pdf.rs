//! What must be known of a PDF before a model is shown it: how many pages it has, and whether it is locked.
//!
//! Pages are counted, not read: where they are listed plainly, and in the compressed lists of newer files.

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

/// How much of one compressed list is looked at.
const UNPACKED: usize = 1024 * 1024;

/// How many compressed lists are looked at.
const LISTS: usize = 500;

/// Returns whether a password keeps it from being read.
pub(super) fn is_locked(bytes: &[u8]) -> bool {
    places(bytes, b"/Encrypt").next().is_some()
}

/// Returns how many pages there are; a file that was changed later may be said to have more.
pub(super) fn pages(bytes: &[u8]) -> usize {
    let packed = places(bytes, b"/ObjStm").take(LISTS).filter_map(|at| unpack(bytes.get(at..)?));
    count_listed_pages(bytes) + packed.map(|list| count_listed_pages(&list)).sum::<usize>()
}

/// Counts the objects that are pages.
fn count_listed_pages(bytes: &[u8]) -> usize {
    let is_page = |at: &usize| {
        let rest = bytes.get(at + b"/Type".len()..).unwrap_or_default();
        let name = rest.trim_ascii_start().strip_prefix(b"/Page");
        name.is_some_and(|after| !after.first().is_some_and(u8::is_ascii_alphanumeric))
    };
    places(bytes, b"/Type").filter(is_page).count()
}

/// Returns a compressed list of objects, from the words that announce it on.
fn unpack(from: &[u8]) -> Option<Vec<u8>> {
    let start = places(from, b"stream").next()?;
    let rest = from.get(start + b"stream".len()..)?;
    let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n"))?;
    // What could be unpacked before it went wrong, or became too long, counts.
    Some(decompress_to_vec_zlib_with_limit(rest, UNPACKED).unwrap_or_else(|stopped| stopped.output))
}

fn places<'a>(bytes: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    bytes.windows(word.len()).enumerate().filter(move |(_, it)| *it == word).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::*;

    #[test]
    fn pages_are_counted_plain_and_packed() {
        let plain = b"%PDF-1.4\n1 0 obj<</Type /Pages/Count 2>>\n2 0 obj<</Type/Page>>\n3 0 obj<</Type\n/Page /X 1>>";
        assert_eq!(pages(plain), 2);
        let packed = compress_to_vec_zlib(b"<</Type/Page>><</Type/Pages>><</Type/Page/A 1>>", 6);
        let mut file = b"%PDF-1.7\n5 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\r\n".to_vec();
        file.extend(packed);
        file.extend(b"\r\nendstream");
        assert_eq!(pages(&file), 2);
        assert_eq!(pages(b"%PDF-1.7 nothing"), 0);
        assert_eq!(pages(b"/ObjStm stream\nnot packed /Type"), 0);
    }

    #[test]
    fn a_locked_file_is_known() {
        assert!(is_locked(b"trailer<</Encrypt 5 0 R>>"));
        assert!(!is_locked(b"trailer<<>>"));
    }
}
