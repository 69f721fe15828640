//! A scene file as a tree in which every key and value remembers where it was written.
//!
//! TOML and JSON become the same tree, and `--set KEY=VALUE` edits it before anything is interpreted, so that
//! one decoder and one set of checks serve all three, and each error can show the text it is about.

use super::error::{Place, SceneFileError};
use super::json;
use super::nearest::nearest;
use toml::de::{DeTable, DeValue};

/// Nothing in a scene file is nested deeper; a bound keeps hostile input from exhausting the stack.
pub(crate) const DEPTH_MAX: usize = 64;

/// A range of bytes in one of the texts of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// Index of the text: 0 is the file, k the k-th `--set`.
    pub text: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub span: Span,
    pub value: Value,
}

/// A key and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub span: Span,
    pub name: String,
}

/// What TOML and JSON have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    String(String),
    Array(Vec<Node>),
    Table(Vec<(Key, Node)>),
}

impl Value {
    /// What an error calls a value of this kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Boolean(_) => "a boolean",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }
}

impl Node {
    /// The value of a key, when this is a table that has it.
    pub fn get(&self, name: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(k, _)| k.name == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(entries) => entries.iter_mut().find(|(k, _)| k.name == name).map(|(_, v)| v),
            _ => None,
        }
    }
}

/// A text and what an error calls it.
#[derive(Clone, Debug)]
struct Text {
    label: String,
    text: String,
}

/// The tree and the texts it came from.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    texts: Vec<Text>,
    /// The top-level table.
    pub root: Node,
}

impl Document {
    /// Reads a text as JSON when it starts with `{` (no TOML document does), else as TOML.
    pub fn parse(label: &str, text: &str) -> Result<Document, SceneFileError> {
        let empty = Node { span: Span::default(), value: Value::Table(Vec::new()) };
        let texts = vec![Text { label: label.to_owned(), text: text.to_owned() }];
        let mut document = Document { texts, root: empty };
        let is_json = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('{');
        document.root = if is_json {
            json::parse(text).map_err(|(span, message)| document.error(span, &message, None))?
        } else {
            let table = DeTable::parse(text).map_err(|e| {
                let range = e.span().unwrap_or(0..0);
                let span = Span { text: 0, start: range.start, end: range.end };
                document.error(span, e.message(), None)
            })?;
            let span = Span { text: 0, start: 0, end: 0 };
            let value = table_value(table.get_ref(), 0, 0)
                .map_err(|(span, message)| document.error(span, &message, None))?;
            Node { span, value }
        };
        Ok(document)
    }

    /// Edits the tree as `--set KEY=VALUE` asks: `solver.iterations=5`, `cloth.0.mesh.grid.cells=[40,40]`.
    ///
    /// The value is TOML; a bare word is a string. An array element is chosen by index or by its `name`.
    /// A key that no scene has is inserted all the same: decoding finds it, with the keys that exist there.
    pub fn set(&mut self, argument: &str) -> Result<(), SceneFileError> {
        let text = self.texts.len();
        self.texts.push(Text { label: "--set".to_owned(), text: argument.to_owned() });
        let whole = Span { text, start: 0, end: argument.len() };
        let Some(equals) = argument.find('=') else {
            return Err(self.error(
                whole,
                "expected KEY=VALUE",
                Some("for example --set solver.iterations=5"),
            ));
        };
        let value_span = Span { text, start: equals + 1, end: argument.len() };
        let value = self.set_value(&argument[equals + 1..], value_span)?;
        let mut segments = Vec::new();
        let mut start = 0;
        for part in argument[..equals].split('.') {
            let span = Span { text, start, end: start + part.len() };
            start = span.end + 1;
            let name = part.trim().to_owned();
            if name.is_empty() || segments.len() >= DEPTH_MAX {
                return Err(self.error(span, "expected a key such as solver.iterations", None));
            }
            segments.push(Key { span, name });
        }
        let result = insert(&mut self.root, &segments, Node { span: value_span, value });
        result.map_err(|(span, message)| self.error(span, &message, None))
    }

    /// The right-hand side of `--set`.
    fn set_value(&self, text: &str, span: Span) -> Result<Value, SceneFileError> {
        let parsed = match DeValue::parse(text.trim()) {
            Ok(value) => value_of(value.get_ref(), span.text, 0)
                .map(|mut value| {
                    respan(&mut value, span);
                    value
                })
                .map_err(|(_, message)| message),
            // A bare word: `--set solver.method=vbd` needs no quotes that a shell would eat.
            Err(_) if !text.trim().is_empty() && !text.contains(['"', '\'', '[', ']', '{', '}', '\n']) => {
                Ok(Value::String(text.trim().to_owned()))
            }
            Err(e) => Err(e.message().to_owned()),
        };
        parsed.map_err(|message| self.error(span, &message, None))
    }

    /// Where a value stands, by its path (`cloth.0.material.poisson`); the nearest enclosing table where the
    /// path itself was not written.
    pub fn locate(&self, path: &str) -> Span {
        let mut node = &self.root;
        for segment in path.split('.').filter(|s| !s.is_empty()) {
            let next = match &node.value {
                Value::Array(items) => segment.parse::<usize>().ok().and_then(|i| items.get(i)),
                _ => node.get(segment),
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node.span
    }

    /// An error that shows the text at a span.
    pub fn error(&self, span: Span, message: &str, help: Option<&str>) -> SceneFileError {
        let place = match self.texts.get(span.text) {
            Some(t) => Place::of(&t.label, &t.text, span.start, span.end),
            None => Place::default(),
        };
        SceneFileError::Invalid {
            message: message.to_owned(),
            place: Box::new(place),
            help: help.map(str::to_owned),
        }
    }

    /// An error about the value at a path.
    pub fn error_at(&self, path: &str, message: &str, help: Option<&str>) -> SceneFileError {
        self.error(self.locate(path), message, help)
    }
}

/// Puts `value` at the end of the path, creating the tables on the way.
fn insert(node: &mut Node, path: &[Key], value: Node) -> Result<(), (Span, String)> {
    let Some((key, rest)) = path.split_first() else {
        *node = value;
        return Ok(());
    };
    // `material = "cotton"` is short for `material = { preset = "cotton" }`.
    if let Value::String(preset) = &node.value {
        let preset = Node { span: node.span, value: Value::String(preset.clone()) };
        let name = Key { span: node.span, name: "preset".to_owned() };
        node.value = Value::Table(vec![(name, preset)]);
    }
    match &mut node.value {
        Value::Array(items) => {
            let index = element(items, &key.name).map_err(|message| (key.span, message))?;
            insert(&mut items[index], rest, value)
        }
        Value::Table(entries) => {
            let index = match entries.iter().position(|(k, _)| k.name == key.name) {
                Some(index) => index,
                None if rest.first().is_some_and(|k| k.name.parse::<usize>().is_ok()) => {
                    return Err((key.span, format!("the scene has no [[{}]]", key.name)));
                }
                None => {
                    let empty = Node { span: key.span, value: Value::Table(Vec::new()) };
                    entries.push((key.clone(), empty));
                    entries.len() - 1
                }
            };
            if rest.is_empty() {
                entries[index].0.span = key.span;
            }
            insert(&mut entries[index].1, rest, value)
        }
        other => Err((key.span, format!("\"{}\" cannot be set inside {}", key.name, other.kind()))),
    }
}

/// Index of an array element given by number or by its `name`.
fn element(items: &[Node], key: &str) -> Result<usize, String> {
    let index = match key.parse::<usize>() {
        Ok(index) => Some(index).filter(|&i| i < items.len()),
        Err(_) => items.iter().position(|item| {
            item.get("name").is_some_and(|n| matches!(&n.value, Value::String(name) if name == key))
        }),
    };
    index.ok_or_else(|| {
        let names: Vec<&str> = (items.iter())
            .filter_map(|item| match &item.get("name")?.value {
                Value::String(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let hint = nearest(key, names.iter().copied()).map(|n| format!("; the nearest name is \"{n}\""));
        format!(
            "there is no element \"{key}\": expected an index from 0 to {} or a name{}",
            items.len().saturating_sub(1),
            hint.unwrap_or_default()
        )
    })
}

/// Gives a whole value the span of the `--set` argument it came from.
fn respan(value: &mut Value, span: Span) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|n| {
            n.span = span;
            respan(&mut n.value, span);
        }),
        Value::Table(entries) => entries.iter_mut().for_each(|(k, n)| {
            k.span = span;
            n.span = span;
            respan(&mut n.value, span);
        }),
        Value::Boolean(_) | Value::Integer(_) | Value::Float(_) | Value::String(_) => {}
    }
}

fn table_value(table: &DeTable<'_>, text: usize, depth: usize) -> Result<Value, (Span, String)> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table.iter() {
        let span = Span { text, start: key.span().start, end: key.span().end };
        entries.push((Key { span, name: key.get_ref().to_string() }, node_of(value, text, depth + 1)?));
    }
    // The map is sorted by name; errors come in the order of the file.
    entries.sort_by_key(|(key, _)| key.span.start);
    Ok(Value::Table(entries))
}

fn node_of(value: &toml::Spanned<DeValue<'_>>, text: usize, depth: usize) -> Result<Node, (Span, String)> {
    let span = Span { text, start: value.span().start, end: value.span().end };
    let value = value_of(value.get_ref(), text, depth).map_err(|(inner, message)| {
        let place = if inner == Span::default() { span } else { inner };
        (place, message)
    })?;
    Ok(Node { span, value })
}

/// A TOML value as a node's value; an error without a place of its own has the default span.
fn value_of(value: &DeValue<'_>, text: usize, depth: usize) -> Result<Value, (Span, String)> {
    if depth > DEPTH_MAX {
        return Err((Span::default(), format!("nested deeper than {DEPTH_MAX} levels")));
    }
    let here = |message: String| (Span::default(), message);
    Ok(match value {
        DeValue::Boolean(b) => Value::Boolean(*b),
        DeValue::String(s) => Value::String(s.to_string()),
        DeValue::Integer(i) => {
            let parsed = i64::from_str_radix(i.as_str(), i.radix());
            Value::Integer(parsed.map_err(|_| here("this whole number is too large".to_owned()))?)
        }
        DeValue::Float(f) => {
            let parsed = f.as_str().parse::<f64>();
            Value::Float(parsed.map_err(|_| here("this is not a number".to_owned()))?)
        }
        DeValue::Datetime(_) => return Err(here("a scene has no dates; is a quote missing?".to_owned())),
        DeValue::Array(items) => {
            let nodes: Result<Vec<Node>, _> = items.iter().map(|n| node_of(n, text, depth + 1)).collect();
            Value::Array(nodes?)
        }
        DeValue::Table(table) => table_value(table, text, depth)?,
    })
}
