//! A bounding volume hierarchy: build, refit, and the overlapping pairs within one tree or between two.
//!
//! Bounds have seven directions: the three axes and the four diagonals of a cube. On steep layers the diagonals keep
//! three quarters of the pairs away whose boxes overlap. All lanes are `f32`, in coordinates relative to an origin
//! that the caller picks near the scene.
//!
//! The tree is binary, split top-down by binned surface-area cost [Wald 2007], and stored depth first: the left child
//! of node i is i + 1. Traversal visits pairs of nodes; a list of node pairs that depends on the tree alone is the
//! unit of parallel work, so the work done never depends on the number of threads.
//!
//! Primitives may belong to groups whose members are not asked for among themselves: rigid bodies. A group stays together
//! in the tree, so that its pairs with itself are passed over as a whole.

use glam::{Vec3A, Vec4, Vec4Swizzles};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Intervals in eight lanes: x, y, z, activity; and the projections on the directions of [`DIAGONALS`]. Two bounds
/// meet when they overlap in every lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Bound {
    /// Lower ends: x, y, z, and 0 if active, 1 if not.
    pub low: Vec4,
    /// Upper ends: x, y, z, and 1 if active, 0 if not; so that two inactive bounds do not overlap in this lane.
    pub high: Vec4,
    /// Lower ends along the diagonals.
    pub low_diagonal: Vec4,
    /// Upper ends along the diagonals.
    pub high_diagonal: Vec4,
}

/// The directions of the diagonal lanes; not of unit length, but √3.
pub const DIAGONALS: [[f64; 3]; 4] = [[1.0, 1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]];

impl Bound {
    /// The bound that meets nothing.
    pub const EMPTY: Bound = Bound {
        low: Vec4::INFINITY,
        high: Vec4::NEG_INFINITY,
        low_diagonal: Vec4::INFINITY,
        high_diagonal: Vec4::NEG_INFINITY,
    };

    /// Smallest bound around both; active if one of them is.
    #[inline]
    pub fn union(&self, o: &Bound) -> Self {
        Bound {
            low: self.low.min(o.low),
            high: self.high.max(o.high),
            low_diagonal: self.low_diagonal.min(o.low_diagonal),
            high_diagonal: self.high_diagonal.max(o.high_diagonal),
        }
    }

    /// True when the closed intervals overlap in every lane: the bounds overlap, and one of them is active.
    #[inline]
    pub fn meets(&self, o: &Bound) -> bool {
        let boxes = self.low.cmple(o.high) & o.low.cmple(self.high);
        let diagonals = self.low_diagonal.cmple(o.high_diagonal) & o.low_diagonal.cmple(self.high_diagonal);
        (boxes & diagonals).all()
    }

    /// True when they overlap by more than `slack` along every diagonal.
    #[inline]
    pub fn meets_by(&self, o: &Bound, slack: f32) -> bool {
        let overlap = (self.high_diagonal - o.low_diagonal).min(o.high_diagonal - self.low_diagonal);
        overlap.cmpgt(Vec4::splat(slack)).all()
    }

    /// Half the surface area of the box; 0 if it is empty.
    #[inline]
    fn half_area(&self) -> f32 {
        half_area(self.low.xyz().into(), self.high.xyz().into())
    }
}

#[inline]
fn half_area(low: Vec3A, high: Vec3A) -> f32 {
    let e = (high - low).max(Vec3A::ZERO);
    e.x * e.y + e.y * e.z + e.z * e.x
}

/// Primitives per leaf, at most. From 6 to 12 the time is the same within 3 %; 2 costs a tenth more.
const LEAF: usize = 8;
/// Bins per split. More bins give a barely better tree for a dearer build.
const BINS: usize = 16;
/// Ranges below this are built and fitted by one thread: about 100 µs of work.
const SERIAL: usize = 8192;
/// Rebuild when the boxes' total area has grown by this factor since the build, more than their leaves' has. Lower:
/// frequent builds (a build costs about ten refits); higher: slower traversal of trees that fit badly.
const DEGRADED: f64 = 1.5;

/// What is below a node; its bound is stored apart.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Inner node: index of the right child. Leaf: first slot.
    link: u32,
    /// Slots of a leaf; 0 for an inner node.
    count: u32,
    /// The group of everything below, or [`NO_GROUP`].
    group: u32,
}

/// In no group, or in more than one.
pub const NO_GROUP: u32 = u32::MAX;

/// A tree over primitives 0..n.
#[derive(Clone, Debug, Default)]
pub struct Bvh {
    nodes: Vec<Node>,
    bounds: Vec<Bound>,
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
    /// Fits the tree to `count` primitives: keeps its topology if that still serves, else builds a new one. Pairs within
    /// a `group` other than [`NO_GROUP`] are not visited.
    pub fn fit(
        &mut self,
        count: usize,
        group: impl Fn(u32) -> u32 + Sync,
        bound: impl Fn(u32) -> Bound + Sync,
    ) {
        if self.order.len() == count {
            self.refit(&group, &bound);
            let [nodes, slots] = self.area();
            // Boxes that grow by themselves (longer motions) do not make the tree worse; spreading neighbours do.
            let grown = nodes > DEGRADED * self.built_area[0];
            if !(grown && nodes * self.built_area[1] > DEGRADED * self.built_area[0] * slots) {
                return;
            }
        }
        self.build(count, &group, &bound);
    }

    /// Builds the tree anew; see [`Bvh::fit`].
    pub fn build(
        &mut self,
        count: usize,
        group: impl Fn(u32) -> u32 + Sync,
        bound: impl Fn(u32) -> Bound + Sync,
    ) {
        let item = |id| {
            let b = bound(id);
            let (low, high) = (b.low.xyz().into(), b.high.xyz().into());
            Item { low, high, center: low + high, id, group: group(id) }
        };
        let mut items: Vec<Item> = (0..count as u32).into_par_iter().map(item).collect();
        gather_groups(&mut items);
        self.nodes = if count == 0 { Vec::new() } else { build_nodes(&mut items, 0) };
        self.order.clear();
        self.order.extend(items.iter().map(|i| i.id));
        self.bounds.resize(self.nodes.len(), Bound::EMPTY);
        self.slots.resize(count, Bound::EMPTY);
        self.refit(&group, &bound);
        self.built_area = self.area();
    }

    /// Updates all bounds and groups, keeping the topology.
    fn refit(&mut self, group: &(impl Fn(u32) -> u32 + Sync), bound: &(impl Fn(u32) -> Bound + Sync)) {
        let order = &self.order;
        self.slots.par_chunks_mut(SERIAL).enumerate().for_each(|(chunk, slots)| {
            for (slot, id) in slots.iter_mut().zip(&order[chunk * SERIAL..]) {
                *slot = bound(*id);
            }
        });
        // Children come after their parent.
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            if node.is_leaf() {
                self.bounds[i] = self.slots[node.range()].iter().fold(Bound::EMPTY, |sum, s| sum.union(s));
                let mut groups = self.order[node.range()].iter().map(|&id| group(id));
                let first = groups.next().unwrap_or(NO_GROUP);
                self.nodes[i].group = if groups.all(|g| g == first) { first } else { NO_GROUP };
            } else {
                let [left, right] = node.children(i as u32).map(|c| c as usize);
                self.bounds[i] = self.bounds[left].union(&self.bounds[right]);
                let groups = [left, right].map(|c| self.nodes[c].group);
                self.nodes[i].group = if groups[0] == groups[1] { groups[0] } else { NO_GROUP };
            }
        }
    }

    /// Total half area of the nodes and of the slots.
    fn area(&self) -> [f64; 2] {
        [&self.bounds, &self.slots].map(|list| list.iter().map(|b| b.half_area() as f64).sum())
    }

    /// The primitive in each slot; visitors speak of slots.
    #[inline]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The bound of the primitive in a slot.
    #[inline]
    pub fn bound(&self, slot: u32) -> &Bound {
        &self.slots[slot as usize]
    }

    /// Splits the search for pairs within this tree into about `target` independent tasks, in a fixed order.
    pub fn split_self(&self, target: usize, tasks: &mut Vec<NodePair>) {
        split(self, self, target, tasks);
    }

    /// Splits the search for pairs of this tree with `other` into about `target` independent tasks, in a fixed order.
    pub fn split_cross(&self, other: &Bvh, target: usize, tasks: &mut Vec<NodePair>) {
        split(self, other, target, tasks);
    }

    /// Calls `found` with the slots of every overlapping pair below a task of [`Bvh::split_self`], each pair once. Pairs
    /// of one group may be among them.
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

    /// Calls `found` with the slot of every primitive whose bound meets this one.
    #[inline]
    pub fn visit(&self, bound: &Bound, found: &mut impl FnMut(u32)) {
        if self.bounds.first().is_some_and(|root| root.meets(bound)) {
            self.below(0, bound, found);
        }
    }

    fn below(&self, i: u32, bound: &Bound, found: &mut impl FnMut(u32)) {
        let node = self.nodes[i as usize];
        if node.is_leaf() {
            for (s, slot) in self.slots[node.range()].iter().enumerate() {
                if slot.meets(bound) {
                    found(node.link + s as u32);
                }
            }
            return;
        }
        for child in node.children(i) {
            if self.bounds[child as usize].meets(bound) {
                self.below(child, bound, found);
            }
        }
    }

    fn within(&self, i: u32, found: &mut impl FnMut(u32, u32)) {
        let node = self.nodes[i as usize];
        if node.is_one_with(&node) {
            return;
        }
        if node.is_leaf() {
            for s in node.range() {
                for t in s + 1..node.range().end {
                    if self.slots[s].meets(&self.slots[t]) {
                        found(s as u32, t as u32);
                    }
                }
            }
            return;
        }
        // A bound meets itself if it is active.
        for child in node.children(i) {
            if self.bounds[child as usize].meets(&self.bounds[child as usize]) {
                self.within(child, found);
            }
        }
        let [left, right] = node.children(i);
        if self.bounds[left as usize].meets(&self.bounds[right as usize]) {
            between(self, self, NodePair(left, right), found);
        }
    }
}

impl Node {
    #[inline]
    fn is_leaf(&self) -> bool {
        self.count > 0
    }

    /// True if everything below both is in one group.
    #[inline]
    fn is_one_with(&self, other: &Node) -> bool {
        self.group == other.group && self.group != NO_GROUP
    }

    #[inline]
    fn range(&self) -> std::ops::Range<usize> {
        self.link as usize..(self.link + self.count) as usize
    }

    /// The children of this node, whose index is `i`.
    #[inline]
    fn children(&self, i: u32) -> [u32; 2] {
        [i + 1, self.link]
    }
}

/// Compares two subtrees whose roots meet.
fn between(a: &Bvh, b: &Bvh, NodePair(i, j): NodePair, found: &mut impl FnMut(u32, u32)) {
    let (m, n) = (a.nodes[i as usize], b.nodes[j as usize]);
    if m.is_one_with(&n) {
        return;
    }
    match (m.is_leaf(), n.is_leaf()) {
        (true, true) => {
            // Only slots that meet the other leaf as a whole can meet any of it.
            let near = &a.bounds[i as usize];
            let mut others = [0; LEAF];
            let mut count = 0;
            for t in n.range() {
                others[count] = t as u32;
                count += usize::from(b.slots[t].meets(near));
            }
            let bound = &b.bounds[j as usize];
            for s in m.range().filter(|&s| count > 0 && a.slots[s].meets(bound)) {
                for &t in &others[..count] {
                    if a.slots[s].meets(&b.slots[t as usize]) {
                        found(s as u32, t);
                    }
                }
            }
        }
        (true, false) => {
            let bound = &a.bounds[i as usize];
            for q in n.children(j) {
                if bound.meets(&b.bounds[q as usize]) {
                    between(a, b, NodePair(i, q), found);
                }
            }
        }
        (false, true) => {
            let bound = &b.bounds[j as usize];
            for p in m.children(i) {
                if a.bounds[p as usize].meets(bound) {
                    between(a, b, NodePair(p, j), found);
                }
            }
        }
        (false, false) => {
            for p in m.children(i) {
                let child = &a.bounds[p as usize];
                for q in n.children(j) {
                    if child.meets(&b.bounds[q as usize]) {
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
    let same = std::ptr::eq(a, b);
    let mut next: Vec<NodePair> = Vec::new();
    let push = |pairs: &mut Vec<NodePair>, i: u32, j: u32| {
        let apart = a.nodes[i as usize].is_one_with(&b.nodes[j as usize]);
        if !apart && a.bounds[i as usize].meets(&b.bounds[j as usize]) {
            pairs.push(NodePair(i, j));
        }
    };
    if !(a.nodes.is_empty() || b.nodes.is_empty()) {
        push(tasks, 0, 0);
    }
    loop {
        next.clear();
        let mut expanded = false;
        for &NodePair(i, j) in tasks.iter() {
            let (m, n) = (a.nodes[i as usize], b.nodes[j as usize]);
            // A leaf stands for itself; an inner node is replaced by its children.
            let (first, firsts) = if m.is_leaf() { ([i; 2], 1) } else { (m.children(i), 2) };
            let (second, seconds) = if n.is_leaf() { ([j; 2], 1) } else { (n.children(j), 2) };
            expanded |= firsts + seconds > 2;
            for (k, &p) in first[..firsts].iter().enumerate() {
                // Within one node, left with right and right with left are the same.
                let skip = if same && i == j { k } else { 0 };
                for &q in &second[skip..seconds] {
                    push(&mut next, p, q);
                }
            }
        }
        std::mem::swap(tasks, &mut next);
        if tasks.len() >= target || !expanded {
            return;
        }
    }
}

#[derive(Clone, Copy)]
struct Item {
    low: Vec3A,
    high: Vec3A,
    /// Twice the centre by which it is sorted: its own, or that of its group.
    center: Vec3A,
    id: u32,
    group: u32,
}

/// Gives the items of each group the centre of their group.
fn gather_groups(items: &mut [Item]) {
    let mut groups: BTreeMap<u32, (Vec3A, Vec3A)> = BTreeMap::new();
    for i in items.iter().filter(|i| i.group != NO_GROUP) {
        let around = groups.entry(i.group).or_insert((i.low, i.high));
        *around = (around.0.min(i.low), around.1.max(i.high));
    }
    for i in items.iter_mut().filter(|i| i.group != NO_GROUP) {
        if let Some((low, high)) = groups.get(&i.group) {
            i.center = *low + *high;
        }
    }
}

/// Gives the items of a single group back their own centres.
fn scatter_group(items: &mut [Item]) {
    let first = items[0].group;
    if items.iter().all(|i| i.group == first) {
        for i in items.iter_mut() {
            (i.center, i.group) = (i.low + i.high, NO_GROUP);
        }
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
    let right_root = 1 + left.len() as u32;
    nodes.push(Node { link: right_root, count: 0, group: NO_GROUP });
    for (child, offset) in [(left, 1), (right, right_root)] {
        nodes.extend(child.into_iter().map(|mut n| {
            n.link += if n.is_leaf() { 0 } else { offset };
            n
        }));
    }
    nodes
}

/// Appends a subtree to `nodes`; `link`s of nodes are indices into `nodes`.
fn build_serial(items: &mut [Item], first_slot: u32, nodes: &mut Vec<Node>) {
    let root = nodes.len();
    if items.len() <= LEAF {
        nodes.push(Node { link: first_slot, count: items.len() as u32, group: NO_GROUP });
        return;
    }
    let middle = partition(items);
    nodes.push(Node { link: 0, count: 0, group: NO_GROUP });
    let (low, high) = items.split_at_mut(middle);
    build_serial(low, first_slot, nodes);
    let right = nodes.len();
    build_serial(high, first_slot + middle as u32, nodes);
    nodes[root].link = right as u32;
}

/// Reorders the items for the cheapest of the binned splits along the longest axis of their centres, and returns how
/// many go left: at least one, not all.
fn partition(items: &mut [Item]) -> usize {
    let n = items.len();
    // All of one group have one centre: what is split next is the group.
    if items[0].group != NO_GROUP && items[0].center == items[n - 1].center {
        scatter_group(items);
    }
    let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    for i in items.iter() {
        let c = i.center;
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
    let bin = |i: &Item| (((i.center[axis] - low[axis]) * scale) as usize).min(BINS - 1);
    const EMPTY: (Vec3A, Vec3A, usize) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY, 0);
    let merge = |a: (Vec3A, Vec3A, usize), b: (Vec3A, Vec3A, usize)| (a.0.min(b.0), a.1.max(b.1), a.2 + b.2);
    let cost = |(low, high, count): (Vec3A, Vec3A, usize)| half_area(low, high) * count as f32;
    let mut bins = [EMPTY; BINS];
    for i in items.iter() {
        let b = bin(i);
        bins[b] = merge(bins[b], (i.low, i.high, 1));
    }
    let mut right_cost = [0.0f32; BINS];
    let mut sum = EMPTY;
    for b in (1..BINS).rev() {
        sum = merge(sum, bins[b]);
        right_cost[b] = cost(sum);
    }
    let (mut best, mut split) = (f32::INFINITY, 0);
    sum = EMPTY;
    for b in 1..BINS {
        sum = merge(sum, bins[b - 1]);
        let total = cost(sum) + right_cost[b];
        if sum.2 > 0 && sum.2 < n && total < best {
            (best, split) = (total, b);
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
