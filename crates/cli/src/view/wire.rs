//! What does not change, and frames, as the page reads them: little-endian, single precision.
//!
//! ```text
//! topology   length of the header u32 · header, JSON padded with blanks to a multiple of four ·
//!            triangles u32 (t, 3) · segments of rods u32 (e, 2) · positions at the start f32 (n, 3)
//! frame      time f64 · points u32 · particles u32 · positions f32 (n, 3) · speeds of particles f32 (p)
//! ```
//!
//! Lengths in metres, z up, as in the run's folder. A hundred thousand particles are 1.6 MB a frame, a third of what
//! the folder holds.

use super::look::{self, Look};
use littoral_io::run_folder::{Frame, Topology};
use serde_json::{Value, json};

/// Speed of a particle that is not part of its fluid: no speed is negative.
const ABSENT: f32 = -1.0;

/// What does not change; `samples` are frames to choose camera and colours by.
pub fn topology(topology: &Topology, samples: Vec<Frame>) -> Vec<u8> {
    let mut header = header(topology, &look::look(topology, samples)).to_string();
    while !header.len().is_multiple_of(4) {
        header.push(' ');
    }
    let mut out = (header.len() as u32).to_le_bytes().to_vec();
    out.extend(header.as_bytes());
    out.extend(topology.triangles.iter().flatten().flat_map(|i| i.to_le_bytes()));
    out.extend(topology.edges.iter().flatten().flat_map(|i| i.to_le_bytes()));
    out.extend(topology.x0.iter().flat_map(|x| x.to_array()).flat_map(|c| (c as f32).to_le_bytes()));
    out
}

fn header(topology: &Topology, look: &Look) -> Value {
    let object = |k: usize| {
        let o = &topology.objects[k];
        // A rod whose run does not tell its radius is drawn as a line.
        let radius = match o.kind.as_str() {
            "rod" => topology.offsets.get(k).copied().filter(|r| *r > 0.0),
            "fluid" => look::radius(topology),
            _ => None,
        };
        let container = look.containers.get(k).copied().unwrap_or(false);
        json!({
            "name": o.name, "kind": o.kind, "first": o.first, "count": o.count,
            "radius": radius, "container": container,
        })
    };
    let camera = &look.camera;
    json!({
        "points": topology.x0.len(),
        "triangles": topology.triangles.len(),
        "segments": topology.edges.len(),
        "particles": topology.particles.len(),
        "first_particle": topology.particles.first(),
        "objects": (0..topology.objects.len()).map(object).collect::<Vec<_>>(),
        "camera": {
            "eye": camera.eye.to_array(), "target": camera.target.to_array(), "fov": camera.fov,
        },
        "ground": look.ground,
        "fastest": look.fastest,
    })
}

/// A frame.
pub fn frame(topology: &Topology, frame: &Frame) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 + 12 * frame.x.len() + 4 * topology.particles.len());
    out.extend(frame.time.to_le_bytes());
    out.extend((frame.x.len() as u32).to_le_bytes());
    out.extend((topology.particles.len() as u32).to_le_bytes());
    for x in &frame.x {
        for c in x.to_array() {
            out.extend((c as f32).to_le_bytes());
        }
    }
    for (k, p) in topology.particles.iter().enumerate() {
        let speed = frame.v.get(*p as usize).filter(|_| frame.is_present(k)).map(|v| v.length() as f32);
        out.extend(speed.unwrap_or(ABSENT).to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::math::Vec3;
    use littoral_io::run_folder::ObjectRange;

    fn numbers<const N: usize, T>(bytes: &[u8], from: fn([u8; N]) -> T) -> Vec<T> {
        let (rows, rest) = bytes.as_chunks::<N>();
        assert!(rest.is_empty());
        rows.iter().copied().map(from).collect()
    }

    // A triangle 0 1 2, a rod 3–4 and the particles 5 6.
    fn a_run() -> (Topology, Frame) {
        let object = |name: &str, kind: &str, first, count| ObjectRange {
            name: name.into(),
            kind: kind.into(),
            first,
            count,
        };
        let x: Vec<Vec3> =
            (0..7).map(|k| Vec3::new(f64::from(k), f64::from(k * k), 0.1 * f64::from(k))).collect();
        let topology = Topology {
            triangles: vec![[0, 1, 2]],
            edges: vec![[3, 4]],
            x0: x.clone(),
            particles: vec![5, 6],
            spacing: Some(0.1),
            objects: vec![
                object("sheet \"é\"", "cloth", 0, 3),
                object("rope", "rod", 3, 2),
                object("water", "fluid", 5, 2),
            ],
            offsets: vec![0.0, 0.25, 0.0],
            ..Topology::default()
        };
        let v = (0..7).map(|k| Vec3::new(0.0, 3.0, 4.0) * f64::from(k)).collect();
        let frame = Frame { time: 1.5, x, v, present: Some(vec![false, true]), contact_force: Vec::new() };
        (topology, frame)
    }

    #[test]
    fn a_frame_holds_time_positions_and_speeds_of_particles_that_are_there() {
        let (topology, given) = a_run();
        let bytes = frame(&topology, &given);
        assert_eq!(f64::from_le_bytes(bytes[..8].try_into().unwrap()), 1.5);
        assert_eq!(numbers(&bytes[8..16], u32::from_le_bytes), [7, 2]);
        let expected: Vec<f32> = given.x.iter().flat_map(|x| x.to_array()).map(|c| c as f32).collect();
        assert_eq!(numbers(&bytes[16..100], f32::from_le_bytes), expected);
        assert_eq!(numbers(&bytes[100..], f32::from_le_bytes), [ABSENT, 30.0]);
    }

    #[test]
    fn a_topology_holds_its_objects_indices_and_start() {
        let (run, given) = a_run();
        for samples in [vec![], vec![given]] {
            let bytes = topology(&run, samples);
            let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
            assert_eq!((header["points"].as_u64(), header["first_particle"].as_u64()), (Some(7), Some(5)));
            let [sheet, rope, water] = [0, 1, 2].map(|k| &header["objects"][k]);
            assert_eq!((sheet["name"].as_str(), sheet["radius"].as_f64()), (Some("sheet \"é\""), None));
            assert_eq!((rope["kind"].as_str(), rope["radius"].as_f64()), (Some("rod"), Some(0.25)));
            assert_eq!((water["first"].as_u64(), water["count"].as_u64()), (Some(5), Some(2)));
            assert!(header["camera"]["eye"][2].as_f64().unwrap().is_finite());
            let (body, positions) = bytes[4 + length..].split_at(20);
            assert_eq!(numbers(body, u32::from_le_bytes), [0, 1, 2, 3, 4]);
            assert_eq!(numbers(positions, f32::from_le_bytes).len(), 21);
        }
    }
}
