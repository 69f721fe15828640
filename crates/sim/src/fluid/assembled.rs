//! The matrix of the fluid phase written out, as a reference: what the matrix-free form saves is measured against it.
//!
//! Incompressibility is W = Σ_i w_i b_i b_iᵀ over the strains s_i = b_i·u, so two particles that share a neighbour are
//! coupled: some 120 blocks a row where a neighbour list has 26. Nothing in a step needs this.

use super::system::System;
use super::{Fluid, solve};
use littoral_geom::math::{Mat3, Vec3, outer};
use littoral_geom::particle_grid::CHUNK;
use rayon::prelude::*;

/// The problem of the last solve as A d = b: block rows of a symmetric positive definite matrix
/// A = M + h² ∂²(P + links) [kg], of the particles that are there, sorted by place, and after them of the nodes. The
/// unknown d is x* − x̂ [m]; where viscosity is weak enough to be taken explicitly, x̂ has had that step. The elasticity
/// behind nodes is not part of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembled {
    /// Start of each row in `columns` and `blocks`, one more than there are rows.
    pub starts: Vec<usize>,
    /// Columns of the blocks of a row, ascending.
    pub columns: Vec<u32>,
    /// The blocks [kg], all of the matrix.
    pub blocks: Vec<Mat3>,
    /// b = −h² ∂E/∂x at x̂ [kg m].
    pub right: Vec<Vec3>,
    /// The caller's index of the particle of each row; rows beyond are the nodes.
    pub particles: Vec<u32>,
    /// Positions xⁿ of the particles by row [m].
    pub x: Vec<Vec3>,
}

impl Assembled {
    /// out = A p.
    ///
    /// # Panics
    /// If the lengths are not those of the matrix.
    pub fn times(&self, p: &[Vec3], out: &mut [Vec3]) {
        assert!(p.len() == self.right.len() && out.len() == p.len(), "one vector per row is needed");
        out.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(row, y)| {
            let range = self.starts[row]..self.starts[row + 1];
            let terms = self.columns[range.clone()].iter().zip(&self.blocks[range]);
            *y = terms.map(|(column, block)| *block * p[*column as usize]).sum();
        });
    }

    /// Solves A d = b by conjugate gradients with the diagonal blocks as preconditioner, to a residual `tolerance` in
    /// the norm √(rᵀD⁻¹r) relative to that of b, [`SolveSettings`](super::SolveSettings) alike. Returns d and the
    /// iterations, at most `limit`.
    pub fn solve(&self, tolerance: f64, limit: u32) -> (Vec<Vec3>, u32) {
        let inverse: Vec<Mat3> = (0..self.right.len()).map(|row| self.diagonal(row).inverse()).collect();
        let dot = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let mut d = vec![Vec3::ZERO; self.right.len()];
        let mut r = self.right.clone();
        let mut z: Vec<Vec3> = inverse.iter().zip(&r).map(|(m, r)| *m * *r).collect();
        let mut p = z.clone();
        let mut y = z.clone();
        let mut rz = dot(&r, &z);
        let target = tolerance * tolerance * rz;
        let mut iterations = 0;
        while rz > target && iterations < limit {
            self.times(&p, &mut y);
            iterations += 1;
            let alpha = rz / dot(&p, &y);
            for k in 0..r.len() {
                d[k] += alpha * p[k];
                r[k] -= alpha * y[k];
                z[k] = inverse[k] * r[k];
            }
            let before = rz;
            rz = dot(&r, &z);
            for (p, z) in p.iter_mut().zip(&z) {
                *p = *z + rz / before * *p;
            }
        }
        (d, iterations)
    }

    /// The diagonal block of a row.
    fn diagonal(&self, row: usize) -> Mat3 {
        let range = self.starts[row]..self.starts[row + 1];
        let place = self.columns[range.clone()].binary_search(&(row as u32));
        place.map_or(Mat3::IDENTITY, |k| self.blocks[range.start + k])
    }
}

impl Fluid {
    /// The problem of the last [`solve`](Self::solve), assembled; empty before the first. Slow, and for tests and
    /// comparisons.
    pub fn assemble(&self) -> Assembled {
        let system = &self.system;
        let rows = system.len() + system.nodes.len();
        if self.predictor.len() != rows {
            return Assembled::default();
        }
        let strains = Strains::of(self);
        let mass = self.reference_mass();
        let lines: Vec<Vec<(u32, Mat3)>> = (0..rows)
            .into_par_iter()
            .with_min_len(CHUNK)
            .map_init(|| Line::new(rows), |line, row| line.assemble(self, &strains, row))
            .collect();
        let mut assembled = Assembled {
            starts: vec![0],
            particles: self.order.clone(),
            x: self.grid.positions().to_vec(),
            ..Assembled::default()
        };
        for line in lines {
            assembled.columns.extend(line.iter().map(|(column, _)| *column));
            assembled.blocks.extend(line.iter().map(|(_, block)| mass * *block));
            assembled.starts.push(assembled.columns.len());
        }
        let mut work = solve::Work::default();
        work.full_gradient(&self.grid, system, &self.predictor, &self.predictor);
        assembled.right = work.gradient().iter().map(|g| -mass * self.spacing * *g).collect();
        assembled
    }
}

/// The derivatives b_i of all strains by all unknowns, by strain and by unknown.
struct Strains {
    rows: Vec<Vec<(u32, Vec3)>>,
    columns: Vec<Vec<(u32, Vec3)>>,
}

impl Strains {
    fn of(fluid: &Fluid) -> Self {
        let system = &fluid.system;
        let n = system.len();
        let mut rows: Vec<Vec<(u32, Vec3)>> = Vec::with_capacity(n);
        for i in 0..n {
            let (list, pairs) = (&fluid.grid.chunks()[i / CHUNK], &system.pairs[i / CHUNK]);
            let mut own = system.push[i];
            let mut row = Vec::new();
            for (j, c) in list.list(i % CHUNK).iter().zip(&pairs.strain[list.range(i % CHUNK)]) {
                let g = f64::from(*c) * (system.x[i] - system.x[*j as usize]);
                own -= g;
                row.push((*j, g));
            }
            row.push((i as u32, own));
            rows.push(row);
        }
        for anchor in &system.nodes.anchors {
            let row = &mut rows[anchor.slot as usize];
            row.push((anchor.slot, -anchor.push));
            for (node, weight) in anchor.nodes.iter().zip(anchor.weights).filter(|(_, w)| *w != 0.0) {
                row.push((n as u32 + node, weight * anchor.push));
            }
        }
        let mut columns = vec![Vec::new(); n + system.nodes.len()];
        for (i, row) in rows.iter().enumerate().filter(|(i, _)| system.active[*i]) {
            for (unknown, b) in row {
                columns[*unknown as usize].push((i as u32, *b));
            }
        }
        Strains { rows, columns }
    }
}

/// A row that is being summed.
struct Line {
    /// Place of each column in `entries`, or `u32::MAX`.
    places: Vec<u32>,
    entries: Vec<(u32, Mat3)>,
}

impl Line {
    fn new(rows: usize) -> Self {
        Line { places: vec![u32::MAX; rows], entries: Vec::new() }
    }

    fn add(&mut self, column: usize, block: Mat3) {
        if self.places[column] == u32::MAX {
            self.places[column] = self.entries.len() as u32;
            self.entries.push((column as u32, Mat3::ZERO));
        }
        self.entries[self.places[column] as usize].1 += block;
    }

    /// One row in the units of the system.
    fn assemble(&mut self, fluid: &Fluid, strains: &Strains, row: usize) -> Vec<(u32, Mat3)> {
        let system = &fluid.system;
        let n = system.len();
        let is_held = |unknown: usize| unknown >= n && system.nodes.mass[unknown - n] == 0.0;
        if is_held(row) {
            return vec![(row as u32, Mat3::IDENTITY)];
        }
        for (i, own) in &strains.columns[row] {
            let weight = system.weight(*i as usize);
            for (unknown, other) in &strains.rows[*i as usize] {
                self.add(*unknown as usize, weight * outer(*own, *other));
            }
        }
        match row.checked_sub(n) {
            None => self.add_particle(fluid, row),
            Some(node) => self.add_node(system, node),
        }
        let mut entries = std::mem::take(&mut self.entries);
        for (column, _) in &entries {
            self.places[*column as usize] = u32::MAX;
        }
        entries.retain(|(column, _)| !is_held(*column as usize));
        entries.sort_unstable_by_key(|(column, _)| *column);
        entries
    }

    /// Inertia, viscosity, single terms and anchors of a particle.
    fn add_particle(&mut self, fluid: &Fluid, row: usize) {
        let system = &fluid.system;
        let n = system.len();
        self.add(row, Mat3::from_diagonal(Vec3::splat(system.mass[row])));
        let (list, pairs) = (&fluid.grid.chunks()[row / CHUNK], &system.pairs[row / CHUNK]);
        if !pairs.viscous.is_empty() {
            for (j, q) in list.list(row % CHUNK).iter().zip(&pairs.viscous[list.range(row % CHUNK)]) {
                let x_ij = system.x[row] - system.x[*j as usize];
                let block = f64::from(*q) * outer(x_ij, x_ij);
                self.add(row, block);
                self.add(*j as usize, -block);
            }
        }
        if let Ok(k) = system.diagonals.binary_search_by_key(&(row as u32), |d| d.slot) {
            self.add(row, system.diagonals[k].hessian);
        }
        let anchors = &system.nodes.anchors[system.nodes.of_chunk(row / CHUNK)];
        for anchor in anchors.iter().filter(|a| a.slot as usize == row) {
            self.add(row, anchor.hessian);
            for (node, weight) in anchor.nodes.iter().zip(anchor.weights) {
                self.add(n + *node as usize, -weight * anchor.hessian);
            }
        }
    }

    /// Inertia and anchors of a node.
    fn add_node(&mut self, system: &System, node: usize) {
        let n = system.len();
        self.add(n + node, Mat3::from_diagonal(Vec3::splat(system.nodes.mass[node])));
        for (anchor, own) in system.nodes.of_node(node) {
            let anchor = &system.nodes.anchors[*anchor as usize];
            self.add(anchor.slot as usize, -*own * anchor.hessian);
            for (other, weight) in anchor.nodes.iter().zip(anchor.weights) {
                self.add(n + *other as usize, own * weight * anchor.hessian);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Scene, crowded, moved, random_field};
    use super::*;
    use crate::fluid::{Node, SolveSettings};

    #[test]
    fn the_assembled_matrix_is_the_hessian() {
        for (viscosity, nodes) in [(0.0, 0), (0.3, 12)] {
            let Scene { mut fluid, links, x, node_motion } = crowded(viscosity, nodes, 0.5);
            let x_hat = moved(&x, 1e-3, &random_field(x.len(), 1.0, 6));
            fluid.solve(&x_hat, &node_motion, &links, &[], &SolveSettings::default());
            let assembled = fluid.assemble();
            let mass = fluid.reference_mass();
            let columns = fluid.dense_hessian();
            let largest = columns.iter().flatten().map(|v| v.abs().max_element()).fold(0.0, f64::max) * mass;
            for (row, range) in assembled.starts.windows(2).enumerate() {
                let mut dense = vec![Mat3::ZERO; x.len() + nodes];
                for k in range[0]..range[1] {
                    dense[assembled.columns[k] as usize] = assembled.blocks[k];
                }
                for (column, block) in dense.iter().enumerate() {
                    for k in 0..3 {
                        let error = block.col(k) - mass * columns[3 * column + k][row];
                        // Differences of gradients, of some hundred terms each.
                        assert!(error.abs().max_element() < 1e-12 * largest, "row {row} column {column}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_assembled_solution_is_the_matrix_free_one() {
        let settings = SolveSettings { tolerance: 1e-9, max_iterations: 2000, ..SolveSettings::default() };
        for held in [false, true] {
            let Scene { mut fluid, links, x, node_motion } = crowded(0.3, 12, 0.5);
            if held {
                let mut nodes = [Node { mass: 0.1 }; 12];
                nodes[3].mass = f64::INFINITY;
                fluid.prepare(&x, 2e-3, &nodes, &[], None);
            }
            let x_hat = moved(&x, 1e-3, &random_field(x.len(), 1.0, 6));
            let found = fluid.solve(&x_hat, &node_motion, &links, &[], &settings);
            let assembled = fluid.assemble();
            let (d, iterations) = assembled.solve(1e-9, 2000);
            // The same Krylov space up to rounding; single precision restarts it once or twice.
            assert!(iterations <= found.report.iterations, "{iterations} {}", found.report.iterations);
            for (d, i) in d.iter().zip(&assembled.particles) {
                let i = *i as usize;
                assert!((found.x[i] - x_hat[i] - *d).length() < 1e-8 * fluid.spacing());
            }
            for (node, d) in d[x.len()..].iter().enumerate() {
                assert!((found.nodes[node] - node_motion[node] - *d).length() < 1e-8 * fluid.spacing());
            }
        }
    }
}
