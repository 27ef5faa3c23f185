//! Values that go into statements and come out of rows, the same for every database.

use std::borrow::Cow;

use jiff::{Timestamp, TimestampRound, Unit};

use super::StoreError;

/// What a statement is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Flag(bool),
    Text(Cow<'a, str>),
    Time(Timestamp),
}

/// Makes the values of a statement out of whatever can be one.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::store::value::Value::from($value)),*] };
}
pub(crate) use values;

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value<'_> {
    fn from(number: usize) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<Timestamp> for Value<'_> {
    /// Whole milliseconds in every database: what is read back must be what was written.
    fn from(at: Timestamp) -> Self {
        let round = TimestampRound::new().smallest(Unit::Millisecond).mode(jiff::RoundMode::Trunc);
        Self::Time(at.round(round).unwrap_or(at))
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One field of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Flag(bool),
    Text(String),
    Time(Timestamp),
}

/// One row; its fields are taken in the order the statement names them.
#[derive(Debug)]
pub(crate) struct Row(std::vec::IntoIter<Cell>);

impl Row {
    pub(crate) fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    /// Takes the next field.
    pub(crate) fn take<T: FromCell>(&mut self) -> Result<T, StoreError> {
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
pub(crate) trait FromCell: Sized {
    fn from_cell(cell: Cell) -> Result<Self, StoreError>;
}

fn unlike(wanted: &'static str, cell: &Cell) -> StoreError {
    StoreError::corrupt(wanted, format!("it is {cell:?}"))
}

impl FromCell for String {
    fn from_cell(cell: Cell) -> Result<Self, StoreError> {
        match cell {
            Cell::Text(text) => Ok(text),
            other => Err(unlike("text", &other)),
        }
    }
}

impl FromCell for i64 {
    fn from_cell(cell: Cell) -> Result<Self, StoreError> {
        match cell {
            Cell::Int(number) => Ok(number),
            other => Err(unlike("number", &other)),
        }
    }
}

impl FromCell for u64 {
    fn from_cell(cell: Cell) -> Result<Self, StoreError> {
        i64::from_cell(cell).map(|number| number.max(0).cast_unsigned())
    }
}

impl FromCell for bool {
    fn from_cell(cell: Cell) -> Result<Self, StoreError> {
        match cell {
            Cell::Flag(flag) => Ok(flag),
            // SQLite has no other kind.
            Cell::Int(number) => Ok(number != 0),
            other => Err(unlike("flag", &other)),
        }
    }
}

impl FromCell for Timestamp {
    fn from_cell(cell: Cell) -> Result<Self, StoreError> {
        match cell {
            Cell::Time(at) => Ok(at),
            // SQLite keeps moments as text that sorts.
            Cell::Text(text) => {
                text.parse().map_err(|error: jiff::Error| StoreError::corrupt("time", error))
            }
            other => Err(unlike("time", &other)),
        }
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: Cell) -> Result<Self, StoreError> {
        match cell {
            Cell::Null => Ok(None),
            cell => T::from_cell(cell).map(Some),
        }
    }
}
