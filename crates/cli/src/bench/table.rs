//! A table of figures: aligned for people, JSON for programs.

use serde_json::{Value, json};

/// Rows of one name and as many numbers as there are columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What is compared, where and how.
    pub title: String,
    /// Name and digits behind the point of each column.
    pub columns: Vec<(&'static str, usize)>,
    /// Name and numbers of each row; `None` where nothing was measured.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
    /// What a reader must know, a line each.
    pub notes: Vec<String>,
}

impl Table {
    /// The table as text.
    pub fn text(&self) -> String {
        let cell = |v: &Option<f64>, digits: usize| v.map_or("–".to_owned(), |v| format!("{v:.digits$}"));
        let first = self.rows.iter().map(|r| r.0.chars().count()).max().unwrap_or(0);
        let width = |k: usize| {
            let (name, digits) = self.columns[k];
            let cells = self.rows.iter().map(|r| cell(&r.1[k], digits).chars().count());
            cells.max().unwrap_or(0).max(name.chars().count())
        };
        let mut text = format!("{}\n{:first$}", self.title, "");
        for (k, (name, _)) in self.columns.iter().enumerate() {
            text += &format!("  {name:>0$}", width(k));
        }
        for (name, values) in &self.rows {
            text += &format!("\n{name:first$}");
            for (k, v) in values.iter().enumerate() {
                text += &format!("  {:>1$}", cell(v, self.columns[k].1), width(k));
            }
        }
        for note in &self.notes {
            text += &format!("\n{note}");
        }
        text
    }

    /// The table as JSON; what was not measured is absent.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|(name, values)| {
            let measured =
                self.columns.iter().zip(values).filter_map(|((c, _), v)| v.map(|v| (c.to_string(), v)));
            let mut row: serde_json::Map<String, Value> = measured.map(|(c, v)| (c, json!(v))).collect();
            row.insert("name".into(), json!(name));
            Value::Object(row)
        });
        json!({ "title": self.title, "rows": rows.collect::<Vec<_>>(), "notes": self.notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_what_was_not_measured_is_absent() {
        let table = Table {
            title: "Two rows".into(),
            columns: vec![("time", 1), ("count", 0)],
            rows: vec![("a".into(), vec![Some(1.25), None]), ("long".into(), vec![Some(100.0), Some(3.0)])],
            notes: vec!["a note".into()],
        };
        assert_eq!(
            table.text(),
            "Two rows\n       time  count\na       1.2      –\nlong  100.0      3\na note"
        );
        assert_eq!(table.json()["rows"][0], json!({ "name": "a", "time": 1.25 }));
    }
}
