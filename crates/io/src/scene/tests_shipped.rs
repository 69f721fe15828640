//! The scenes that ship: each builds without a warning, says what it is, and starts apart.

use super::*;
use littoral_geom::math::Aabb;
use littoral_geom::mesh::unique_edges;
use littoral_geom::pairs::{BroadPhase, Query, Surface};
use littoral_sim::model::ObjectKind;

/// Largest scene that ships [triangles]: each runs well below a minute or two.
const TRIANGLES_MAX: usize = 16_000;

/// Smallest gap [m] of all pairs of primitives that share no vertex, with one that is simulated, below `radius`.
fn smallest_gap(sim: &Simulation, radius: f64) -> Option<f64> {
    let x = &sim.state().x;
    let mut active = vec![false; x.len()];
    for o in sim.objects().iter().filter(|o| o.kind != ObjectKind::Collider) {
        active[o.range()].fill(true);
    }
    let surface_points = sim.triangles().as_flattened();
    let mut vertices = surface_points.to_vec();
    vertices.sort_unstable();
    vertices.dedup();
    let surface =
        Surface { vertices, edges: unique_edges(sim.triangles()), triangles: sim.triangles().to_vec() };
    let boxes: Vec<Aabb> = x.iter().map(|&p| Aabb::point(p).inflated(radius)).collect();
    let reach = vec![0.0; x.len()];
    let query =
        Query { x, boxes: &boxes, tubes: &[], reach: &reach, offset: radius, active: &active, rigid: &[] };
    let (mut vt, mut ee) = (Vec::new(), Vec::new());
    BroadPhase::new(&surface, x.len()).detect(&surface, &query, &mut vt, &mut ee);
    vt.iter().chain(&ee).map(|p| p.gap).reduce(f64::min)
}

#[test]
fn every_scene_that_ships_builds_without_a_warning_and_starts_apart() {
    assert!(shipped().len() >= 18, "{} scenes", shipped().len());
    for (name, text) in shipped() {
        assert!(description(text).len() > 20, "{name} says too little about itself");
        let file = SceneFile::load(Source::Shipped(name), &[]).unwrap_or_else(|e| panic!("{e}"));
        assert!(!file.title().is_empty(), "{name}");
        let (sim, warnings) = file.build().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(warnings, [], "{name}");
        let (points, triangles) = (sim.state().x.len(), sim.triangles().len());
        let frames = file.frames();
        println!(
            "{name}: {points} points, {triangles} triangles, {} tets, {frames} frames",
            sim.tets().len()
        );
        assert!(triangles <= TRIANGLES_MAX, "{name}: {triangles} triangles");
        let radius = file.scene.contact.radius.unwrap_or(2e-3);
        // Exactly the radius is apart enough, up to the rounding of the coordinates.
        let gap = smallest_gap(&sim, radius * (1.0 - 1e-9));
        assert_eq!(gap, None, "{name} starts with a gap below the contact radius of {radius} m");
    }
}

#[test]
fn every_expectation_of_a_scene_falls_on_a_frame() {
    for (name, _) in shipped() {
        let file = SceneFile::load(Source::Shipped(name), &[]).unwrap();
        let (sim, _) = file.build().unwrap();
        assert!(!file.expectations().is_empty(), "{name} expects nothing");
        for e in file.expectations() {
            assert!(e.value(&sim, &Seen::default()).is_finite(), "{name}: {e}");
            let frame = e.time.unwrap_or(file.duration()) * file.fps();
            // A frame is a few per cent of a second: a rounded duration is near enough.
            assert!((frame - frame.round()).abs() < 0.01, "{name}: {e} is at frame {frame}");
        }
    }
}
