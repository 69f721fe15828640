//! A small box tree for nearest-item queries: built once, split at the median of the longest
//! axis.

use crate::math::{Aabb, Vec3};

/// Items per leaf: below this a scan is cheaper than another level.
const LEAF: usize = 4;

/// Levels of a tree with a `u32` index, at most: every split halves the items.
pub(crate) const MAX_DEPTH: usize = 33;

/// One node; an inner node's left child is the next node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub bounds: Aabb,
    /// Range in `items`.
    pub first: u32,
    pub count: u32,
    /// Right child, or 0 for a leaf.
    pub right: u32,
}

/// Boxes of items in a binary tree, in preorder.
#[derive(Clone, Debug)]
pub(crate) struct BoxTree {
    pub nodes: Vec<Node>,
    pub items: Vec<u32>,
}

/// Squared distance [m²] from a point to a box, zero inside.
fn distance_sq(bounds: &Aabb, p: Vec3) -> f64 {
    (p - p.clamp(bounds.min, bounds.max)).length_squared()
}

impl BoxTree {
    pub(crate) fn new(boxes: &[Aabb]) -> BoxTree {
        let mut tree = BoxTree { nodes: Vec::new(), items: (0..boxes.len() as u32).collect() };
        if !boxes.is_empty() {
            tree.split(boxes, 0, boxes.len());
        }
        tree
    }

    /// The items below a node.
    pub(crate) fn items_of(&self, node: &Node) -> &[u32] {
        &self.items[node.first as usize..(node.first + node.count) as usize]
    }

    /// Builds the subtree of `items[first..first + count]`; depth is logarithmic because halves are equal.
    fn split(&mut self, boxes: &[Aabb], first: usize, count: usize) {
        let here = self.nodes.len();
        let items = &mut self.items[first..first + count];
        let bounds = items.iter().fold(Aabb::EMPTY, |b, &i| b.union(boxes[i as usize]));
        self.nodes.push(Node { bounds, first: first as u32, count: count as u32, right: 0 });
        if count <= LEAF {
            return;
        }
        let extent = Aabb::of(items.iter().map(|&i| boxes[i as usize].center())).extent();
        let axis = (0..3).max_by(|&a, &b| extent[a].total_cmp(&extent[b])).unwrap_or(0);
        let key = |i: u32| boxes[i as usize].center()[axis];
        let half = count / 2;
        items.select_nth_unstable_by(half, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
        self.split(boxes, first, half);
        self.nodes[here].right = self.nodes.len() as u32;
        self.split(boxes, first + half, count - half);
    }

    /// The item nearest to `p` and its squared distance [m²] by `item_distance_sq`; the smaller index among
    /// equals. Nothing when the tree is empty.
    pub(crate) fn nearest(&self, p: Vec3, item_distance_sq: impl Fn(u32) -> f64) -> Option<(u32, f64)> {
        let root = self.nodes.first()?;
        let mut best = (u32::MAX, f64::INFINITY);
        let mut stack = vec![(0u32, distance_sq(&root.bounds, p))];
        while let Some((n, lower_bound)) = stack.pop() {
            if lower_bound > best.1 {
                continue;
            }
            let node = &self.nodes[n as usize];
            if node.right == 0 {
                for &item in self.items_of(node) {
                    let d = item_distance_sq(item);
                    if d < best.1 || (d == best.1 && item < best.0) {
                        best = (item, d);
                    }
                }
                continue;
            }
            let [left, right] =
                [n + 1, node.right].map(|c| (c, distance_sq(&self.nodes[c as usize].bounds, p)));
            // The nearer child is looked at first, so that it prunes the other.
            if left.1 <= right.1 { stack.extend([right, left]) } else { stack.extend([left, right]) }
        }
        (best.0 != u32::MAX).then_some(best)
    }
}
