//! Measures of objects against closed forms, on a square, a tet and a wall.

use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::mesh::{TetMesh, TriMesh};
use littoral_geom::shapes;
use littoral_sim::measure::{Axis, Measure, measure, segments_in_fluid};
use littoral_sim::motion::Motion;
use littoral_sim::scene::{
    ClothMaterial, Liquid, LiquidMaterial, Placement, RodMaterial, SceneBuilder, SoftMaterial,
};
use littoral_sim::settings::{ContactSettings, SolverSettings, Splitting};
use littoral_sim::simulation::Simulation;

fn named(name: &str) -> Placement {
    Placement { name: name.to_owned(), ..Placement::default() }
}

/// A unit square of two triangles, a unit right-angled tet, and a wall, far from each other.
fn scene() -> Simulation {
    let square = |z: f64| TriMesh {
        vertices: [[0., 0.], [1., 0.], [1., 1.], [0., 1.]].map(|[x, y]| Vec3::new(x, y, z)).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    let corner = Vec3::new(10.0, 0.0, 0.0);
    let tet = TetMesh {
        vertices: [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|p| corner + p).to_vec(),
        tets: vec![[0, 1, 2, 3]],
    };
    let mut builder = SceneBuilder::new(SolverSettings::default(), ContactSettings::default());
    builder.add_cloth(named("sheet"), square(0.0), ClothMaterial::default());
    builder.add_soft(named("body"), tet, SoftMaterial::default());
    builder.add_collider(named("wall"), square(5.0), Motion::Static);
    builder.build().unwrap()
}

/// Applies a map of positions and a velocity to every point.
fn moved(mut sim: Simulation, map: impl Fn(Vec3) -> Vec3, v: Vec3) -> Simulation {
    let mut state = sim.state().clone();
    state.x.iter_mut().for_each(|x| *x = map(*x));
    state.v.fill(v);
    sim.restore(state);
    sim
}

fn get(sim: &Simulation, name: &str, what: Measure) -> f64 {
    let object = sim.objects().iter().find(|o| o.name == name).unwrap();
    measure(sim, object, what)
}

#[test]
fn centres_are_those_of_area_and_volume() {
    let sim = scene();
    assert_eq!(get(&sim, "sheet", Measure::Center(Axis::X)), 0.5);
    assert_eq!(get(&sim, "body", Measure::Center(Axis::Z)), 0.25);
    assert_eq!(get(&sim, "wall", Measure::Center(Axis::Z)), 5.0);
    assert_eq!(get(&sim, "body", Measure::Min(Axis::X)), 10.0);
    assert_eq!(get(&sim, "body", Measure::Max(Axis::Y)), 1.0);
}

#[test]
fn a_stretch_along_x_shows_in_area_volume_and_edges() {
    let sim = moved(scene(), |p| Vec3::new(1.25 * p.x, p.y, p.z), Vec3::new(3.0, 0.0, 4.0));
    for (name, what) in
        [("sheet", Measure::AreaRatio), ("sheet", Measure::StretchMax), ("body", Measure::VolumeRatio)]
    {
        // A few roundings of coordinates near ten.
        assert!((get(&sim, name, what) - 1.25).abs() < 1e-14, "{what:?}");
    }
    assert_eq!(get(&sim, "sheet", Measure::MaxSpeed), 5.0);
    assert_eq!(get(&sim, "sheet", Measure::MeanSpeed), 5.0);
}

#[test]
fn a_mirrored_body_has_negative_volume() {
    let sim = moved(scene(), |p| Vec3::new(-p.x, p.y, p.z), Vec3::ZERO);
    assert_eq!(get(&sim, "body", Measure::VolumeRatio), -1.0);
    assert!(get(&sim, "sheet", Measure::VolumeRatio).is_nan());
}

/// ```text
///     o        o                 o      particles 20, 30 and 10 mm above a rope of 5 mm; half a spacing is 20 mm
/// ──┼──┼──┼──┼──┼──┼──┼──┼──┼──
/// ```
#[test]
fn a_segment_is_in_a_fluid_that_does_not_feel_it_from_half_a_spacing_on() {
    let mut builder = SceneBuilder::new(SolverSettings::default(), ContactSettings::default());
    let rope = shapes::segment_line(Vec3::ZERO, Vec3::X, 10);
    builder.add_rod(named("rope"), rope, RodMaterial { radius: 5e-3, ..RodMaterial::default() });
    let above = |x: f64, z: f64| Vec3::new(x, 0.0, z);
    builder.add_liquid(Liquid {
        placement: named("water"),
        spacing: 0.04,
        particles: vec![above(0.25, 0.02), above(0.55, 0.03), above(0.8, 0.01)],
        gradient: Mat3::ZERO,
        emitters: Vec::new(),
        material: LiquidMaterial::default(),
    });
    assert_eq!(segments_in_fluid(&builder.clone().build().unwrap()), 0);
    // Without a proxy the fluid does not feel them. The third one is above the end of two segments.
    builder.fluid.splitting = Splitting::Baseline;
    assert_eq!(segments_in_fluid(&builder.build().unwrap()), 3);
    assert_eq!(segments_in_fluid(&scene()), 0);
}
