//! A table of figures: aligned for people, JSON for programs.

use serde_json::{Value, json};

/// Exponents of ten that a number may have before it is written as a power.
const LARGEST: i32 = 5;

/// One entry of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A verdict.
    Verdict(bool),
    /// Nothing was measured.
    Empty,
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        if number.is_finite() { Cell::Number(number) } else { Cell::Empty }
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Cell::Empty, Cell::from)
    }
}

impl Cell {
    /// With so many digits behind the point, or of a power of ten where those would not show the number.
    fn text(self, digits: usize) -> String {
        match self {
            Cell::Number(v) if v != 0.0 && v.abs() < 0.5 * 10.0_f64.powi(-(digits as i32)) => {
                format!("{v:.2e}")
            }
            Cell::Number(v) if v.abs() >= 10.0_f64.powi(LARGEST + 1) => format!("{v:.3e}"),
            Cell::Number(v) => format!("{v:.digits$}"),
            Cell::Verdict(true) => "yes".into(),
            Cell::Verdict(false) => "NO".into(),
            Cell::Empty => "–".into(),
        }
    }

    fn json(self) -> Option<Value> {
        match self {
            Cell::Number(v) => Some(json!(v)),
            Cell::Verdict(v) => Some(json!(v)),
            Cell::Empty => None,
        }
    }
}

/// Name and cells.
pub type Row = (String, Vec<Cell>);

/// Rows of one name and as many cells as there are columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What is compared, where and how.
    pub title: String,
    /// Name and digits behind the point of each column.
    pub columns: Vec<(&'static str, usize)>,
    /// Name and cells of each row.
    pub rows: Vec<Row>,
    /// What a reader must know, a line each.
    pub notes: Vec<String>,
}

impl Table {
    /// The table as text.
    pub fn text(&self) -> String {
        let first = self.rows.iter().map(|r| r.0.chars().count()).max().unwrap_or(0);
        let width = |k: usize| {
            let (name, digits) = self.columns[k];
            let cells = self.rows.iter().map(|r| r.1[k].text(digits).chars().count());
            cells.max().unwrap_or(0).max(name.chars().count())
        };
        let mut text = format!("{}\n{:first$}", self.title, "");
        for (k, (name, _)) in self.columns.iter().enumerate() {
            text += &format!("  {name:>0$}", width(k));
        }
        for (name, values) in &self.rows {
            text += &format!("\n{name:first$}");
            for (k, v) in values.iter().enumerate() {
                text += &format!("  {:>1$}", v.text(self.columns[k].1), width(k));
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
                self.columns.iter().zip(values).filter_map(|((c, _), v)| Some((c.to_string(), v.json()?)));
            let mut row: serde_json::Map<String, Value> = measured.collect();
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
            rows: vec![
                ("a".into(), vec![Cell::Number(1.25), Cell::Empty]),
                ("long".into(), vec![Cell::Number(100.0), Cell::Number(3.0)]),
            ],
            notes: vec!["a note".into()],
        };
        assert_eq!(
            table.text(),
            "Two rows\n       time  count\na       1.2      –\nlong  100.0      3\na note"
        );
        assert_eq!(table.json()["rows"][0], json!({ "name": "a", "time": 1.25 }));
    }

    #[test]
    fn numbers_that_their_digits_would_not_show_are_powers() {
        assert_eq!(Cell::from(2.233e-6).text(3), "2.23e-6");
        assert_eq!(Cell::from(0.0).text(3), "0.000");
        assert_eq!(Cell::from(4.32e8).text(3), "4.320e8");
        assert_eq!(Cell::from(f64::NAN).text(3), "–");
        assert_eq!(
            (Cell::Verdict(false).text(0), Cell::Verdict(true).json()),
            ("NO".into(), Some(json!(true)))
        );
    }
}
