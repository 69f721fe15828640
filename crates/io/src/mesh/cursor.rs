//! A reading position in a file that may mix text and binary: lines, words, numbers, and where they stand.

use super::error::{MeshError, Place, Source, quote};

/// A number type of a binary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    /// Size [byte].
    pub fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// The value as f64 (64-bit integers are rounded).
    fn float(self, word: u64) -> f64 {
        match self {
            Scalar::F32 => f32::from_bits(word as u32).into(),
            Scalar::F64 => f64::from_bits(word),
            Scalar::U64 => word as f64,
            Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::I32 | Scalar::U32 | Scalar::I64 => {
                self.integer(word).map_or(f64::NAN, |i| i as f64)
            }
        }
    }

    /// The value as i64; `None` for one that is fractional or too large.
    fn integer(self, word: u64) -> Option<i64> {
        match self {
            Scalar::I8 => Some((word as i8).into()),
            Scalar::U8 => Some((word as u8).into()),
            Scalar::I16 => Some((word as i16).into()),
            Scalar::U16 => Some((word as u16).into()),
            Scalar::I32 => Some((word as i32).into()),
            Scalar::U32 => Some((word as u32).into()),
            Scalar::I64 => Some(word as i64),
            Scalar::U64 => i64::try_from(word).ok(),
            Scalar::F32 | Scalar::F64 => whole(self.float(word)),
        }
    }
}

/// The integer that a float is, below 2⁵³ where floats stop to be exact.
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then_some(value as i64)
}

/// How numbers are written from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Words between white space.
    Text,
    /// Fixed size, least significant byte first.
    Little,
    /// Fixed size, most significant byte first.
    Big,
}

/// A reading position. After an error, where it stands is of no consequence.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    pub source: Source<'a>,
    pub encoding: Encoding,
    position: usize,
    /// Line of `position`, and line of the last item read.
    line: u64,
    last_line: u64,
    /// Offset of the last item read.
    last_byte: usize,
    /// After binary data, line numbers mean nothing.
    lines_count: bool,
}

impl<'a> Cursor<'a> {
    pub fn new(source: Source<'a>) -> Self {
        Cursor {
            source,
            encoding: Encoding::Text,
            position: 0,
            line: 1,
            last_line: 1,
            last_byte: 0,
            lines_count: true,
        }
    }

    /// Place of the item read last.
    pub fn place(&self) -> Place {
        if self.lines_count { Place::line(self.last_line) } else { Place::byte(self.last_byte) }
    }

    /// Line of the item read last.
    pub fn line_read(&self) -> u64 {
        self.last_line
    }

    pub fn remaining(&self) -> usize {
        self.source.bytes.len() - self.position
    }

    fn rest(&self) -> &'a [u8] {
        &self.source.bytes[self.position..]
    }

    /// The next line, without its end; `None` at the end of the file.
    pub fn next_line(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        (self.last_line, self.last_byte) = (self.line, self.position);
        let end = rest.iter().position(|&b| b == b'\n');
        self.position += end.map_or(rest.len(), |e| e + 1);
        self.line += 1;
        let line = &rest[..end.unwrap_or(rest.len())];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// What is left of the current line; leaves the next item at the start of a line.
    pub fn rest_of_line(&mut self) -> &'a [u8] {
        let last = (self.last_line, self.last_byte);
        let line = self.next_line().unwrap_or_default();
        (self.last_line, self.last_byte) = last;
        line
    }

    pub fn skip_white(&mut self) {
        let rest = self.rest();
        let white = rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
        self.line += rest[..white].iter().filter(|&&b| b == b'\n').count() as u64;
        self.position += white;
    }

    /// The next word; `None` at the end of the file.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_white();
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        (self.last_line, self.last_byte) = (self.line, self.position);
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.position += end;
        Some(&rest[..end])
    }

    /// The next word, which must exist.
    pub fn need_word(&mut self, expected: &str) -> Result<&'a [u8], MeshError> {
        self.word()
            .ok_or_else(|| self.source.truncated(Place::line(self.line), expected, "the end of the file"))
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize, expected: &str) -> Result<&'a [u8], MeshError> {
        (self.lines_count, self.last_byte) = (false, self.position);
        let taken = self.rest().get(..count).ok_or_else(|| {
            let left = format!("{} bytes", self.remaining());
            self.source.truncated(self.place(), expected, left)
        })?;
        self.position += count;
        Ok(taken)
    }

    /// Moves behind the next line that starts with `marker`; false when there is none.
    pub fn skip_past_line(&mut self, marker: &[u8]) -> bool {
        while let Some(line) = self.next_line() {
            // Binary data may end without a line end in front of the marker.
            if line.trim_ascii_end().ends_with(marker) {
                return true;
            }
        }
        false
    }

    /// Refuses a count that the rest of the file cannot hold, so that nothing is allocated on a header's word.
    /// `words` numbers of at least `binary_bytes` in all make one item; in text a number and its separator take 2 bytes.
    pub fn check_count(
        &self,
        count: usize,
        words: usize,
        binary_bytes: usize,
        what: &str,
    ) -> Result<usize, MeshError> {
        let each = if self.encoding == Encoding::Text { 2 * words } else { binary_bytes };
        // The last word of a text needs no separator.
        if count.checked_mul(each).is_none_or(|need| need > self.remaining() + 1) {
            let expected = format!("{count} {what} of at least {each} bytes each");
            return Err(self.source.truncated(self.place(), expected, format!("{} bytes", self.remaining())));
        }
        Ok(count)
    }

    fn binary(&mut self, scalar: Scalar, expected: &str) -> Result<u64, MeshError> {
        let bytes = self.take(scalar.size(), expected)?;
        let fold = |word: u64, byte: &u8| (word << 8) | u64::from(*byte);
        Ok(if self.encoding == Encoding::Big {
            bytes.iter().fold(0, fold)
        } else {
            bytes.iter().rev().fold(0, fold)
        })
    }

    /// The next number, as f64.
    pub fn float(&mut self, scalar: Scalar, expected: &str) -> Result<f64, MeshError> {
        if self.encoding != Encoding::Text {
            return Ok(scalar.float(self.binary(scalar, expected)?));
        }
        let word = self.need_word(expected)?;
        parse_float(word).ok_or_else(|| bad_number(&self.source, self.place(), expected, word))
    }

    /// The next number, as an integer.
    pub fn integer(&mut self, scalar: Scalar, expected: &str) -> Result<i64, MeshError> {
        if self.encoding != Encoding::Text {
            let word = self.binary(scalar, expected)?;
            return scalar.integer(word).ok_or_else(|| {
                let found = scalar.float(word).to_string();
                self.source.malformed(self.place(), expected, found, "export the mesh again")
            });
        }
        let word = self.need_word(expected)?;
        parse_integer(word)
            .or_else(|| parse_float(word).filter(|_| scalar.is_float()).and_then(whole))
            .ok_or_else(|| bad_number(&self.source, self.place(), expected, word))
    }

    /// The next number, as a count: not negative.
    pub fn count(&mut self, scalar: Scalar, expected: &str) -> Result<usize, MeshError> {
        let value = self.integer(scalar, expected)?;
        usize::try_from(value).map_err(|_| {
            self.source.malformed(self.place(), expected, value.to_string(), "a count cannot be negative")
        })
    }
}

/// A decimal number, `nan` and `inf` included.
pub(super) fn parse_float(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A decimal integer.
pub(super) fn parse_integer(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The error for a word that is no number.
pub(super) fn bad_number(source: &Source<'_>, place: Place, expected: &str, word: &[u8]) -> MeshError {
    let hint = if word.contains(&b',') {
        "write decimals with a point, and separate numbers by spaces"
    } else {
        "correct that line or export the mesh again"
    };
    source.malformed(place, expected, quote(word), hint)
}
