//! What lies on something comes to rest, at any number of sweeps.

use littoral_geom::math::Vec3;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::{ClothMaterial, Placement, SceneBuilder};
use littoral_sim::settings::{ContactSettings, SolverSettings};
use littoral_sim::simulation::Simulation;

const STEP: f64 = 1.0 / 240.0;
const RADIUS: f64 = 1e-3;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

/// A sheet of 0.2 m, one contact radius above a level ground of two triangles, whose diagonal lies under that of the sheet.
/// Gravity leans by tan⁻¹ `slope`.
fn sheet_on_ground(iterations: u32, cells: u32, friction: f64, slope: f64) -> Simulation {
    let contact = ContactSettings { radius: RADIUS, friction, ..ContactSettings::default() };
    let mut s = SceneBuilder::new(SolverSettings { iterations, ..SolverSettings::default() }, contact);
    s.gravity = 9.81 * Vec3::new(slope, 0.0, -1.0).normalize();
    let mut sheet = shapes::grid([0.2, 0.2], [cells, cells]);
    sheet.vertices.iter_mut().for_each(|p| p.z += RADIUS);
    s.add_cloth(named("sheet"), sheet, ClothMaterial::default());
    s.add_collider(named("ground"), shapes::grid([4.0, 4.0], [1, 1]), Motion::Static);
    s.build().unwrap()
}

fn run(sim: &mut Simulation, seconds: f64) {
    (0..(seconds / STEP).round() as u32).for_each(|_| drop(sim.step(STEP)));
}

/// The points of the sheet.
fn points(sim: &Simulation) -> std::ops::Range<usize> {
    let sheet = sim.objects().iter().find(|o| o.name == "sheet").expect("it was added");
    sheet.range()
}

fn way(sim: &mut Simulation, seconds: f64) -> f64 {
    let mean = |sim: &Simulation| {
        let r = points(sim);
        let n = r.len() as f64;
        r.map(|i| sim.state().x[i].x).sum::<f64>() / n
    };
    let from = mean(sim);
    run(sim, seconds);
    mean(sim) - from
}

/// No point hops, whatever a step leaves unsolved: 1 µm/s is a thousandth of a contact radius a second.
#[test]
fn a_sheet_on_the_ground_lies_still() {
    for cells in [4, 10] {
        for iterations in [1, 2, 5, 10, 40] {
            for friction in [0.0, 0.5] {
                let mut sim = sheet_on_ground(iterations, cells, friction, 0.0);
                run(&mut sim, 2.0);
                // Without friction the sheet may drift along the ground.
                let speed = |v: Vec3| if friction > 0.0 { v.length() } else { v.z.abs() };
                let fastest = points(&sim).map(|i| speed(sim.state().v[i])).fold(0.0, f64::max);
                assert!(fastest < 1e-6, "{cells} cells, {iterations} sweeps, μ {friction}: {fastest:e} m/s");
            }
        }
    }
}

/// Points of one colour move at once. Those that lie above each other, as in a stack of like sheets, would each wait for the
/// other: with that the upper sheet trembled at 1 cm/s for good.
#[test]
fn a_sheet_on_one_like_it_lies_still() {
    let contact = ContactSettings { radius: RADIUS, friction: 0.3, ..ContactSettings::default() };
    let mut s = SceneBuilder::new(SolverSettings { iterations: 10, ..SolverSettings::default() }, contact);
    s.gravity = 9.81 * Vec3::NEG_Z;
    for (name, z) in [("lower", RADIUS), ("sheet", 3.0 * RADIUS)] {
        let mut sheet = shapes::grid([0.2, 0.2], [10, 10]);
        sheet.vertices.iter_mut().for_each(|p| p.z += z);
        s.add_cloth(named(name), sheet, ClothMaterial::default());
    }
    s.add_collider(named("ground"), shapes::grid([4.0, 4.0], [1, 1]), Motion::Static);
    let mut sim = s.build().unwrap();
    run(&mut sim, 1.0);
    let fastest = points(&sim).map(|i| sim.state().v[i].length()).fold(0.0, f64::max);
    assert!(fastest < 1e-6, "{fastest:e} m/s");
}

/// tan α = 0.5: with μ 0.50 it slips less than 1 mm in 2.5 s, with 0.49 it slides ½ g (sin α − μ cos α) t² = 0.274 m.
#[test]
fn a_sheet_on_a_slope_holds_and_slides_by_coulombs_law() {
    for iterations in [10, 20] {
        let held = way(&mut sheet_on_ground(iterations, 10, 0.50, 0.5), 2.5);
        assert!(held.abs() < 1e-3, "{iterations} sweeps: slips {held} m with 0.50");
        let slid = way(&mut sheet_on_ground(iterations, 10, 0.49, 0.5), 2.5);
        assert!((slid - 0.2741).abs() < 0.05 * 0.2741, "{iterations} sweeps: slides {slid} m with 0.49");
    }
}
