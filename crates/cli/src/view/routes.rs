//! What is answered to each path.

use super::http::Response;
use super::{look, page, wire};
use littoral_io::report::Report;
use littoral_io::run_folder::{FolderError, RunFolder, Topology};
use serde_json::json;
use std::path::Path;

const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

/// The run that is shown.
#[derive(Debug)]
pub struct Site {
    folder: RunFolder,
    topology: Topology,
}

impl Site {
    /// The site of the run in a folder.
    pub fn open(root: &Path) -> Result<Site, FolderError> {
        let folder = RunFolder::open(root)?;
        let topology = folder.read_topology()?;
        Ok(Site { folder, topology })
    }

    /// The response to a `GET` of a path.
    pub fn respond(&self, path: &str) -> Response {
        if let Some((_, kind, text)) = page::FILES.iter().find(|(p, ..)| *p == path) {
            return Response::ok(kind, text.as_bytes());
        }
        let answer = match path {
            "/run.json" => self.run(),
            "/topology.bin" => self.topology(),
            _ => match frame_number(path) {
                Some(frame) => self.frame(frame),
                None => return Response::refusal(404, "there is nothing at this path"),
            },
        };
        answer.unwrap_or_else(|error| {
            let status = if matches!(error, FolderError::NoFrame { .. }) { 404 } else { 500 };
            Response::refusal(status, &error.to_string())
        })
    }

    /// The frames there are, and the report.
    fn run(&self) -> Result<Response, FolderError> {
        let path = self.folder.report_path();
        let not_a_run = |what| FolderError::NotARun { path: self.folder.root().to_path_buf(), what };
        let report = Report::read(&path).map_err(|e| not_a_run(e.to_string()))?;
        let root = self.folder.root();
        let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
        let frames = ranges(&self.folder.frames());
        let run = json!({ "name": name, "frames": frames, "report": report });
        Ok(Response::ok(JSON, run.to_string().into_bytes()))
    }

    /// What does not change.
    fn topology(&self) -> Result<Response, FolderError> {
        // A frame that cannot be read is told of where it is shown.
        let samples = look::samples(&self.folder.frames()).into_iter();
        let samples = samples.filter_map(|k| self.folder.read_frame(k).ok()).collect();
        Ok(Response::ok(BYTES, wire::topology(&self.topology, samples)))
    }

    fn frame(&self, frame: u64) -> Result<Response, FolderError> {
        Ok(Response::ok(BYTES, wire::frame(&self.topology, &self.folder.read_frame(frame)?)))
    }
}

/// The number in `/frame/42.bin`, which is written in one way only.
fn frame_number(path: &str) -> Option<u64> {
    let digits = path.strip_prefix("/frame/")?.strip_suffix(".bin")?;
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// Ascending numbers as ranges, first and last included: 0 1 2 5 is [0, 2] [5, 5].
fn ranges(numbers: &[u64]) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for &k in numbers {
        match ranges.last_mut() {
            Some([_, last]) if *last + 1 == k => *last = k,
            _ => ranges.push([k, k]),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_named_in_one_way() {
        assert_eq!(frame_number("/frame/42.bin"), Some(42));
        let others = ["/frame/042.bin", "/frame/-1.bin", "/frame/+1.bin", "/frame/.bin", "/frame/1.npz"];
        for other in others.into_iter().chain(["/frame/../1.bin", "/frame/99999999999999999999.bin"]) {
            assert_eq!(frame_number(other), None, "{other}");
        }
    }

    #[test]
    fn ranges_hold_the_numbers_and_no_others() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), [[0, 2], [5, 5], [7, 8]]);
        assert!(ranges(&[]).is_empty());
    }
}
