//! Isosurface stuffing [Labelle 2007, §3]: cut lattice edges at the surface, move nodes that are too near a
//! cut onto it, and fill what is left of every lattice tet by a stencil. Knows the surface only by its signs
//! and cuts.

use super::lattice::{Lattice, SLOTS};
use crate::math::Vec3;
use crate::mesh::TetMesh;

/// A node moves onto a cut nearer than this share of a long edge. Smaller shares leave flat tets at cuts,
/// larger ones let moved nodes flatten whole tets. [Labelle 2007] proves bounds for 0.25 and 0.41 with its
/// own diagonals; with those of `divides_from_first` this pair does best: dihedral angles of 12.7° … 158.3°
/// over 3000 random patterns of sides and cuts, against 9.3° … 160.5°.
const SNAP_LONG: f64 = 0.30;
/// The same for a short edge.
const SNAP_SHORT: f64 = 0.43;

/// Where the surface crosses the lattice edges.
pub(super) struct Cuts {
    /// Row of each owner node in `cuts`.
    first: Vec<u32>,
    /// Slot of the edge, and the share of the edge between its owner and the surface, in [0, 1].
    cuts: Vec<(u32, f64)>,
}

impl Cuts {
    /// One list of cuts per node, in the order of the nodes, slots ascending.
    pub(super) fn new(rows: Vec<Vec<(u32, f64)>>) -> Cuts {
        let mut first = Vec::with_capacity(rows.len() + 1);
        let mut cuts = Vec::new();
        for row in rows {
            first.push(cuts.len() as u32);
            cuts.extend(row);
        }
        first.push(cuts.len() as u32);
        Cuts { first, cuts }
    }

    /// Index of an edge's cut.
    fn find(&self, owner: u32, slot: u32) -> Option<usize> {
        let (first, end) = (self.first[owner as usize] as usize, self.first[owner as usize + 1] as usize);
        (first..end).find(|&c| self.cuts[c].0 == slot)
    }
}

/// What a node is to the mesh.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Side {
    Inside,
    /// Moved onto the surface.
    On,
    Outside,
}

/// The state of a filling between snapping and stencils.
struct Stuffing<'a> {
    lattice: &'a Lattice,
    cuts: &'a Cuts,
    sides: Vec<Side>,
    /// Nodes on the surface and where, ascending.
    moved: Vec<(u32, Vec3)>,
    node_vertex: Vec<u32>,
    cut_vertex: Vec<u32>,
    mesh: TetMesh,
}

/// Fills the inside nodes' region up to the cuts. `cuts` holds one for every edge between an inside and an
/// outside node.
pub(super) fn stuff(lattice: &Lattice, inside: &[bool], cuts: &Cuts) -> TetMesh {
    let (sides, moved) = snap(lattice, inside, cuts);
    let mut s = Stuffing {
        lattice,
        cuts,
        sides,
        moved,
        node_vertex: vec![u32::MAX; inside.len()],
        cut_vertex: vec![u32::MAX; cuts.cuts.len()],
        mesh: TetMesh::default(),
    };
    for cube in 0..lattice.nodes() / 2 {
        for tet in lattice.tets_of(lattice.coordinates(2 * cube)) {
            s.fill(tet);
        }
    }
    s.mesh
}

/// Moves each node with a too near cut onto the nearest such cut; the cuts of its other edges are void with
/// that.
fn snap(lattice: &Lattice, inside: &[bool], cuts: &Cuts) -> (Vec<Side>, Vec<(u32, Vec3)>) {
    let mut sides: Vec<Side> = inside.iter().map(|&i| if i { Side::Inside } else { Side::Outside }).collect();
    let mut moved = Vec::new();
    let mut alive = vec![true; cuts.cuts.len()];
    let cut_nodes = touched_nodes(lattice, cuts);
    for node in cut_nodes {
        let mut nearest: Option<(f64, u32, u32)> = None;
        for (owner, slot) in lattice.edges_around(node) {
            let Some(cut) = cuts.find(owner, slot).filter(|&c| alive[c]) else { continue };
            let share = if owner == node { cuts.cuts[cut].1 } else { 1.0 - cuts.cuts[cut].1 };
            let (limit, length) = if slot < 3 { (SNAP_LONG, 1.0) } else { (SNAP_SHORT, 0.75_f64.sqrt()) };
            if share < limit && nearest.is_none_or(|n| share * length < n.0) {
                nearest = Some((share * length, owner, slot));
            }
        }
        let Some((_, owner, slot)) = nearest else { continue };
        moved.push((node, cut_position(lattice, cuts, owner, slot)));
        sides[node as usize] = Side::On;
        for (owner, slot) in lattice.edges_around(node) {
            if let Some(cut) = cuts.find(owner, slot) {
                alive[cut] = false;
            }
        }
    }
    (sides, moved)
}

/// Nodes at the ends of cut edges, ascending.
fn touched_nodes(lattice: &Lattice, cuts: &Cuts) -> Vec<u32> {
    let mut nodes = Vec::new();
    for owner in 0..lattice.nodes() {
        for c in cuts.first[owner as usize]..cuts.first[owner as usize + 1] {
            nodes.push(owner);
            nodes.extend(lattice.edge_end(owner, cuts.cuts[c as usize].0));
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Position of an edge's cut [m].
fn cut_position(lattice: &Lattice, cuts: &Cuts, owner: u32, slot: u32) -> Vec3 {
    let a = lattice.position(owner);
    match (cuts.find(owner, slot), lattice.edge_end(owner, slot)) {
        (Some(cut), Some(end)) => a.lerp(lattice.position(end), cuts.cuts[cut].1),
        // Callers ask for existing cuts only.
        _ => a,
    }
}

impl Stuffing<'_> {
    /// The mesh vertex of a node.
    fn node(&mut self, node: u32) -> u32 {
        let slot = &mut self.node_vertex[node as usize];
        if *slot == u32::MAX {
            *slot = self.mesh.vertices.len() as u32;
            let position = match self.moved.binary_search_by_key(&node, |m| m.0) {
                Ok(m) => self.moved[m].1,
                Err(_) => self.lattice.position(node),
            };
            self.mesh.vertices.push(position);
        }
        *slot
    }

    /// The mesh vertex of the cut between an inside and an outside node.
    fn cut(&mut self, a: u32, b: u32) -> u32 {
        let (owner, slot) = self.lattice.edge_between(a, b);
        debug_assert!(slot < SLOTS);
        let Some(cut) = self.cuts.find(owner, slot) else {
            debug_assert!(false, "edge {a} {b} changes sides without a cut");
            return self.node(a);
        };
        if self.cut_vertex[cut] == u32::MAX {
            self.cut_vertex[cut] = self.mesh.vertices.len() as u32;
            self.mesh.vertices.push(cut_position(self.lattice, self.cuts, owner, slot));
        }
        self.cut_vertex[cut]
    }

    /// Adds the inside part of one lattice tet.
    fn fill(&mut self, tet: [u32; 4]) {
        let side = |n: u32| self.sides[n as usize];
        if tet.iter().all(|&n| side(n) != Side::Inside) {
            return;
        }
        // Inside corners first, then those on the surface, then outside ones; an odd permutation mirrors the
        // result.
        let mut n = tet;
        let mut odd = false;
        for end in (1..4).rev() {
            for i in 0..end {
                if side(n[i]) > side(n[i + 1]) {
                    n.swap(i, i + 1);
                    odd = !odd;
                }
            }
        }
        let count = |s: Side| n.iter().filter(|&&c| side(c) == s).count();
        let first = self.mesh.tets.len();
        match (count(Side::Inside), count(Side::Outside)) {
            (_, 0) => {
                let corners = n.map(|c| self.node(c));
                self.mesh.tets.push(corners);
            }
            (1, outside) => {
                // One inside corner: a smaller tet.
                let mut corners = [0; 4];
                for (i, corner) in corners.iter_mut().enumerate() {
                    *corner = if i < 4 - outside { self.node(n[i]) } else { self.cut(n[0], n[i]) };
                }
                self.mesh.tets.push(corners);
            }
            (2, 1) => self.fill_pyramid(n),
            (2, _) => self.fill_wedge(n),
            (_, _) => self.fill_prism(n),
        }
        if odd {
            self.mesh.tets[first..].iter_mut().for_each(|t| t.swap(2, 3));
        }
    }

    /// Inside p and q, z on the surface, outside r: a pyramid over the quad p, q, cut qr, cut pr.
    fn fill_pyramid(&mut self, [p, q, z, r]: [u32; 4]) {
        let from_p = self.divides_from_first(p, q, r);
        let (pr, qr) = (self.cut(p, r), self.cut(q, r));
        let [p, q, z] = [p, q, z].map(|c| self.node(c));
        let tets = if from_p { [[p, q, z, qr], [p, qr, z, pr]] } else { [[p, q, z, pr], [pr, q, z, qr]] };
        self.mesh.tets.extend(tets);
    }

    /// Inside p and q, outside r and s: a prism between the triangles at p and at q; its third quad is on the
    /// surface.
    fn fill_wedge(&mut self, [p, q, r, s]: [u32; 4]) {
        let (over_r, over_s) = (self.divides_from_first(p, q, r), self.divides_from_first(p, q, s));
        let lower = [self.node(p), self.cut(p, r), self.cut(p, s)];
        let upper = [self.node(q), self.cut(q, r), self.cut(q, s)];
        // Both diagonals from one side leave the third free: the shorter one. Else it must not close a cycle.
        let at = |v: u32| self.mesh.vertices[v as usize];
        let r_to_s = if over_r == over_s {
            at(lower[1]).distance_squared(at(upper[2])) < at(upper[1]).distance_squared(at(lower[2]))
        } else {
            over_s
        };
        self.divide_prism(lower, upper, [over_r, r_to_s, !over_s]);
    }

    /// Inside p, q, r, outside s: a prism between p q r and the cuts above them.
    fn fill_prism(&mut self, [p, q, r, s]: [u32; 4]) {
        let forward = [
            self.divides_from_first(p, q, s),
            self.divides_from_first(q, r, s),
            self.divides_from_first(r, p, s),
        ];
        let lower = [self.node(p), self.node(q), self.node(r)];
        let upper = [self.cut(p, s), self.cut(q, s), self.cut(r, s)];
        self.divide_prism(lower, upper, forward);
    }

    /// Three tets of a prism; `forward[i]` says that quad i is divided from `lower[i]` to `upper[i + 1]`.
    /// Three diagonals that chase each other cannot be tets; the callers' rules exclude them.
    fn divide_prism(&mut self, lower: [u32; 3], upper: [u32; 3], forward: [bool; 3]) {
        debug_assert!(forward.iter().any(|&f| f != forward[0]), "cyclic prism");
        // `order` runs from the edge where both diagonals start below to the one where both end above.
        let starts = |i: usize| forward[i] as usize + !forward[(i + 2) % 3] as usize;
        let first = (0..3).find(|&i| starts(i) == 2).unwrap_or(0);
        let last = (0..3).find(|&i| starts(i) == 0).unwrap_or((first + 2) % 3);
        let middle = 3 - first - last;
        let (a, b) = ([first, middle, last].map(|i| lower[i]), [first, middle, last].map(|i| upper[i]));
        let mut tets = [[a[0], a[1], a[2], b[2]], [a[0], a[1], b[2], b[1]], [a[0], b[0], b[1], b[2]]];
        if (first + 1) % 3 != middle {
            tets.iter_mut().for_each(|t| t.swap(2, 3));
        }
        self.mesh.tets.extend(tets);
    }

    /// How the quad p, q, cut(q, out), cut(p, out) on a lattice face is divided: true from p to cut(q, out).
    ///
    /// Depends on the face alone, so both its tets agree. A face has one long edge. When that is cut, the
    /// diagonal starts at its cut; in a prism both such quads share that cut, so the third may be divided
    /// either way. When p q is the long edge, the shorter diagonal is taken, that from the lower node among
    /// equals.
    fn divides_from_first(&self, p: u32, q: u32, out: u32) -> bool {
        if !Lattice::is_long(p, q) {
            return Lattice::is_long(q, out);
        }
        let at = |a: u32, b: u32| {
            let (owner, slot) = self.lattice.edge_between(a, b);
            cut_position(self.lattice, self.cuts, owner, slot)
        };
        let from_p = self.lattice.position(p).distance_squared(at(q, out));
        let from_q = self.lattice.position(q).distance_squared(at(p, out));
        // Rounding must not decide between mirror images.
        let tie = 1e-9 * self.lattice.spacing * self.lattice.spacing;
        if (from_p - from_q).abs() > tie { from_p < from_q } else { p < q }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Aabb;
    use crate::mesh::{boundary_triangles, tet_volume};
    use crate::random::Random;
    use crate::tet_fill::{repair, tet_quality};

    #[test]
    fn any_pattern_of_sides_and_cuts_gives_a_conforming_mesh_of_good_tets() {
        let mut worst = (f64::INFINITY, 0.0_f64);
        for seed in 1..=400u64 {
            let mut random = Random::new(seed);
            let lattice = Lattice::around(Aabb { min: Vec3::ZERO, max: Vec3::splat(4.0) }, 1.0);
            let share = random.unit();
            let inside: Vec<bool> = (0..lattice.nodes())
                .map(|n| lattice.coordinates(n).iter().all(|&c| (1..6).contains(&c)) && random.unit() < share)
                .collect();
            // Cuts anywhere, and often at the ends and at the limits of snapping.
            let special = [0.0, 1.0, SNAP_LONG, 1.0 - SNAP_LONG, SNAP_SHORT, 1.0 - SNAP_SHORT, 0.5];
            let rows = (0..lattice.nodes()).map(|n| {
                let cut = |slot: u32| {
                    let end = lattice.edge_end(n, slot)?;
                    (inside[n as usize] != inside[end as usize]).then(|| {
                        let pick = random.below(14);
                        (slot, special.get(pick).copied().unwrap_or_else(|| random.unit()))
                    })
                };
                (0..SLOTS).filter_map(cut).collect()
            });
            let cuts = Cuts::new(rows.collect());
            let mesh = stuff(&lattice, &inside, &cuts);
            for t in &mesh.tets {
                let volume = tet_volume(t.map(|v| mesh.vertices[v as usize]));
                assert!(volume > 1e-4, "seed {seed}: tet {t:?} of volume {volume}");
            }
            // Conforming: the surface is closed, so its area vectors add to zero, and it encloses the tets'
            // volume.
            let surface = boundary_triangles(&mesh.tets);
            let enclosed = crate::mesh::enclosed_volume(&mesh.vertices, &surface);
            assert!((enclosed - mesh.volume()).abs() < 1e-9, "seed {seed}");
            let mut sides: Vec<[u32; 2]> =
                surface.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]).collect();
            sides.sort_unstable();
            let mut back: Vec<[u32; 2]> = sides.iter().map(|&[a, b]| [b, a]).collect();
            back.sort_unstable();
            assert_eq!(sides, back, "seed {seed}: the surface has a hole");
            let mut repaired = mesh.clone();
            repair::make_boundary_manifold(&mut repaired);
            assert!(repair::pinched_vertices(&repaired).is_empty(), "seed {seed}");
            if !mesh.tets.is_empty() {
                let q = tet_quality(&mesh);
                worst = (worst.0.min(q.min_dihedral), worst.1.max(q.max_dihedral));
            }
        }
        assert!(worst.0.to_degrees() > 10.0 && worst.1.to_degrees() < 165.0);
    }
}
