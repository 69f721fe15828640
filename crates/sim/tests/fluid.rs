//! The fluid phase against closed forms and invariants. Walls are analytic boxes; contact is a plain penalty.

use littoral_geom::math::{Aabb, Vec3, outer};
use littoral_geom::random::Random;
use littoral_sim::fluid::{
    Fluid, FluidMaterial, Link, Solution, SolveReport, SolveSettings, Wall, stiffness_for,
};

const G: f64 = 9.81;

/// Lattice points, `count` along each axis, starting half a spacing from the origin.
fn lattice(dx: f64, count: [usize; 3]) -> Vec<Vec3> {
    let mut x = Vec::new();
    for k in 0..count[2] {
        for j in 0..count[1] {
            for i in 0..count[0] {
                x.push(dx * (Vec3::new(i as f64, j as f64, k as f64) + 0.5));
            }
        }
    }
    x
}

/// A fluid and its state, in an optional box.
struct Tank {
    fluid: Fluid,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    push: Vec<Vec3>,
    inside: Option<Aabb>,
    gravity: Vec3,
    no_slip: bool,
    settings: SolveSettings,
    /// Total force on the box in the last step, by walls and by contact [N].
    force: Vec3,
    last: Solution,
}

impl Tank {
    fn new(dx: f64, material: FluidMaterial, x: Vec<Vec3>) -> Self {
        let n = x.len();
        Tank {
            fluid: Fluid::new(dx, 2.0, vec![material], vec![0; n]).unwrap(),
            v: vec![Vec3::ZERO; n],
            push: vec![Vec3::ZERO; n],
            x,
            inside: None,
            gravity: Vec3::ZERO,
            no_slip: false,
            settings: SolveSettings::default(),
            force: Vec3::ZERO,
            last: Solution::default(),
        }
    }

    fn walls(&self) -> Vec<Wall> {
        let Some(inside) = self.inside else { return Vec::new() };
        let mut walls = Vec::new();
        for (i, p) in self.x.iter().enumerate() {
            for axis in 0..3 {
                let mut normal = Vec3::ZERO;
                normal[axis] = 1.0;
                for (normal, distance) in
                    [(normal, p[axis] - inside.min[axis]), (-normal, inside.max[axis] - p[axis])]
                {
                    if distance < self.fluid.support() {
                        let no_slip = self.no_slip;
                        walls.push(Wall { no_slip, ..Wall::fixed(i as u32, distance, normal) });
                    }
                }
            }
        }
        walls
    }

    /// Contact as a penalty that acts closer than half a spacing, ½k(d − dx/2)².
    fn contact(&self, walls: &[Wall], stiffness: f64) -> Vec<Link> {
        let dx = self.fluid.spacing();
        // A lattice is at half a spacing up to rounding; it must feel the wall at once.
        let close = walls.iter().filter(|w| w.distance < 0.5 * dx * (1.0 + 1e-9));
        let link = |w: &Wall| {
            let gradient = stiffness * (w.distance - 0.5 * dx) * w.normal;
            Link::fixed(w.particle, gradient, stiffness * outer(w.normal, w.normal))
        };
        close.map(link).collect()
    }

    fn step(&mut self, h: f64) -> SolveReport {
        let walls = self.walls();
        self.fluid.prepare(&self.x, h, &[], &walls, None);
        let stiffness = self.fluid.materials()[0].stiffness * self.fluid.spacing();
        let links = self.contact(&walls, stiffness);
        let n = self.x.len();
        let x_hat: Vec<Vec3> = (0..n).map(|i| self.x[i] + h * self.v[i] + h * h * self.gravity).collect();
        let warm: Vec<Vec3> = self.push.iter().map(|a| h * h * *a).collect();
        let s = self.fluid.solve(&x_hat, &[], &links, &warm, &self.settings);
        self.force = s.wall_forces.iter().sum();
        for link in &links {
            let i = link.particle as usize;
            self.force += link.gradient + link.hessian * (s.x[i] - self.x[i]);
        }
        for (i, (found, guess)) in s.x.iter().zip(&x_hat).enumerate() {
            self.push[i] = (*found - *guess) / (h * h);
            self.v[i] = (*found - self.x[i]) / h;
            self.x[i] = *found;
        }
        let report = s.report;
        self.last = s;
        report
    }

    fn momentum(&self) -> Vec3 {
        (0..self.x.len()).map(|i| self.fluid.mass(i) * self.v[i]).sum()
    }
}

fn water(stiffness: f64) -> FluidMaterial {
    FluidMaterial { density: 1000.0, viscosity: 0.0, stiffness }
}

#[test]
fn a_free_block_keeps_its_shape() {
    let dx = 0.05;
    let mut tank = Tank::new(dx, water(1e5), lattice(dx, [6, 6, 6]));
    let start = tank.x.clone();
    for _ in 0..100 {
        tank.step(3e-3);
    }
    let moved = tank.x.iter().zip(&start).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(moved < 1e-3 * dx, "moved {} dx", moved / dx);
}

#[test]
fn spray_is_not_glued() {
    // A loose cloud and a dense block, both flying apart at rates at which a step opens gaps of some percent.
    let dx = 0.05;
    let mut random = Random::new(1);
    for (count, spread) in [([5, 5, 5], 1.6), ([6, 6, 6], 1.0)] {
        let x: Vec<Vec3> =
            lattice(dx * spread, count).iter().map(|p| *p + 0.1 * dx * random.in_cube(1.0)).collect();
        let mut tank = Tank::new(dx, water(1e6), x);
        let center = tank.x.iter().sum::<Vec3>() / tank.x.len() as f64;
        tank.v = tank.x.iter().map(|p| 15.0 * (*p - center)).collect();
        let start = tank.v.clone();
        for _ in 0..30 {
            tank.step(2e-3);
        }
        let speed: f64 = start.iter().map(|v| v.length_squared()).sum();
        let lost: f64 = tank.v.iter().zip(&start).map(|(a, b)| a.distance_squared(*b)).sum();
        // The block's jitter is pressed out once, at its start; the cloud feels nothing at all.
        let band = if spread > 1.0 { 1e-9 } else { 0.1 };
        assert!((lost / speed).sqrt() < band, "spread {spread}: lost {}", (lost / speed).sqrt());
    }
}

#[test]
fn momentum_is_kept_to_rounding() {
    let dx = 0.05;
    let mut random = Random::new(2);
    let x: Vec<Vec3> = lattice(dx, [8, 7, 6]).iter().map(|p| *p + 0.3 * dx * random.in_cube(1.0)).collect();
    let material = FluidMaterial { viscosity: 0.01, ..water(1e5) };
    let mut tank = Tank::new(dx, material, x);
    // A coarse solve, so that momentum does not come from convergence.
    tank.settings.tolerance = 0.1;
    for v in &mut tank.v {
        *v = random.in_cube(2.0) + Vec3::X;
    }
    for _ in 0..5 {
        let (x, v) = (tank.x.clone(), tank.v.clone());
        let before = tank.momentum();
        let size: f64 = v.iter().map(|v| tank.fluid.mass(0) * v.length()).sum();
        tank.step(2e-3);
        // Some hundred roundings of a few thousand terms each.
        assert!((tank.momentum() - before).length() < 1e-13 * size);
        let spin = |v: &[Vec3]| -> Vec3 { (0..x.len()).map(|i| x[i].cross(tank.fluid.mass(i) * v[i])).sum() };
        // About xⁿ, with an arm of half a metre; the pair coefficients are exact multiples of x_ij.
        assert!(
            (spin(&tank.v) - spin(&v)).length() < 1e-13 * size,
            "angular momentum about the old positions"
        );
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let dx = 0.05;
            let material = FluidMaterial { viscosity: 1e-3, ..water(1e5) };
            let mut tank = Tank::new(dx, material, lattice(dx, [12, 12, 12]));
            tank.inside = Some(Aabb { min: Vec3::ZERO, max: Vec3::new(1.2, 0.6, 2.0) });
            tank.gravity = -G * Vec3::Z;
            for _ in 0..10 {
                tank.step(3e-3);
            }
            tank.x
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

/// A column 6 × 6 × 16 spacings in a box.
#[test]
fn a_column_comes_to_rest_and_weighs_what_it_weighs() {
    let dx = 0.05;
    let count = [6, 6, 16];
    let depth = count[2] as f64 * dx;
    let material = FluidMaterial { viscosity: 1e-2, ..water(stiffness_for(0.01, 1000.0, G, depth, 0.0)) };
    let mut tank = Tank::new(dx, material, lattice(dx, count));
    let top = Vec3::new(count[0] as f64 * dx, count[1] as f64 * dx, 2.0);
    tank.inside = Some(Aabb { min: Vec3::ZERO, max: top });
    tank.gravity = -G * Vec3::Z;
    tank.settings.tolerance = 1e-4;
    let level = |x: &[Vec3]| x.iter().map(|p| p.z).sum::<f64>() / x.len() as f64 * 2.0;
    let start = level(&tank.x);
    let mut force = Vec3::ZERO;
    let steps = 1250;
    for s in 0..steps {
        assert!(tank.step(4e-3).converged);
        if s >= steps - 50 {
            force += tank.force / 50.0;
        }
    }
    let weight = 1000.0 * depth * top.x * top.y * G;
    assert!((-force.z / weight - 1.0).abs() < 1e-3, "{force} for a weight of {weight}");
    assert!(force.truncate().length() < 1e-3 * weight, "{force}");
    // Compression takes ρ g H/2k = 0.5 %; a fifth of a spacing, 1.2 % of the depth, goes where the particles leave the
    // lattice and pack closer below the surface.
    let fall = 1.0 - level(&tank.x) / start;
    assert!((0.0..0.017).contains(&fall), "the level fell by {fall}");
    // Pressure in the middle half. Single particles scatter by a third, and where the packing is not a lattice the sum
    // answers a compression some 15 % more weakly, so p = k(1 − J) reads that much more than the stress it carries.
    let inside = |p: &&(&Vec3, &f64)| (0.25..0.75).contains(&(p.0.z / depth));
    let pairs = || tank.x.iter().zip(&tank.last.pressure);
    let found: f64 = pairs().filter(|p| inside(&p)).map(|p| p.1).sum();
    let expected: f64 = pairs().filter(|p| inside(&p)).map(|p| 1000.0 * G * (level(&tank.x) - p.0.z)).sum();
    assert!((0.95..1.25).contains(&(found / expected)), "{}", found / expected);
    // At rest but for a few particles that still look for a place; against the speed of a fall through the depth.
    let speed = (tank.v.iter().map(|v| v.length_squared()).sum::<f64>() / tank.v.len() as f64).sqrt();
    assert!(speed < 3e-3 * (2.0 * G * depth).sqrt(), "{speed} m/s");
}

/// A dam that has just been taken away: the horizontal acceleration of its face is −(2g/π) ln tan(πz/4H) [Stoker].
#[test]
fn a_dam_starts_to_break_as_potential_flow() {
    let dx = 0.05;
    let count = [40, 4, 16];
    let height = count[2] as f64 * dx;
    let mut tank = Tank::new(dx, water(1e6), lattice(dx, count));
    tank.inside = Some(Aabb { min: Vec3::ZERO, max: Vec3::new(10.0, count[1] as f64 * dx, 10.0) });
    tank.gravity = -G * Vec3::Z;
    tank.settings = SolveSettings { tolerance: 1e-5, max_iterations: 3000, ..SolveSettings::default() };
    // A step so long that sound has no part in it.
    let h = 5e-2;
    let start = tank.x.clone();
    assert!(tank.step(h).converged);
    let face = (count[0] as f64 - 0.5) * dx;
    let (mut found, mut expected) = (0.0, 0.0);
    for k in 2..count[2] - 2 {
        let z = (k as f64 + 0.5) * dx;
        let layer = (0..start.len())
            .filter(|i| (start[*i].z - z).abs() < 0.1 * dx && (start[*i].x - face).abs() < 0.1 * dx);
        let v: Vec<f64> = layer.map(|i| tank.v[i].x / h).collect();
        let mean = v.iter().sum::<f64>() / v.len() as f64;
        let theory = -2.0 * G / std::f64::consts::PI * (std::f64::consts::PI * z / (4.0 * height)).tan().ln();
        found += mean;
        expected += theory;
    }
    // The outermost particles are half a spacing inside the face: 8 % less.
    assert!((found / expected - 1.0).abs() < 0.1, "{}", found / expected);
}

#[test]
fn iterations_grow_like_the_root_of_the_stiffness() {
    let dx = 0.05;
    let mut random = Random::new(5);
    let x: Vec<Vec3> =
        lattice(dx, [12, 12, 12]).iter().map(|p| *p + 0.1 * dx * random.in_cube(1.0)).collect();
    let v: Vec<Vec3> = x.iter().map(|_| random.in_cube(1.0)).collect();
    let mut counts = Vec::new();
    for stiffness in [1e5, 4e5, 1.6e6, 6.4e6] {
        let mut tank = Tank::new(dx, water(stiffness), x.clone());
        tank.v = v.clone();
        tank.settings = SolveSettings { tolerance: 1e-4, max_iterations: 5000, ..SolveSettings::default() };
        let report = tank.step(5e-3);
        assert!(report.converged, "{report:?}");
        counts.push(f64::from(report.iterations));
    }
    for pair in counts.windows(2) {
        let growth = pair[1] / pair[0];
        assert!((1.2..2.4).contains(&growth), "{counts:?}");
    }
}

#[test]
fn a_spinning_drop_keeps_its_angular_momentum() {
    let dx = 0.05;
    for viscosity in [0.0, 0.05] {
        let ball = lattice(dx, [12, 12, 12]);
        let center = Vec3::splat(6.0 * dx);
        let x: Vec<Vec3> = ball.into_iter().filter(|p| p.distance(center) < 6.0 * dx).collect();
        let mut tank = Tank::new(dx, FluidMaterial { viscosity, ..water(1e5) }, x);
        tank.settings.tolerance = 0.01;
        let spin = Vec3::new(0.5, -1.0, 3.0);
        tank.v = tank.x.iter().map(|p| spin.cross(*p - center)).collect();
        let momentum = |t: &Tank| -> Vec3 {
            t.x.iter().zip(&t.v).map(|(x, v)| t.fluid.mass(0) * (*x - center).cross(*v)).sum()
        };
        let start = momentum(&tank);
        for _ in 0..200 {
            tank.step(3e-3);
        }
        // Positions move by h v, which turns no momentum; two hundred steps of some thousand roundings.
        let lost = (momentum(&tank) - start).length() / start.length();
        assert!(lost < 1e-11, "ν = {viscosity}: lost {lost:e}");
    }
}

/// A disc of radius 1 m between two plates, v = (−100 x, 100 y): it becomes an ellipse of the same area. A perfect lattice
/// would resist: stretched along its axes it sums to more than 1 until it breaks up.
///
/// ```text
///    ↑
///  → o ←
///    ↓
/// ```
#[test]
fn a_stretching_disc_follows_the_ellipse() {
    let dx = 0.05;
    let layers = 4;
    let center = Vec3::new(1.0, 1.0, 0.0);
    let in_disc = |p: &Vec3| (*p - center).truncate().length() < 1.0;
    let mut random = Random::new(3);
    let places = lattice(dx, [40, 40, layers]).into_iter().map(|p| p + 0.2 * dx * random.in_cube(1.0));
    let x: Vec<Vec3> = places.filter(in_disc).collect();
    let mut tank = Tank::new(dx, water(stiffness_for(0.01, 1000.0, 0.0, 0.0, 100.0)), x);
    let top = f64::from(layers as u32) * dx;
    tank.inside = Some(Aabb { min: Vec3::new(-10.0, -10.0, 0.0), max: Vec3::new(10.0, 10.0, top) });
    tank.v = tank.x.iter().map(|p| 100.0 * Vec3::new(1.0 - p.x, p.y - 1.0, 0.0)).collect();
    // Semi-axes of a uniform ellipse are twice the deviations.
    let axis = |t: &Tank, k: usize| -> f64 {
        2.0 * (t.x.iter().map(|p| (*p - center)[k].powi(2)).sum::<f64>() / t.x.len() as f64).sqrt()
    };
    let first = axis(&tank, 0);
    let expected = [(0.7826, 1.2778), (0.6271, 1.5948), (0.5179, 1.9309)];
    for (across, along) in expected {
        for _ in 0..20 {
            tank.step(1.25e-4);
        }
        let found = (axis(&tank, 0) / first, axis(&tank, 1) / first);
        // The jitter is pressed out in the first steps, which takes up to 2 %.
        assert!((found.0 / across - 1.0).abs() < 0.03, "{found:?} for {across} {along}");
        assert!((found.1 / along - 1.0).abs() < 0.03, "{found:?} for {across} {along}");
    }
}

/// The first standing wave of a tank, T = 2π/√(g k tanh kH) with k = π/L, started with the flow of its flat moment.
#[test]
fn water_sloshes_with_its_period() {
    let dx = 0.025;
    let (length, depth) = (1.0, 0.5);
    let mut random = Random::new(3);
    let x = lattice(dx, [40, 4, 20]).into_iter().map(|p| p + 0.2 * dx * random.in_cube(1.0)).collect();
    let mut tank = Tank::new(dx, water(stiffness_for(0.005, 1000.0, G, depth, 0.0)), x);
    tank.inside = Some(Aabb { min: Vec3::ZERO, max: Vec3::new(length, 4.0 * dx, 2.0) });
    tank.gravity = -G * Vec3::Z;
    let k = std::f64::consts::PI / length;
    let flow = |p: &Vec3| {
        let (x, z) = (k * p.x, k * p.z);
        0.5 / (k * depth).cosh() * Vec3::new(x.sin() * z.cosh(), 0.0, -x.cos() * z.sinh())
    };
    tank.v = tank.x.iter().map(flow).collect();
    // Times at which the water as a whole turns round.
    let (mut turns, mut before, mut time) = (Vec::new(), tank.momentum().x, 0.0);
    let h = 4e-3;
    while turns.len() < 3 && time < 3.0 {
        tank.step(h);
        time += h;
        let after = tank.momentum().x;
        if before * after < 0.0 {
            turns.push(time - h * after / (after - before));
        }
        before = after;
    }
    let period = turns[2] - turns[0];
    // A wave 0.09 m high is 1 % slower than a small one; the level is known to a fraction of a spacing, 5 % of the depth.
    assert!((period / 1.1818 - 1.0).abs() < 0.03, "{period} s");
}
