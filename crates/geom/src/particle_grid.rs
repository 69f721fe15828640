//! Neighbours of particles within a radius, by sorting the particles into cells.
//!
//! Cells have the radius as edge. Particles are sorted by cell, x fastest, so that what is near in space is near in
//! memory and the 27 cells around a particle are nine contiguous runs. A bounded table gives the start of each cell;
//! where particles are spread so thinly that it would be mostly empty, the sorted keys are searched instead. The
//! result does not depend on which, nor on the number of threads.
//!
//! Indices in the lists are *slots*: places in the sorted order. `order` maps a slot to the caller's index.

use crate::math::{Aabb, Vec3};
use glam::Vec4;
use rayon::prelude::*;
use std::ops::Range;

/// Particles per chunk: the unit of parallel work, here and for those who walk the lists. A list of chunk `k` serves
/// the slots `k·CHUNK ..`.
pub const CHUNK: usize = 512;

/// Cells along an axis, at most: coordinates beyond fall into the last cell, which costs time but no neighbour.
const CELLS_PER_AXIS: u64 = 1 << 21;

/// Cells per particle above which the table of cell starts is not worth its memory.
const TABLE_PER_PARTICLE: u64 = 8;

/// The neighbour lists of [`CHUNK`] consecutive slots.
#[derive(Clone, Debug, Default)]
pub struct NeighborChunk {
    /// Start of each list in `ids`, one more than there are slots in the chunk.
    pub starts: Vec<u32>,
    /// Neighbour slots, ascending in each list, without the particle itself.
    pub ids: Vec<u32>,
}

impl NeighborChunk {
    /// Range in `ids` of the `local`-th slot of the chunk.
    #[inline]
    pub fn range(&self, local: usize) -> Range<usize> {
        self.starts[local] as usize..self.starts[local + 1] as usize
    }

    /// Neighbour slots of the `local`-th slot of the chunk.
    #[inline]
    pub fn list(&self, local: usize) -> &[u32] {
        &self.ids[self.range(local)]
    }
}

/// Particles sorted by cell, and their neighbours.
#[derive(Clone, Debug, Default)]
pub struct ParticleGrid {
    radius: f64,
    /// Cells along x and y if the table is used.
    table_size: Option<[u64; 2]>,
    /// Key of the cell of each particle, in the caller's order.
    keys: Vec<u64>,
    /// Key of the cell of each slot.
    slot_keys: Vec<u64>,
    /// Start of each cell, if the table is used.
    table: Vec<u32>,
    order: Vec<u32>,
    x: Vec<Vec3>,
    /// Positions relative to the lower corner, in radii; for the first, coarse test.
    coarse: [Vec<f32>; 3],
    /// Squares of the coarse distances, in radii, below which a pair is surely near, and above which surely not.
    coarse_limits: [f32; 2],
    chunks: Vec<NeighborChunk>,
}

impl ParticleGrid {
    /// Sorts the particles at `x` [m] and lists all pairs with distance < `radius` [m], > 0. Particles with a
    /// coordinate that is not finite get no neighbours.
    pub fn fit(&mut self, x: &[Vec3], radius: f64) {
        self.radius = radius;
        self.sort(x);
        self.search();
    }

    /// The caller's index of each slot.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Positions by slot [m].
    pub fn positions(&self) -> &[Vec3] {
        &self.x
    }

    /// The neighbour lists, chunk by chunk.
    pub fn chunks(&self) -> &[NeighborChunk] {
        &self.chunks
    }

    /// Neighbour slots of one slot.
    pub fn neighbors(&self, slot: u32) -> &[u32] {
        self.chunks[slot as usize / CHUNK].list(slot as usize % CHUNK)
    }

    /// Drops the pairs for which `keep` is false. It is asked for both orders of a pair of slots and must answer the
    /// same to both, or the lists are no longer symmetric.
    pub fn retain(&mut self, keep: impl Fn(u32, u32) -> bool + Sync) {
        self.chunks.par_iter_mut().enumerate().for_each(|(k, chunk)| {
            let mut kept = 0;
            let mut start = 0;
            for local in 0..chunk.starts.len().saturating_sub(1) {
                let end = chunk.starts[local + 1] as usize;
                let slot = (k * CHUNK + local) as u32;
                for entry in start..end {
                    let other = chunk.ids[entry];
                    chunk.ids[kept] = other;
                    kept += keep(slot, other) as usize;
                }
                start = end;
                chunk.starts[local + 1] = kept as u32;
            }
            chunk.ids.truncate(kept);
        });
    }

    /// Assigns cells and sorts by them; particles of a cell keep the caller's order.
    fn sort(&mut self, x: &[Vec3]) {
        let bounds = Aabb::of(x.iter().copied().filter(|p| p.is_finite()));
        let origin = if bounds.min.is_finite() { bounds.min } else { Vec3::ZERO };
        let per_radius = 1.0 / self.radius;
        let extent = (bounds.extent().max(Vec3::ZERO) * per_radius).min(Vec3::splat(1e18));
        let cells = extent.to_array().map(|e| (e as u64 + 1).min(CELLS_PER_AXIS));
        let total = cells.iter().fold(1_u64, |n, c| n.saturating_mul(*c));
        let fits = total <= TABLE_PER_PARTICLE * x.len() as u64 + 4096;
        self.table_size = fits.then_some([cells[0], cells[1]]);
        let strides = if fits { [1, cells[0], cells[0] * cells[1]] } else { [1, 1 << 21, 1 << 42] };
        let key = |p: &Vec3| {
            let c = ((*p - origin) * per_radius).to_array();
            (0..3).map(|a| (c[a].max(0.0) as u64).min(cells[a] - 1) * strides[a]).sum::<u64>()
        };
        x.par_iter().with_min_len(4096).map(key).collect_into_vec(&mut self.keys);

        if fits {
            self.sort_by_table(total as usize);
        } else {
            let keys = &self.keys;
            self.order.clear();
            self.order.extend(0..x.len() as u32);
            self.order.par_sort_unstable_by_key(|i| (keys[*i as usize], *i));
        }
        let (order, keys) = (&self.order, &self.keys);
        let slots = || order.par_iter().with_min_len(4096);
        slots().map(|i| x[*i as usize]).collect_into_vec(&mut self.x);
        slots().map(|i| keys[*i as usize]).collect_into_vec(&mut self.slot_keys);
        let sorted = &self.x;
        for (axis, coarse) in self.coarse.iter_mut().enumerate() {
            let relative = |p: &Vec3| ((p[axis] - origin[axis]) * per_radius) as f32;
            sorted.par_iter().with_min_len(4096).map(relative).collect_into_vec(coarse);
            coarse.extend([f32::INFINITY; 3]);
        }
        // A coarse coordinate is off by half a unit of its last place, 2⁻²⁵ of the extent; a difference by twice
        // that, a distance by √3 times; the factor covers the rounding of the squares too.
        let slack = 8.0 * f64::from(f32::EPSILON) * (extent.max_element() + 1.0);
        self.coarse_limits = [1.0 - slack, 1.0 + slack].map(|r: f64| (r.max(0.0) * r) as f32);
    }

    /// Counting sort.
    fn sort_by_table(&mut self, cells: usize) {
        self.table.clear();
        self.table.resize(cells + 1, 0);
        for key in &self.keys {
            self.table[*key as usize + 1] += 1;
        }
        for cell in 0..cells {
            self.table[cell + 1] += self.table[cell];
        }
        self.order.clear();
        self.order.resize(self.keys.len(), 0);
        for (i, key) in self.keys.iter().enumerate() {
            let place = &mut self.table[*key as usize];
            self.order[*place as usize] = i as u32;
            *place += 1;
        }
        // Each start has moved on to the next cell's.
        self.table.rotate_right(1);
        self.table[0] = 0;
    }

    fn search(&mut self) {
        let count = self.x.len().div_ceil(CHUNK);
        let mut chunks = std::mem::take(&mut self.chunks);
        chunks.resize_with(count, NeighborChunk::default);
        chunks.par_iter_mut().enumerate().for_each(|(k, chunk)| self.search_chunk(k, chunk));
        self.chunks = chunks;
    }

    fn search_chunk(&self, k: usize, chunk: &mut NeighborChunk) {
        chunk.starts.clear();
        chunk.starts.push(0);
        let mut len = 0;
        let mut runs: [Range<usize>; 9] = std::array::from_fn(|_| 0..0);
        let mut key = u64::MAX;
        for slot in k * CHUNK..((k + 1) * CHUNK).min(self.x.len()) {
            if self.slot_keys[slot] != key {
                key = self.slot_keys[slot];
                runs = self.runs(key);
            }
            let candidates: usize = runs.iter().map(|r| r.len()).sum();
            if chunk.ids.len() < len + candidates + 4 {
                chunk.ids.resize(2 * (len + candidates) + 4, 0);
            }
            for run in &runs {
                len = self.scan(slot, run.clone(), &mut chunk.ids, len);
            }
            chunk.starts.push(len as u32);
        }
        chunk.ids.truncate(len);
    }

    /// Appends the slots of a run that are neighbours of a slot. Four at a time are compared coarsely; only those too
    /// near the radius to tell are compared exactly. Hits are written without branches, which would be unpredictable.
    #[inline]
    fn scan(&self, slot: usize, run: Range<usize>, ids: &mut [u32], mut len: usize) -> usize {
        let [xs, ys, zs] = &self.coarse;
        let (x, y, z) = (Vec4::splat(xs[slot]), Vec4::splat(ys[slot]), Vec4::splat(zs[slot]));
        let [low, high] = self.coarse_limits.map(Vec4::splat);
        let own = self.x[slot];
        let radius_sq = self.radius * self.radius;
        let mut first = run.start;
        while first < run.end {
            // The arrays are padded by three places that no particle is near.
            let (a, b, c) = (four(xs, first) - x, four(ys, first) - y, four(zs, first) - z);
            let distance_sq = a * a + b * b + c * c;
            let mut near = distance_sq.cmple(low).bitmask();
            let mut unsure = distance_sq.cmple(high).bitmask() & !near;
            while unsure != 0 {
                let lane = unsure.trailing_zeros();
                unsure &= unsure - 1;
                let exact = self.x.get(first + lane as usize).map_or(f64::MAX, |p| p.distance_squared(own));
                near |= u32::from(exact < radius_sq) << lane;
            }
            // Not itself, nor what lies behind the run's end.
            let other = slot.wrapping_sub(first);
            near &= !(u32::from(other < 4) << (other & 3));
            near &= (1 << (run.end - first).min(4)) - 1;
            if near != 0 {
                let hits = &mut ids[len..len + 4];
                let mut count = 0;
                for lane in 0..4 {
                    hits[count & 3] = (first + lane) as u32;
                    count += (near >> lane) as usize & 1;
                }
                len += count;
            }
            first += 4;
        }
        len
    }

    /// The slots of the 27 cells around the one with this key: one run for each row of three.
    fn runs(&self, key: u64) -> [Range<usize>; 9] {
        let [nx, ny] = self.table_size.unwrap_or([1 << 21, 1 << 21]);
        let (ix, iy, iz) = (key % nx, key / nx % ny, key / nx / ny);
        let low = ix.saturating_sub(1);
        let high = (ix + 1).min(nx - 1);
        std::array::from_fn(|row| {
            let (dy, dz) = (row as u64 % 3, row as u64 / 3);
            // Offset by one to stay unsigned.
            if iy + dy == 0 || iy + dy > ny || iz + dz == 0 {
                return 0..0;
            }
            let first = ((iz + dz - 1) * ny + (iy + dy - 1)) * nx;
            self.slots(first + low..first + high + 1)
        })
    }

    /// The slots whose keys lie in a range.
    fn slots(&self, keys: Range<u64>) -> Range<usize> {
        if self.table_size.is_some() {
            let cells = self.table.len() as u64 - 1;
            let start = |key: u64| self.table[key.min(cells) as usize] as usize;
            start(keys.start)..start(keys.end)
        } else {
            let start = |key: u64| self.slot_keys.partition_point(|k| *k < key);
            start(keys.start)..start(keys.end)
        }
    }
}

#[inline]
fn four(values: &[f32], first: usize) -> Vec4 {
    Vec4::from_slice(&values[first..first + 4])
}

/// All neighbours by comparing every two particles, as indices of the caller, ascending: the oracle of the tests.
pub fn neighbors_brute_force(x: &[Vec3], radius: f64) -> Vec<Vec<u32>> {
    let near = |i: usize, j: usize| i != j && x[i].distance_squared(x[j]) < radius * radius;
    (0..x.len()).map(|i| (0..x.len() as u32).filter(|j| near(i, *j as usize)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn lists(grid: &ParticleGrid) -> Vec<Vec<u32>> {
        let mut out = vec![Vec::new(); grid.order().len()];
        for (slot, i) in grid.order().iter().enumerate() {
            let ids = grid.neighbors(slot as u32);
            assert!(ids.windows(2).all(|w| w[0] < w[1]), "slots must ascend");
            out[*i as usize] = ids.iter().map(|s| grid.order()[*s as usize]).collect();
            out[*i as usize].sort_unstable();
        }
        out
    }

    #[test]
    fn the_grid_finds_what_comparing_all_pairs_finds() {
        let mut random = Random::new(1);
        let mut grid = ParticleGrid::default();
        for trial in 0..60 {
            let n = 1 + random.below(900);
            let half = random.log_between(0.2, 2e4);
            let center = random.in_cube(1e3);
            let radius = random.log_between(0.1, 1.0);
            let mut x: Vec<Vec3> = (0..n).map(|_| center + random.in_cube(half)).collect();
            // Pairs that are near whatever the extent, across cells and in line with the axes.
            for i in 0..n / 2 {
                let axis = [Vec3::X, Vec3::Y, Vec3::Z][random.below(3)];
                x.push(x[i] + axis * radius * random.between(-1.1, 1.1));
            }
            grid.fit(&x, radius);
            assert_eq!(lists(&grid), neighbors_brute_force(&x, radius), "trial {trial}");
        }
    }

    #[test]
    fn a_far_particle_costs_neither_memory_nor_neighbours() {
        let mut x: Vec<Vec3> =
            (0..1000).map(|i| Vec3::new((i % 10) as f64, (i / 10 % 10) as f64, (i / 100) as f64)).collect();
        x.push(Vec3::splat(1e12));
        x.push(Vec3::splat(1e12) + Vec3::X);
        let mut grid = ParticleGrid::default();
        grid.fit(&x, 1.5);
        assert!(grid.table.is_empty(), "the table would have {} cells", grid.table.len());
        let found = lists(&grid);
        assert_eq!(found, neighbors_brute_force(&x, 1.5));
        assert_eq!(found[1000], [1001]);
    }

    #[test]
    fn particles_that_are_not_finite_have_no_neighbours() {
        let x = [Vec3::ZERO, Vec3::NAN, Vec3::new(0.1, 0.0, 0.0), Vec3::INFINITY];
        let mut grid = ParticleGrid::default();
        grid.fit(&x, 1.0);
        assert_eq!(lists(&grid), [vec![2], vec![], vec![0], vec![]]);
        grid.fit(&[], 1.0);
        assert!(grid.chunks().is_empty());
    }

    #[test]
    fn dropped_pairs_leave_the_other_lists_alone() {
        let mut random = Random::new(2);
        let x: Vec<Vec3> = (0..1500).map(|_| random.in_cube(3.0)).collect();
        let mut grid = ParticleGrid::default();
        grid.fit(&x, 1.0);
        let places = grid.positions().to_vec();
        grid.retain(|a, b| places[a as usize].x * places[b as usize].x > 0.0);
        let mut expected = neighbors_brute_force(&x, 1.0);
        for (i, list) in expected.iter_mut().enumerate() {
            list.retain(|j| x[i].x * x[*j as usize].x > 0.0);
        }
        assert_eq!(lists(&grid), expected);
    }

    #[test]
    fn the_result_is_the_same_on_any_number_of_threads() {
        let mut random = Random::new(3);
        let x: Vec<Vec3> = (0..5000).map(|_| random.in_cube(4.0)).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut grid = ParticleGrid::default();
            pool.install(|| grid.fit(&x, 0.7));
            let ids: Vec<Vec<u32>> = grid.chunks().iter().map(|c| c.ids.clone()).collect();
            (grid.order().to_vec(), ids)
        };
        assert_eq!(run(1), run(2));
        assert_eq!(run(1), run(3));
    }
}
