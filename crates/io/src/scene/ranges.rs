//! Ranges of numbers, as the JSON Schema states them: the bounds that are published are the bounds that hold.

use super::document::{Node, Span, Value};
use serde_json::Value as Json;

/// Finds the first number outside the range its schema gives it.
pub(crate) fn check(schema: &Json, root: &Node) -> Result<(), (Span, String)> {
    Walk { root: schema }.node(schema, root, "value")
}

struct Walk<'a> {
    root: &'a Json,
}

impl Walk<'_> {
    fn node(&self, schema: &Json, node: &Node, name: &str) -> Result<(), (Span, String)> {
        if let Some(target) = schema.get("$ref").and_then(Json::as_str) {
            let pointer = target.trim_start_matches('#');
            if let Some(target) = self.root.pointer(pointer) {
                self.node(target, node, name)?;
            }
        }
        // Decoding has already chosen among alternatives: only those of the value's own kind hold a bound for it.
        for alternatives in ["oneOf", "anyOf", "allOf"] {
            for alternative in schema.get(alternatives).and_then(Json::as_array).into_iter().flatten() {
                self.node(alternative, node, name)?;
            }
        }
        match &node.value {
            Value::Integer(i) => within(schema, *i as f64).map_err(|m| (node.span, message(name, &m, *i))),
            Value::Float(x) => within(schema, *x).map_err(|m| (node.span, message(name, &m, *x))),
            Value::Array(items) => match schema.get("items") {
                Some(schema) => items.iter().try_for_each(|item| self.node(schema, item, name)),
                None => Ok(()),
            },
            Value::Table(entries) => entries.iter().try_for_each(|(key, value)| {
                match schema.get("properties").and_then(|p| p.get(&key.name)) {
                    Some(schema) => self.node(schema, value, &key.name),
                    None => Ok(()),
                }
            }),
            Value::Boolean(_) | Value::String(_) => Ok(()),
        }
    }
}

fn message(name: &str, bound: &str, found: impl std::fmt::Display) -> String {
    format!("{name} must be {bound}, found {found}")
}

/// The bounds of a schema in words, if `x` is outside of them.
fn within(schema: &Json, x: f64) -> Result<(), String> {
    let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
    let (at_least, at_most) = (bound("minimum"), bound("maximum"));
    let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
    let is_within = at_least.is_none_or(|b| x >= b)
        && at_most.is_none_or(|b| x <= b)
        && above.is_none_or(|b| x > b)
        && below.is_none_or(|b| x < b);
    if is_within {
        return Ok(());
    }
    let words = [("at least", at_least), ("above", above), ("at most", at_most), ("below", below)];
    let parts: Vec<String> = (words.iter()).filter_map(|(w, b)| b.map(|b| format!("{w} {b}"))).collect();
    Err(parts.join(" and "))
}
