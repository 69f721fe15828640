//! The derivatives by all unknowns together, against differences along them.

use super::*;
use crate::contact::barrier_set::BarrierModel;
use crate::joint::JointKind;
use crate::motion::Motion;
use crate::scene::{
    AttachTo, Attachment, ClothMaterial, JointSpec, Pin, Placement, RigidMaterial, SceneBuilder,
};
use crate::settings::{ContactSettings, Method, SolverSettings};
use crate::simulation::Simulation;
use crate::truncation::Truncator;
use littoral_geom::random::Random;
use littoral_geom::shapes;

const H: f64 = 1.0 / 240.0;

fn named(name: &str) -> Placement {
    Placement { name: name.into(), ..Placement::default() }
}

/// A sheet that carries a bar by tethers and another by springs; the bars are joined, and the lower one, which a spring
/// draws aside, stands on the ground.
fn tied(on_ground: bool, joined: bool) -> Simulation {
    let solver = SolverSettings { method: Method::Newton, step: Some(H), ..SolverSettings::default() };
    let mut scene =
        SceneBuilder::new(solver, ContactSettings { friction: 0.5, ..ContactSettings::default() });
    let mut sheet = shapes::grid([0.2, 0.2], [4, 4]);
    sheet.vertices.iter_mut().for_each(|p| *p = Vec3::new(p.x, 0.0, 0.25 - p.y));
    let low = sheet.vertices.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    let heights: Vec<f64> = sheet.vertices.iter().map(|p| p.z).collect();
    let at = |z: f64| (0..25).filter(|&v| (heights[v as usize] - z).abs() < 1e-6).collect::<Vec<u32>>();
    let mut place = named("sheet");
    place.pins = vec![Pin { vertices: at(low + 0.2), motion: Motion::Static, release: None }];
    scene.add_cloth(place, sheet, ClothMaterial { young: 1e5, ..ClothMaterial::default() });
    for (k, z) in [low - 0.05, low - 0.1].into_iter().enumerate() {
        let mut bar = shapes::cuboid([0.2, 0.02, 0.02], [4, 1, 1]);
        bar.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.0, 0.0, z));
        scene.add_rigid(named(["upper", "lower"][k]), bar, RigidMaterial { density: 500.0, shell: None });
    }
    for (name, to, distance) in [("upper", AttachTo::Surface, 0.01), ("lower", AttachTo::Vertex, 0.03)] {
        scene.attachments.push(Attachment {
            objects: ["sheet".into(), name.into()],
            from: Some(at(low)),
            to,
            distance: Some(distance),
            stiffness: Some(200.0),
            damping: 1e-3,
            ..Attachment::default()
        });
    }
    if joined {
        let middle = Vec3::new(0.1, 0.0, low - 0.075);
        let kind = JointKind::Hinge { axis: Vec3::X, limits: [-3.0, 3.0], motor: None };
        let objects = ("upper".into(), Some("lower".into()));
        scene.joints.push(JointSpec { objects, at: middle, to: middle, kind, length: None });
        let kind = JointKind::Spring { length: 0.05, stiffness: 300.0, damping: 0.01 };
        let objects = ("lower".into(), None);
        let (at, to) = (Vec3::new(-0.1, 0.0, low - 0.1), Vec3::new(-0.2, 0.1, low));
        scene.joints.push(JointSpec { objects, at, to, kind, length: None });
    }
    if on_ground {
        let mut plane = shapes::plane([2.0, 2.0]);
        plane.vertices.iter_mut().for_each(|p| p.z += low - 0.111);
        scene.add_collider(named("ground"), plane, Motion::Static);
    }
    scene.build().unwrap()
}

/// A stepper amid its step, away from where it began.
struct Amid {
    system: System,
    newton: NewtonIpc,
    x_n: Vec<Vec3>,
    unknowns: Unknowns,
}

impl Amid {
    fn new(sim: Simulation, random: &mut Random, size: f64) -> Self {
        let mut system = sim.system().clone();
        let mut state = sim.state().clone();
        system.lag(&state, H);
        let mut x = SafePositions::trusted(state.x.clone());
        let mut newton = NewtonIpc::new(&system, sim.settings().clone(), &x);
        newton.model = (H, BarrierModel::new(&system.contact, &system.geometry, H));
        newton.begin(&system, &x, &state, H);
        newton.approach(&system, &mut x, &mut state, H, &mut StepReport::default());
        let unknowns = newton.work.unknowns.clone();
        let mut amid = Amid { system, newton, x_n: state.x, unknowns };
        let p: Vec<Vec3> = (0..amid.unknowns.len()).map(|_| random.in_cube(size)).collect();
        amid.go(&p, 1.0);
        amid
    }

    /// Goes a share of the direction `p`, unfiltered.
    fn go(&mut self, p: &[Vec3], share: f64) {
        let Amid { system, newton, unknowns, .. } = self;
        for (&v, p) in unknowns.points.iter().zip(&p[unknowns.first..]) {
            newton.work.current[v as usize] += share * *p;
        }
        newton.bodies.set_ways(unknowns, p, share);
        // One that has cut nothing keeps all of every way.
        newton.bodies.accept(&Truncator::new(&SolverSettings::default()), false);
        for (body, pose) in system.bodies.list.iter().zip(newton.bodies.poses()) {
            for (r, v) in body.shape.iter().zip(body.points()) {
                newton.work.current[v] = pose.place(*r);
            }
        }
    }

    /// What `f` gives a share `s` of `p` farther.
    fn at<T>(&mut self, p: &[Vec3], s: f64, f: impl Fn(&mut Self) -> T) -> T {
        let stand = (self.newton.work.current.clone(), self.newton.bodies.stand());
        self.go(p, s);
        let found = f(self);
        self.newton.work.current = stand.0;
        self.newton.bodies.come_back(&stand.1);
        found
    }

    /// G, and its derivatives in `newton.derivatives` if asked.
    fn value(&mut self, derivatives: bool) -> f64 {
        let system = &self.system;
        let phase = Phase::whole(H, 0.0);
        self.newton.list_couplings(system, &self.unknowns);
        let couplings = std::mem::take(&mut self.newton.couplings);
        let friction = std::mem::take(&mut self.newton.friction);
        let target = std::mem::take(&mut self.newton.work.target);
        let objective = Objective {
            mass: &system.mass,
            target: &target,
            inverse_h2: 1.0 / (H * H),
            elastic: Some(&system.elastic),
            neighbours: &system.neighbours,
            friction: &friction,
            x_n: &self.x_n,
            unknowns: &self.unknowns,
            expansion: None,
            elsewhere: None,
            beside: couplings.beside(system, &self.unknowns),
        };
        let newton = &mut self.newton;
        if derivatives {
            let weighted = [super::super::newton_phase::weigh(&newton.barriers, &phase, u32::MAX)];
            let work = &mut newton.work;
            objective.derivatives(&work.current, &weighted, &mut work.touches, &mut newton.derivatives);
            newton.add_beside(system, &self.unknowns, &phase);
        }
        let value = newton.value(system, &objective, &phase).sum;
        (newton.couplings, newton.friction, newton.work.target) = (couplings, friction, target);
        value
    }

    /// The gradient by all unknowns.
    fn gradient(&mut self) -> Vec<Vec3> {
        self.value(true);
        let d = &self.newton.derivatives;
        d.beside.iter().copied().chain(self.unknowns.points.iter().map(|&v| d.gradient[v as usize])).collect()
    }
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

#[test]
fn the_gradient_by_bodies_and_points_is_the_slope_of_the_objective() {
    let mut touched = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut amid = Amid::new(tied(true, true), &mut random, 2e-4);
        let g = amid.gradient();
        touched += amid.newton.work.touches.len();
        let p: Vec<Vec3> = (0..g.len()).map(|_| random.in_cube(1.0)).collect();
        let e = 1e-6;
        let mut at = |s: f64| amid.at(&p, s, |a| a.value(false));
        let slope = (8.0 * (at(e) - at(-e)) - (at(2.0 * e) - at(-2.0 * e))) / (12.0 * e);
        let expected = dot(&g, &p);
        let scale = g.iter().map(|g| g.length()).sum::<f64>();
        // Rounding over the step, and barriers that vary within some ten steps.
        assert!(
            (slope - expected).abs() < 1e-6 * scale,
            "{slope} against {expected} of {scale}, seed {seed}"
        );
    }
    assert!(touched > 60, "nothing touches: {touched}");
}

/// Without contact and joints, and with every spring drawn, nothing at a body is projected: the Hessian is exact.
#[test]
fn the_hessian_by_bodies_and_points_is_the_slope_of_the_gradient() {
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let mut amid = Amid::new(tied(false, false), &mut random, 0.0);
        amid.gradient();
        let first = amid.unknowns.first;
        let part = |random: &mut Random, bodies: bool| -> Vec<Vec3> {
            let one = |k: usize| if (k < first) == bodies { random.in_cube(1.0) } else { Vec3::ZERO };
            (0..amid.unknowns.len()).map(one).collect()
        };
        let (of_bodies, of_points) = (part(&mut random, true), part(&mut random, false));
        let both: Vec<Vec3> = of_bodies.iter().zip(&of_points).map(|(a, b)| *a + *b).collect();
        let matrix = amid.newton.derivatives.matrix.clone();
        let mut curvature = |p: &[Vec3]| {
            let mut product = Vec::new();
            matrix.multiply(p, &mut product);
            let e = 1e-6;
            let [ahead, behind] = [e, -e].map(|s| amid.at(p, s, Amid::gradient));
            (dot(p, &product), (dot(p, &ahead) - dot(p, &behind)) / (2.0 * e))
        };
        let [alone, sheet, all] = [&of_bodies, &of_points, &both].map(|p| curvature(p));
        // Differences of 1e-6 of forces with the slope of curves, over some springs.
        assert!((alone.0 / alone.1 - 1.0).abs() < 1e-5, "{alone:?}, seed {seed}");
        // What the sheet itself projects stands in both, and cancels.
        let cross = (all.0 - sheet.0 - alone.0, all.1 - sheet.1 - alone.1);
        assert!((cross.0 - cross.1).abs() < 1e-5 * (alone.1.abs() + cross.1.abs()), "{cross:?}, seed {seed}");
    }
}
