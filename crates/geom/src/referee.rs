//! The referee: exact answers to "does it cross?" and "is it inverted?", for the verdict on a run.
//!
//! It shares no code with the search for near pairs, the distances or the truncation whose work it judges: it has its
//! own broad phase (a hash grid with levels, not a tree), its own boxes, and no tolerance anywhere. What it reports
//! follows from comparisons of coordinates and from the signs of determinants, which adaptive floating-point
//! expansions give exactly [Shewchuk 1997]. The `f64` positions are taken as they are.
//!
//! Sets are closed: an edge and a triangle that touch in a single point cross, and so do coplanar ones that overlap.
//! Exactness ends where products of coordinates leave the range of `f64`, beyond about 1e±90 m.

use crate::math::Vec3;
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
        let (edges, triangles) = rayon::join(|| grid.place(edges), || grid.place(triangles));
        // A pair is looked for at the coarser of its two levels, by its finer member, which covers few cells there.
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

/// The closed box of an edge or triangle.
#[derive(Clone, Copy)]
struct Item {
    min: Vec3,
    max: Vec3,
    index: u32,
    level: u32,
    active: bool,
}

impl Item {
    fn size(&self) -> f64 {
        (self.max - self.min).max_element()
    }

    #[inline]
    fn overlaps(&self, o: &Item) -> bool {
        self.min.cmple(o.max).all() && o.min.cmple(self.max).all()
    }
}

/// Uniform grids whose cells double from level to level. An item lives on the first level whose cells are at least
/// `ROOM` times its size, so that it covers few of them, however many sizes the scene mixes: a ground of two huge
/// triangles sits alone on its level.
///
/// Cell indices are a monotone function of the coordinates, so overlapping boxes share a cell whatever is rounded;
/// the grid decides how fast the answer comes, never what it is.
struct Grid {
    origin: Vec3,
    cell: f64,
    /// Box outside which there is nothing active: inactive items out there are left out.
    arena: Item,
}

type Cell = [i64; 3];

/// Cells per item size, at least. Larger: fewer cells per item, more strangers per cell. Values from 1 to 2 are
/// equally fast on sheets.
const ROOM: f64 = 1.5;
/// Levels, at most: items smaller than the largest by more than 2⁴⁰ share the finest one.
const LEVELS: u32 = 40;

impl Grid {
    /// A grid for these items; none if there is nothing active to judge.
    fn around(edges: &[Item], triangles: &[Item]) -> Option<Grid> {
        let all = || edges.iter().chain(triangles);
        let mut arena =
            Item { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY, index: 0, level: 0, active: true };
        let (mut smallest, mut largest) = (f64::INFINITY, 0.0f64);
        for item in all().filter(|i| i.active) {
            (arena.min, arena.max) = (arena.min.min(item.min), arena.max.max(item.max));
        }
        for item in all().filter(|i| i.overlaps(&arena)) {
            let size = item.size();
            largest = largest.max(size);
            smallest = if size > 0.0 { smallest.min(size) } else { smallest };
        }
        let cell = ROOM * smallest.max(largest * 0.5f64.powi(LEVELS as i32));
        // Only points: each in a cell of its own would do; one metre is as good as any.
        let cell = if cell > 0.0 && cell.is_finite() { cell } else { 1.0 };
        arena.min.is_finite().then_some(Grid { origin: arena.min, cell, arena })
    }

    /// Files the items, each on its level.
    fn place(&self, mut items: Vec<Item>) -> Table {
        items.retain(|i| i.overlaps(&self.arena));
        let mut levels = Vec::new();
        for item in &mut items {
            let ratio = (ROOM * item.size() / self.cell).log2().ceil();
            // The logarithm of a point's size is −∞, which casts to 0.
            item.level = (ratio as u32).min(LEVELS);
            if !levels.contains(&item.level) {
                levels.push(item.level);
            }
        }
        levels.sort_unstable();
        let buckets = (2 * items.len()).next_power_of_two();
        let mut table = Table { items, levels, starts: vec![0; buckets + 1], entries: Vec::new() };
        // Counting sort by bucket: count, sum up, fill from the back, so that each bucket lists its items in order.
        for item in &table.items {
            self.each_cell(item, item.level, |c| table.starts[hash(c, item.level, buckets)] += 1);
        }
        let mut sum = 0;
        for start in &mut table.starts {
            sum += *start;
            *start = sum;
        }
        table.entries.resize(sum as usize, 0);
        for (k, item) in table.items.iter().enumerate().rev() {
            self.each_cell(item, item.level, |c| {
                let start = &mut table.starts[hash(c, item.level, buckets)];
                *start -= 1;
                table.entries[*start as usize] = k as u32;
            });
        }
        table
    }

    #[inline]
    fn cell_of(&self, p: Vec3, level: u32) -> Cell {
        let q = (p - self.origin) / (self.cell * (1u64 << level) as f64);
        // Casts saturate, which is monotone too.
        [q.x.floor() as i64, q.y.floor() as i64, q.z.floor() as i64]
    }

    #[inline]
    fn each_cell(&self, item: &Item, level: u32, mut visit: impl FnMut(Cell)) {
        let (low, high) = (self.cell_of(item.min, level), self.cell_of(item.max, level));
        for i in low[0]..=high[0] {
            for j in low[1]..=high[1] {
                for k in low[2]..=high[2] {
                    visit([i, j, k]);
                }
            }
        }
    }
}

#[inline]
fn hash(c: Cell, level: u32, buckets: usize) -> usize {
    let mut h = level as u64;
    for i in c {
        h = (h ^ i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        h ^= h >> 29;
    }
    h as usize & (buckets - 1)
}

/// Items filed by the hash of their cells.
struct Table {
    items: Vec<Item>,
    /// The levels that hold items, sorted.
    levels: Vec<u32>,
    /// Bucket b lists entries starts[b]..starts[b+1], indices into `items`.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Table {
    fn levels_from(&self, level: u32) -> &[u32] {
        &self.levels[self.levels.partition_point(|&l| l < level)..]
    }

    /// Calls `found` once for each item on this level whose box overlaps the seeker's, if one of both is active.
    #[inline]
    fn meet(&self, seeker: &Item, level: u32, grid: &Grid, mut found: impl FnMut(&Item)) {
        let buckets = self.starts.len() - 1;
        let low = grid.cell_of(seeker.min, level);
        grid.each_cell(seeker, level, |cell| {
            let b = hash(cell, level, buckets);
            let entries = &self.entries[self.starts[b] as usize..self.starts[b + 1] as usize];
            let mut last = u32::MAX;
            for &entry in entries {
                // Two cells of one item may share a bucket; its entries are then neighbours.
                if std::mem::replace(&mut last, entry) == entry {
                    continue;
                }
                let item = &self.items[entry as usize];
                if item.level != level || !item.overlaps(seeker) || !(item.active | seeker.active) {
                    continue;
                }
                // Of the cells that both cover, the lowest reports the pair. Items of other cells in this bucket
                // fail here as well.
                let other = grid.cell_of(item.min, level);
                if (0..3).all(|k| low[k].max(other[k]) == cell[k]) {
                    found(item);
                }
            }
        });
    }
}

/// Exact sign of Shewchuk's orient3d(a, b, c, d) = −det(b − a, c − a, d − a).
#[inline]
fn side(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> i32 {
    let [a, b, c, d] = [a, b, c, d].map(|p| robust::Coord3D { x: p.x, y: p.y, z: p.z });
    sign(robust::orient3d(a, b, c, d))
}

/// A point without one of its coordinates: an exact projection.
type Flat = [f64; 2];

#[inline]
fn drop_axis(p: Vec3, axis: usize) -> Flat {
    [p[(axis + 1) % 3], p[(axis + 2) % 3]]
}

/// Exact sign of the area of a, b, c: positive counterclockwise.
#[inline]
fn turn(a: Flat, b: Flat, c: Flat) -> i32 {
    let [a, b, c] = [a, b, c].map(|p| robust::Coord { x: p[0], y: p[1] });
    sign(robust::orient2d(a, b, c))
}

#[inline]
fn sign(value: f64) -> i32 {
    (value > 0.0) as i32 - (value < 0.0) as i32
}

/// True when all signs are ≥ 0 or all are ≤ 0.
#[inline]
fn agree(signs: [i32; 3]) -> bool {
    signs.iter().all(|&s| s >= 0) || signs.iter().all(|&s| s <= 0)
}

/// True when the closed segment and the closed triangle, of any shape, share a point.
fn edge_meets_triangle([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    let (at_p, at_q) = (side(a, b, c, p), side(a, b, c, q));
    if at_p * at_q > 0 {
        return false;
    }
    if at_p == 0 && at_q == 0 {
        return coplanar_meet([p, q], [a, b, c]);
    }
    // The triangle has an area (else both sides were 0), and the line pq pierces its plane in one point, which is in
    // the triangle if pq passes all three edges on the same side.
    agree([side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)])
}

/// The same for an edge in the plane of the triangle, or a triangle without area.
#[cold]
fn coplanar_meet([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    for axis in 0..3 {
        let [fp, fq, fa, fb, fc] = [p, q, a, b, c].map(|v| drop_axis(v, axis));
        if turn(fa, fb, fc) == 0 {
            continue;
        }
        // The projection has an area, so it maps the plane one to one.
        let inside = |f: Flat| agree([turn(fa, fb, f), turn(fb, fc, f), turn(fc, fa, f)]);
        return inside(fp)
            || inside(fq)
            || [(fa, fb), (fb, fc), (fc, fa)].iter().any(|&(u, v)| flat_meet(fp, fq, u, v));
    }
    // All three projections, that is, all components of the triangle's normal, are exactly zero: it is the union of
    // its edges.
    [(a, b), (b, c), (c, a)].iter().any(|&(u, v)| segments_meet(p, q, u, v))
}

/// True when two closed segments in space, of any length, share a point.
fn segments_meet(p: Vec3, q: Vec3, u: Vec3, v: Vec3) -> bool {
    if side(p, q, u, v) != 0 {
        return false;
    }
    for axis in 0..3 {
        let [fp, fq, fu, fv] = [p, q, u, v].map(|w| drop_axis(w, axis));
        let turns = [turn(fp, fq, fu), turn(fp, fq, fv), turn(fu, fv, fp), turn(fu, fv, fq)];
        if turns != [0; 4] {
            return flat_meet(fp, fq, fu, fv);
        }
    }
    // All four on one line: they share a point if their boxes do.
    p.min(q).cmple(u.max(v)).all() && u.min(v).cmple(p.max(q)).all()
}

/// True when two closed segments in the plane, of any length, share a point: their boxes overlap, and neither lies
/// strictly on one side of the other's line.
fn flat_meet(p: Flat, q: Flat, u: Flat, v: Flat) -> bool {
    let overlap = |k: usize| p[k].min(q[k]) <= u[k].max(v[k]) && u[k].min(v[k]) <= p[k].max(q[k]);
    overlap(0) && overlap(1) && turn(p, q, u) * turn(p, q, v) <= 0 && turn(u, v, p) * turn(u, v, q) <= 0
}
