//! Errors of scene files: what is wrong, where it is written, and what to try.

use std::fmt;
use std::path::PathBuf;

/// Longest piece of an offending line that is shown [characters].
const LINE_SHOWN: usize = 100;

/// A place in a text, ready to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File, name of the scene that ships, or `--set`.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// The offending line, shortened where it is very long.
    pub text: String,
    /// First marked character of `text`, counted from 0.
    pub mark: usize,
    /// Number of marked characters, ≥ 1.
    pub width: usize,
}

impl Place {
    /// The place of the bytes `start..end` of a text.
    pub(crate) fn of(file: &str, text: &str, start: usize, end: usize) -> Place {
        let floor = |mut i: usize| {
            i = i.min(text.len());
            while !text.is_char_boundary(i) {
                i -= 1;
            }
            i
        };
        let (start, end) = (floor(start), floor(end.max(start)));
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let column = text[line_start..start].chars().count();
        // A mark never runs past its line, and an empty one still shows a caret.
        let width = text[start..end.min(line_end).max(start)].chars().count().max(1);
        let skip = if column > LINE_SHOWN { column - LINE_SHOWN / 2 } else { 0 };
        let shown: String = (text[line_start..line_end].trim_end().chars().skip(skip).take(LINE_SHOWN))
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        Place {
            file: file.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: column + 1,
            text: shown,
            mark: column - skip,
            width: width.min(LINE_SHOWN),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let pad = " ".repeat(number.len());
        writeln!(f, "{pad}--> {}:{}:{}", self.file, self.line, self.column)?;
        writeln!(f, "{pad} |")?;
        writeln!(f, "{number} | {}", self.text)?;
        write!(f, "{pad} | {}{}", " ".repeat(self.mark), "^".repeat(self.width))
    }
}

/// Why a scene cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SceneFileError {
    /// The file cannot be read.
    #[error("cannot read the scene {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Neither a file nor a scene that ships has this name.
    #[error(
        "there is no file and no shipped scene \"{name}\"{}; `littoral scenes` lists what ships",
        suggestion(nearest)
    )]
    Unknown {
        /// The name asked for.
        name: String,
        /// The nearest name that exists.
        nearest: Option<String>,
    },
    /// The text says something that cannot be.
    #[error("{message}\n{place}{}", help_line(place, help))]
    Invalid {
        /// What is wrong: what was found and what was expected.
        message: String,
        /// Where.
        place: Box<Place>,
        /// What to try.
        help: Option<String>,
    },
    /// Something that no scene should cause.
    #[error("{message}")]
    Internal {
        /// What is wrong.
        message: String,
    },
}

impl SceneFileError {
    /// True when reading failed (exit status 4), false when the input is wrong (exit status 2).
    pub fn is_read_failure(&self) -> bool {
        matches!(self, SceneFileError::Read { .. })
    }

    /// Where the error is, if it is in a text.
    pub fn place(&self) -> Option<&Place> {
        match self {
            SceneFileError::Invalid { place, .. } => Some(place),
            _ => None,
        }
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |n| format!(" (did you mean \"{n}\"?)"))
}

fn help_line(place: &Place, help: &Option<String>) -> String {
    let pad = " ".repeat(place.line.to_string().len());
    help.as_ref().map_or(String::new(), |h| format!("\n{pad} = {h}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_characters_not_bytes() {
        let text = "a = 1\né = \"ß\" # x\n";
        let start = text.find("\"ß\"").unwrap();
        let place = Place::of("s.toml", text, start, start + 4);
        assert_eq!((place.line, place.column, place.width), (2, 5, 3));
        let shown = place.to_string();
        assert_eq!(shown, " --> s.toml:2:5\n  |\n2 | é = \"ß\" # x\n  |     ^^^");
    }

    #[test]
    fn a_place_far_along_a_line_shows_its_surroundings() {
        let text = "x".repeat(10_000);
        let place = Place::of("s", &text, 5_000, 9_000);
        assert_eq!(place.column, 5_001);
        assert!(place.mark + 1 < place.text.len() && place.text.len() <= LINE_SHOWN);
        let beyond = Place::of("s", "abc", 77, 99);
        assert_eq!((beyond.line, beyond.column, beyond.width), (1, 4, 1));
    }
}
