//! Random choices, all of them from one seed.

use fastrand::Rng;

/// Returns one of several.
pub(super) fn pick<'a, T: ?Sized>(rng: &mut Rng, from: &[&'a T]) -> &'a T {
    from[rng.usize(..from.len())]
}

/// Returns one of several owned ones.
pub(super) fn pick_one<'a, T>(rng: &mut Rng, from: &'a [T]) -> &'a T {
    &from[rng.usize(..from.len())]
}

/// Returns true so many times of a hundred.
pub(super) fn happens(rng: &mut Rng, percent: u8) -> bool {
    rng.u8(..100) < percent
}

/// Returns between so few and so many of several, in any order, perhaps one of them twice.
pub(super) fn pick_some<'a>(
    rng: &mut Rng,
    from: &[&'a str],
    counts: std::ops::RangeInclusive<usize>,
) -> Vec<&'a str> {
    (0..rng.usize(counts)).map(|_| pick(rng, from)).collect()
}

/// Returns a text as one word of a shell, in one of the ways in which that can be written.
pub(super) fn quote(rng: &mut Rng, text: &str) -> String {
    let single = format!("'{}'", text.replace('\'', r"'\''"));
    if text.contains(['\'', '!']) || happens(rng, 70) {
        return single;
    }
    let mut double = String::from("\"");
    for character in text.chars() {
        if matches!(character, '"' | '\\' | '$' | '`') {
            double.push('\\');
        }
        double.push(character);
    }
    double + "\""
}
