//! From the tree of a document to typed values: a serde deserialiser whose errors say where they are.

use super::document::{Key, Node, Span, Value};
use super::nearest::nearest;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Unexpected, Visitor};
use std::fmt;

/// What could not be decoded, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DecodeError {
    pub message: String,
    pub help: Option<String>,
    pub span: Option<Span>,
    /// The key that is not known where it stands.
    pub unknown_key: Option<String>,
}

impl DecodeError {
    fn new(message: String) -> Self {
        DecodeError { message, help: None, span: None, unknown_key: None }
    }

    /// Gives the error a place unless a deeper value has already done so.
    fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

/// Serde's name of an expected type, in words of a scene file.
fn expected_words(expected: &dyn de::Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "f64" => "a number".to_owned(),
        "u32" | "u64" | "usize" => "a whole number, not negative".to_owned(),
        "i32" | "i64" => "a whole number".to_owned(),
        "a sequence" => "an array".to_owned(),
        w if w.starts_with("struct ") => "a table".to_owned(),
        w if w.starts_with("enum ") => "a name or a table with one key".to_owned(),
        w => w.to_owned(),
    }
}

/// What was found, in words of a scene file.
fn found_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(b) => format!("the boolean {b}"),
        Unexpected::Unsigned(n) => format!("{n}"),
        Unexpected::Signed(n) => format!("{n}"),
        Unexpected::Float(x) => format!("{x}"),
        Unexpected::Str(s) => format!("the string \"{}\"", shortened(s)),
        Unexpected::Seq => "an array".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// At most the first 40 characters of a text: an error line stays a line.
pub(crate) fn shortened(text: &str) -> String {
    let mut out: String = text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(40).is_some() {
        out.push('…');
    }
    out
}

/// "unknown …" with the nearest known word and the list of all.
fn unknown(what: &str, word: &str, known: &[&str]) -> DecodeError {
    let mut list: Vec<&str> = known.to_vec();
    list.sort_unstable();
    let list = list.join(", ");
    let help = match nearest(word, known.iter().copied()) {
        Some(best) => format!("did you mean \"{best}\"? known here: {list}"),
        None if known.is_empty() => "no key is known here".to_owned(),
        None => format!("known here: {list}"),
    };
    let mut error = DecodeError::new(format!("unknown {what} \"{}\"", shortened(word)));
    error.help = Some(help);
    error
}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        DecodeError::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        DecodeError::new(format!("expected {}, found {}", expected_words(expected), found_words(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        DecodeError::new(format!("expected {}, found length {length}", expected_words(expected)))
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        unknown("name", variant, known)
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        DecodeError { unknown_key: Some(field.to_owned()), ..unknown("key", field, known) }
    }

    fn missing_field(field: &'static str) -> Self {
        DecodeError::new(format!("the key \"{field}\" is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        DecodeError::new(format!("the key \"{field}\" appears twice"))
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let result = match &self.value {
            Value::Boolean(b) => visitor.visit_bool(*b),
            Value::Integer(i) => visitor.visit_i64(*i),
            Value::Float(f) if !f.is_finite() => {
                Err(DecodeError::new(format!("expected a finite number, found {f}")))
            }
            Value::Float(f) => visitor.visit_f64(*f),
            Value::String(s) => visitor.visit_borrowed_str(s),
            Value::Array(items) => {
                let mut rest = items.iter();
                visitor.visit_seq(Items(&mut rest)).and_then(|value| match rest.len() {
                    0 => Ok(value),
                    more => Err(DecodeError::new(format!(
                        "expected an array of length {}, found length {}",
                        items.len() - more,
                        items.len()
                    ))),
                })
            }
            Value::Table(entries) => visitor.visit_map(Entries { rest: entries.iter(), value: None }),
        };
        result.map_err(|e| e.at(self.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let result = match &self.value {
            Value::String(name) => visitor.visit_enum(Variant { name, span: self.span, content: None }),
            Value::Table(entries) => match entries.as_slice() {
                [(key, node)] => {
                    visitor.visit_enum(Variant { name: &key.name, span: key.span, content: Some(node) })
                }
                [] => Err(DecodeError::new(format!(
                    "expected one of the keys {}, found none",
                    known.join(", ")
                ))),
                [(first, _), (second, _), ..] => {
                    let message =
                        format!("expected one key, found both \"{}\" and \"{}\"", first.name, second.name);
                    Err(DecodeError::new(message).at(second.span))
                }
            },
            other => {
                Err(DecodeError::new(format!("expected one of {}, found {}", known.join(", "), other.kind())))
            }
        };
        result.map_err(|e| e.at(self.span))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a, 'de>(&'a mut std::slice::Iter<'de, Node>);

impl<'de> de::SeqAccess<'de> for Items<'_, 'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        self.0.next().map(|node| seed.deserialize(node)).transpose()
    }
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, (Key, Node)>,
    value: Option<&'de Node>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some((key, node)) = self.rest.next() else { return Ok(None) };
        self.value = Some(node);
        let name: de::value::BorrowedStrDeserializer<'_, DecodeError> =
            de::value::BorrowedStrDeserializer::new(&key.name);
        seed.deserialize(name).map(Some).map_err(|e| e.at(key.span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        match self.value.take() {
            Some(node) => seed.deserialize(node),
            None => Err(DecodeError::new("a value was asked for before its key".to_owned())),
        }
    }
}

struct Variant<'de> {
    name: &'de str,
    span: Span,
    content: Option<&'de Node>,
}

impl<'de> de::EnumAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DecodeError> {
        let name: de::value::StrDeserializer<'_, DecodeError> = self.name.into_deserializer();
        Ok((seed.deserialize(name).map_err(|e| e.at(self.span))?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        match self.content {
            None => Ok(()),
            Some(node) => {
                Err(DecodeError::new(format!("\"{}\" takes no keys: write just the name", self.name))
                    .at(node.span))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DecodeError> {
        let empty = Node { span: self.span, value: Value::Table(Vec::new()) };
        match self.content {
            Some(node) => seed.deserialize(node),
            // Every key has a default, so `mesh = "sphere"` is `mesh = { sphere = {} }`.
            None => seed.deserialize(Owned(empty)),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.newtype_variant_seed(VisitorSeed(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.newtype_variant_seed(VisitorSeed(visitor))
    }
}

struct VisitorSeed<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for VisitorSeed<V> {
    type Value = V::Value;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<V::Value, D::Error> {
        d.deserialize_any(self.0)
    }
}

/// An empty table that lives no longer than its decoding.
struct Owned(Node);

impl<'de> Deserializer<'de> for Owned {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_map(Entries { rest: [].iter(), value: None }).map_err(|e| e.at(self.0.span))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
