//! The guarantee as three types: positions known to be free of intersections, what was detected there, and a
//! displacement that may be committed only after it was truncated against exactly that detection.
//!
//! *Frames.* Each island of components may carry a common translation T. It is executed whole at the commit, after
//! a proof that the swept island meets nothing else; everything below then only sees the motion relative to it, so
//! that falling fast costs nothing and slows nothing.
//!
//! *Budgets.* Each point owns a box it stays in (relative to its frame) until the next detection. Primitives whose
//! boxes do not meet cannot touch and need no plane; a listed pair gets a division plane.

mod detect;

pub use detect::{Detector, Geometry, Prediction};

use littoral_geom::math::{Aabb, Vec3};
use std::sync::atomic::{AtomicBool, Ordering};

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

    /// Moves by the frame and the accepted displacement, which is zero afterwards.
    ///
    /// # Panics
    /// When the displacement was edited after its truncation, or belongs to another detection: committing it would
    /// void the guarantee.
    pub fn commit(&mut self, detection: &Detection, dx: &mut Displacement) {
        assert_eq!(detection.epoch, self.epoch, "the detection was made at other positions");
        assert_eq!(dx.epoch, self.epoch, "the displacement belongs to another detection");
        assert!(dx.sealed, "the displacement was edited after its truncation");
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
    sealed: bool,
    accepted: Vec<Vec3>,
    proposed: Vec<Vec3>,
    /// Points that have left their free radius since the detection.
    outside: Marks,
    /// Points with a partner (or themselves) outside.
    crowded: Marks,
}

/// A set of points that only grows until it is cleared. Filled from several threads; the outcome does not depend on
/// their order.
#[derive(Debug, Default)]
struct Marks(Vec<AtomicBool>);

impl Marks {
    fn none(n: usize) -> Self {
        Marks((0..n).map(|_| AtomicBool::new(false)).collect())
    }

    fn clear(&mut self) {
        for m in &mut self.0 {
            *m.get_mut() = false;
        }
    }
}

impl Clone for Marks {
    fn clone(&self) -> Self {
        Marks(self.0.iter().map(|m| AtomicBool::new(m.load(Ordering::Relaxed))).collect())
    }
}

impl Displacement {
    /// No displacement of `n` points at the positions `x`.
    pub fn zero(x: &SafePositions) -> Self {
        let n = x.x.len();
        Displacement {
            epoch: x.epoch,
            sealed: true,
            accepted: vec![Vec3::ZERO; n],
            proposed: vec![Vec3::ZERO; n],
            outside: Marks::none(n),
            crowded: Marks::none(n),
        }
    }

    fn reset(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.sealed = true;
        self.accepted.fill(Vec3::ZERO);
        self.proposed.fill(Vec3::ZERO);
        self.outside.clear();
        self.crowded.clear();
    }

    pub(crate) fn is_outside(&self, v: u32) -> bool {
        self.outside.0[v as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn set_outside(&self, v: u32) {
        self.outside.0[v as usize].store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_crowded(&self, v: u32) -> bool {
        self.crowded.0[v as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn set_crowded(&self, v: u32) {
        self.crowded.0[v as usize].store(true, Ordering::Relaxed);
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

    /// Accepts `kept` for the `points`, which must be all the points edited since the last seal.
    pub(crate) fn seal(&mut self, points: &[u32], kept: &[Vec3]) {
        for (&v, &d) in points.iter().zip(kept) {
            self.accepted[v as usize] = d;
            self.proposed[v as usize] = d;
        }
        self.sealed = true;
    }
}

/// A listed pair of primitives and the direction that divides it. Side A is the point of a point–triangle pair or
/// the first edge; side B the triangle or the second edge.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// Unit normal from B's closest point to A's.
    pub normal: Vec3,
    /// Distance g of the pair at the detection [m].
    pub gap: f64,
    /// The points: A's first, then B's.
    pub points: [u32; 4],
    /// How far each point lies behind its side's closest point, along the normal [m], ≥ 0.
    pub behind: [f64; 4],
    /// The two primitives: point and triangle index, or two edge indices; unused inside tets.
    pub primitives: [u32; 2],
    /// Number of points on side A: 1 (point–triangle) or 2 (edge–edge).
    pub side_a: u8,
}

impl Plane {
    /// +1 for a slot on side B (which approaches along +n), −1 on side A.
    #[inline]
    pub fn sign(&self, slot: usize) -> f64 {
        if slot < self.side_a as usize { -1.0 } else { 1.0 }
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
    /// Common translation of each point's island [m].
    pub frame: Vec<Vec3>,
    /// Relative box each point stays in [m].
    pub budget: Vec<Aabb>,
    /// The listed pairs: first those of the surfaces, then those inside tets.
    pub planes: Vec<Plane>,
    /// Number of planes that belong to surface pairs.
    pub surface_planes: usize,
    /// Planes of each point: `items[offsets[v]..offsets[v+1]]` as plane·4 + slot.
    pub offsets: Vec<u32>,
    /// See `offsets`.
    pub items: Vec<u32>,
    /// Half the smallest listed gap of each point [m]; infinite where nothing is listed.
    pub free_radius: Vec<f64>,
}

impl Detection {
    /// An empty detection of `n` points at `x`: nothing listed, unlimited budgets. For tests and for scenes
    /// without contact only.
    pub fn unlimited(x: &SafePositions) -> Self {
        let n = x.x.len();
        Detection {
            epoch: x.epoch,
            frame: vec![Vec3::ZERO; n],
            budget: vec![Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY }; n],
            planes: Vec::new(),
            surface_planes: 0,
            offsets: vec![0; n + 1],
            items: Vec::new(),
            free_radius: vec![f64::INFINITY; n],
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
        self.planes[..self.surface_planes].iter().map(|p| p.gap).reduce(f64::min)
    }

    /// Rebuilds the per-point lists and the free radii from `planes`.
    pub(crate) fn index(&mut self, n: usize) {
        assert!(self.planes.len() < (u32::MAX / 4) as usize, "more than 2^30 pairs listed");
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
