//! One Newton step of all rigid bodies at once: inertia, contacts and joints in six unknowns a body.
//!
//! Bodies that push each other are solved together: a stack carries its weight in one step, where body by body it would
//! take as many sweeps as it has storeys. Each island of such bodies is a system of its own, so that bodies elsewhere
//! change no bit of it: by LDLᵀ while it is small, by conjugate gradients with the bodies' own blocks as preconditioner
//! above.

use super::body_gradients;
use littoral_geom::math::{Mat3, Vec3, skew};
use rayon::prelude::*;

/// Bodies of an island up to which it is solved directly. 40 bodies take 5 million operations.
const DIRECT: usize = 40;

/// Six numbers of a body: three of its shift, three of its turn.
pub type Six = [f64; 6];

/// A block of two bodies, by rows.
pub type Block = [[f64; 6]; 6];

/// Newton step of a body: shift of its centre [m] and rotation vector [rad].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyMove {
    /// Shift of the centre [m].
    pub shift: Vec3,
    /// Rotation vector about the centre [rad].
    pub turn: Vec3,
}

/// The block of two bodies a < b.
#[derive(Clone, Copy, Debug)]
struct Coupling {
    a: u32,
    b: u32,
    block: Block,
}

/// Gradient and Hessian of an objective by the moves of all bodies.
#[derive(Clone, Debug, Default)]
pub struct BodySystem {
    centers: Vec<Vec3>,
    gradient: Vec<Six>,
    diagonal: Vec<Block>,
    couplings: Vec<Coupling>,
}

pub(super) fn six(t: Vec3, r: Vec3) -> Six {
    [t.x, t.y, t.z, r.x, r.y, r.z]
}

fn add_six(y: &mut Six, x: Six, s: f64) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += s * x;
    }
}

/// Adds `m` at the block row and column (0: shift, 1: turn).
pub(super) fn add_part(block: &mut Block, row: usize, column: usize, m: &Mat3) {
    for c in 0..3 {
        for r in 0..3 {
            block[3 * row + r][3 * column + c] += m.col(c)[r];
        }
    }
}

pub(super) fn add_block(y: &mut Block, x: &Block) {
    for (y, x) in y.iter_mut().zip(x) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += x;
        }
    }
}

fn transposed(m: &Block) -> Block {
    std::array::from_fn(|r| std::array::from_fn(|c| m[c][r]))
}

/// Jₐᵀ H J_b with J = [1, −[r]ₓ]: what a Hessian between points with the levers `ra` and `rb` is to the bodies.
fn lever_block(h: &Mat3, ra: Vec3, rb: Vec3) -> Block {
    let (ka, kb) = (skew(ra), skew(rb));
    let mut block = [[0.0; 6]; 6];
    let hk = *h * kb;
    add_part(&mut block, 0, 0, h);
    add_part(&mut block, 0, 1, &-hk);
    add_part(&mut block, 1, 0, &(ka * *h));
    add_part(&mut block, 1, 1, &-(ka * hk));
    block
}

impl BodySystem {
    /// Begins a system of bodies with the given centres [m].
    pub fn begin(&mut self, centers: impl Iterator<Item = Vec3>) {
        self.centers.clear();
        self.centers.extend(centers);
        let n = self.centers.len();
        self.gradient.clear();
        self.gradient.resize(n, [0.0; 6]);
        self.diagonal.clear();
        self.diagonal.resize(n, [[0.0; 6]; 6]);
        self.couplings.clear();
    }

    /// Adds the inertia of body `b`: gradients by shift [N] and turn [N m], mass/h² [N/m] and inertia/h² [N m].
    pub fn add_inertia(&mut self, b: usize, gradient: (Vec3, Vec3), weight: f64, inertia: &Mat3) {
        add_six(&mut self.gradient[b], six(gradient.0, gradient.1), 1.0);
        add_part(&mut self.diagonal[b], 0, 0, &Mat3::from_diagonal(Vec3::splat(weight)));
        add_part(&mut self.diagonal[b], 1, 1, inertia);
    }

    /// Adds a gradient [N] and a positive semidefinite Hessian [N/m] at the place `p` [m] of body `b`.
    pub fn add_point(&mut self, b: usize, p: Vec3, gradient: Vec3, hessian: &Mat3) {
        let r = p - self.centers[b];
        add_six(&mut self.gradient[b], six(gradient, r.cross(gradient)), 1.0);
        add_block(&mut self.diagonal[b], &lever_block(hessian, r, r));
    }

    /// Adds an energy of the difference of two places, `pa` of body `a` less `pb` of body `b`: its gradient at `pa` [N]
    /// and its positive semidefinite Hessian [N/m].
    pub fn add_pair(&mut self, (a, pa): (usize, Vec3), (b, pb): (usize, Vec3), gradient: Vec3, h: &Mat3) {
        self.add_point(a, pa, gradient, h);
        self.add_point(b, pb, -gradient, h);
        let (first, second) = if a < b { ((a, pa), (b, pb)) } else { ((b, pb), (a, pa)) };
        let (ra, rb) = (first.1 - self.centers[first.0], second.1 - self.centers[second.0]);
        let block = lever_block(&-*h, ra, rb);
        self.couplings.push(Coupling { a: first.0 as u32, b: second.0 as u32, block });
    }

    /// Adds an energy of the turn of body `b`: gradient [N m] and positive semidefinite Hessian [N m].
    pub fn add_turn(&mut self, b: usize, gradient: Vec3, hessian: &Mat3) {
        add_six(&mut self.gradient[b], six(Vec3::ZERO, gradient), 1.0);
        add_part(&mut self.diagonal[b], 1, 1, hessian);
    }

    /// Adds an energy of the difference of two turns, that of body `a` less that of `b`: its gradient by the turn of `a`
    /// [N m] and its positive semidefinite Hessian [N m].
    pub fn add_turn_pair(&mut self, a: usize, b: usize, gradient: Vec3, hessian: &Mat3) {
        self.add_turn(a, gradient, hessian);
        self.add_turn(b, -gradient, hessian);
        let mut block = [[0.0; 6]; 6];
        add_part(&mut block, 1, 1, &-*hessian);
        self.couplings.push(Coupling { a: a.min(b) as u32, b: a.max(b) as u32, block });
    }

    /// The moves that minimise the quadratic model.
    pub fn solve(&mut self, moves: &mut Vec<BodyMove>) {
        self.merge();
        let islands = self.islands();
        let this = &*self;
        let solved: Vec<Vec<Six>> = islands.par_iter().map(|island| this.solve_island(island)).collect();
        moves.clear();
        moves.resize(self.centers.len(), BodyMove::default());
        for (island, values) in islands.iter().zip(solved) {
            for (&b, v) in island.bodies.iter().zip(values) {
                let (shift, turn) = (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]));
                if shift.is_finite() && turn.is_finite() {
                    moves[b as usize] = BodyMove { shift, turn };
                }
            }
        }
    }

    /// One block for each two bodies, in order.
    fn merge(&mut self) {
        let mut order: Vec<(u32, u32, u32)> =
            self.couplings.iter().zip(0..).map(|(c, k)| (c.a, c.b, k)).collect();
        order.sort_unstable();
        let mut merged: Vec<Coupling> = Vec::with_capacity(order.len());
        for (a, b, k) in order {
            let next = &self.couplings[k as usize];
            match merged.last_mut() {
                Some(last) if (last.a, last.b) == (a, b) => add_block(&mut last.block, &next.block),
                _ => merged.push(*next),
            }
        }
        self.couplings = merged;
    }

    /// Bodies that are coupled, directly or through others; by their first bodies.
    fn islands(&self) -> Vec<Island> {
        let n = self.centers.len();
        let mut root: Vec<u32> = (0..n as u32).collect();
        fn find(root: &mut [u32], mut i: u32) -> u32 {
            while root[i as usize] != i {
                root[i as usize] = root[root[i as usize] as usize];
                i = root[i as usize];
            }
            i
        }
        for c in &self.couplings {
            let (a, b) = (find(&mut root, c.a), find(&mut root, c.b));
            // The smaller number leads, so that an island's order is its own.
            root[a.max(b) as usize] = a.min(b);
        }
        let mut place = vec![u32::MAX; n];
        let mut islands: Vec<Island> = Vec::new();
        for b in 0..n as u32 {
            let r = find(&mut root, b);
            if r == b {
                place[b as usize] = islands.len() as u32;
                islands.push(Island::default());
            }
            let island = &mut islands[place[r as usize] as usize];
            place[b as usize] = place[r as usize];
            island.bodies.push(b);
        }
        let mut local = vec![0_u32; n];
        for island in &islands {
            for (k, &b) in island.bodies.iter().enumerate() {
                local[b as usize] = k as u32;
            }
        }
        for (k, c) in self.couplings.iter().enumerate() {
            let ends = (local[c.a as usize], local[c.b as usize]);
            islands[place[c.a as usize] as usize].couplings.push((k as u32, ends));
        }
        islands
    }

    fn solve_island(&self, island: &Island) -> Vec<Six> {
        if island.bodies.len() <= DIRECT {
            self.solve_directly(island)
        } else {
            body_gradients::solve(self, island, body_gradients::TOLERANCE)
        }
    }

    fn solve_directly(&self, island: &Island) -> Vec<Six> {
        let n = 6 * island.bodies.len();
        let mut matrix = vec![0.0; n * n];
        let mut put = |i: usize, j: usize, block: &Block| {
            for (r, row) in block.iter().enumerate() {
                let at = (6 * i + r) * n + 6 * j;
                matrix[at..at + 6].copy_from_slice(row);
            }
        };
        for (k, &b) in island.bodies.iter().enumerate() {
            put(k, k, &self.diagonal[b as usize]);
        }
        for &(k, (i, j)) in &island.couplings {
            // The lower triangle is read.
            put(j as usize, i as usize, &transposed(&self.couplings[k as usize].block));
        }
        let mut x: Vec<f64> =
            island.bodies.iter().flat_map(|&b| self.gradient[b as usize].map(|g| -g)).collect();
        ldl_solve(&mut matrix, &mut x);
        x.chunks_exact(6).map(|v| std::array::from_fn(|k| v[k])).collect()
    }

    /// Gradient of a body.
    #[inline]
    pub(super) fn gradient(&self, body: u32) -> &Six {
        &self.gradient[body as usize]
    }

    /// A body's own block.
    #[inline]
    pub(super) fn diagonal(&self, body: u32) -> &Block {
        &self.diagonal[body as usize]
    }

    /// The couplings: two bodies and their block, its rows those of the first.
    pub(super) fn couplings(&self) -> impl Iterator<Item = (u32, u32, &Block)> {
        self.couplings.iter().map(|c| (c.a, c.b, &c.block))
    }

    /// The block of a coupling.
    #[inline]
    pub(super) fn coupling(&self, number: u32) -> &Block {
        &self.couplings[number as usize].block
    }
}

/// Bodies solved together, and the couplings between them with the bodies' places in the island.
#[derive(Clone, Debug, Default)]
pub(super) struct Island {
    pub(super) bodies: Vec<u32>,
    pub(super) couplings: Vec<(u32, (u32, u32))>,
}

/// Rows that are eliminated together: independent sums keep the processor busy.
const PANEL: usize = 6;

/// Factorises the symmetric positive definite matrix (n, n) by LDLᵀ in place; its lower triangle is read. What is zero
/// before the first entry of a row stays so, and is left out.
pub(super) fn ldl_factor(m: &mut [f64], n: usize) {
    let first: Vec<usize> =
        (0..n).map(|i| m[i * n..i * n + i].iter().position(|a| *a != 0.0).unwrap_or(i)).collect();
    // The rows of a panel, column by column.
    let mut panel = vec![[0.0; PANEL]; n];
    for start in (0..n).step_by(PANEL) {
        let rows = PANEL.min(n - start);
        let from = first[start..start + rows].iter().copied().min().unwrap_or(start);
        let (above, below) = m.split_at_mut(start * n);
        for r in 0..rows {
            for (k, column) in panel[from..start + rows].iter_mut().enumerate() {
                column[r] = below[r * n + from + k];
            }
        }
        // What the later columns of these rows need is L D so far.
        for j in from..start {
            let low = from.max(first[j]);
            let other = &above[j * n + low..j * n + j];
            let sums = weighted_sums(&panel[low..j], other);
            for r in 0..rows {
                panel[j][r] -= sums[r];
            }
        }
        for r in 0..rows {
            let (done, row) = below.split_at_mut(r * n);
            for j in start..start + r {
                let other = &done[(j - start) * n..];
                let sum: f64 = (from..j).map(|k| panel[k][r] * other[k]).sum();
                panel[j][r] -= sum;
            }
            let mut d = panel[start + r][r];
            for j in from..start + r {
                let pivot = if j < start { above[j * n + j] } else { done[(j - start) * n + j] };
                let scaled = panel[j][r] / pivot;
                d -= scaled * panel[j][r];
                row[j] = scaled;
            }
            row[start + r] = d;
        }
    }
}

/// Σ_k weights[k] columns[k], each component on its own.
#[inline]
fn weighted_sums(columns: &[[f64; PANEL]], weights: &[f64]) -> [f64; PANEL] {
    let mut sums = [-0.0; PANEL];
    for (column, w) in columns.iter().zip(weights) {
        for (s, c) in sums.iter_mut().zip(column) {
            *s += c * w;
        }
    }
    sums
}

/// Solves with the factors of `ldl_factor`.
pub(super) fn ldl_substitute(m: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        let sum: f64 = m[i * n..i * n + i].iter().zip(x.iter()).map(|(l, x)| l * x).sum();
        x[i] -= sum;
    }
    for i in 0..n {
        x[i] /= m[i * n + i];
    }
    for i in (0..n).rev() {
        let xi = x[i];
        for (l, x) in m[i * n..i * n + i].iter().zip(x.iter_mut()) {
            *x -= l * xi;
        }
    }
}

fn ldl_solve(m: &mut [f64], x: &mut [f64]) {
    let n = x.len();
    ldl_factor(m, n);
    ldl_substitute(m, n, x);
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::math::outer;
    use littoral_geom::random::Random;

    fn times(m: &Block, x: &Six) -> Six {
        m.map(|row| dot(&row, x))
    }

    fn dot(a: &Six, b: &Six) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// A chain of `n` bodies with random springs between neighbours, and gradients everywhere.
    fn chain(n: usize, seed: u64) -> BodySystem {
        let mut random = Random::new(seed);
        let mut system = BodySystem::default();
        system.begin((0..n).map(|k| Vec3::new(k as f64, 0.0, 0.0)));
        for b in 0..n {
            let (g, t) = (random.in_cube(1.0), random.in_cube(1.0));
            system.add_inertia(b, (g, t), 1.0, &Mat3::from_diagonal(Vec3::new(0.1, 0.2, 0.25)));
        }
        for b in 1..n {
            let axis = random.direction();
            let h = outer(axis, axis) * random.log_between(0.1, 1e3);
            let between = Vec3::new(b as f64 - 0.5, 0.0, 0.0);
            let (pa, pb) = (between + random.in_cube(0.2), between + random.in_cube(0.2));
            // The order of the two does not matter.
            let (first, second) = if b % 2 == 0 { ((b - 1, pa), (b, pb)) } else { ((b, pb), (b - 1, pa)) };
            system.add_pair(first, second, random.in_cube(1.0), &h);
            system.add_turn_pair(b, b - 1, random.in_cube(0.1), &(Mat3::IDENTITY * 0.3));
        }
        system
    }

    /// The gradient after the `moves`.
    fn gradient_after(system: &BodySystem, moves: &[BodyMove]) -> Vec<Six> {
        let x: Vec<Six> = moves.iter().map(|m| six(m.shift, m.turn)).collect();
        let mut y: Vec<Six> = system.gradient.clone();
        for (k, y) in y.iter_mut().enumerate() {
            add_six(y, times(&system.diagonal[k], &x[k]), 1.0);
        }
        for c in &system.couplings {
            add_six(&mut y[c.a as usize], times(&c.block, &x[c.b as usize]), 1.0);
            add_six(&mut y[c.b as usize], times(&transposed(&c.block), &x[c.a as usize]), 1.0);
        }
        y
    }

    fn size(gradient: &[Six]) -> f64 {
        gradient.iter().map(|r| dot(r, r)).sum::<f64>().sqrt()
    }

    #[test]
    fn the_direct_solver_makes_the_model_stationary() {
        for (n, bound) in [(1, 1e-12), (7, 1e-10), (40, 1e-9)] {
            let mut system = chain(n, n as u64);
            let mut moves = Vec::new();
            system.solve(&mut moves);
            let left = size(&gradient_after(&system, &moves));
            assert!(left < bound, "{n} bodies: residual {left:e}");
        }
    }

    #[test]
    fn each_solve_of_a_large_island_takes_up_what_the_last_one_left() {
        let mut system = chain(60, 60);
        let mut moves = Vec::new();
        for _ in 0..6 {
            system.solve(&mut moves);
            system.gradient = gradient_after(&system, &moves);
        }
        // A hundredth each, in another norm: the root of the condition number of the blocks, 1e3 at most, is between the two.
        let left = size(&system.gradient);
        assert!(left < 1e-8, "{left:e}");
    }

    #[test]
    fn panels_and_left_out_zeros_change_no_bit_of_the_factors() {
        let mut random = Random::new(4);
        for n in [1, 2, 5, 6, 7, 12, 23, 48] {
            // Sparse, and dominated by its diagonal.
            let mut m = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..i {
                    m[i * n + j] = if random.chance(0.3) { random.between(-1.0, 1.0) } else { 0.0 };
                }
                m[i * n + i] = 1.0 + n as f64 * random.unit();
            }
            let mut plain = m.clone();
            for i in 0..n {
                for j in 0..i {
                    let sum: f64 = (0..j).map(|k| plain[i * n + k] * plain[j * n + k]).sum();
                    plain[i * n + j] -= sum;
                }
                let mut d = plain[i * n + i];
                for j in 0..i {
                    let scaled = plain[i * n + j] / plain[j * n + j];
                    d -= scaled * plain[i * n + j];
                    plain[i * n + j] = scaled;
                }
                plain[i * n + i] = d;
            }
            ldl_factor(&mut m, n);
            for i in 0..n {
                assert_eq!(m[i * n..=i * n + i], plain[i * n..=i * n + i], "row {i} of {n}");
            }
        }
    }

    #[test]
    fn conjugate_gradients_agree_with_the_factorisation() {
        let mut system = chain(30, 9);
        system.merge();
        let islands = system.islands();
        assert_eq!(islands.len(), 1);
        let (a, b) = (system.solve_directly(&islands[0]), body_gradients::solve(&system, &islands[0], 1e-4));
        let size = a.iter().map(|v| dot(v, v)).sum::<f64>().sqrt();
        let off: f64 = a
            .iter()
            .zip(&b)
            .map(|(a, b)| {
                let d: Six = std::array::from_fn(|k| a[k] - b[k]);
                dot(&d, &d)
            })
            .sum::<f64>()
            .sqrt();
        // The tolerance of the gradients times the root of the condition number of the preconditioned matrix.
        assert!(off < 0.02 * size, "{off:e} of {size:e}");
    }

    #[test]
    fn an_island_is_not_changed_by_others_to_the_bit() {
        let (mut moves, mut more) = (Vec::new(), Vec::new());
        let mut alone = chain(5, 3);
        alone.solve(&mut moves);
        let mut system = chain(5, 3);
        system.centers.push(Vec3::splat(100.0));
        system.gradient.push([1.0; 6]);
        system
            .diagonal
            .push(std::array::from_fn(|r| std::array::from_fn(|c| if r == c { 2.0 } else { 0.0 })));
        system.solve(&mut more);
        assert_eq!(moves[..], more[..5]);
        assert_eq!(more[5].shift, Vec3::splat(-0.5));
    }
}
