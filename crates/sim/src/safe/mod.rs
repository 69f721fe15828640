//! The guarantee as three types: positions known to be free of intersections, what was detected there, and a
//! displacement that may be committed only after it was truncated against exactly that detection.
//!
//! *Frames.* Each island of components may carry a common translation T. It is executed whole at the commit, after
//! a proof that the swept island meets nothing else; everything below then only sees the motion relative to it, so
//! that falling fast costs nothing and slows nothing.
//!
//! *Budgets.* Each point owns a box it stays in (relative to its frame) until the next detection, and a tube around its
//! way if that is long. Primitives whose boxes do not meet, or whose tubes pass each other by, cannot touch and need no
//! plane; a listed pair gets a division plane.
//!
//! *Islands.* What nothing else may touch before the next detection may be committed and detected anew on its own.

mod budget;
mod detect;
mod divide;
mod frames;
mod islands;
mod part;
mod tets;

pub use budget::Budget;
pub use detect::{Detector, Geometry, Prediction};
pub(crate) use divide::resolution;

use littoral_geom::bucket_sort::{buckets_for, sort_by_bucket};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::pairs::Place;
use rayon::prelude::*;

/// Positions that are free of intersections (or hold only those that were there at the start).
#[derive(Clone, Debug)]
pub struct SafePositions {
    x: Vec<Vec3>,
    epoch: u64,
}

impl SafePositions {
    /// Takes positions on trust: the initial ones, or those of a checkpoint.
    pub fn trusted(x: Vec<Vec3>) -> Self {
        SafePositions { x, epoch: 0 }
    }

    /// The positions (n) [m].
    pub fn as_slice(&self) -> &[Vec3] {
        &self.x
    }

    /// Counts the commits; a detection belongs to one epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Puts a point that nothing met so far, because it was not there, at a place: a new particle of a fluid.
    pub(crate) fn place(&mut self, v: u32, place: Vec3) {
        self.x[v as usize] = place;
        self.epoch += 1;
    }

    /// Moves by the frame and the accepted displacement, which is zero afterwards.
    ///
    /// # Panics
    /// When the displacement was edited after its truncation, or belongs to another detection: committing it would
    /// void the guarantee.
    pub fn commit(&mut self, detection: &Detection, dx: &mut Displacement) {
        assert_eq!(detection.epoch, self.epoch, "the detection was made at other positions");
        assert_eq!(dx.epoch, self.epoch, "the displacement belongs to another detection");
        assert!(dx.sealed, "the displacement was edited after its truncation");
        assert!(!detection.is_spent(), "a part was committed and not detected anew");
        dx.bind(detection);
        for (x, (d, f)) in self.x.iter_mut().zip(dx.accepted.iter().zip(&detection.frame)) {
            *x += *d + *f;
        }
        self.epoch += 1;
        dx.reset(self.epoch);
    }
}

/// Displacement accumulated since a detection, relative to the frames of that detection.
#[derive(Clone, Debug, Default)]
pub struct Displacement {
    epoch: u64,
    /// Serial number of the detection it was first truncated against; none while nothing was.
    detection: Option<u64>,
    sealed: bool,
    accepted: Vec<Vec3>,
    proposed: Vec<Vec3>,
    /// Length of each point's displacement, accepted or proposed, whichever is longer (n) [m].
    sizes: Vec<f64>,
    /// Length of the longest proposal since the detection [m].
    longest: f64,
}

/// Proposals from this length on [m] are refused: their squares leave the range of numbers.
const WILD: f64 = 1e150;

impl Displacement {
    /// No displacement of `n` points at the positions `x`.
    pub fn zero(x: &SafePositions) -> Self {
        let n = x.x.len();
        Displacement {
            epoch: x.epoch,
            detection: None,
            sealed: true,
            accepted: vec![Vec3::ZERO; n],
            proposed: vec![Vec3::ZERO; n],
            sizes: vec![0.0; n],
            longest: 0.0,
        }
    }

    fn reset(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.detection = None;
        self.sealed = true;
        self.accepted.fill(Vec3::ZERO);
        self.proposed.fill(Vec3::ZERO);
        self.sizes.fill(0.0);
        self.longest = 0.0;
    }

    /// Ties the displacement to the detection it is truncated against: planes and budgets of another one, even at the
    /// same positions, would not know what was accepted under this one.
    pub(crate) fn bind(&mut self, detection: &Detection) {
        assert_eq!(detection.epoch, self.epoch, "the detection was made at other positions");
        assert!(!detection.is_spent(), "a part was committed and not detected anew");
        let bound = *self.detection.get_or_insert(detection.serial);
        assert_eq!(detection.serial, bound, "the displacement belongs to another detection");
    }

    /// Takes back a proposal whose products would not be numbers.
    pub(crate) fn drop_wild(&mut self, v: u32) {
        let (p, a) = (&mut self.proposed[v as usize], self.accepted[v as usize]);
        if !p.is_finite() || p.abs().max_element() > WILD {
            *p = a;
        }
    }

    /// Replaces the proposals of the `points` by others.
    pub(crate) fn revise(&mut self, points: &[u32], proposals: &[Vec3]) {
        for (&v, &d) in points.iter().zip(proposals) {
            self.proposed[v as usize] = d;
        }
        self.measure(points);
    }

    /// Takes the proposals of the `moved` points into account for lengths.
    pub(crate) fn measure(&mut self, moved: &[u32]) {
        for &v in moved {
            let v = v as usize;
            let sq = self.proposed[v].length_squared();
            self.longest = self.longest.max(sq.sqrt());
            self.sizes[v] = sq.max(self.accepted[v].length_squared()).sqrt();
        }
    }

    /// Length of what was accepted of each point since the detection, or asked for if that is longer (n) [m].
    pub(crate) fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Length of the longest proposal since the detection [m]: no point has gone, or asks to go, farther.
    pub(crate) fn longest(&self) -> f64 {
        self.longest
    }

    /// The part that may be committed (n) [m].
    pub fn accepted(&self) -> &[Vec3] {
        &self.accepted
    }

    /// What is asked for (n) [m]; equals `accepted` where nothing was asked.
    pub fn proposed(&self) -> &[Vec3] {
        &self.proposed
    }

    /// Breaks the seal and hands out the proposals.
    pub fn edit(&mut self) -> &mut [Vec3] {
        self.sealed = false;
        &mut self.proposed
    }

    /// The same with the lengths before that, see `sizes`.
    pub(crate) fn edit_beside_sizes(&mut self) -> (&mut [Vec3], &[f64]) {
        self.sealed = false;
        (&mut self.proposed, &self.sizes)
    }

    /// Accepts `kept` for the `points`, which must be all the points edited since the last seal.
    pub(crate) fn seal(&mut self, points: &[u32], kept: &[Vec3]) {
        for (&v, &d) in points.iter().zip(kept) {
            let v = v as usize;
            self.accepted[v] = d;
            self.proposed[v] = d;
            self.sizes[v] = d.length();
            // A projected proposal may be longer than the one it came from.
            self.longest = self.longest.max(self.sizes[v]);
        }
        self.sealed = true;
    }
}

/// A listed pair of primitives and the direction that divides it. Side A is the point of a point–triangle pair or
/// the first edge; side B the triangle or the second edge.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// Unit normal from B's closest point to A's; zero when no direction is known to part them, then neither moves.
    pub normal: Vec3,
    /// Gap g of the pair at the detection [m]: its distance less what rounding may take, ≥ 0.
    pub gap: f64,
    /// The points: A's first, then B's.
    pub points: [u32; 4],
    /// How far each point lies behind its side's closest point, along the normal [m], ≥ 0.
    pub behind: [f64; 4],
    /// The two primitives: point and triangle index, or two edge indices; unused inside tets.
    pub primitives: [u32; 2],
    /// Belongs to two surface primitives, not to the inside of a tet.
    pub surface: bool,
    /// Number of points on side A: 1 (point–triangle) or 2 (edge–edge).
    pub side_a: u8,
    /// Where the closest points of two surface primitives lie.
    pub place: Place,
}

impl Plane {
    /// +1 for a slot on side B (which approaches along +n), −1 on side A.
    #[inline]
    pub fn sign(&self, slot: usize) -> f64 {
        if slot < self.side_a as usize { -1.0 } else { 1.0 }
    }

    /// False only if points that stay in their boxes [m], in the order of the slots, cannot use up the gap.
    pub(crate) fn may_close(&self, boxes: [&Aabb; 4]) -> bool {
        let split = self.side_a as usize;
        let far = |from: usize, to: usize, n: Vec3| {
            (from..to).map(|s| boxes[s].support(n) - self.behind[s]).fold(f64::NEG_INFINITY, f64::max)
        };
        far(0, split, -self.normal) + far(split, 4, self.normal) >= self.gap
    }

    /// How far the point in `slot`, displaced by `d`, has advanced into the gap [m]; negative when it has not.
    #[inline]
    pub fn advance(&self, slot: usize, d: Vec3) -> f64 {
        self.sign(slot) * self.normal.dot(d) - self.behind[slot]
    }
}

/// Everything that was found at one epoch of the safe positions.
#[derive(Clone, Debug, Default)]
pub struct Detection {
    pub(crate) epoch: u64,
    /// Distance below which no pair may approach further [m]: far below any contact force's range, far above the
    /// rounding of positions.
    pub floor: f64,
    /// Counts what was detected into this.
    pub(crate) serial: u64,
    /// Common translation of each point's island [m].
    pub frame: Vec<Vec3>,
    /// Where each point stays (n).
    pub budget: Vec<Budget>,
    /// The listed pairs, nearest first.
    pub planes: Vec<Plane>,
    /// Planes of each point, nearest first: `items[offsets[v]..offsets[v+1]]` as plane·4 + slot.
    pub offsets: Vec<u32>,
    /// See `offsets`.
    pub items: Vec<u32>,
    /// Half the smallest listed gap of each point [m]; infinite where nothing is listed.
    pub free_radius: Vec<f64>,
    /// First component of the island of each component: nothing of another island may be touched.
    pub island: Vec<u32>,
    /// First component of the island of each point (n); empty where all that may move is one island.
    pub(crate) apart: Vec<u32>,
    /// Whether any point of a component may move until the next detection.
    pub mobile: Vec<bool>,
    /// Components that were committed since; empty, or one of them is.
    spent: Vec<bool>,
    /// Components that were kept from the detection with the serial number before, if any.
    kept: Vec<bool>,
    order: Vec<(u64, u32)>,
    spare: Vec<(u64, u32)>,
    unsorted: Vec<Plane>,
}

impl Detection {
    /// An empty detection of `n` points at `x`: nothing listed, unlimited budgets. For tests and for scenes
    /// without contact only.
    pub fn unlimited(x: &SafePositions) -> Self {
        let n = x.x.len();
        Detection {
            epoch: x.epoch,
            floor: 0.0,
            serial: 0,
            frame: vec![Vec3::ZERO; n],
            budget: vec![Budget::UNLIMITED; n],
            planes: Vec::new(),
            offsets: vec![0; n + 1],
            items: Vec::new(),
            free_radius: vec![f64::INFINITY; n],
            island: Vec::new(),
            apart: Vec::new(),
            mobile: Vec::new(),
            spent: Vec::new(),
            kept: Vec::new(),
            order: Vec::new(),
            spare: Vec::new(),
            unsorted: Vec::new(),
        }
    }

    /// The planes of point `v` as (plane index, slot).
    #[inline]
    pub fn planes_of(&self, v: u32) -> impl Iterator<Item = (usize, usize)> + '_ {
        let r = self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize;
        self.items[r].iter().map(|&i| ((i >> 2) as usize, (i & 3) as usize))
    }

    /// Smallest gap between surfaces [m]; `None` when no pair is listed.
    pub fn min_gap(&self) -> Option<f64> {
        self.planes.iter().find(|p| p.surface).map(|p| p.gap)
    }

    /// Rebuilds the per-point lists and the free radii from `planes`.
    pub(crate) fn index(&mut self, n: usize) {
        assert!(self.planes.len() < (u32::MAX / 4) as usize, "more than 2^30 pairs listed");
        // Nearest first, so that a point stops looking where no motion can close a gap; ties by place, for a fixed order.
        self.order.clear();
        self.order.extend(self.planes.iter().enumerate().map(|(k, p)| (p.gap.to_bits(), k as u32)));
        // Gaps are not negative: their bits are in the order of their sizes.
        let largest = self.planes.iter().fold(f64::MIN_POSITIVE, |m, p| m.max(p.gap));
        let buckets = buckets_for(self.order.len());
        let bucket = |(bits, _): &(u64, u32)| {
            ((f64::from_bits(*bits) / largest * buckets as f64) as usize).min(buckets - 1)
        };
        sort_by_bucket((&mut self.order, &mut self.spare), buckets, bucket, Ord::cmp);
        self.unsorted.clear();
        self.unsorted.append(&mut self.planes);
        let (order, unsorted) = (&self.order, &self.unsorted);
        self.planes.par_extend(order.par_iter().with_min_len(4096).map(|&(_, k)| unsorted[k as usize]));
        self.offsets.clear();
        self.offsets.resize(n + 1, 0);
        for p in &self.planes {
            for &v in &p.points {
                self.offsets[v as usize + 1] += 1;
            }
        }
        for v in 0..n {
            self.offsets[v + 1] += self.offsets[v];
        }
        self.items.clear();
        self.items.resize(4 * self.planes.len(), 0);
        self.free_radius.clear();
        self.free_radius.resize(n, f64::INFINITY);
        // Filling moves each offset to the end of its row, which is the start of the next one.
        for (k, p) in self.planes.iter().enumerate() {
            for (slot, &v) in p.points.iter().enumerate() {
                let v = v as usize;
                self.items[self.offsets[v] as usize] = (4 * k + slot) as u32;
                self.offsets[v] += 1;
                self.free_radius[v] = self.free_radius[v].min(0.5 * p.gap);
            }
        }
        for v in (1..=n).rev() {
            self.offsets[v] = self.offsets[v - 1];
        }
        self.offsets[0] = 0;
    }
}
