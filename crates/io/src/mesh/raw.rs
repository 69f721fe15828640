//! What a reader hands on: the file's own vertices and elements, untouched.

use littoral_geom::math::Vec3;

use super::error::{MeshError, Place, Source};
use super::report::{Finding, FindingKind};

/// Polygons of any number of corners, in one array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faces {
    corners: Vec<u32>,
    ends: Vec<usize>,
}

impl Faces {
    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends a polygon by its corners in order.
    pub fn push(&mut self, corners: &[u32]) {
        self.corners.extend_from_slice(corners);
        self.ends.push(self.corners.len());
    }

    /// The polygons' corners, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.corners[std::mem::replace(&mut start, end)..end])
    }
}

/// A named object of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name, may be empty.
    pub name: String,
    /// Its first vertex.
    pub first_vertex: u32,
}

/// A mesh as the file has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawMesh {
    /// Format and variant, for the report: `PLY, binary little endian`.
    pub format: String,
    /// Vertices (n), in the unit of the file.
    pub vertices: Vec<Vec3>,
    /// Polygons.
    pub faces: Faces,
    /// Tetrahedra (k, 4), of either orientation.
    pub tets: Vec<[u32; 4]>,
    /// Line segments (s, 2).
    pub segments: Vec<[u32; 2]>,
    /// Named objects, by first vertex; empty where the format has none.
    pub parts: Vec<Part>,
    /// True for a format without shared vertices (STL), stored in single precision.
    pub soup: bool,
    /// What the reader left out.
    pub findings: Vec<Finding>,
    /// Line of each face and segment, where the format allows an index before its vertex; else empty.
    pub(super) face_lines: Vec<u64>,
    pub(super) segment_lines: Vec<u64>,
}

impl RawMesh {
    /// Appends a vertex; refuses one that is not finite, or more than u32 can count.
    pub(super) fn push_vertex(
        &mut self,
        x: [f64; 3],
        source: &Source<'_>,
        place: Place,
    ) -> Result<(), MeshError> {
        let vertex = self.vertices.len();
        if !x.iter().all(|c| c.is_finite()) {
            return Err(MeshError::NotFinite { file: source.file.into(), place, vertex, value: x });
        }
        if vertex >= u32::MAX as usize {
            return Err(source.unsupported(place, "more than 4294967295 vertices", "split the mesh"));
        }
        self.vertices.push(Vec3::from_array(x));
        Ok(())
    }

    /// Appends the segments of a polyline.
    pub(super) fn push_polyline(&mut self, corners: &[u32]) {
        self.segments.extend(corners.windows(2).map(|w| [w[0], w[1]]));
    }

    /// Appends the triangles of a strip; every second one turns the other way.
    pub(super) fn push_strip(&mut self, corners: &[u32]) {
        for (i, w) in corners.windows(3).enumerate() {
            // Repeated corners are how strips turn and join, not flaws.
            if w[0] != w[1] && w[1] != w[2] && w[2] != w[0] {
                self.faces.push(&if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] });
            }
        }
    }

    /// Adds one to a finding, remembering the first few places.
    pub(super) fn note(&mut self, kind: FindingKind, example: u64) {
        Finding::add(&mut self.findings, kind, example);
    }

    /// Refuses the first element that names a vertex beyond the last.
    pub(super) fn check_indices(&self, source: &Source<'_>) -> Result<(), MeshError> {
        let n = self.vertices.len();
        let fault = |kind: &'static str, lines: &[u64], i: usize, corners: &[u32]| {
            let bad = *corners.iter().find(|&&c| c as usize >= n)?;
            let line = lines.get(i).map_or(Place::default(), |&line| Place::line(line));
            let place = line.with_element(kind, i);
            // A format with lines here counts from 1.
            let index = i64::from(bad) + i64::from(!lines.is_empty());
            Some(source.index(
                place,
                index,
                n,
                "the file is damaged or vertices are missing: export it again",
            ))
        };
        let mut faults = (self.faces.iter().enumerate())
            .filter_map(|(i, c)| fault("face", &self.face_lines, i, c))
            .chain(
                (self.segments.iter().enumerate())
                    .filter_map(|(i, c)| fault("segment", &self.segment_lines, i, c)),
            )
            .chain(self.tets.iter().enumerate().filter_map(|(i, c)| fault("tet", &[], i, c)));
        faults.next().map_or(Ok(()), Err)
    }
}

/// A vertex index of the file as u32, counted from 0; `None` when negative or too large for any mesh.
pub(super) fn vertex_index(index: i64) -> Option<u32> {
    u32::try_from(index).ok().filter(|&i| i < u32::MAX)
}
