//! Where the page looks from at first: as a picture of the same frames would.

use crate::balls::fastest;
use crate::shown::{Drawn, containers, moving_box, objects_of, segments};
use littoral_geom::math::{Aabb, Vec3};
use littoral_io::render::{Camera, Lines, Particles, Scene, ground_height};
use littoral_io::run_folder::{Frame, Topology};

/// Width over height of the window that is expected; the page steps back where its own is narrower.
const ASPECT: f64 = 16.0 / 9.0;
/// Frames that are looked at beforehand: enough to frame a motion, few enough to be read while one waits.
const SAMPLES: u64 = 5;

/// What is chosen once for all frames.
#[derive(Debug)]
pub struct Look {
    /// The camera.
    pub camera: Camera,
    /// Height of the ground [m].
    pub ground: f64,
    /// Speed that has the fastest colour [m/s].
    pub fastest: f64,
    /// Which objects hold a fluid and are looked into.
    pub containers: Vec<bool>,
}

/// Frames to choose by, of those there are: the first, the last and some between.
pub fn samples(frames: &[u64]) -> Vec<u64> {
    let Some(last) = (frames.len() as u64).checked_sub(1) else { return Vec::new() };
    let mut chosen: Vec<u64> =
        (0..SAMPLES).filter_map(|k| frames.get((k * last / (SAMPLES - 1)) as usize).copied()).collect();
    chosen.dedup();
    chosen
}

/// Chooses by some frames of the run; by its start where there are none.
pub fn look(topology: &Topology, mut frames: Vec<Frame>) -> Look {
    if frames.is_empty() {
        let (x, v) = (topology.x0.clone(), vec![Vec3::ZERO; topology.x0.len()]);
        frames.push(Frame { time: 0.0, x, v, present: None, contact_force: Vec::new() });
    }
    let objects = objects_of(topology);
    let containers = containers(topology);
    let all = Drawn::all(topology);
    let ropes = segments(topology);
    let lines: Vec<Lines> = (ropes.iter())
        .map(|(object, radius, segments)| Lines { segments, radius: *radius, object: *object })
        .collect();
    let fluid = topology.objects.iter().position(|o| o.kind == "fluid").unwrap_or(0) as u32;
    let radius = radius(topology).unwrap_or(0.0);
    let centers: Vec<Vec<Vec3>> = frames.iter().map(|frame| particles(topology, frame)).collect();
    let sets: Vec<[Particles; 1]> =
        centers.iter().map(|centers| [Particles { centers, radius, object: fluid }]).collect();
    let scenes: Vec<Scene> = (frames.iter().zip(&sets))
        .map(|(frame, set)| Scene { particles: set, lines: &lines, ..all.scene(frame, &objects) })
        .collect();
    let boxes: Vec<Aabb> = frames.iter().map(|frame| moving_box(frame, topology)).collect();
    // What holds a fluid would hide it from every side.
    let outside = all.without(|_, object| containers[object as usize]);
    Look {
        camera: Camera::auto(&outside.of(&scenes[0]), &boxes, ASPECT),
        ground: scenes.iter().map(ground_height).fold(f64::INFINITY, f64::min),
        fastest: fastest(topology, &frames),
        containers,
    }
}

/// Radius that particles are drawn with [m]: as far as they stay from a wall, larger balls would show through it.
pub fn radius(topology: &Topology) -> Option<f64> {
    topology.spacing.map(|spacing| 0.4 * spacing)
}

/// Where the particles are that are part of their fluid [m].
fn particles(topology: &Topology, frame: &Frame) -> Vec<Vec3> {
    let there = topology.particles.iter().enumerate().filter(|(k, _)| frame.is_present(*k));
    there.filter_map(|(_, p)| frame.x.get(*p as usize).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_span_the_run_and_name_no_frame_twice() {
        assert_eq!(samples(&[]), [0; 0]);
        assert_eq!(samples(&[7]), [7]);
        assert_eq!(samples(&[0, 1, 2]), [0, 1, 2]);
        assert_eq!(samples(&(0..97).collect::<Vec<_>>()), [0, 24, 48, 72, 96]);
    }
}
