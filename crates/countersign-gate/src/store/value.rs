//! Values that go into statements and come out of rows, the same for every database.

use std::borrow::Cow;

use jiff::{Timestamp, TimestampRound, Unit};

use super::StoreError;

/// What a statement is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SqlValue<'a> {
    Null,
    Int(i64),
    Flag(bool),
    Text(Cow<'a, str>),
    Time(Timestamp),
}

/// Makes the values of a statement out of whatever can be one.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::store::value::SqlValue::from($value)),*] };
}
pub(crate) use values;

impl<'a> From<&'a str> for SqlValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for SqlValue<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for SqlValue<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<i64> for SqlValue<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for SqlValue<'_> {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for SqlValue<'_> {
    fn from(number: usize) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for SqlValue<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<Timestamp> for SqlValue<'_> {
    /// Whole milliseconds in every database: what is read back must be what was written.
    fn from(at: Timestamp) -> Self {
        let round = TimestampRound::new().smallest(Unit::Millisecond).mode(jiff::RoundMode::Trunc);
        Self::Time(at.round(round).unwrap_or(at))
    }
}

impl<'a, T: Into<SqlValue<'a>>> From<Option<T>> for SqlValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One field of a row.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    not(feature = "postgres"),
    expect(dead_code, reason = "SQLite has neither flags nor moments of its own")
)]
pub(crate) enum SqlCell {
    Null,
    Int(i64),
    Flag(bool),
    Text(String),
    Time(Timestamp),
}

/// One row; its fields are taken in the order the statement names them.
#[derive(Debug)]
pub(crate) struct SqlRow(std::vec::IntoIter<SqlCell>);

impl SqlRow {
    pub(crate) fn new(cells: Vec<SqlCell>) -> Self {
        Self(cells.into_iter())
    }

    /// Takes the next field.
    pub(crate) fn take<T: FromSqlCell>(&mut self) -> Result<T, StoreError> {
        let cell = self.0.next().ok_or_else(|| StoreError::corrupt("row", "it is too short"))?;
        T::from_cell(cell)
    }

    /// Takes the next field, which is a text with a meaning of its own.
    pub(crate) fn parse<T>(&mut self, what: &'static str) -> Result<T, StoreError>
    where
        T: std::str::FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        self.take::<String>()?.parse().map_err(|error| StoreError::corrupt(what, error))
    }

    /// Takes the next field, which is JSON.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(
        &mut self,
        what: &'static str,
    ) -> Result<T, StoreError> {
        super::from_json(what, &self.take::<String>()?)
    }
}

/// What a field can be read as.
pub(crate) trait FromSqlCell: Sized {
    fn from_cell(cell: SqlCell) -> Result<Self, StoreError>;
}

fn unexpected_cell(wanted: &'static str, cell: &SqlCell) -> StoreError {
    StoreError::corrupt(wanted, format!("it is {cell:?}"))
}

impl FromSqlCell for String {
    fn from_cell(cell: SqlCell) -> Result<Self, StoreError> {
        match cell {
            SqlCell::Text(text) => Ok(text),
            other => Err(unexpected_cell("text", &other)),
        }
    }
}

impl FromSqlCell for i64 {
    fn from_cell(cell: SqlCell) -> Result<Self, StoreError> {
        match cell {
            SqlCell::Int(number) => Ok(number),
            other => Err(unexpected_cell("number", &other)),
        }
    }
}

impl FromSqlCell for u64 {
    fn from_cell(cell: SqlCell) -> Result<Self, StoreError> {
        i64::from_cell(cell).map(|number| number.max(0).cast_unsigned())
    }
}

impl FromSqlCell for bool {
    fn from_cell(cell: SqlCell) -> Result<Self, StoreError> {
        match cell {
            SqlCell::Flag(flag) => Ok(flag),
            // SQLite has no other kind.
            SqlCell::Int(number) => Ok(number != 0),
            other => Err(unexpected_cell("flag", &other)),
        }
    }
}

impl FromSqlCell for Timestamp {
    fn from_cell(cell: SqlCell) -> Result<Self, StoreError> {
        match cell {
            SqlCell::Time(at) => Ok(at),
            // SQLite keeps moments as text that sorts.
            SqlCell::Text(text) => {
                text.parse().map_err(|error: jiff::Error| StoreError::corrupt("time", error))
            }
            other => Err(unexpected_cell("time", &other)),
        }
    }
}

impl<T: FromSqlCell> FromSqlCell for Option<T> {
    fn from_cell(cell: SqlCell) -> Result<Self, StoreError> {
        match cell {
            SqlCell::Null => Ok(None),
            cell => T::from_cell(cell).map(Some),
        }
    }
}
