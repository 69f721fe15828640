//! An image and its file.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// An 8-bit sRGB image, rows from top to bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width [pixels].
    pub width: u32,
    /// Height [pixels].
    pub height: u32,
    /// Red, green, blue of each pixel (3 · width · height).
    pub pixels: Vec<u8>,
}

/// Why a picture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The file could not be created, written or renamed.
    #[error("cannot write {path}: {source}; check that the folder exists and is writable")]
    File {
        /// The file asked for.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The pixels are not a picture.
    #[error("cannot write {path} as PNG: {width} × {height} pixels with {bytes} bytes ({source})")]
    Pixels {
        /// The file asked for.
        path: PathBuf,
        /// Width [pixels].
        width: u32,
        /// Height [pixels].
        height: u32,
        /// Length of `pixels`.
        bytes: usize,
        /// What the encoder says.
        source: png::EncodingError,
    },
}

impl Picture {
    /// A picture of one colour.
    pub fn filled(width: u32, height: u32, rgb: [u8; 3]) -> Picture {
        let count = width as usize * height as usize;
        Picture { width, height, pixels: rgb.into_iter().cycle().take(3 * count).collect() }
    }

    /// Colour of the pixel in column x and row y, if it lies in the picture.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = 3 * (y as usize * self.width as usize + x as usize);
        self.pixels.get(at..at + 3)?.try_into().ok()
    }

    /// Writes the picture as PNG: whole or not at all, by way of a neighbouring file that is renamed at the end.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), PictureError> {
        let path = path.as_ref();
        let file_error = |source| PictureError::File { path: path.to_owned(), source };
        let png = self.encode().map_err(|source| PictureError::Pixels {
            path: path.to_owned(),
            width: self.width,
            height: self.height,
            bytes: self.pixels.len(),
            source,
        })?;
        let mut part = path.as_os_str().to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let part = PathBuf::from(part);
        let write = || {
            let mut file = BufWriter::new(File::create(&part)?);
            file.write_all(&png)?;
            file.into_inner().map_err(|e| e.into_error())?.sync_all()?;
            fs::rename(&part, path)
        };
        write().map_err(|source| {
            // The error of the write is the one to report; that no part is left is a courtesy.
            let _ = fs::remove_file(&part);
            file_error(source)
        })
    }

    /// The bytes of a PNG file.
    fn encode(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::Balanced);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        writer.finish()?;
        Ok(bytes)
    }

    /// Copies `other` into this picture with its upper left corner at (x, y); what lies outside is cut off.
    fn paste(&mut self, other: &Picture, x: u32, y: u32) {
        if x >= self.width {
            return;
        }
        let count = 3 * other.width.min(self.width - x) as usize;
        for row in 0..other.height.min(self.height.saturating_sub(y)) {
            let from = 3 * row as usize * other.width as usize;
            let to = 3 * ((y + row) as usize * self.width as usize + x as usize);
            if let Some(source) = other.pixels.get(from..from + count) {
                self.pixels[to..to + count].copy_from_slice(source);
            }
        }
    }
}

/// The pictures side by side in rows of `columns` (at least 1), in cells of the largest picture, with white gaps
/// of 4 pixels.
pub fn contact_sheet(pictures: &[Picture], columns: usize) -> Picture {
    const GAP: u32 = 4;
    let columns = columns.clamp(1, pictures.len().max(1)) as u32;
    let rows = (pictures.len() as u32).div_ceil(columns);
    let cell = |size: fn(&Picture) -> u32| pictures.iter().map(size).max().unwrap_or(1) + GAP;
    let (w, h) = (cell(|p| p.width), cell(|p| p.height));
    let mut sheet = Picture::filled(columns * w + GAP, rows * h + GAP, [255; 3]);
    for (k, picture) in pictures.iter().enumerate() {
        let k = k as u32;
        sheet.paste(picture, GAP + k % columns * w, GAP + k / columns * h);
    }
    sheet
}
