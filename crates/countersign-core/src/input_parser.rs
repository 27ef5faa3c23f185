//! Intake: the input of a call, read from text so strictly that nobody can read it otherwise.
//!
//! Two programs that take the same text for different values are a way around a gate: one value is
//! judged, the other runs. What JSON parsers differ on is therefore refused.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::InvalidCall;

/// Above this many bytes an input is not read.
const SIZE_LIMIT: usize = 16 * 1024 * 1024;

/// How deep objects and lists may lie in each other.
const DEPTH_LIMIT: usize = 64;

/// From here on some keep every digit of a whole number and others round it: 2^64.
const LARGEST: f64 = 18_446_744_073_709_551_616.0;

/// Keys that our own JSON library takes for something else than keys.
const RESERVED: &str = "$serde_json::private::";

/// Reads the input of a call: one JSON object that can be read in one way only.
pub fn parse_input(raw: &str) -> Result<Value, InvalidCall> {
    if raw.len() > SIZE_LIMIT {
        return Err(InvalidCall(format!(
            "the input has {} bytes, the limit is {SIZE_LIMIT}: send less at once",
            raw.len()
        )));
    }
    let mut reader = serde_json::Deserializer::from_str(raw);
    let read = StrictJsonReader { depth: 0 }.deserialize(&mut reader);
    let value = read.and_then(|value| reader.end().map(|()| value)).map_err(|error| {
        InvalidCall(format!("the input is not strict JSON: {error}; mend it and send it again"))
    })?;
    match value {
        Value::Object(_) => Ok(value),
        other => Err(InvalidCall(format!(
            "the input is {}, not an object: send `{{…}}` with the tool's fields",
            kind(&other)
        ))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Reads one value, so many levels down.
#[derive(Clone, Copy)]
struct StrictJsonReader {
    depth: usize,
}

impl StrictJsonReader {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth >= DEPTH_LIMIT {
            return Err(E::custom(format_args!(
                "it is nested deeper than {DEPTH_LIMIT} levels: flatten it"
            )));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for StrictJsonReader {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictJsonReader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .filter(|_| value.abs() < LARGEST)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is too large: write a smaller one"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key `{}` is there twice: leave one out",
                    key.escape_debug()
                )));
            }
            if key.starts_with(RESERVED) {
                return Err(A::Error::custom("a key has a reserved name: choose another"));
            }
            let value = fields.next_value_seed(inner)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests;
