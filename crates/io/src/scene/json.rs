//! A JSON reader that remembers where each value stands (RFC 8259; a `null` member counts as absent).

use super::document::{DEPTH_MAX, Key, Node, Span, Value};

/// Where reading failed and why.
type Failure = (Span, String);

/// Reads one JSON document.
pub(crate) fn parse(text: &str) -> Result<Node, Failure> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let node = reader.value(0)?.ok_or((Span::default(), "expected a table, found null".to_owned()))?;
    reader.blank();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.failure("expected the end of the file")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn blank(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn span(&self, start: usize) -> Span {
        Span { text: 0, start, end: self.at }
    }

    fn failure(&self, message: &str) -> Failure {
        let width = self.peek().map_or(0, char::len_utf8);
        (Span { text: 0, start: self.at, end: self.at + width }, message.to_owned())
    }

    fn expect(&mut self, c: char, message: &str) -> Result<(), Failure> {
        self.blank();
        if self.peek() != Some(c) {
            return Err(self.failure(message));
        }
        self.at += c.len_utf8();
        Ok(())
    }

    /// The next value; `None` for null.
    fn value(&mut self, depth: usize) -> Result<Option<Node>, Failure> {
        self.blank();
        if depth > DEPTH_MAX {
            return Err(self.failure(&format!("nested deeper than {DEPTH_MAX} levels")));
        }
        let start = self.at;
        let value = match self.peek() {
            Some('{') => self.table(depth)?,
            Some('[') => self.array(depth)?,
            Some('"') => Value::String(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            Some('a'..='z') => match self.word() {
                "true" => Value::Boolean(true),
                "false" => Value::Boolean(false),
                "null" => return Ok(None),
                _ => return Err((self.span(start), "expected a value".to_owned())),
            },
            _ => return Err(self.failure("expected a value")),
        };
        Ok(Some(Node { span: self.span(start), value }))
    }

    fn word(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn table(&mut self, depth: usize) -> Result<Value, Failure> {
        self.at += 1;
        let mut entries: Vec<(Key, Node)> = Vec::new();
        self.blank();
        if self.peek() == Some('}') {
            self.at += 1;
            return Ok(Value::Table(entries));
        }
        loop {
            self.blank();
            let start = self.at;
            if self.peek() != Some('"') {
                return Err(self.failure("expected a key in double quotes"));
            }
            let name = self.string()?;
            let key = Key { span: self.span(start), name };
            if entries.iter().any(|(k, _)| k.name == key.name) {
                return Err((key.span, format!("duplicate key \"{}\"", key.name)));
            }
            self.expect(':', "expected `:` after the key")?;
            if let Some(node) = self.value(depth + 1)? {
                entries.push((key, node));
            }
            self.blank();
            match self.peek() {
                Some(',') => self.at += 1,
                Some('}') => {
                    self.at += 1;
                    return Ok(Value::Table(entries));
                }
                _ => return Err(self.failure("expected `,` or `}`")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Failure> {
        self.at += 1;
        let mut items = Vec::new();
        self.blank();
        if self.peek() == Some(']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            let start = self.at;
            match self.value(depth + 1)? {
                Some(node) => items.push(node),
                None => return Err((self.span(start), "expected a value, found null".to_owned())),
            }
            self.blank();
            match self.peek() {
                Some(',') => self.at += 1,
                Some(']') => {
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                _ => return Err(self.failure("expected `,` or `]`")),
            }
        }
    }

    fn number(&mut self) -> Result<Value, Failure> {
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        self.at = start + end.unwrap_or(rest.len());
        let word = &self.text[start..self.at];
        let is_whole = !word.contains(['.', 'e', 'E']);
        if let (true, Ok(i)) = (is_whole, word.parse::<i64>()) {
            return Ok(Value::Integer(i));
        }
        let parsed = word.parse::<f64>();
        parsed.map(Value::Float).map_err(|_| (self.span(start), "this is not a number".to_owned()))
    }

    fn string(&mut self) -> Result<String, Failure> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => out.push(self.escape()?),
                '\n' => break,
                c => out.push(c),
            }
        }
        Err((self.span(start), "this string has no closing quote".to_owned()))
    }

    fn escape(&mut self) -> Result<char, Failure> {
        let Some(c) = self.peek() else { return Err(self.failure("the file ends inside a string")) };
        self.at += c.len_utf8();
        Ok(match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.hex()?;
                // A character beyond the basic plane comes as two surrogates.
                let code = if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    let second = self.hex()?;
                    0x10000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff)
                } else {
                    first
                };
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(self.failure("unknown escape in a string")),
        })
    }

    fn hex(&mut self) -> Result<u32, Failure> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|d| u32::from_str_radix(d, 16).ok());
        let code = digits.ok_or_else(|| self.failure("expected four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oracle(node: &Node) -> serde_json::Value {
        match &node.value {
            Value::Boolean(b) => (*b).into(),
            Value::Integer(i) => (*i).into(),
            Value::Float(f) => (*f).into(),
            Value::String(s) => s.as_str().into(),
            Value::Array(items) => items.iter().map(oracle).collect(),
            Value::Table(t) => {
                serde_json::Value::Object(t.iter().map(|(k, n)| (k.name.clone(), oracle(n))).collect())
            }
        }
    }

    #[test]
    fn reads_what_serde_json_reads() {
        let text =
            r#" {"a": [1, -2.5e3, true, false, []], "b": {"c": "x\n\"é\u00e9\ud83d\ude00"}, "d": {} } "#;
        let expected: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(oracle(&parse(text).unwrap()), expected);
    }

    #[test]
    fn broken_text_is_an_error_at_its_place() {
        for (text, at) in [
            ("{", 1),
            ("{\"a\" 1}", 5),
            ("{\"a\": 1,}", 8),
            ("{\"a\": [1 2]}", 9),
            ("{\"a\": nul}", 6),
            ("{\"a\": 1, \"a\": 2}", 9),
            ("{\"a\": \"b}", 6),
            ("{} x", 3),
        ] {
            assert_eq!(parse(text).unwrap_err().0.start, at, "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
