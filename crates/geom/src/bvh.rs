//! A bounding volume hierarchy: build, refit, and the overlapping pairs within one tree or between two.
//!
//! Boxes are `f32`, in coordinates relative to an origin that the caller picks near the scene. Rounding them to the
//! nearest `f32` is enough: x ↦ f32(x − origin) is monotone, so `a ≤ b` in `f64` stays `a ≤ b`, closed boxes that
//! overlap still do, and the tree may only report more pairs than there are, never fewer.
//!
//! The tree is binary, split top-down by binned surface-area cost [Wald 2007], and stored depth first: the left child
//! of node i is i + 1. Traversal visits pairs of nodes; a list of node pairs that depends on the tree alone is the
//! unit of parallel work, so the work done never depends on the number of threads.

use glam::Vec3A;
use rayon::prelude::*;

/// An axis-aligned box in single precision, four lanes wide so that a test is a handful of instructions.
#[derive(Clone, Copy, Debug)]
pub struct Box32 {
    /// Lower corner.
    pub min: Vec3A,
    /// Upper corner.
    pub max: Vec3A,
}

impl Box32 {
    /// The box that contains nothing.
    pub const EMPTY: Box32 = Box32 { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY };

    /// Smallest box around both.
    #[inline]
    pub fn union(self, o: Box32) -> Self {
        Box32 { min: self.min.min(o.min), max: self.max.max(o.max) }
    }

    /// True when the closed boxes share a point.
    #[inline]
    pub fn overlaps(&self, o: &Box32) -> bool {
        (self.min.cmple(o.max) & o.min.cmple(self.max)).all()
    }

    /// Half the surface area; 0 for an empty box.
    #[inline]
    fn half_area(&self) -> f32 {
        let e = (self.max - self.min).max(Vec3A::ZERO);
        e.x * e.y + e.y * e.z + e.z * e.x
    }
}

/// A primitive as the tree sees it.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Its box.
    pub bounds: Box32,
    /// Pairs of two inactive primitives are not visited.
    pub active: bool,
}

/// Primitives per leaf, at most. Measured on a stack of 200k triangles: 2 and 8 are both slower than 4.
const LEAF: usize = 4;
/// Bins per split. More bins give a barely better tree for a dearer build.
const BINS: usize = 16;
/// Ranges below this are built and fitted by one thread: about 100 µs of work.
const SERIAL: usize = 8192;
/// Rebuild when the boxes' total area has grown by this factor since the build, more than their leaves' has. Lower:
/// frequent builds (a build costs about twenty refits); higher: slower traversal of trees that fit badly.
const DEGRADED: f64 = 1.5;

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Box32,
    /// Inner node: index of the right child. Leaf: first slot.
    link: u32,
    /// Slots of a leaf; 0 for an inner node.
    count: u16,
    active: bool,
}

/// A tree over primitives 0..n.
#[derive(Clone, Debug, Default)]
pub struct Bvh {
    nodes: Vec<Node>,
    /// The primitive in each slot. Leaves own consecutive slots.
    order: Vec<u32>,
    slots: Vec<Bound>,
    /// Total area of nodes and of slots when the tree was built.
    built_area: [f64; 2],
}

/// A pair of nodes whose subtrees are to be compared, from the trees given to [`Bvh::split_self`] or
/// [`Bvh::split_cross`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodePair(u32, u32);

impl Bvh {
    /// Fits the tree to `count` primitives: keeps its topology if that still serves, else builds a new one.
    pub fn fit(&mut self, count: usize, bound: impl Fn(u32) -> Bound + Sync) {
        if self.order.len() == count && count > 0 {
            self.refit(&bound);
            let [nodes, slots] = self.area();
            // Boxes that grow by themselves (longer motions) do not make the tree worse; spreading neighbours do.
            let grown = nodes > DEGRADED * self.built_area[0];
            if !(grown && nodes * self.built_area[1] > DEGRADED * self.built_area[0] * slots) {
                return;
            }
        }
        self.build(count, &bound);
    }

    /// Builds the tree anew.
    pub fn build(&mut self, count: usize, bound: impl Fn(u32) -> Bound + Sync) {
        let mut items: Vec<Item> =
            (0..count as u32).into_par_iter().map(|id| Item { bound: bound(id), id }).collect();
        self.nodes = if count == 0 { Vec::new() } else { build_nodes(&mut items, 0) };
        self.order.clear();
        self.order.extend(items.iter().map(|i| i.id));
        self.slots.clear();
        self.slots.extend(items.iter().map(|i| i.bound));
        self.built_area = self.area();
    }

    /// Updates all boxes, keeping the topology.
    fn refit(&mut self, bound: &(impl Fn(u32) -> Bound + Sync)) {
        let order = &self.order;
        self.slots.par_chunks_mut(SERIAL).enumerate().for_each(|(chunk, slots)| {
            for (slot, id) in slots.iter_mut().zip(&order[chunk * SERIAL..]) {
                *slot = bound(*id);
            }
        });
        // Children come after their parent.
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            let children = if node.count > 0 {
                enclose(&self.slots[node.range()])
            } else {
                let (left, right) = (&self.nodes[i + 1], &self.nodes[node.link as usize]);
                Bound { bounds: left.bounds.union(right.bounds), active: left.active | right.active }
            };
            self.nodes[i].bounds = children.bounds;
            self.nodes[i].active = children.active;
        }
    }

    /// Total half area of the nodes and of the slots.
    fn area(&self) -> [f64; 2] {
        [
            self.nodes.iter().map(|n| n.bounds.half_area() as f64).sum(),
            self.slots.iter().map(|s| s.bounds.half_area() as f64).sum(),
        ]
    }

    /// The primitive in each slot; visitors speak of slots.
    #[inline]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Splits the search for pairs within this tree into about `target` independent tasks, in a fixed order.
    pub fn split_self(&self, target: usize, tasks: &mut Vec<NodePair>) {
        split(self, self, target, tasks);
    }

    /// Splits the search for pairs of this tree with `other` into about `target` independent tasks, in a fixed order.
    pub fn split_cross(&self, other: &Bvh, target: usize, tasks: &mut Vec<NodePair>) {
        split(self, other, target, tasks);
    }

    /// Calls `found` with the slots of every overlapping pair below a task of [`Bvh::split_self`], each pair once.
    pub fn visit_self(&self, task: NodePair, found: &mut impl FnMut(u32, u32)) {
        if task.0 == task.1 {
            self.within(task.0, found);
        } else {
            between(self, self, task, found);
        }
    }

    /// Calls `found` with the slots (in this tree, in the other) of every overlapping pair below a task of
    /// [`Bvh::split_cross`].
    pub fn visit_cross(&self, other: &Bvh, task: NodePair, found: &mut impl FnMut(u32, u32)) {
        between(self, other, task, found);
    }

    fn within(&self, i: u32, found: &mut impl FnMut(u32, u32)) {
        let node = &self.nodes[i as usize];
        if !node.active {
            return;
        }
        if node.count > 0 {
            for s in node.range() {
                let a = &self.slots[s];
                for (t, b) in self.slots[..node.range().end].iter().enumerate().skip(s + 1) {
                    if a.bounds.overlaps(&b.bounds) && (a.active | b.active) {
                        found(s as u32, t as u32);
                    }
                }
            }
            return;
        }
        let (left, right) = (i + 1, node.link);
        self.within(left, found);
        self.within(right, found);
        if self.nodes[left as usize].meets(&self.nodes[right as usize]) {
            between(self, self, NodePair(left, right), found);
        }
    }
}

impl Node {
    #[inline]
    fn range(&self) -> std::ops::Range<usize> {
        self.link as usize..self.link as usize + self.count as usize
    }

    #[inline]
    fn meets(&self, o: &Node) -> bool {
        self.bounds.overlaps(&o.bounds) && (self.active | o.active)
    }
}

fn enclose(slots: &[Bound]) -> Bound {
    slots.iter().fold(Bound { bounds: Box32::EMPTY, active: false }, |sum, s| Bound {
        bounds: sum.bounds.union(s.bounds),
        active: sum.active | s.active,
    })
}

/// Compares two subtrees whose roots meet.
fn between(a: &Bvh, b: &Bvh, NodePair(i, j): NodePair, found: &mut impl FnMut(u32, u32)) {
    let (m, n) = (&a.nodes[i as usize], &b.nodes[j as usize]);
    match (m.count > 0, n.count > 0) {
        (true, true) => {
            let others = &b.slots[n.range()];
            for s in m.range() {
                let slot = &a.slots[s];
                if !slot.bounds.overlaps(&n.bounds) {
                    continue;
                }
                for (k, other) in others.iter().enumerate() {
                    if slot.bounds.overlaps(&other.bounds) && (slot.active | other.active) {
                        found(s as u32, n.link + k as u32);
                    }
                }
            }
        }
        (true, false) => {
            for child in [j + 1, n.link] {
                if m.meets(&b.nodes[child as usize]) {
                    between(a, b, NodePair(i, child), found);
                }
            }
        }
        (false, true) => {
            for child in [i + 1, m.link] {
                if a.nodes[child as usize].meets(n) {
                    between(a, b, NodePair(child, j), found);
                }
            }
        }
        (false, false) => {
            for p in [i + 1, m.link] {
                let child = &a.nodes[p as usize];
                if !child.meets(n) {
                    continue;
                }
                for q in [j + 1, n.link] {
                    if child.meets(&b.nodes[q as usize]) {
                        between(a, b, NodePair(p, q), found);
                    }
                }
            }
        }
    }
}

/// Expands the pair of roots, one level of all pairs at a time, until there are enough tasks. When `a` and `b` are
/// the same tree, a pair of equal nodes stands for the pairs within that node.
fn split(a: &Bvh, b: &Bvh, target: usize, tasks: &mut Vec<NodePair>) {
    tasks.clear();
    if a.nodes.is_empty() || b.nodes.is_empty() || !a.nodes[0].meets(&b.nodes[0]) {
        return;
    }
    let same = std::ptr::eq(a, b);
    let mut next = Vec::new();
    tasks.push(NodePair(0, 0));
    loop {
        next.clear();
        for &NodePair(i, j) in tasks.iter() {
            let (m, n) = (&a.nodes[i as usize], &b.nodes[j as usize]);
            let mut push = |i: u32, j: u32| {
                if a.nodes[i as usize].meets(&b.nodes[j as usize]) {
                    next.push(NodePair(i, j));
                }
            };
            match (m.count > 0, n.count > 0) {
                (false, false) if same && i == j => {
                    push(i + 1, i + 1);
                    push(m.link, m.link);
                    push(i + 1, m.link);
                }
                (false, false) => {
                    [i + 1, m.link].map(|p| [j + 1, n.link].map(|q| push(p, q))).iter().for_each(drop)
                }
                (false, true) => [i + 1, m.link].map(|p| push(p, j)).iter().for_each(drop),
                (true, false) => [j + 1, n.link].map(|q| push(i, q)).iter().for_each(drop),
                (true, true) => next.push(NodePair(i, j)),
            }
        }
        let expanded = next.len() != tasks.len() || next != *tasks;
        std::mem::swap(tasks, &mut next);
        if tasks.len() >= target || !expanded {
            return;
        }
    }
}

#[derive(Clone, Copy)]
struct Item {
    bound: Bound,
    id: u32,
}

impl Item {
    /// Twice the centre.
    #[inline]
    fn center(&self) -> Vec3A {
        self.bound.bounds.min + self.bound.bounds.max
    }
}

/// Nodes of a subtree, depth first; `link`s are relative to the subtree's root for nodes, absolute for slots.
fn build_nodes(items: &mut [Item], first_slot: u32) -> Vec<Node> {
    let mut nodes = Vec::with_capacity(items.len());
    if items.len() <= SERIAL {
        build_serial(items, first_slot, &mut nodes);
        return nodes;
    }
    let middle = partition(items);
    let (low, high) = items.split_at_mut(middle);
    let (left, right) =
        rayon::join(|| build_nodes(low, first_slot), || build_nodes(high, first_slot + middle as u32));
    let bounds = left[0].bounds.union(right[0].bounds);
    let right_root = 1 + left.len() as u32;
    nodes.push(Node { bounds, link: right_root, count: 0, active: left[0].active | right[0].active });
    for (child, offset) in [(left, 1), (right, right_root)] {
        nodes.extend(child.into_iter().map(|mut n| {
            n.link += if n.count == 0 { offset } else { 0 };
            n
        }));
    }
    nodes
}

/// Appends a subtree to `nodes`; `link`s of nodes are indices into `nodes`.
fn build_serial(items: &mut [Item], first_slot: u32, nodes: &mut Vec<Node>) {
    let root = nodes.len();
    if items.len() <= LEAF {
        let all = items.iter().fold(Bound { bounds: Box32::EMPTY, active: false }, |s, i| Bound {
            bounds: s.bounds.union(i.bound.bounds),
            active: s.active | i.bound.active,
        });
        let (bounds, active) = (all.bounds, all.active);
        nodes.push(Node { bounds, link: first_slot, count: items.len() as u16, active });
        return;
    }
    let middle = partition(items);
    nodes.push(Node { bounds: Box32::EMPTY, link: 0, count: 0, active: false });
    let (low, high) = items.split_at_mut(middle);
    build_serial(low, first_slot, nodes);
    let right = nodes.len();
    build_serial(high, first_slot + middle as u32, nodes);
    nodes[root].bounds = nodes[root + 1].bounds.union(nodes[right].bounds);
    nodes[root].active = nodes[root + 1].active | nodes[right].active;
    nodes[root].link = right as u32;
}

/// Reorders the items for the cheapest of the binned splits along the longest axis of their centres, and returns how
/// many go left: at least one, not all.
fn partition(items: &mut [Item]) -> usize {
    let n = items.len();
    let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    for i in items.iter() {
        let c = i.center();
        (low, high) = (low.min(c), high.max(c));
    }
    let extent = high - low;
    let axis = if extent.x >= extent.y && extent.x >= extent.z {
        0
    } else if extent.y >= extent.z {
        1
    } else {
        2
    };
    let scale = BINS as f32 / extent[axis];
    // Coincident centres, or boxes that reach to infinity: any halves will do.
    if !(scale.is_finite() && extent[axis] > 0.0) {
        return n / 2;
    }
    let bin = |i: &Item| (((i.center()[axis] - low[axis]) * scale) as usize).min(BINS - 1);
    let mut counts = [0usize; BINS];
    let mut boxes = [Box32::EMPTY; BINS];
    for i in items.iter() {
        let b = bin(i);
        counts[b] += 1;
        boxes[b] = boxes[b].union(i.bound.bounds);
    }
    let mut right_cost = [0.0f32; BINS];
    let (mut sum, mut count) = (Box32::EMPTY, 0);
    for b in (1..BINS).rev() {
        (sum, count) = (sum.union(boxes[b]), count + counts[b]);
        right_cost[b] = sum.half_area() * count as f32;
    }
    let (mut best, mut split) = (f32::INFINITY, 0);
    (sum, count) = (Box32::EMPTY, 0);
    for b in 1..BINS {
        (sum, count) = (sum.union(boxes[b - 1]), count + counts[b - 1]);
        let cost = sum.half_area() * count as f32 + right_cost[b];
        if count > 0 && count < n && cost < best {
            (best, split) = (cost, b);
        }
    }
    if split == 0 {
        return n / 2;
    }
    let mut left = 0;
    for k in 0..n {
        if bin(&items[k]) < split {
            items.swap(left, k);
            left += 1;
        }
    }
    left
}
