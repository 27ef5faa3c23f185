//! The floor: what the database itself allows, to be held beside what the gate makes of it.

use std::time::{Duration, Instant};

use super::database::SqlConnection;
use super::value::values;
use super::{DatabaseUrl, StoreError, find_database};

/// How many durable steps a call takes through the gate, and how many rows it writes on its way: its
/// own row in every step, five events, four rows of audit, and the books.
const STEPS: usize = 4;
const ROWS: usize = 17;

/// About how long a row is.
const LENGTH: usize = 400;

/// Writes as many rows as so many calls would, bare, in as many commits as so many calls at once
/// would need; returns how long each round of commits took. Blocks.
pub fn measure_raw_writes(
    url: &DatabaseUrl,
    calls: usize,
    at_once: usize,
) -> Result<Vec<Duration>, StoreError> {
    let mut db = find_database(url)?.writer()?;
    db.execute("DROP TABLE IF EXISTS floor", &[])?;
    db.execute("CREATE TABLE floor (id BIGINT PRIMARY KEY, body TEXT)", &[])?;
    let body = "x".repeat(LENGTH);
    let mut next = 0_i64;
    let mut rounds = Vec::new();
    for _ in 0..calls.div_ceil(at_once.max(1)) {
        let started = Instant::now();
        for step in 0..STEPS {
            let rows = at_once * (ROWS * (step + 1) / STEPS - ROWS * step / STEPS);
            write(db.as_mut(), &body, &mut next, rows)?;
        }
        rounds.push(started.elapsed());
    }
    Ok(rounds)
}

fn write(
    db: &mut dyn SqlConnection,
    body: &str,
    next: &mut i64,
    rows: usize,
) -> Result<(), StoreError> {
    db.begin()?;
    for _ in 0..rows {
        db.execute("INSERT INTO floor (id, body) VALUES ($1, $2)", values![*next, body])?;
        *next += 1;
    }
    db.commit()
}
