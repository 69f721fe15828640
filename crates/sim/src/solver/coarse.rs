//! Coarse correction of block descent: the objective restricted to displacements that vary slowly along the mesh.
//!
//! A vertex update passes a force on by one edge, so sweeps take away what varies from edge to edge and leave what
//! varies slowly: a hanging sheet stretches, a pressed block lags. With u = P u_c between few nodes, the Newton step
//! u_c = −(Pᵀ H P)⁻¹ Pᵀ g takes that away at once. H are the projected element Hessians and the inertia at the start of
//! a step, and the curvature of the contacts, side by side, at each correction. The step of each component is
//! shortened where it does not lower its objective; the result is a proposal that is truncated like any other.

mod space;

use super::assembly::{ElasticPlaces, elastic_pairs};
use super::cholesky::Cholesky;
use super::descent::Objective;
use super::sparse::{BlockMatrix, NONE, Unknowns};
use crate::system::System;
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;
use space::CoarseSpace;

/// Shares of the correction that are tried.
const SHARES: [f64; 3] = [1.0, 0.5, 0.2];

/// Points per parallel task.
const TASK: usize = 64;

/// Pairs of nodes that are gathered before repetitions are dropped.
const PAIRS: usize = 1 << 20;

/// The correction and its memory.
#[derive(Debug, Default)]
pub struct CoarseCorrection {
    /// Points that it moves.
    pub points: Vec<u32>,
    space: CoarseSpace,
    /// Hessian of the points.
    fine: BlockMatrix,
    unknowns: Unknowns,
    places: ElasticPlaces,
    /// Hessian of the nodes, and its part without contacts.
    coarse: BlockMatrix,
    elastic: Vec<Mat3>,
    cholesky: Cholesky,
    gradient: Vec<Vec3>,
    trial: Vec<Vec3>,
}

impl CoarseCorrection {
    /// Chooses the coarse space of a system.
    pub fn new(system: &System) -> Self {
        let space = CoarseSpace::new(system);
        let unknowns = Unknowns::new(system.mass.len(), |v| !space.entries(v).is_empty());
        let mut fine = BlockMatrix::default();
        fine.set_pattern(unknowns.len(), elastic_pairs(&system.neighbours, &unknowns));
        let mut places = ElasticPlaces::default();
        places.update(&system.elastic, &unknowns, &fine);
        let mut coarse = BlockMatrix::default();
        coarse.set_pattern(space.len(), node_pairs(system, &space, &unknowns));
        CoarseCorrection {
            points: unknowns.points.clone(),
            space,
            fine,
            unknowns,
            places,
            coarse,
            ..CoarseCorrection::default()
        }
    }

    /// Weighs the space in the shape `x` [m], and builds the elastic and inertial part of its Hessian there.
    pub fn begin(&mut self, system: &System, x: &[Vec3], held: &[bool], inverse_h2: f64) {
        self.space.weigh(x, held);
        self.fine.clear();
        self.places.add_hessian(&system.elastic, x, &mut self.fine);
        for (i, &v) in self.points.iter().enumerate() {
            let w = system.mass[v as usize] * inverse_h2;
            self.fine.add_diagonal(i as u32, Mat3::from_diagonal(Vec3::splat(w)));
        }
        let (space, coarse) = (&self.space, &self.coarse);
        let columns: Vec<Vec<Mat3>> = (0..space.len())
            .into_par_iter()
            .map_init(
                || (vec![NONE; self.points.len()], vec![NONE; space.len()]),
                |(slot_of, row_of), c| {
                    galerkin_column(space, &self.fine, &self.unknowns, coarse.column(c), c, slot_of, row_of)
                },
            )
            .collect();
        self.elastic.clear();
        self.elastic.extend(columns.into_iter().flatten());
    }

    /// Adds the correction to the displacements `dx`; `x` [m] are the present positions.
    pub fn propose(
        &mut self,
        system: &System,
        objective: &Objective<'_>,
        x: &[Vec3],
        held: &[bool],
        dx: &mut [Vec3],
    ) {
        let gradient = |&v: &u32| if held[v as usize] { Vec3::ZERO } else { objective.gradient(v, x) };
        self.points.par_iter().with_min_len(TASK).map(gradient).collect_into_vec(&mut self.gradient);
        self.coarse.set_values(&self.elastic);
        add_contacts(&self.space, objective, x, &mut self.coarse);
        let of_point = &self.unknowns.of_point;
        let pull = |(v, w): (u32, f64)| w * self.gradient[of_point[v as usize] as usize];
        let right: Vec<Vec3> =
            (0..self.space.len()).map(|c| -self.space.moved_by(c).map(pull).sum::<Vec3>()).collect();
        let mut solution = Vec::new();
        if self.cholesky.solve(&self.coarse, &right, &mut solution).is_err() {
            // Not a number somewhere: the sweeps go on alone.
            return;
        }
        let step = |&v: &u32| self.space.interpolate(v as usize, &solution);
        let steps: Vec<Vec3> = self.points.par_iter().with_min_len(TASK).map(step).collect();
        let share = self.shares(system, objective, x, held, &steps);
        for (&v, step) in self.points.iter().zip(&steps) {
            dx[v as usize] += share[system.geometry.component[v as usize] as usize] * *step;
        }
    }

    /// The largest share of its correction, among those tried, that does not raise the objective of each component; 0 if
    /// every one does.
    fn shares(
        &mut self,
        system: &System,
        objective: &Objective<'_>,
        x: &[Vec3],
        held: &[bool],
        steps: &[Vec3],
    ) -> Vec<f64> {
        let (mut least, mut found) = (Vec::new(), Vec::new());
        values(system, objective, x, held, &mut least);
        let mut share = vec![0.0; least.len()];
        self.trial.clear();
        self.trial.extend(x);
        let mut open = vec![true; least.len()];
        for s in SHARES {
            for (&v, step) in self.points.iter().zip(steps) {
                self.trial[v as usize] = x[v as usize] + s * *step;
            }
            values(system, objective, &self.trial, held, &mut found);
            for c in 0..least.len() {
                if open[c] && found[c] <= least[c] {
                    (open[c], share[c]) = (false, s);
                }
            }
            if !open.contains(&true) {
                break;
            }
        }
        share
    }
}

/// Pairs of nodes that some element couples.
fn node_pairs(system: &System, space: &CoarseSpace, unknowns: &Unknowns) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for &v in &unknowns.points {
        for &w in system.neighbours.row(v as usize).iter().chain([&v]) {
            for a in space.entries(v as usize) {
                let of_a = space.node_of[a];
                let of_w = space.entries(w as usize).map(|b| space.node_of[b]);
                pairs.extend(of_w.filter(|&b| b >= of_a).map(|b| (of_a, b)));
            }
        }
        if pairs.len() > PAIRS {
            pairs.sort_unstable();
            pairs.dedup();
        }
    }
    pairs
}

/// Column `c` of Pᵀ H P, whose blocks have the given rows: first H P of this node, then Pᵀ of that. `slot_of` and `row_of`
/// are filled with `NONE` and left so in what is read.
fn galerkin_column(
    space: &CoarseSpace,
    fine: &BlockMatrix,
    unknowns: &Unknowns,
    rows: &[u32],
    c: usize,
    slot_of: &mut [u32],
    row_of: &mut [u32],
) -> Vec<Mat3> {
    let (mut reached, mut sums) = (Vec::new(), Vec::<Mat3>::new());
    for (v, w) in space.moved_by(c).filter(|(_, w)| *w != 0.0) {
        fine.for_each_in_row(unknowns.of_point[v as usize] as usize, |j, block| {
            let slot = &mut slot_of[j as usize];
            if *slot == NONE {
                *slot = sums.len() as u32;
                reached.push(j);
                sums.push(Mat3::ZERO);
            }
            // H_ji = H_ijᵀ
            sums[*slot as usize] += block.transpose() * w;
        });
    }
    for (k, &row) in rows.iter().enumerate() {
        row_of[row as usize] = k as u32;
    }
    let mut column = vec![Mat3::ZERO; rows.len()];
    for (&j, sum) in reached.iter().zip(&sums) {
        slot_of[j as usize] = NONE;
        for e in space.entries(unknowns.points[j as usize] as usize) {
            let (row, w) = (space.node_of[e], space.weights[e]);
            if row as usize >= c && w != 0.0 {
                column[row_of[row as usize] as usize] += *sum * w;
            }
        }
    }
    // A node that moves nothing has no equation.
    if column[0] == Mat3::ZERO {
        column[0] = Mat3::IDENTITY;
    }
    column
}

/// Adds the curvature of the contacts to the Hessian of the nodes. Two sides that both move do so without knowing of each
/// other: each then sees twice the curvature, which bounds what both do together.
fn add_contacts(space: &CoarseSpace, objective: &Objective<'_>, x: &[Vec3], coarse: &mut BlockMatrix) {
    let mut entries: Vec<(u32, f64)> = Vec::new();
    let moves = |side: &[u32]| side.iter().any(|&v| !space.entries(v as usize).is_empty());
    objective.contacts.for_each_acting(x, &objective.slip, |points, weights, split, hessian| {
        let both = if moves(&points[..split]) && moves(&points[split..]) { 2.0 } else { 1.0 };
        for side in [0..split, split..points.len()] {
            entries.clear();
            for s in side {
                for e in space.entries(points[s] as usize) {
                    let (node, w) = (space.node_of[e], weights[s] * space.weights[e]);
                    match entries.iter_mut().find(|p| p.0 == node) {
                        Some(p) => p.1 += w,
                        None => entries.push((node, w)),
                    }
                }
            }
            for &(a, wa) in &entries {
                for &(b, wb) in entries.iter().filter(|p| p.0 <= a) {
                    // The points of a side share an element, so that the pattern has all pairs of their nodes.
                    if let Some(place) = coarse.place(a, b) {
                        coarse.add_at(place, &(hessian * (both * wa * wb)));
                    }
                }
            }
        }
    });
}

/// The objective of each component [J], friction left out. A contact counts for both of its sides.
fn values(system: &System, objective: &Objective<'_>, x: &[Vec3], held: &[bool], sums: &mut Vec<f64>) {
    let component = &system.geometry.component;
    sums.clear();
    sums.resize(system.geometry.prescribed.len(), 0.0);
    for (v, &c) in component.iter().enumerate() {
        if !held[v] {
            let away = (x[v] - objective.y[v]).length_squared();
            sums[c as usize] += 0.5 * system.mass[v] * objective.inverse_h2 * away;
        }
    }
    system.elastic.value_by_component(x, component, sums);
    objective.contacts.for_each_energy(x, |points, split, energy| {
        let (a, b) = (component[points[0] as usize] as usize, component[points[split] as usize] as usize);
        sums[a] += energy;
        if a != b {
            sums[b] += energy;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{ContactMemory, Contacts, Slip};
    use crate::motion::Motion;
    use crate::safe::{Detection, SafePositions};
    use crate::scene::{ClothMaterial, Pin, Placement, SceneBuilder};
    use crate::settings::{ContactSettings, SolverSettings};
    use crate::simulation::Simulation;
    use littoral_geom::random::Random;
    use littoral_geom::shapes;

    const SPACING: f64 = 0.02;

    /// A sheet of 15 × 15 cells of 2 cm in the xy plane; with `pinned`, two corners of it are held.
    fn sheet(settings: SolverSettings, pinned: bool) -> Simulation {
        let mut scene = SceneBuilder::new(settings, ContactSettings::default());
        let corners = Pin { vertices: vec![0, 15], motion: Motion::Static, release: None };
        let pins = if pinned { vec![corners] } else { Vec::new() };
        let placement = Placement { name: "sheet".into(), pins, ..Placement::default() };
        let mesh = shapes::grid([15.0 * SPACING; 2], [15, 15]);
        scene.add_cloth(placement, mesh, ClothMaterial { young: 8e6, ..ClothMaterial::default() });
        scene.build().unwrap()
    }

    /// The sheet bent to a radius of 20 cm.
    fn rolled(x: &[Vec3]) -> Vec<Vec3> {
        let r = 0.2;
        x.iter().map(|p| Vec3::new(r * (p.x / r).sin(), p.y, r - r * (p.x / r).cos())).collect()
    }

    #[test]
    fn translations_are_exact_and_small_rotations_of_a_bent_sheet_nearly() {
        let sim = sheet(SolverSettings::default(), false);
        let mut space = CoarseSpace::new(sim.system());
        assert!(space.nodes.len() > 8 && space.nodes.len() < 64, "{} nodes of 256 points", space.nodes.len());
        let x = rolled(sim.x_rest());
        space.weigh(&x, &vec![false; x.len()]);
        let axis = Vec3::new(0.6, -0.3, 0.5);
        let at_nodes = |f: &dyn Fn(Vec3) -> Vec3| -> Vec<Vec3> {
            space.nodes.iter().map(|&v| f(x[v as usize])).collect()
        };
        let (shifted, turned) = (at_nodes(&|_| axis), at_nodes(&|p| axis.cross(p)));
        let mut squares = 0.0;
        for (v, p) in x.iter().enumerate() {
            // The weights add to one by construction: a few roundings.
            assert!((space.interpolate(v, &shifted) - axis).length() < 1e-13);
            squares += (space.interpolate(v, &turned) - axis.cross(*p)).length_squared();
        }
        // Nodes are some 4 cells apart. The regularisation takes a hundredth of the variance they span, more at the border,
        // where they lie on one side; without a linear part the error would be a share of their distance everywhere.
        let error = (squares / x.len() as f64).sqrt();
        assert!(error < 0.1 * 4.0 * SPACING * axis.length(), "{error}");
    }

    /// Pᵀ H P against products with P and H.
    #[test]
    fn the_coarse_hessian_is_the_galerkin_product() {
        let sim = sheet(SolverSettings::default(), true);
        let system = sim.system();
        let mut coarse = CoarseCorrection::new(system);
        let mut held = vec![false; system.mass.len()];
        (held[0], held[15]) = (true, true);
        let x = rolled(sim.x_rest());
        coarse.begin(system, &x, &held, 240.0 * 240.0);
        coarse.coarse.set_values(&coarse.elastic);
        let mut random = Random::new(11);
        // Nodes that are held have no equation.
        let nodes = coarse.space.nodes.clone();
        let u: Vec<Vec3> =
            nodes.iter().map(|&v| if held[v as usize] { Vec3::ZERO } else { random.in_cube(1.0) }).collect();
        let fine: Vec<Vec3> =
            coarse.points.iter().map(|&v| coarse.space.interpolate(v as usize, &u)).collect();
        let (mut pulled, mut expected) = (Vec::new(), vec![Vec3::ZERO; nodes.len()]);
        coarse.fine.multiply(&fine, &mut pulled);
        for (c, e) in expected.iter_mut().enumerate() {
            *e = coarse.space.moved_by(c).map(|(v, w)| w * pulled[v as usize]).sum();
        }
        let mut found = Vec::new();
        coarse.coarse.multiply(&u, &mut found);
        let size = expected.iter().map(|e| e.length()).fold(0.0, f64::max);
        for (f, e) in found.iter().zip(&expected) {
            // Sums of some thousand terms of the size of the largest.
            assert!((*f - *e).length() < 1e-12 * size, "{f} against {e}");
        }
    }

    /// At rest on its own quadratic model the correction takes the whole force off the nodes.
    #[test]
    fn the_correction_lowers_the_objective_and_unloads_the_nodes() {
        let sim = sheet(SolverSettings::default(), true);
        let system = sim.system();
        let mut coarse = CoarseCorrection::new(system);
        let mut held = vec![false; system.mass.len()];
        (held[0], held[15]) = (true, true);
        let x = sim.x_rest().to_vec();
        let h = 1.0 / 240.0;
        let y: Vec<Vec3> = x.iter().map(|p| *p + h * h * Vec3::new(9.81, 0.0, 0.0)).collect();
        let mut contacts = Contacts::default();
        let detection = Detection::unlimited(&SafePositions::trusted(x.clone()));
        system.contact.activate(
            &system.geometry,
            &detection,
            &x,
            h,
            &ContactMemory::default(),
            &mut contacts,
        );
        let objective = Objective {
            elastic: &system.elastic,
            contacts: &contacts,
            slip: Slip { x_n: &x, targets: &y },
            moved: &vec![0.0; x.len()],
            color_of: &system.color_of,
            mass: &system.mass,
            y: &y,
            inverse_h2: 1.0 / (h * h),
        };
        coarse.begin(system, &x, &held, 1.0 / (h * h));
        let force = |coarse: &CoarseCorrection, x: &[Vec3]| -> f64 {
            let pull = |(v, w): (u32, f64)| w * objective.gradient(v, x);
            (0..coarse.space.nodes.len())
                .map(|c| coarse.space.moved_by(c).map(pull).sum::<Vec3>().length())
                .sum()
        };
        let before = force(&coarse, &x);
        let mut dx = vec![Vec3::ZERO; x.len()];
        coarse.propose(system, &objective, &x, &held, &mut dx);
        let moved: Vec<Vec3> = x.iter().zip(&dx).map(|(p, d)| *p + *d).collect();
        let (mut then, mut now) = (Vec::new(), Vec::new());
        values(system, &objective, &x, &held, &mut then);
        values(system, &objective, &moved, &held, &mut now);
        assert!(now[0] < then[0], "{} from {}", now[0], then[0]);
        // The strain of a step of gravity is 1e-5, the error of the quadratic model its square.
        let after = force(&coarse, &moved);
        assert!(after < 1e-2 * before, "{after} of {before} N");
        assert!(dx[0] == Vec3::ZERO && dx[15] == Vec3::ZERO);
    }

    /// Largest stretch of a sheet that hangs from two corners for half a second.
    fn hanging_stretch(coarse: bool, iterations: u32) -> f64 {
        let mut sim = sheet(SolverSettings { iterations, coarse, ..SolverSettings::default() }, true);
        for _ in 0..120 {
            sim.step(1.0 / 240.0);
        }
        let (x, rest) = (&sim.state().x, sim.x_rest());
        let stretch = |e: &[u32; 2]| {
            let [a, b] = e.map(|v| v as usize);
            x[a].distance(x[b]) / rest[a].distance(rest[b])
        };
        sim.edges().iter().map(stretch).fold(0.0, f64::max)
    }

    /// Half of its weight of 0.18 N on the width of one cell is a strain of 0.002.
    #[test]
    fn a_hanging_sheet_keeps_its_length_in_one_sweep() {
        let (with, without) = (hanging_stretch(true, 1), hanging_stretch(false, 1));
        assert!(with < 1.01 && without > 1.05, "stretch {with} with the correction, {without} without");
    }

    #[test]
    fn the_correction_gives_the_same_bits_on_any_number_of_threads() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| hanging_stretch(true, 2).to_bits())
        };
        assert_eq!(run(1), run(3));
    }
}
