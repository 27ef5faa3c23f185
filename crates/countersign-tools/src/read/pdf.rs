//! What must be known of a PDF before a model is shown it: how many pages it has, and whether it is locked.
//!
//! Pages are counted, not read: where they are listed plainly, and in the compressed lists of newer files.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// How much of one compressed list is looked at.
const UNPACKED: u64 = 1024 * 1024;

/// How many compressed lists are looked at.
const LISTS: usize = 500;

/// Returns whether a password keeps it from being read.
pub(super) fn is_locked(bytes: &[u8]) -> bool {
    places(bytes, b"/Encrypt").next().is_some()
}

/// Returns how many pages there are; a file that was changed later may be said to have more.
pub(super) fn pages(bytes: &[u8]) -> usize {
    let packed = places(bytes, b"/ObjStm").take(LISTS).filter_map(|at| unpacked(bytes.get(at..)?));
    listed(bytes) + packed.map(|list| listed(&list)).sum::<usize>()
}

/// Counts the objects that are pages.
fn listed(bytes: &[u8]) -> usize {
    let is_page = |at: &usize| {
        let rest = bytes.get(at + b"/Type".len()..).unwrap_or_default();
        let name = rest.trim_ascii_start().strip_prefix(b"/Page");
        name.is_some_and(|after| !after.first().is_some_and(u8::is_ascii_alphanumeric))
    };
    places(bytes, b"/Type").filter(is_page).count()
}

/// Returns a compressed list of objects, from the words that announce it on.
fn unpacked(from: &[u8]) -> Option<Vec<u8>> {
    let start = places(from, b"stream").next()?;
    let rest = from.get(start + b"stream".len()..)?;
    let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n"))?;
    let mut out = Vec::new();
    // What could be unpacked before it went wrong counts.
    let _ = ZlibDecoder::new(rest).take(UNPACKED).read_to_end(&mut out);
    Some(out)
}

fn places<'a>(bytes: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    bytes.windows(word.len()).enumerate().filter(move |(_, it)| *it == word).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    #[test]
    fn pages_are_counted_plain_and_packed() {
        let plain = b"%PDF-1.4\n1 0 obj<</Type /Pages/Count 2>>\n2 0 obj<</Type/Page>>\n3 0 obj<</Type\n/Page /X 1>>";
        assert_eq!(pages(plain), 2);
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
        packer.write_all(b"<</Type/Page>><</Type/Pages>><</Type/Page/A 1>>").unwrap();
        let mut file = b"%PDF-1.7\n5 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\r\n".to_vec();
        file.extend(packer.finish().unwrap());
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
