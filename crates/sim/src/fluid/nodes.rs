//! Surface nodes near the fluid as unknowns beside its particles [Xie 2023, §4: the boundary in phase 1].
//!
//! A node has its lumped mass and no elasticity here. Particles meet nodes through *anchors*: points Σ_k w_k u_k of a
//! surface whose relative displacement ρ = Σ_k w_k u_k − u_i adds a·ρ to the strain of particle i and
//! φ₀·ρ + ½ ρᵀHρ to the energy. With the force of the particle on its anchor, φ = τ_i a + φ₀ + Hρ, the gradient is
//! −φ for the particle and w_k φ for each node: whole momentum stays, however badly the system is solved.
//!
//! These are the plain double-precision forms; `node_operator.rs` has the fast ones.

use super::system::System;
use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::particle_grid::CHUNK;

/// Stands for a corner that is prescribed, in [`Wall::nodes`](super::Wall::nodes) and [`Link::nodes`].
pub const NO_NODE: u32 = u32::MAX;

/// A node of a surface near the fluid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Lumped mass [kg], > 0. A node of any other mass, infinity among them, is held: it moves as predicted.
    pub mass: f64,
}

/// A quadratic energy g·r + ½ rᵀHr of a particle against a point of a surface: a contact proxy, for instance. With
/// r = u_particle − motion − Σ_k w_k u_k, their relative displacement over the step [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The particle.
    pub particle: u32,
    /// The corners of the surface that are unknowns, as indices of the nodes given; [`NO_NODE`] for others.
    pub nodes: [u32; 3],
    /// Weights w_k of the corners [–], usually barycentric. Those of prescribed corners are not used.
    pub weights: [f64; 3],
    /// Displacement of the point over the step by its prescribed corners, already weighted [m].
    pub motion: Vec3,
    /// Gradient g at r = 0 [N].
    pub gradient: Vec3,
    /// Hessian H [N/m], symmetric, positive semidefinite.
    pub hessian: Mat3,
}

impl Link {
    /// A link to what does not move.
    pub fn fixed(particle: u32, gradient: Vec3, hessian: Mat3) -> Self {
        let motion = Vec3::ZERO;
        Link { particle, nodes: [NO_NODE; 3], weights: [0.0; 3], motion, gradient, hessian }
    }

    /// True if every number is finite.
    pub(super) fn is_finite(&self) -> bool {
        let weights = self.weights.iter().all(|w| w.is_finite());
        weights && self.motion.is_finite() && self.gradient.is_finite() && self.hessian.is_finite()
    }
}

/// A point of a surface that depends on nodes, and what ties a particle to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Anchor {
    pub slot: u32,
    /// Corners; where there is none, node 0 with weight 0.
    pub nodes: [u32; 3],
    pub weights: [f64; 3],
    /// a, derivative of the particle's strain by ρ.
    pub push: Vec3,
    /// φ₀, force at ρ = 0 without tension.
    pub force: Vec3,
    pub hessian: Mat3,
}

impl Anchor {
    /// Displacement of the point, from that of the nodes.
    #[inline]
    pub fn point(&self, nodes: &[Vec3]) -> Vec3 {
        point(nodes, self.nodes, self.weights)
    }

    /// φ at a relative displacement ρ.
    #[inline]
    fn force_at(&self, tension: f64, relative: Vec3) -> Vec3 {
        tension * self.push + self.force + self.hessian * relative
    }
}

/// Σ_k w_k u_k.
#[inline]
pub(super) fn point(u: &[Vec3], corners: [u32; 3], weights: [f64; 3]) -> Vec3 {
    let [a, b, c] = corners.map(|k| u[k as usize]);
    weights[0] * a + weights[1] * b + weights[2] * c
}

/// The corners that are nodes, of `count`, with their weights; others become node 0 with weight 0. None if none is.
pub(super) fn corners(nodes: [u32; 3], weights: [f64; 3], count: usize) -> Option<([u32; 3], [f64; 3])> {
    let is_node = nodes.map(|k| (k as usize) < count);
    let pick = |k: usize| if is_node[k] { (nodes[k], weights[k]) } else { (0, 0.0) };
    let picked = [pick(0), pick(1), pick(2)];
    is_node.contains(&true).then(|| (picked.map(|p| p.0), picked.map(|p| p.1)))
}

/// The nodes of a system, in the units of the system.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// Mass of each node; 0 if it is held.
    pub mass: Vec<f64>,
    /// By ascending slot.
    pub anchors: Vec<Anchor>,
    /// First anchor of each chunk of slots.
    chunk_starts: Vec<u32>,
    /// Start of each node's entries, one more than there are nodes.
    starts: Vec<u32>,
    /// Anchors of each node, ascending, with its weight there.
    entries: Vec<(u32, f64)>,
}

impl Nodes {
    /// Takes over masses [kg], in units of `reference`; there are no anchors then.
    pub fn set_masses(&mut self, nodes: &[Node], reference: f64) {
        let free = |mass: f64| mass > 0.0 && mass.is_finite();
        self.mass.clear();
        self.mass.extend(nodes.iter().map(|n| if free(n.mass) { n.mass / reference } else { 0.0 }));
        // Those of the last step know other nodes.
        self.set_anchors(0, &[]);
    }

    /// Takes over the anchors, for `particles` slots.
    pub fn set_anchors(&mut self, particles: usize, anchors: &[Anchor]) {
        self.anchors.clear();
        self.anchors.extend_from_slice(anchors);
        self.anchors.sort_by_key(|a| a.slot);
        let start = |k: usize| self.anchors.partition_point(|a| (a.slot as usize) < k * CHUNK) as u32;
        self.chunk_starts.clear();
        self.chunk_starts.extend((0..=particles.div_ceil(CHUNK)).map(start));
        self.list_by_node();
    }

    /// Counting sort of the corners by node, which keeps the order of the anchors.
    fn list_by_node(&mut self) {
        let Nodes { mass, anchors, starts, entries, .. } = self;
        starts.clear();
        starts.resize(mass.len() + 2, 0);
        let corners = |a: &Anchor| [0, 1, 2].map(|k| (a.nodes[k] as usize, a.weights[k]));
        for (node, _) in anchors.iter().flat_map(corners).filter(|(_, w)| *w != 0.0) {
            starts[node + 2] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        entries.clear();
        entries.resize(starts[mass.len() + 1] as usize, (0, 0.0));
        for (index, anchor) in anchors.iter().enumerate() {
            for (node, weight) in corners(anchor).into_iter().filter(|(_, w)| *w != 0.0) {
                let place = &mut starts[node + 1];
                entries[*place as usize] = (index as u32, weight);
                *place += 1;
            }
        }
        starts.truncate(mass.len() + 1);
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// Range of the anchors of a chunk of slots; empty if there are none at all.
    #[inline]
    pub fn of_chunk(&self, chunk: usize) -> std::ops::Range<usize> {
        if self.anchors.is_empty() {
            return 0..0;
        }
        self.chunk_starts[chunk] as usize..self.chunk_starts[chunk + 1] as usize
    }

    /// Anchors of a node, with its weights.
    #[inline]
    pub fn of_node(&self, node: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// True if the anchors move along when all nodes do: no corner of them is prescribed or held.
    pub fn are_free(&self) -> bool {
        // A few roundings of barycentric weights; halved or doubled, nothing changes.
        let whole = |a: &Anchor| (a.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12;
        let held = |(a, k): (&Anchor, usize)| a.weights[k] != 0.0 && self.mass[a.nodes[k] as usize] == 0.0;
        let corners = self.anchors.iter().flat_map(|a| (0..3).map(move |k| (a, k)));
        self.anchors.iter().all(whole) && !corners.into_iter().any(held)
    }

    /// Adds a·ρ to the strains `out` of a chunk of slots that starts at `first`; `u` are all unknowns, `n` of particles.
    pub fn add_strain(&self, chunk: usize, n: usize, u: &[Vec3], out: &mut [f64]) {
        for anchor in &self.anchors[self.of_chunk(chunk)] {
            let slot = anchor.slot as usize;
            out[slot - chunk * CHUNK] += anchor.push.dot(anchor.point(&u[n..]) - u[slot]);
        }
    }
}

/// Adds the anchors' part of the gradient to that of the particles, and replaces that of the nodes.
pub(super) fn add_gradient(
    system: &System,
    strain: &[f64],
    predictor: &[Vec3],
    u: &[Vec3],
    out: &mut [Vec3],
) {
    let (n, nodes) = (system.len(), &system.nodes);
    let force = |anchor: &Anchor| {
        let slot = anchor.slot as usize;
        anchor.force_at(system.tension(slot, strain[slot]), anchor.point(&u[n..]) - u[slot])
    };
    let (of_particles, of_nodes) = out.split_at_mut(n);
    for anchor in &nodes.anchors {
        of_particles[anchor.slot as usize] -= force(anchor);
    }
    for (node, g) in of_nodes.iter_mut().enumerate() {
        *g = Vec3::ZERO;
        // Held nodes stay at their predictor whatever pulls at them.
        if nodes.mass[node] > 0.0 {
            *g = nodes.mass[node] * (u[n + node] - predictor[n + node]);
            for (anchor, weight) in nodes.of_node(node) {
                *g += *weight * force(&nodes.anchors[*anchor as usize]);
            }
        }
    }
}

/// Energy of the anchors but for the strain, and of the nodes' inertia.
pub(super) fn energy(system: &System, predictor: &[Vec3], u: &[Vec3]) -> f64 {
    let (n, nodes) = (system.len(), &system.nodes);
    let inertia =
        nodes.mass.iter().enumerate().map(|(k, m)| 0.5 * m * u[n + k].distance_squared(predictor[n + k]));
    let links = nodes.anchors.iter().map(|a| {
        let relative = a.point(&u[n..]) - u[a.slot as usize];
        relative.dot(a.force + 0.5 * (a.hessian * relative))
    });
    inertia.sum::<f64>() + links.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_lists_its_anchors_in_order() {
        let anchor = |slot, nodes, weights| Anchor {
            slot,
            nodes,
            weights,
            push: Vec3::ZERO,
            force: Vec3::ZERO,
            hessian: Mat3::ZERO,
        };
        let mut nodes = Nodes::default();
        nodes.set_masses(&[Node { mass: 2.0 }, Node { mass: f64::INFINITY }, Node { mass: 4.0 }], 2.0);
        assert_eq!(nodes.mass, [1.0, 0.0, 2.0]);
        let given = [anchor(3, [2, 0, 0], [0.5, 0.5, 0.0]), anchor(1, [0, 1, 2], [0.2, 0.3, 0.5])];
        nodes.set_anchors(4, &given);
        assert_eq!(nodes.anchors[0].slot, 1);
        assert_eq!(nodes.of_node(0), [(0, 0.2), (1, 0.5)]);
        assert_eq!(nodes.of_node(1), [(0, 0.3)]);
        assert_eq!(nodes.of_node(2), [(0, 0.5), (1, 0.5)]);
        assert_eq!(nodes.of_chunk(0), 0..2);
    }

    #[test]
    fn corners_that_are_no_nodes_have_no_weight() {
        let found = corners([NO_NODE, 4, 1], [0.5, 0.2, 0.3], 3);
        assert_eq!(found, Some(([0, 0, 1], [0.0, 0.0, 0.3])));
        assert_eq!(corners([NO_NODE; 3], [1.0; 3], 3), None);
    }
}
