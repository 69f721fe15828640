//! NumPy's `.npz`: a zip archive of `.npy` arrays, stored without compression, so that `numpy.load` reads it as it is.
//!
//! Written: format version 1.0 headers, C order, little endian; f64 (`<f8`), i32 (`<i4`), u8 (`|u1`) and text (`<U…`). Time stamps are
//! fixed, so equal arrays give equal bytes. Read: what is written here (no compression, no zip64, no big endian).

use crate::whole_file::{FileError, read_whole, write_whole};
use littoral_geom::math::Vec3;
use std::path::Path;

const LOCAL_HEADER: u32 = 0x0403_4b50;
const CENTRAL_HEADER: u32 = 0x0201_4b50;
const END_RECORD: u32 = 0x0605_4b50;
/// 1980-01-01, the first day a zip archive can name.
const FIXED_DATE: u16 = 0x0021;
/// Version 2.0 of the zip format: what stored files need.
const ZIP_VERSION: u16 = 20;
const NPY_MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

/// An array read from an archive; `shape` has one entry per dimension, data are in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Lengths of the dimensions; empty for a single number.
    pub shape: Vec<usize>,
    /// The elements.
    pub data: Elements,
}

/// The elements of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// `<f8`.
    F64(Vec<f64>),
    /// `<i4`.
    I32(Vec<i32>),
    /// `|u1`.
    U8(Vec<u8>),
    /// `<U…`.
    Text(Vec<String>),
}

/// Why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum NpzError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The bytes are not what is written here.
    #[error("{file} is damaged or not an .npz of this program: {what}")]
    Damaged {
        /// The file.
        file: String,
        /// What was expected and what was found.
        what: String,
    },
    /// An array is absent or of another type or shape.
    #[error("{file}: array \"{name}\" {what}")]
    Array {
        /// The file.
        file: String,
        /// Name of the array.
        name: String,
        /// What was expected and what was found.
        what: String,
    },
    /// Zip without its 64-bit extension holds 4 GiB.
    #[error("{file} would be larger than 4 GiB, which this format cannot hold")]
    TooLarge {
        /// The file.
        file: String,
    },
}

/// An archive being put together in memory.
#[derive(Debug, Default)]
pub struct NpzWriter {
    bytes: Vec<u8>,
    central: Vec<u8>,
    entries: usize,
}

impl NpzWriter {
    /// An archive without arrays.
    pub fn new() -> Self {
        NpzWriter::default()
    }

    /// Adds an f64 array of the given shape.
    pub fn f64(&mut self, name: &str, shape: &[usize], data: &[f64]) -> &mut Self {
        self.array(name, "<f8", shape, data.len(), data.iter().flat_map(|x| x.to_le_bytes()))
    }

    /// Adds points as an (n, 3) f64 array.
    pub fn points(&mut self, name: &str, points: &[Vec3]) -> &mut Self {
        let bytes = points.iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes);
        self.array(name, "<f8", &[points.len(), 3], 3 * points.len(), bytes)
    }

    /// Adds an i32 array of the given shape.
    pub fn i32(&mut self, name: &str, shape: &[usize], data: &[i32]) -> &mut Self {
        self.array(name, "<i4", shape, data.len(), data.iter().flat_map(|x| x.to_le_bytes()))
    }

    /// Adds rows of `N` indices as an (n, N) i32 array; indices stay below 2³¹, as every point count here does.
    pub fn indices<const N: usize>(&mut self, name: &str, rows: &[[u32; N]]) -> &mut Self {
        let bytes = rows.iter().flatten().flat_map(|i| i.to_le_bytes());
        self.array(name, "<i4", &[rows.len(), N], N * rows.len(), bytes)
    }

    /// Adds a one-dimensional u8 array of ones and zeros.
    pub fn flags(&mut self, name: &str, data: &[bool]) -> &mut Self {
        self.array(name, "|u1", &[data.len()], data.len(), data.iter().map(|b| u8::from(*b)))
    }

    /// Adds a one-dimensional array of text.
    pub fn text(&mut self, name: &str, data: &[&str]) -> &mut Self {
        // NumPy pads every entry with zeros to the longest one and knows no entry of width 0.
        let width = data.iter().map(|s| s.chars().count()).max().unwrap_or(0).max(1);
        let padded = data.iter().flat_map(|s| {
            let fill = width - s.chars().count();
            s.chars().map(u32::from).chain(std::iter::repeat_n(0, fill))
        });
        self.array(name, &format!("<U{width}"), &[data.len()], data.len(), padded.flat_map(u32::to_le_bytes))
    }

    fn array(
        &mut self,
        name: &str,
        kind: &str,
        shape: &[usize],
        elements: usize,
        bytes: impl Iterator<Item = u8>,
    ) -> &mut Self {
        assert_eq!(
            shape.iter().product::<usize>(),
            elements,
            "array \"{name}\" does not fill its shape {shape:?}"
        );
        let mut body = npy_header(kind, shape);
        body.extend(bytes);
        self.entry(&format!("{name}.npy"), &body);
        self
    }

    fn entry(&mut self, name: &str, body: &[u8]) {
        let offset = self.bytes.len() as u32; // checked as a whole by `finish`
        let mut common = Vec::new();
        for number in [ZIP_VERSION, 0, 0, 0, FIXED_DATE] {
            common.extend(number.to_le_bytes()); // version, flags, method 0 (stored), time, date
        }
        for number in [crc32fast::hash(body), body.len() as u32, body.len() as u32] {
            common.extend(number.to_le_bytes()); // check sum, size, size
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend(0u16.to_le_bytes()); // no extra field

        self.bytes.extend(LOCAL_HEADER.to_le_bytes());
        self.bytes.extend(&common);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(body);

        self.central.extend(CENTRAL_HEADER.to_le_bytes());
        self.central.extend(ZIP_VERSION.to_le_bytes());
        self.central.extend(&common);
        self.central.extend([0; 6]); // no comment, disk 0, binary
        self.central.extend([0; 4]); // no attributes
        self.central.extend(offset.to_le_bytes());
        self.central.extend(name.as_bytes());
        self.entries += 1;
    }

    /// The finished archive; `None` when it outgrew the format (4 GiB).
    pub fn finish(&self) -> Option<Vec<u8>> {
        u32::try_from(self.bytes.len() + self.central.len()).ok()?;
        let mut out = self.bytes.clone();
        out.extend(&self.central);
        out.extend(END_RECORD.to_le_bytes());
        out.extend([0; 4]); // disk 0 of 1
        out.extend((self.entries as u16).to_le_bytes());
        out.extend((self.entries as u16).to_le_bytes());
        out.extend((self.central.len() as u32).to_le_bytes());
        out.extend((self.bytes.len() as u32).to_le_bytes());
        out.extend([0; 2]); // no comment
        Some(out)
    }

    /// Writes the archive to a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), NpzError> {
        let bytes = self.finish().ok_or_else(|| NpzError::TooLarge { file: path.display().to_string() })?;
        Ok(write_whole(path, &bytes)?)
    }
}

fn npy_header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let dims: String = shape.iter().map(|n| format!("{n},")).collect::<Vec<_>>().join(" ");
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({dims}), }}");
    // The data begin at a multiple of 64 bytes; the header ends with a line break.
    let length = (NPY_MAGIC.len() + 2 + text.len() + 1).next_multiple_of(64);
    let mut out = NPY_MAGIC.to_vec();
    out.extend(((length - NPY_MAGIC.len() - 2) as u16).to_le_bytes());
    out.extend(text.as_bytes());
    out.resize(length - 1, b' ');
    out.push(b'\n');
    out
}

/// An archive that was read: arrays by name, in the order of the file.
#[derive(Debug)]
pub struct Npz {
    file: String,
    arrays: Vec<(String, Array)>,
}

impl Npz {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Npz, NpzError> {
        Npz::parse(&path.display().to_string(), &read_whole(path)?)
    }

    /// Reads an archive in memory; `file` is the name that errors mention.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Npz, NpzError> {
        let damaged = |what: String| NpzError::Damaged { file: file.to_string(), what };
        let mut arrays = Vec::new();
        for (name, body) in zip_entries(bytes).map_err(damaged)? {
            let array = parse_npy(body).map_err(|what| damaged(format!("{name}: {what}")))?;
            arrays.push((name.strip_suffix(".npy").unwrap_or(&name).to_string(), array));
        }
        Ok(Npz { file: file.to_string(), arrays })
    }

    /// Names of the arrays, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|(name, _)| name.as_str())
    }

    /// An array by name.
    pub fn get(&self, name: &str) -> Result<&Array, NpzError> {
        let found = self.arrays.iter().find(|(n, _)| n == name);
        found.map(|(_, array)| array).ok_or_else(|| self.wrong(name, "is missing".into()))
    }

    /// An f64 array by name, flat.
    pub fn f64(&self, name: &str) -> Result<&[f64], NpzError> {
        match &self.get(name)?.data {
            Elements::F64(data) => Ok(data),
            Elements::I32(_) | Elements::U8(_) | Elements::Text(_) => {
                Err(self.wrong(name, "is not of 64-bit floats".into()))
            }
        }
    }

    /// An i32 array by name, flat.
    pub fn i32(&self, name: &str) -> Result<&[i32], NpzError> {
        match &self.get(name)?.data {
            Elements::I32(data) => Ok(data),
            Elements::F64(_) | Elements::U8(_) | Elements::Text(_) => {
                Err(self.wrong(name, "is not of 32-bit integers".into()))
            }
        }
    }

    /// A u8 array by name, flat, as flags.
    pub fn flags(&self, name: &str) -> Result<Vec<bool>, NpzError> {
        match &self.get(name)?.data {
            Elements::U8(data) => Ok(data.iter().map(|b| *b != 0).collect()),
            Elements::F64(_) | Elements::I32(_) | Elements::Text(_) => {
                Err(self.wrong(name, "is not of bytes".into()))
            }
        }
    }

    /// A text array by name, flat.
    pub fn text(&self, name: &str) -> Result<&[String], NpzError> {
        match &self.get(name)?.data {
            Elements::Text(data) => Ok(data),
            Elements::F64(_) | Elements::I32(_) | Elements::U8(_) => {
                Err(self.wrong(name, "is not text".into()))
            }
        }
    }

    /// An (n, 3) f64 array as points.
    pub fn points(&self, name: &str) -> Result<Vec<Vec3>, NpzError> {
        self.columns(name, 3)?;
        let (rows, _) = self.f64(name)?.as_chunks::<3>();
        Ok(rows.iter().map(|r| Vec3::from_array(*r)).collect())
    }

    /// An (n, N) i32 array as rows of indices; a negative one is an error.
    pub fn indices<const N: usize>(&self, name: &str) -> Result<Vec<[u32; N]>, NpzError> {
        self.columns(name, N)?;
        let data = self.i32(name)?;
        if let Some(bad) = data.iter().find(|i| **i < 0) {
            return Err(self.wrong(name, format!("has the negative index {bad}")));
        }
        let (rows, _) = data.as_chunks::<N>();
        Ok(rows.iter().map(|r| r.map(|i| i as u32)).collect())
    }

    fn columns(&self, name: &str, n: usize) -> Result<(), NpzError> {
        match self.get(name)?.shape.as_slice() {
            [_, columns] if *columns == n => Ok(()),
            shape => Err(self.wrong(name, format!("has shape {shape:?}, expected (n, {n})"))),
        }
    }

    fn wrong(&self, name: &str, what: String) -> NpzError {
        NpzError::Array { file: self.file.clone(), name: name.to_string(), what }
    }
}

/// A checked window into bytes.
fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], String> {
    let end = at.checked_add(length).ok_or("a length overflows")?;
    bytes.get(at..end).ok_or_else(|| format!("cut short: byte {end} of {} was expected", bytes.len()))
}

fn u16_at(bytes: &[u8], at: usize) -> Result<usize, String> {
    let b = slice(bytes, at, 2)?;
    Ok(u16::from_le_bytes([b[0], b[1]]) as usize)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, String> {
    let b = slice(bytes, at, 4)?;
    Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// The stored files of a zip archive without a comment, each checked against its check sum.
fn zip_entries(bytes: &[u8]) -> Result<Vec<(String, &[u8])>, String> {
    let end = bytes.len().checked_sub(22).ok_or("too short for a zip archive")?;
    if u32_at(bytes, end)? != END_RECORD {
        return Err("no end record: cut short, or not a zip archive".into());
    }
    let count = u16_at(bytes, end + 10)?;
    let mut at = u32_at(bytes, end + 16)? as usize;
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        if u32_at(bytes, at)? != CENTRAL_HEADER {
            return Err(format!("no entry at byte {at}"));
        }
        let (method, check_sum, size) =
            (u16_at(bytes, at + 10)?, u32_at(bytes, at + 16)?, u32_at(bytes, at + 24)?);
        let (name_length, extra, comment) =
            (u16_at(bytes, at + 28)?, u16_at(bytes, at + 30)?, u16_at(bytes, at + 32)?);
        let local = u32_at(bytes, at + 42)? as usize;
        let name = String::from_utf8_lossy(slice(bytes, at + 46, name_length)?).into_owned();
        if method != 0 {
            return Err(format!("{name} is compressed; only stored arrays are read"));
        }
        // The local header repeats the name and has an extra field of its own.
        let start = local + 30 + u16_at(bytes, local + 26)? + u16_at(bytes, local + 28)?;
        let body = slice(bytes, start, size as usize)?;
        if crc32fast::hash(body) != check_sum {
            return Err(format!("the check sum of {name} does not match its bytes"));
        }
        out.push((name, body));
        at += 46 + name_length + extra + comment;
    }
    Ok(out)
}

fn parse_npy(body: &[u8]) -> Result<Array, String> {
    if slice(body, 0, NPY_MAGIC.len())? != NPY_MAGIC {
        return Err("not a version 1.0 .npy array".into());
    }
    let length = u16_at(body, 8)?;
    let header = std::str::from_utf8(slice(body, 10, length)?).map_err(|_| "header is not text")?;
    let data = &body[10 + length..];
    if !header.contains("'fortran_order': False") {
        return Err("array is not in C order".into());
    }
    let kind = between(header, "'descr': '", "'")?;
    let shape = between(header, "'shape': (", ")")?
        .split(',')
        .map(str::trim)
        .filter(|n| !n.is_empty())
        .map(|n| n.parse::<usize>().map_err(|_| format!("bad length \"{n}\" in the shape")))
        .collect::<Result<Vec<_>, _>>()?;
    let elements = shape.iter().try_fold(1usize, |a, n| a.checked_mul(*n)).ok_or("the shape overflows")?;
    let width = match kind.strip_prefix("<U") {
        Some(n) => n.parse::<usize>().ok().and_then(|n| n.checked_mul(4)).filter(|n| *n > 0),
        None if kind == "<f8" => Some(8),
        None if kind == "<i4" => Some(4),
        None if kind == "|u1" => Some(1),
        None => None,
    };
    let width = width.ok_or_else(|| format!("elements of type {kind} are not read here"))?;
    if elements.checked_mul(width) != Some(data.len()) {
        return Err(format!("{} bytes of data for {elements} elements of {width} bytes", data.len()));
    }
    let data = match kind {
        "<f8" => Elements::F64(data.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect()),
        "<i4" => Elements::I32(data.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b)).collect()),
        "|u1" => Elements::U8(data.to_vec()),
        _ => Elements::Text(data.chunks_exact(width).map(text_of).collect::<Result<_, _>>()?),
    };
    Ok(Array { shape, data })
}

fn text_of(padded: &[u8]) -> Result<String, String> {
    let codes = padded.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).take_while(|c| *c != 0);
    codes.map(|c| char::from_u32(c).ok_or_else(|| format!("{c:#x} is no character"))).collect()
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Result<&'a str, String> {
    let rest = text.split_once(open).ok_or_else(|| format!("header lacks {open}"))?.1;
    Ok(rest.split_once(close).ok_or_else(|| format!("header lacks {close}"))?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut npz = NpzWriter::new();
        npz.f64("time", &[], &[1.5])
            .points("x", &[Vec3::new(0.1, -2.0, 1e-300), Vec3::new(f64::MAX, 0.0, -0.0)])
            .f64("pose", &[0, 7], &[])
            .i32("first", &[3], &[-1, 0, i32::MAX])
            .indices("triangles", &[[0u32, 1, 2], [2, 1, 3]])
            .flags("present", &[true, false, true])
            .text("names", &["sheet", "", "Größe 布"])
            .text("none", &[]);
        npz.finish().unwrap()
    }

    #[test]
    fn every_kind_of_array_survives_a_round_trip() {
        let npz = Npz::parse("a.npz", &sample()).unwrap();
        assert_eq!(npz.get("time").unwrap(), &Array { shape: vec![], data: Elements::F64(vec![1.5]) });
        let x = npz.points("x").unwrap();
        assert_eq!(x[0], Vec3::new(0.1, -2.0, 1e-300));
        assert_eq!(x[1].z.to_bits(), (-0.0f64).to_bits());
        assert_eq!(npz.get("pose").unwrap().shape, [0, 7]);
        assert_eq!(npz.i32("first").unwrap(), [-1, 0, i32::MAX]);
        assert_eq!(npz.indices::<3>("triangles").unwrap(), [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(npz.flags("present").unwrap(), [true, false, true]);
        assert_eq!(npz.text("names").unwrap(), ["sheet", "", "Größe 布"]);
        assert_eq!(npz.text("none").unwrap(), [""; 0]);
        assert_eq!(sample(), sample());
    }

    #[test]
    fn data_begin_at_a_multiple_of_64_bytes_of_each_array() {
        for n in 0..200 {
            let header = npy_header("<f8", &vec![1; n]);
            assert_eq!(header.len() % 64, 0);
            assert_eq!(header.last(), Some(&b'\n'));
        }
    }

    #[test]
    fn every_cut_is_an_error_and_no_flipped_byte_panics() {
        let good = sample();
        for n in 0..good.len() {
            assert!(Npz::parse("a.npz", &good[..n]).is_err(), "cut to {n} bytes");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x55;
            let _ = Npz::parse("a.npz", &bad);
        }
    }

    #[test]
    fn a_changed_number_fails_its_check_sum() {
        let mut bad = sample();
        // The first array is `time`, one number after a header of 128 bytes at most.
        let at = 30 + "time.npy".len() + npy_header("<f8", &[]).len() + 3;
        bad[at] ^= 1;
        let error = Npz::parse("a.npz", &bad).unwrap_err().to_string();
        assert!(error.contains("check sum of time.npy"), "{error}");
    }

    #[test]
    fn a_wrong_type_shape_or_name_is_named() {
        let npz = Npz::parse("a.npz", &sample()).unwrap();
        assert_eq!(npz.f64("y").unwrap_err().to_string(), "a.npz: array \"y\" is missing");
        assert!(npz.f64("first").unwrap_err().to_string().contains("64-bit"));
        assert!(npz.points("pose").unwrap_err().to_string().contains("expected (n, 3)"));
        assert!(npz.indices::<3>("first").is_err());
    }
}
