//! The blocks of cloth vertices, each from all triangles and hinges around it at once: what `NeoHookeanMembrane::block` and
//! `Hinge::block` give, summed, up to rounding. `membrane.rs` and `bending.rs` hold the formulas and are the oracle.
//!
//! Vertices with equally many triangles are taken four at a time, one in each lane: no lane ever looks at another, so that
//! which vertices go together changes no bit. Here is what lies in memory, and in which order; `fan_block.rs` computes.
//!
//! A vertex whose triangles and hinges do not form one oriented fan, and one without hinges, is left to the elements.

use super::Term;
use super::bending::Hinge;
use super::fan_block::Blocks;
pub(crate) use super::fan_block::Inertia;
use super::fan_star::{Star, Wedge};
use super::lanes::{Four, Portable, Quad3, run};
use super::membrane::NeoHookeanMembrane;
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// Vertices that are looked for companions at a time, and the task of one thread. Larger: fewer lanes are left empty where
/// numbers of triangles vary. Smaller: more threads have something to do.
pub(crate) const WINDOW: usize = 64;

/// Wedges that a parallel task remembers at least.
const TASK: usize = 128;

/// No such vertex, group or place.
const NONE: u32 = u32::MAX;

/// The wedges in one place of four fans. Everything is here twice or more often, so that a sweep reads memory in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wedges {
    pub(super) k: [u32; 4],
    /// Beyond the edge jk; any point without a hinge there.
    pub(super) outer: [u32; 4],
    /// A₀tλ and A₀tμ [J].
    pub(super) lambda: Four,
    pub(super) mu: Four,
    /// β/h of the membrane [–].
    pub(super) ratio: Four,
    /// 1/(2A₀)² [1/m⁴].
    pub(super) metric: Four,
    /// Cotangent weights of the edges opposite v, j and k [1/m²].
    pub(super) weight: [Four; 3],
    /// Squared lengths of the edges jk and vk at the start of the step [m²].
    pub(super) lagged_sq: [Four; 2],
    /// The hinges on the edges jk.
    pub(super) tip: Hinges,
    /// The hinges on the edges vj.
    pub(super) spoke: Hinges,
}

/// Four hinges; without stiffness where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hinges {
    /// K = k (1 + β/h) [J].
    pub(super) stiffness: Four,
    /// k (θ̄ + β/h θⁿ) [J].
    pub(super) offset: Four,
    /// θⁿ [rad].
    pub(super) lagged: Four,
}

/// Four vertices with equally many wedges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The vertices; the last one fills up what is empty.
    pub(super) v: [u32; 4],
    /// Their places in their window; `NONE` where a lane is empty.
    pub(super) place: [u32; 4],
    /// The points j of their first wedges.
    pub(super) j: [u32; 4],
    /// Squared length of the edges to these at the start of the step [m²].
    pub(super) lagged_sq: Four,
    /// Some membrane among them is damped in this step.
    pub(super) damped: bool,
    /// Their wedges.
    start: u32,
    end: u32,
}

/// Where four wedges come from.
#[derive(Clone, Copy, Debug)]
struct Source {
    v: [u32; 4],
    j: [u32; 4],
    sheet: [u32; 4],
    tip: [u32; 4],
    spoke: [u32; 4],
}

/// The fans of all vertices.
#[derive(Clone, Debug)]
pub(crate) struct Fans {
    /// Group·4 + lane of each vertex (n), or `NONE`.
    lane_of: Vec<u32>,
    groups: Vec<Group>,
    wedges: Vec<Wedges>,
    sources: Vec<Source>,
    /// The groups of each window, colour by colour.
    windows: Vec<Range<u32>>,
    /// First window of each colour.
    colors: Vec<u32>,
}

impl Hinges {
    fn new(hinges: &[Hinge], of: [u32; 4]) -> Self {
        let mut all = Hinges::default();
        for (lane, h) in of.into_iter().enumerate() {
            if let Some(h) = hinges.get(h as usize) {
                all.stiffness.0[lane] = h.stiffness * (1.0 + h.ratio);
                all.offset.0[lane] = h.stiffness * (h.rest + h.ratio * h.lagged);
                all.lagged.0[lane] = h.lagged;
            }
        }
        all
    }
}

impl Wedges {
    /// Four wedges with what in their elements does not change.
    fn new(of: [Wedge; 4], sheets: &[NeoHookeanMembrane]) -> Self {
        let sheet = of.map(|w| &sheets[w.sheet as usize].sheet);
        let weight =
            |c: usize| Four([0, 1, 2, 3].map(|lane| sheet[lane].weight[usize::from(of[lane].corners[c])]));
        Wedges {
            k: of.map(|w| w.k),
            outer: of.map(|w| w.outer),
            lambda: Four(sheet.map(|s| s.lambda)),
            mu: Four(sheet.map(|s| s.mu)),
            ratio: Four::default(),
            metric: Four(sheet.map(|s| s.metric)),
            weight: [0, 1, 2].map(weight),
            lagged_sq: [Four::default(); 2],
            tip: Hinges::default(),
            spoke: Hinges::default(),
        }
    }
}

/// Squared lengths [m²] of the edges between four pairs of points.
#[inline]
fn edges_sq(x: &[Vec3], from: [u32; 4], to: [u32; 4]) -> Four {
    let e = Quad3::gather(Portable, x, to) - Quad3::gather(Portable, x, from);
    Four(e.dot(e).store())
}

impl Fans {
    /// Puts the fans of `n` vertices together. They lie in memory in the order of the `colors`, which is best that in
    /// which they will be asked for; what is missing from them follows.
    pub(crate) fn new(
        membranes: &Term<NeoHookeanMembrane, 3>,
        hinges: &Term<Hinge, 4>,
        n: usize,
        colors: &[Vec<u32>],
    ) -> Self {
        let (triangles, folds) = (membranes.incidence(n), hinges.incidence(n));
        let mut missing = vec![true; n];
        colors.iter().flatten().for_each(|&v| missing[v as usize] = false);
        let missing: Vec<u32> = (0..n as u32).filter(|v| missing[*v as usize]).collect();
        let mut fans = Fans {
            lane_of: vec![NONE; n],
            groups: Vec::new(),
            wedges: Vec::new(),
            sources: Vec::new(),
            windows: Vec::new(),
            colors: Vec::new(),
        };
        let fan_of = |v: u32| {
            let (triangles, folds) = (triangles.row(v as usize), folds.row(v as usize));
            let star = Star { membranes, hinges, triangles, folds };
            star.fan(false).or_else(|| star.fan(true)).unwrap_or_default()
        };
        for color in colors.iter().chain([&missing]) {
            fans.colors.push(fans.windows.len() as u32);
            for window in color.chunks(WINDOW) {
                let start = fans.groups.len() as u32;
                fans.push_window(window, fan_of, &membranes.elements);
                fans.windows.push(start..fans.groups.len() as u32);
            }
        }
        fans
    }

    fn push_window(
        &mut self,
        window: &[u32],
        fan_of: impl Fn(u32) -> Vec<Wedge>,
        sheets: &[NeoHookeanMembrane],
    ) {
        let mut found: Vec<(u32, u32, Vec<Wedge>)> =
            window.iter().zip(0..).map(|(&v, place)| (v, place, fan_of(v))).collect();
        found.retain(|(.., fan)| !fan.is_empty());
        found.sort_by_key(|(.., fan)| fan.len());
        for alike in found.chunk_by(|a, b| a.2.len() == b.2.len()) {
            for four in alike.chunks(4) {
                let lane = [0, 1, 2, 3].map(|lane| &four[lane.min(four.len() - 1)]);
                for (k, (v, ..)) in four.iter().enumerate() {
                    self.lane_of[*v as usize] = (4 * self.groups.len() + k) as u32;
                }
                let start = self.wedges.len() as u32;
                for i in 0..four[0].2.len() {
                    let of = lane.map(|(.., fan)| fan[i]);
                    self.wedges.push(Wedges::new(of, sheets));
                    self.sources.push(Source {
                        v: lane.map(|(v, ..)| *v),
                        j: of.map(|w| w.j),
                        sheet: of.map(|w| w.sheet),
                        tip: of.map(|w| w.tip),
                        spoke: of.map(|w| w.spoke),
                    });
                }
                self.groups.push(Group {
                    v: lane.map(|(v, ..)| *v),
                    place: [0, 1, 2, 3].map(|k| four.get(k).map_or(NONE, |(_, place, _)| *place)),
                    j: lane.map(|(.., fan)| fan[0].j),
                    lagged_sq: Four::default(),
                    damped: false,
                    start,
                    end: self.wedges.len() as u32,
                });
            }
        }
    }

    /// Takes over what the elements remember of the start `x_n` of the step [m].
    pub(crate) fn lag(&mut self, x_n: &[Vec3], sheets: &[NeoHookeanMembrane], hinges: &[Hinge]) {
        let pairs = self.wedges.par_iter_mut().zip(&self.sources).with_min_len(TASK);
        pairs.for_each(|(w, source)| {
            w.ratio = Four(source.sheet.map(|s| sheets[s as usize].sheet.ratio));
            w.lagged_sq = [edges_sq(x_n, source.j, w.k), edges_sq(x_n, source.v, w.k)];
            w.tip = Hinges::new(hinges, source.tip);
            w.spoke = Hinges::new(hinges, source.spoke);
        });
        let wedges = &self.wedges;
        self.groups.par_iter_mut().with_min_len(TASK).for_each(|group| {
            group.lagged_sq = edges_sq(x_n, group.v, group.j);
            let mut of = wedges[group.start as usize..group.end as usize].iter();
            group.damped = of.any(|w| w.ratio.0.iter().any(|r| *r > 0.0));
        });
    }

    /// Whether `v` has a fan: its membranes and hinges are then all in it.
    pub(crate) fn covers(&self, v: u32) -> bool {
        self.lane_of[v as usize] != NONE
    }

    /// The four vertices of a group with their wedges.
    #[inline(always)]
    pub(super) fn group(&self, g: u32) -> (&Group, &[Wedges]) {
        let group = &self.groups[g as usize];
        (group, &self.wedges[group.start as usize..group.end as usize])
    }

    /// Gradient [N] and positive semidefinite Hessian block [N/m] at `v`: zero without a fan.
    pub(crate) fn block(&self, v: u32, x: &[Vec3]) -> (Vec3, Mat3) {
        let at = self.lane_of[v as usize];
        if at == NONE {
            return (Vec3::ZERO, Mat3::ZERO);
        }
        let mut out = [(Vec3::ZERO, Mat3::ZERO); 4];
        let group = at >> 2;
        let inertia = None::<Inertia<'_, fn(u32) -> bool>>;
        run(Blocks { fans: self, groups: group..group + 1, x, inertia, by_lane: true, out: &mut out });
        out[(at & 3) as usize]
    }

    /// The same with inertia for those vertices of a window of a colour that have a fan, at their places, where others are
    /// left alone. Vertices that are alone get their Newton step [m] in the place of the gradient.
    #[inline]
    pub(crate) fn blocks(
        &self,
        (color, window): (usize, usize),
        x: &[Vec3],
        inertia: Inertia<'_, impl Fn(u32) -> bool>,
        out: &mut [(Vec3, Mat3)],
    ) {
        let groups = self.windows[self.colors[color] as usize + window].clone();
        if !groups.is_empty() {
            run(Blocks { fans: self, groups, x, inertia: Some(inertia), by_lane: false, out });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::potential::lanes::Kernel;
    use crate::potential::{MembraneParameters, Potential};
    use littoral_geom::mesh::hinges;
    use littoral_geom::random::Random;
    use littoral_geom::shapes;

    type Cloth = (Term<NeoHookeanMembrane, 3>, Term<Hinge, 4>);

    /// All elements of a mesh, with damping that remembers `x_n`.
    fn cloth(triangles: &[[u32; 3]], rest: &[Vec3], x_n: &[Vec3], poisson: f64) -> Cloth {
        let parameters = MembraneParameters { young: 1e6, poisson, thickness: 1e-3, damping: 1e-3 };
        let (mut membranes, mut folds) = (Term::default(), Term::default());
        for &t in triangles {
            let membrane = NeoHookeanMembrane::new(t.map(|v| rest[v as usize]), &parameters);
            membranes.push(t, membrane.expect("valid triangle"));
        }
        for h in hinges(triangles) {
            folds.push(h, Hinge::new(h.map(|v| rest[v as usize]), 1e-2, 1e-3).expect("valid hinge"));
        }
        membranes.lag(x_n, 1e-2);
        folds.lag(x_n, 1e-2);
        (membranes, folds)
    }

    /// Sum over the elements at `v`.
    fn oracle((membranes, folds): &Cloth, v: u32, x: &[Vec3]) -> (Vec3, Mat3) {
        let (mut gradient, mut hessian) = (Vec3::ZERO, Mat3::ZERO);
        let mut add = |(g, h): (Vec3, Mat3)| {
            gradient += g;
            hessian += h;
        };
        for item in membranes.incidence(x.len()).row(v as usize) {
            let e = (item >> 2) as usize;
            add(membranes.elements[e].block(&membranes.gather(x, e), (item & 3) as usize));
        }
        for item in folds.incidence(x.len()).row(v as usize) {
            let e = (item >> 2) as usize;
            add(folds.elements[e].block(&folds.gather(x, e), (item & 3) as usize));
        }
        (gradient, hessian)
    }

    /// Compares every fan with its elements; returns the number of vertices that have one.
    fn compare(cloth: &Cloth, x_n: &[Vec3], x: &[Vec3]) -> usize {
        // Built with another memory than the elements have in the end.
        let (mut membranes, mut folds) = cloth.clone();
        membranes.lag(x, 1.0);
        folds.lag(x, 1.0);
        let colors = [(0..x.len() as u32).rev().collect()];
        let mut fans = Fans::new(&membranes, &folds, x.len(), &colors);
        fans.lag(x_n, &cloth.0.elements, &cloth.1.elements);
        let covered = (0..x.len() as u32).filter(|v| fans.covers(*v));
        covered
            .inspect(|&v| {
                let (g, h) = fans.block(v, x);
                let (g_sum, h_sum) = oracle(cloth, v, x);
                let stiffness = h_sum.x_axis.x + h_sum.y_axis.y + h_sum.z_axis.z;
                // A hundred roundings of terms up to the stiffness, moved by positions of size one.
                let error = (h - h_sum).to_cols_array().iter().fold(0.0, |m: f64, d| m.max(d.abs()));
                assert!(error <= 1e-12 * stiffness, "vertex {v}: {error} of {stiffness}");
                assert!((g - g_sum).length() <= 1e-13 * stiffness, "vertex {v}: {g} {g_sum}");
            })
            .count()
    }

    /// A grid with noise of the given size [cells] in a random frame.
    fn noisy(random: &mut Random, rest: &[Vec3], size: f64) -> Vec<Vec3> {
        let turn = crate::potential::check::rotation(random);
        rest.iter().map(|p| turn * (*p + 0.1 * size * random.in_cube(1.0))).collect()
    }

    #[test]
    fn fans_give_what_their_elements_give() {
        let mesh = shapes::grid([0.7, 0.5], [7, 5]);
        let mut random = Random::new(5);
        for size in [1e-6, 1e-2, 0.1, 0.3, 1.0] {
            for _ in 0..20 {
                let rest = noisy(&mut random, &mesh.vertices, 0.2);
                let (x_n, x) = (noisy(&mut random, &rest, size), noisy(&mut random, &rest, size));
                let cloth = cloth(&mesh.triangles, &rest, &x_n, 0.3);
                // Two corners of the grid belong to a single triangle, and still to the hinge on its far side.
                assert_eq!(compare(&cloth, &x_n, &x), mesh.vertices.len());
            }
        }
    }

    #[test]
    fn fans_do_not_depend_on_the_orientation_of_the_mesh() {
        let mesh = shapes::grid([0.7, 0.5], [7, 5]);
        let flipped: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| [t[1], t[0], t[2]]).collect();
        let mut random = Random::new(6);
        let x = noisy(&mut random, &mesh.vertices, 0.3);
        assert_eq!(compare(&cloth(&flipped, &mesh.vertices, &x, 0.3), &x, &x), x.len());
    }

    #[test]
    fn vertices_without_an_ordinary_fan_are_left_to_the_elements() {
        let mesh = shapes::grid([0.2, 0.2], [2, 2]);
        let x = &mesh.vertices;
        // Negative λ has an area law of its own.
        assert_eq!(compare(&cloth(&mesh.triangles, x, x, -0.3), x, x), 0);
        // One triangle turned over: the hinges around it contradict each other.
        let mut mixed = mesh.triangles.clone();
        mixed[0].swap(0, 1);
        let (membranes, folds) = cloth(&mesh.triangles, x, x, 0.3);
        let (mut turned, _) = cloth(&mixed, x, x, 0.3);
        turned.elements.clone_from(&membranes.elements);
        let fans = Fans::new(&turned, &folds, x.len(), &[]);
        assert!((0..x.len() as u32).any(|v| !fans.covers(v)));
    }

    /// What the kernel writes for all vertices, compiled for this machine or for any.
    fn all(fans: &Fans, x: &[Vec3], portable: bool) -> Vec<[u64; 12]> {
        let mut bits = Vec::new();
        for groups in fans.windows.iter().cloned() {
            let mut out = [(Vec3::ZERO, Mat3::ZERO); WINDOW];
            // The inertia of the points is one, towards the origin; two thirds of them are solved.
            let (mass, y, is_alone) =
                (&vec![1.0; x.len()], &vec![Vec3::ZERO; x.len()], |v: u32| !v.is_multiple_of(3));
            let inertia = Some(Inertia { mass, y, inverse_h2: 1.0, is_alone });
            let blocks = Blocks { fans, groups, x, inertia, by_lane: false, out: &mut out };
            if portable {
                blocks.run(Portable);
            } else {
                run(blocks);
            }
            bits.extend(out.map(|(g, h)| {
                let mut all = [0; 12];
                let numbers = g.to_array().into_iter().chain(h.to_cols_array());
                all.iter_mut().zip(numbers).for_each(|(a, n)| *a = n.to_bits());
                all
            }));
        }
        bits
    }

    /// Sheets that are nearly flat, crumpled, and folded over: every branch of the arc tangent and of the logarithm.
    #[test]
    fn bits_do_not_depend_on_the_machine() {
        let mesh = shapes::grid([0.7, 0.5], [7, 5]);
        let mut random = Random::new(8);
        for size in [1e-6, 1e-2, 0.1, 0.3, 1.0, 3.0] {
            let (x_n, x) =
                (noisy(&mut random, &mesh.vertices, size), noisy(&mut random, &mesh.vertices, size));
            let (membranes, folds) = cloth(&mesh.triangles, &mesh.vertices, &x_n, 0.3);
            let mut fans = Fans::new(&membranes, &folds, x.len(), &[]);
            fans.lag(&x_n, &membranes.elements, &folds.elements);
            assert_eq!(all(&fans, &x, true), all(&fans, &x, false), "noise of {size}");
        }
    }

    #[test]
    fn companions_change_no_bit() {
        let mesh = shapes::grid([0.7, 0.5], [7, 5]);
        let mut random = Random::new(9);
        let (x_n, x) = (noisy(&mut random, &mesh.vertices, 0.5), noisy(&mut random, &mesh.vertices, 0.5));
        let (membranes, folds) = cloth(&mesh.triangles, &mesh.vertices, &x_n, 0.3);
        let fans = [&[][..], &[(0..x.len() as u32).rev().step_by(3).collect()]].map(|colors| {
            let mut fans = Fans::new(&membranes, &folds, x.len(), colors);
            fans.lag(&x_n, &membranes.elements, &folds.elements);
            fans
        });
        for v in 0..x.len() as u32 {
            assert_eq!(fans[0].block(v, &x), fans[1].block(v, &x), "vertex {v}");
        }
    }
}
