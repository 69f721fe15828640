//! The coarse space: which points are its nodes, and how a displacement is interpolated between them.
//!
//! Nodes are points of the mesh, some edges apart along it. A point moves by u = Σ w_c u_c with weights of moving
//! least squares [Lancaster 1981], so that Σ w_c = 1 and, but for the regularisation, Σ w_c x_c = x in the present
//! shape: translations and small rotations of any shape are in the space. Nearness is measured along the rest mesh, so
//! that layers which lie on each other are not joined.

use crate::system::System;
use littoral_geom::math::{Mat3, Vec3, outer};
use littoral_geom::mesh::Csr;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Distance between nodes, in mean distances of points that share an element. Smaller: a larger coarse system, which
/// the sweeps need less. Larger: more is left to the sweeps.
const SPACING: f64 = 3.0;

/// How far a node reaches, in spacings: twice the distance at which no point is without a node, so that every point
/// sees several.
const REACH: f64 = 2.0;

/// Nodes that a point is interpolated from at most: its own and about one in each direction. More couple more nodes.
const SUPPORT: usize = 6;

/// Components of fewer points are left to the sweeps and the rigid correction.
const LEAST_POINTS: usize = 40;

/// Spread of nodes (as a variance, in spacings²) below which a direction counts as not spanned: nodes of a flat sheet
/// say nothing about its normal. Smaller: large weights on nearly flat sheets. Larger: rotations are less exact.
const FLATNESS: f64 = 1e-2;

/// Points per parallel task.
const TASK: usize = 256;

/// Nodes, and what interpolates each point.
#[derive(Clone, Debug, Default)]
pub struct CoarseSpace {
    /// Point at each node.
    pub nodes: Vec<u32>,
    /// Entries of each point, as ranges of the arrays below (n + 1).
    starts: Vec<u32>,
    /// Node of each entry.
    pub node_of: Vec<u32>,
    /// Kernel of each entry, from distances at rest [–].
    kernel: Vec<f64>,
    /// Weight of each entry in the shape of the last `weigh` [–].
    pub weights: Vec<f64>,
    /// Points of each node.
    points_of: Csr,
    /// Entry of each item of `points_of`.
    entries_of: Vec<u32>,
    /// Distance between nodes at each point [m]; 0 outside the space.
    spacing: Vec<f64>,
}

impl CoarseSpace {
    /// Chooses nodes in the components of `system` that are simulated and large enough.
    pub fn new(system: &System) -> Self {
        let n = system.mass.len();
        let (nodes, near) = choose(system, &spacings(system));
        let mut space = CoarseSpace { nodes, spacing: spacings(system), ..CoarseSpace::default() };
        space.starts.push(0);
        for (v, mut list) in near.into_iter().enumerate() {
            list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            // The kernel fades out where the first node is left out, so that no weight jumps from point to point.
            let reach = list.get(SUPPORT).map_or(REACH * space.spacing[v], |l| l.0);
            list.truncate(if list.first().is_some_and(|l| l.0 == 0.0) { 1 } else { SUPPORT });
            for (d, node) in list {
                let inverse_sq = |d: f64| (space.spacing[v] / d).powi(2);
                let kernel = if d == 0.0 { 1.0 } else { inverse_sq(d) - inverse_sq(reach) };
                if kernel > 0.0 {
                    space.node_of.push(node);
                    space.kernel.push(kernel);
                }
            }
            space.starts.push(space.node_of.len() as u32);
        }
        space.weights = vec![0.0; space.node_of.len()];
        let entries = || (0..n).flat_map(|v| space.entries(v).map(move |e| (v, e)));
        let count = space.nodes.len();
        let points = Csr::from_pairs(count, entries().map(|(v, e)| (space.node_of[e], v as u32)));
        let items = Csr::from_pairs(count, entries().map(|(_, e)| (space.node_of[e], e as u32))).items;
        (space.points_of, space.entries_of) = (points, items);
        space
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Entries of point `v`.
    #[inline]
    pub fn entries(&self, v: usize) -> Range<usize> {
        self.starts[v] as usize..self.starts[v + 1] as usize
    }

    /// Points that node `c` moves, with their weights.
    #[inline]
    pub fn moved_by(&self, c: usize) -> impl Iterator<Item = (u32, f64)> {
        let first = self.points_of.offsets[c] as usize;
        let weight = move |k: usize| self.weights[self.entries_of[first + k] as usize];
        self.points_of.row(c).iter().enumerate().map(move |(k, &v)| (v, weight(k)))
    }

    /// Σ w_c u_c at point `v` for values u at the nodes.
    #[inline]
    pub fn interpolate(&self, v: usize, u: &[Vec3]) -> Vec3 {
        self.entries(v).map(|e| self.weights[e] * u[self.node_of[e] as usize]).sum()
    }

    /// Weights in the shape `x` [m]. Held points do not move, nor do nodes that are held.
    pub fn weigh(&mut self, x: &[Vec3], held: &[bool]) {
        let mut weights = std::mem::take(&mut self.weights);
        let mut rows = Vec::with_capacity(x.len());
        let mut rest = weights.as_mut_slice();
        for v in 0..x.len() {
            let (row, tail) = rest.split_at_mut(self.entries(v).len());
            rows.push(row);
            rest = tail;
        }
        rows.into_par_iter()
            .enumerate()
            .with_min_len(TASK)
            .for_each(|(v, row)| if held[v] { row.fill(0.0) } else { self.weigh_point(v, x, held, row) });
        self.weights = weights;
    }

    /// w_c = k_c (1/K − q̄·C⁻¹(q_c − q̄)) with q the way to node c in spacings, K = Σ k_c, q̄ the mean and C the spread
    /// of q under k: the first row of the inverse moment matrix, by its Schur complement.
    fn weigh_point(&self, v: usize, x: &[Vec3], held: &[bool], row: &mut [f64]) {
        let (nodes, kernel) = (&self.node_of[self.entries(v)], &self.kernel[self.entries(v)]);
        let way = |c: u32| (x[self.nodes[c as usize] as usize] - x[v]) / self.spacing[v];
        let (mut sum, mut mean, mut square) = (0.0, Vec3::ZERO, Mat3::ZERO);
        for (&c, &k) in nodes.iter().zip(kernel) {
            let q = way(c);
            sum += k;
            mean += k * q;
            square += outer(q, q) * k;
        }
        mean /= sum;
        let spread = square * (1.0 / sum) - outer(mean, mean) + Mat3::from_diagonal(Vec3::splat(FLATNESS));
        let slope = spread.inverse() * mean;
        for ((w, &c), &k) in row.iter_mut().zip(nodes).zip(kernel) {
            let moves = !held[self.nodes[c as usize] as usize];
            *w = if moves { k / sum * (1.0 - slope.dot(way(c) - mean)) } else { 0.0 };
        }
    }
}

/// Distance between nodes at each point [m]: that of its component; 0 outside the coarse space.
fn spacings(system: &System) -> Vec<f64> {
    let component = &system.geometry.component;
    let count = system.geometry.prescribed.len();
    let (mut points, mut lengths, mut edges) = (vec![0_usize; count], vec![0.0; count], vec![0_usize; count]);
    for (v, &c) in component.iter().enumerate() {
        points[c as usize] += 1;
        for &w in system.neighbours.row(v) {
            lengths[c as usize] += system.x0[v].distance(system.x0[w as usize]);
            edges[c as usize] += 1;
        }
    }
    let spacing = |c: usize| {
        let outside = system.geometry.prescribed[c] || points[c] < LEAST_POINTS || edges[c] == 0;
        if outside { 0.0 } else { SPACING * lengths[c] / edges[c] as f64 }
    };
    component.iter().map(|&c| spacing(c as usize)).collect()
}

/// Makes each point a node that no node so far is within a spacing of. Points with a prescribed motion come first,
/// so that the space meets them where they are held. Returns the nodes, and at each point the nodes in reach with their
/// distances along the mesh.
fn choose(system: &System, spacing: &[f64]) -> (Vec<u32>, Vec<Vec<(f64, u32)>>) {
    let n = spacing.len();
    let (mut nodes, mut near) = (Vec::new(), vec![Vec::new(); n]);
    let mut nearest = vec![f64::INFINITY; n];
    let mut distance = vec![f64::INFINITY; n];
    let pinned = system.prescribed.iter().flat_map(|s| s.points.iter().copied());
    for v in pinned.chain(0..n as u32) {
        let s = spacing[v as usize];
        if s == 0.0 || nearest[v as usize] < s {
            continue;
        }
        let node = nodes.len() as u32;
        nodes.push(v);
        // Dijkstra along shared elements, as far as the node reaches.
        let mut touched = vec![v];
        let mut queue = BinaryHeap::from([Reverse((Distance(0.0), v))]);
        distance[v as usize] = 0.0;
        while let Some(Reverse((Distance(d), p))) = queue.pop() {
            if d > distance[p as usize] {
                continue;
            }
            near[p as usize].push((d, node));
            nearest[p as usize] = nearest[p as usize].min(d);
            for &q in system.neighbours.row(p as usize) {
                let to = d + system.x0[p as usize].distance(system.x0[q as usize]);
                if to < REACH * s && to < distance[q as usize] {
                    if distance[q as usize].is_infinite() {
                        touched.push(q);
                    }
                    distance[q as usize] = to;
                    queue.push(Reverse((Distance(to), q)));
                }
            }
        }
        for p in touched {
            distance[p as usize] = f64::INFINITY;
        }
    }
    (nodes, near)
}

/// A distance [m] with the order of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Distance(f64);

impl Eq for Distance {}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
