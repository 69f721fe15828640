//! The referee: exact answers to "does it cross?" and "is it inverted?", for the verdict on a run.
//!
//! It shares no code with the search for near pairs, the distances or the truncation whose work it judges: it has its
//! own broad phase (a grid with levels, not a tree), its own boxes, and no tolerance anywhere. What it reports
//! follows from comparisons of coordinates and from the signs of determinants, which adaptive floating-point
//! expansions give exactly [Shewchuk 1997]. The `f64` positions are taken as they are.
//!
//! Sets are closed: an edge and a triangle that touch in a single point cross, and so do coplanar ones that overlap.
//! Exactness ends where products of coordinates leave the range of `f64`, beyond about 1e±90 m.

pub mod edge_path;
mod exact;
mod grid;
pub mod path;

use crate::math::Vec3;
use exact::{edge_meets_triangle, side};
use grid::{Grid, Item, Table, finest};
use rayon::prelude::*;

/// Judges positions of one topology.
#[derive(Clone, Debug)]
pub struct Referee {
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    tets: Vec<[u32; 4]>,
    active: Vec<bool>,
}

impl Referee {
    /// A referee for these edges, triangles and tets. `active[p]` tells whether point p is simulated; crossings
    /// between two things that are not simulated are nobody's fault, and not reported.
    pub fn new(edges: &[[u32; 2]], triangles: &[[u32; 3]], tets: &[[u32; 4]], active: &[bool]) -> Referee {
        Referee {
            edges: edges.to_vec(),
            triangles: triangles.to_vec(),
            tets: tets.to_vec(),
            active: active.to_vec(),
        }
    }

    /// Every (edge, triangle) pair without a common point and with an active one whose closed segment and closed
    /// triangle share a point, sorted; and the number of exact tests made: one for each such pair whose boxes
    /// overlap. Pairs with a point that is not finite are left out; [`Referee::non_finite`] reports those points.
    pub fn crossings(&self, x: &[Vec3]) -> (Vec<[u32; 2]>, u64) {
        let (edges, triangles) =
            rayon::join(|| self.items(&self.edges, x), || self.items(&self.triangles, x));
        let Some(grid) = Grid::around(&edges, &triangles) else {
            return (Vec::new(), 0);
        };
        let (edges, triangles) = (grid.keep(edges), grid.keep(triangles));
        let (finest_edge, finest_triangle) = (finest(&edges), finest(&triangles));
        // A pair is looked for at the coarser of its two levels, by its finer member, which covers few cells there;
        // by the edge if both are on one level. Only what can be found that way is filed.
        let (edges, triangles) = rayon::join(
            || grid.file(edges, finest_triangle.saturating_add(1)),
            || grid.file(triangles, finest_edge),
        );
        let by_edge = |e: &Item, level, out: &mut Found| {
            triangles.meet(e, level, &grid, |t| out.judge(self, e.index, t.index, x));
        };
        let by_triangle = |t: &Item, level, out: &mut Found| {
            edges.meet(t, level, &grid, |e| out.judge(self, e.index, t.index, x));
        };
        let (first, second) = rayon::join(
            || search(&edges, |e| triangles.levels_from(e.level), by_edge),
            || search(&triangles, |t| edges.levels_from(t.level + 1), by_triangle),
        );
        let tests = first.iter().chain(&second).map(|f| f.tests).sum();
        let mut crossings: Vec<[u32; 2]> =
            first.into_iter().chain(second).flat_map(|f| f.crossings).collect();
        crossings.sort_unstable();
        (crossings, tests)
    }

    /// The same crossings, by putting every pair to the exact test: the oracle of the tests.
    pub fn crossings_brute_force(&self, x: &[Vec3]) -> Vec<[u32; 2]> {
        let mut found = Found::default();
        for (e, edge) in self.edges.iter().enumerate() {
            for (t, triangle) in self.triangles.iter().enumerate() {
                let mut points = edge.iter().chain(triangle).map(|&p| p as usize);
                if points.clone().all(|p| x[p].is_finite()) && points.any(|p| self.active[p]) {
                    found.judge(self, e as u32, t as u32, x);
                }
            }
        }
        found.crossings
    }

    /// The tets whose orientation det(x1 − x0, x2 − x0, x3 − x0) is not positive, flat ones included, in order. Tets
    /// with a point that is not finite are left out.
    pub fn inverted(&self, x: &[Vec3]) -> Vec<u32> {
        let is_inverted = |&t: &u32| {
            let [a, b, c, d] = self.tets[t as usize].map(|p| x[p as usize]);
            // orient3d is positive where d lies below the plane in which a, b, c run counterclockwise.
            [a, b, c, d].iter().all(|p| p.is_finite()) && side(a, b, c, d) >= 0
        };
        (0..self.tets.len() as u32).into_par_iter().with_min_len(1024).filter(is_inverted).collect()
    }

    /// How many points have a coordinate that is not finite.
    pub fn non_finite(&self, x: &[Vec3]) -> u32 {
        x.iter().filter(|p| !p.is_finite()).count() as u32
    }

    /// The boxes of all primitives with finite points.
    fn items<const N: usize>(&self, primitives: &[[u32; N]], x: &[Vec3]) -> Vec<Item> {
        let mut items = Vec::with_capacity(primitives.len());
        for (index, points) in primitives.iter().enumerate() {
            let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            let (mut finite, mut active) = (true, false);
            for &p in points {
                let y = x[p as usize];
                (min, max) = (min.min(y), max.max(y));
                finite &= y.is_finite();
                active |= self.active[p as usize];
            }
            if finite {
                items.push(Item { min, max, index: index as u32, level: 0, active });
            }
        }
        items
    }
}

/// What one parallel task found.
#[derive(Default)]
struct Found {
    crossings: Vec<[u32; 2]>,
    tests: u64,
}

impl Found {
    #[inline]
    fn judge(&mut self, referee: &Referee, e: u32, t: u32, x: &[Vec3]) {
        let (edge, triangle) = (referee.edges[e as usize], referee.triangles[t as usize]);
        if triangle.contains(&edge[0]) || triangle.contains(&edge[1]) {
            return;
        }
        self.tests += 1;
        if edge_meets_triangle(edge.map(|p| x[p as usize]), triangle.map(|p| x[p as usize])) {
            self.crossings.push([e, t]);
        }
    }
}

/// Lets every seeker look at each of its levels, in chunks of fixed size.
fn search<'l>(
    seekers: &Table,
    levels: impl Fn(&Item) -> &'l [u32] + Sync,
    look: impl Fn(&Item, u32, &mut Found) + Sync,
) -> Vec<Found> {
    let chunk = |items: &[Item]| {
        let mut found = Found::default();
        for item in items {
            for &level in levels(item) {
                look(item, level, &mut found);
            }
        }
        found
    };
    seekers.items.par_chunks(256).map(chunk).collect()
}
