//! Checkpoints: what a resumed run needs to go on as if it had never stopped.
//!
//! File: magic (8 bytes), version (u32), length of the body (u64), CRC-32 of the body (u32), body; little endian.
//! Body: number of sections (u32), then per section the length of its name (u32), its name, its length in bytes (u64) and its
//! bytes: raw arrays. A reader passes over sections it does not know.
//!
//! Two files are kept: the newest and the one before it. A damaged newest one is passed over with a warning.

use crate::report::Report;
use crate::whole_file::{FileError, read_whole, write_whole};
use littoral_geom::math::Vec3;
use littoral_sim::model::Snapshot;
use littoral_sim::simulation::Simulation;
use std::fs;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"LITTORAL";
const VERSION: u32 = 1;
const HEADER: usize = 24;

/// All that a resumed run needs beside the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Fingerprint of the model that the snapshot belongs to.
    pub fingerprint: u32,
    /// The state.
    pub snapshot: Snapshot,
    /// The report so far: counters go on from here.
    pub report: Report,
    /// Crossing pairs (edge, triangle) of the state judged last, sorted.
    pub crossings: Vec<[u32; 2]>,
    /// Inverted tets of the state judged last, sorted.
    pub inverted: Vec<u32>,
}

/// Why there is no checkpoint to go on from.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not what was written.
    #[error("checkpoint {} is unusable: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        what: String,
    },
    /// The folder has none.
    #[error("{} holds no checkpoint", folder.display())]
    None {
        /// The folder.
        folder: PathBuf,
    },
}

impl Checkpoint {
    /// Writes into `folder`, which is created; the checkpoint before stays as the previous one.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        fs::create_dir_all(folder).map_err(FileError::at("create", folder))?;
        let (newest, previous) = (folder.join("newest.bin"), folder.join("previous.bin"));
        if newest.exists() {
            fs::rename(&newest, &previous).map_err(FileError::at("write", &previous))?;
        }
        write_whole(&newest, &self.to_bytes())
    }

    /// Reads the newest usable checkpoint of `folder`, and says what was wrong with a newer one that was passed over.
    pub fn read(folder: &Path) -> Result<(Checkpoint, Option<CheckpointError>), CheckpointError> {
        let mut refused = None;
        for name in ["newest.bin", "previous.bin"] {
            let path = folder.join(name);
            if !path.exists() {
                continue;
            }
            match Checkpoint::read_file(&path) {
                Ok(checkpoint) => return Ok((checkpoint, refused)),
                // The newest one's complaint is the one worth telling.
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| CheckpointError::None { folder: folder.to_path_buf() }))
    }

    /// Reads one file.
    pub fn read_file(path: &Path) -> Result<Checkpoint, CheckpointError> {
        let bytes = read_whole(path)?;
        Checkpoint::from_bytes(&bytes).map_err(|what| CheckpointError::Damaged { path: path.into(), what })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let s = &self.snapshot;
        let sections: [(&str, Vec<u8>); 11] = [
            ("fingerprint", self.fingerprint.to_le_bytes().to_vec()),
            ("time", s.time.to_le_bytes().to_vec()),
            ("step", s.step.to_le_bytes().to_vec()),
            ("x", points_to_bytes(&s.x)),
            ("v", points_to_bytes(&s.v)),
            ("v_before", points_to_bytes(&s.v_before)),
            ("lag_max", floats_to_bytes(&s.lag_max)),
            ("memory", floats_to_bytes(&s.memory)),
            ("report", self.report.to_json().into_bytes()),
            ("crossings", self.crossings.iter().flatten().flat_map(|i| i.to_le_bytes()).collect()),
            ("inverted", self.inverted.iter().flat_map(|i| i.to_le_bytes()).collect()),
        ];
        let mut body = (sections.len() as u32).to_le_bytes().to_vec();
        for (name, bytes) in &sections {
            body.extend((name.len() as u32).to_le_bytes());
            body.extend(name.as_bytes());
            body.extend((bytes.len() as u64).to_le_bytes());
            body.extend(bytes);
        }
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(crc32fast::hash(&body).to_le_bytes());
        out.extend(body);
        out
    }

    fn from_bytes(bytes: &[u8]) -> Result<Checkpoint, String> {
        let sections = Sections::parse(checked_body(bytes)?)?;
        let report = Report::parse(sections.get("report")?)?;
        let snapshot = Snapshot {
            time: f64::from_le_bytes(sections.number("time")?),
            step: u64::from_le_bytes(sections.number("step")?),
            x: points_from_bytes(sections.get("x")?)?,
            v: points_from_bytes(sections.get("v")?)?,
            v_before: points_from_bytes(sections.get("v_before")?)?,
            lag_max: floats_from_bytes(sections.get("lag_max")?)?,
            memory: floats_from_bytes(sections.get("memory")?)?,
        };
        let inverted = whole_chunks::<4>(sections.get("inverted")?)?.iter().map(|b| u32::from_le_bytes(*b));
        let pairs = whole_chunks::<8>(sections.get("crossings")?)?;
        Ok(Checkpoint {
            fingerprint: u32::from_le_bytes(sections.number("fingerprint")?),
            snapshot,
            report,
            crossings: pairs
                .iter()
                .map(|[a, b, c, d, e, f, g, h]| {
                    [u32::from_le_bytes([*a, *b, *c, *d]), u32::from_le_bytes([*e, *f, *g, *h])]
                })
                .collect(),
            inverted: inverted.collect(),
        })
    }
}

/// A check sum of what a model is: its objects, topology and initial positions. `sim` is at time 0.
pub fn fingerprint(sim: &Simulation) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    for object in sim.objects() {
        sum.update(object.name.as_bytes());
        sum.update(&object.count.to_le_bytes());
    }
    sim.triangles().iter().flatten().for_each(|i| sum.update(&i.to_le_bytes()));
    sim.tets().iter().flatten().for_each(|i| sum.update(&i.to_le_bytes()));
    sum.update(&points_to_bytes(&sim.state().x));
    sum.finalize()
}

/// The body behind a header whose magic, version, length and check sum all agree.
fn checked_body(bytes: &[u8]) -> Result<&[u8], String> {
    if bytes.len() < HEADER {
        return Err(format!("cut short: {} bytes, a header alone has {HEADER}", bytes.len()));
    }
    if &bytes[..8] != MAGIC {
        return Err("it does not begin like a checkpoint".into());
    }
    let (version, length, check_sum) =
        (u32_of(&bytes[8..12]), u64_of(&bytes[12..20]), u32_of(&bytes[20..24]));
    if version != VERSION {
        return Err(format!("format version {version}, this program reads {VERSION}"));
    }
    let body = &bytes[HEADER..];
    if body.len() as u64 != length {
        return Err(format!("cut short or overlong: {} bytes of body, the header says {length}", body.len()));
    }
    if crc32fast::hash(body) != check_sum {
        return Err("the check sum does not match: a byte was changed".into());
    }
    Ok(body)
}

struct Sections<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Sections<'a> {
    fn parse(mut rest: &'a [u8]) -> Result<Self, String> {
        let mut take = |n: usize| -> Result<&'a [u8], String> {
            let (head, tail) = rest.split_at_checked(n).ok_or("a section reaches past the end")?;
            rest = tail;
            Ok(head)
        };
        let count = u32_of(take(4)?);
        let mut out = Vec::new();
        for _ in 0..count {
            let name_length = u32_of(take(4)?) as usize;
            let name = take(name_length)?;
            let length = u64_of(take(8)?);
            out.push((name, take(usize::try_from(length).map_err(|_| "a section is too long")?)?));
        }
        Ok(Sections(out))
    }

    fn get(&self, name: &str) -> Result<&'a [u8], String> {
        let found = self.0.iter().find(|(n, _)| *n == name.as_bytes());
        found.map(|(_, bytes)| *bytes).ok_or_else(|| format!("section \"{name}\" is missing"))
    }

    fn number<const N: usize>(&self, name: &str) -> Result<[u8; N], String> {
        let bytes = self.get(name)?;
        bytes.try_into().map_err(|_| format!("section \"{name}\" has {} bytes, expected {N}", bytes.len()))
    }
}

fn u32_of(b: &[u8]) -> u32 {
    b.iter().rev().fold(0, |n, byte| n << 8 | u32::from(*byte))
}

fn u64_of(b: &[u8]) -> u64 {
    b.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
}

fn points_to_bytes(points: &[Vec3]) -> Vec<u8> {
    points.iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes).collect()
}

fn floats_to_bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn whole_chunks<const N: usize>(bytes: &[u8]) -> Result<&[[u8; N]], String> {
    match bytes.as_chunks::<N>() {
        (chunks, []) => Ok(chunks),
        (_, rest) => Err(format!("an array ends with {} bytes too many", rest.len())),
    }
}

fn floats_from_bytes(bytes: &[u8]) -> Result<Vec<f64>, String> {
    Ok(whole_chunks::<8>(bytes)?.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

fn points_from_bytes(bytes: &[u8]) -> Result<Vec<Vec3>, String> {
    let numbers = floats_from_bytes(bytes)?;
    match numbers.as_chunks::<3>() {
        (points, []) => Ok(points.iter().map(|p| Vec3::from_array(*p)).collect()),
        (_, rest) => Err(format!("an array of points ends with {} numbers too many", rest.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(step: u64) -> Checkpoint {
        let mut report = Report { littoral: "0.1.0".into(), steps: step, ..Report::default() };
        report.certificate.min_gap_m = Some(0.1 + 0.2);
        Checkpoint {
            fingerprint: 0xdead_beef,
            snapshot: Snapshot {
                time: 0.1 * step as f64,
                step,
                x: vec![Vec3::new(0.1, f64::MIN_POSITIVE / 8.0, -0.0), Vec3::splat(1.0 / 3.0)],
                v: vec![Vec3::X, Vec3::NEG_Y],
                v_before: vec![Vec3::Z; 2],
                lag_max: vec![0.5],
                memory: vec![],
            },
            report,
            crossings: vec![[1, 2], [3, u32::MAX]],
            inverted: vec![7],
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("littoral-checkpoint-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_checkpoint_survives_a_round_trip_bit_for_bit() {
        let folder = folder("round");
        sample(3).write(&folder).unwrap();
        let (read, refused) = Checkpoint::read(&folder).unwrap();
        assert!(refused.is_none());
        assert_eq!(read, sample(3));
        assert_eq!(read.to_bytes(), sample(3).to_bytes());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_refused() {
        let good = sample(3).to_bytes();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            assert!(Checkpoint::from_bytes(&bad).is_err(), "byte {at} flipped");
            assert!(Checkpoint::from_bytes(&good[..at]).is_err(), "cut to {at} bytes");
        }
    }

    #[test]
    fn a_damaged_newest_checkpoint_falls_back_to_the_one_before() {
        let folder = folder("fallback");
        sample(1).write(&folder).unwrap();
        sample(2).write(&folder).unwrap();
        let newest = folder.join("newest.bin");
        let bytes = fs::read(&newest).unwrap();
        fs::write(&newest, &bytes[..bytes.len() / 2]).unwrap();
        let (read, refused) = Checkpoint::read(&folder).unwrap();
        assert_eq!(read.snapshot.step, 1);
        let refused = refused.unwrap().to_string();
        assert!(refused.contains("newest.bin") && refused.contains("cut short"), "{refused}");

        fs::remove_file(folder.join("previous.bin")).unwrap();
        assert!(matches!(Checkpoint::read(&folder), Err(CheckpointError::Damaged { .. })));
        fs::remove_file(&newest).unwrap();
        assert!(matches!(Checkpoint::read(&folder), Err(CheckpointError::None { .. })));
        fs::remove_dir_all(&folder).unwrap();
    }
}
