//! Cutting a proposed displacement so that nothing passes through anything [Chen 2026, §4].
//!
//! For every listed pair with gap g and direction n the sum of both sides' advances stays ≤ γ g, hence a plane
//! between them exists that neither side reaches, at any timing of their paths. A new proposal is measured from
//! the displacement accepted so far: what room is left is divided, then each point is cut against its share. With
//! nothing accepted yet this is the published rule; later in a sweep only the moved points need a look, because
//! the plane of a pair may lie anywhere between the advances of its two sides.
//!
//! Two sides together advance at most twice the longest displacement there is: wider gaps need no look. The planes of
//! a point are sorted by gap, so that it looks at those few that could bind.
//!
//! The proof is in `docs/derivations/truncation.md`.

mod ccd;
mod planar;
mod project;

use crate::safe::{Detection, Displacement, Plane};
use crate::settings::{GapSplit, SolverSettings, Truncation};
use littoral_geom::math::{Aabb, Mat3, Vec3};
use rayon::prelude::*;

/// Points per parallel task: below some thousand planes a task costs more than it saves.
const TASK: usize = 256;

/// No group: the point is cut on its own.
pub const NO_GROUP: u32 = u32::MAX;

/// What a truncation did to the points it was given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cut {
    /// Σ |proposed − accepted before| [m].
    pub wanted: f64,
    /// Σ |accepted − accepted before| [m].
    pub kept: f64,
    /// Points that were cut by a plane.
    pub truncated: u32,
    /// Points that were cut by their budget box: a new detection would let them go on.
    pub bounded: u32,
    /// Points that were cut by a plane of a pair farther apart than twice `keep`.
    pub cut_far: u32,
}

impl Cut {
    /// Adds up two cuts.
    pub fn plus(self, o: Cut) -> Cut {
        Cut {
            wanted: self.wanted + o.wanted,
            kept: self.kept + o.kept,
            truncated: self.truncated + o.truncated,
            bounded: self.bounded + o.bounded,
            cut_far: self.cut_far + o.cut_far,
        }
    }
}

/// What is asked of one truncation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The points that were edited.
    pub moved: &'a [u32],
    /// Group of each point (n), or empty: points of a group are cut by their smallest fraction, so that a rigid
    /// collider keeps its shape. `NO_GROUP` for the others.
    pub groups: &'a [u32],
    /// Number of groups.
    pub group_count: usize,
    /// Distance [m] an initial guess leaves free where it can, so that it does not crush a gap before any force
    /// has had its say. 0 for descent updates.
    pub keep: f64,
    /// Points whose motion is prescribed (n), or empty.
    pub held: &'a [bool],
    /// Distance [m] prescribed points never go below: what they push must be able to push back.
    pub held_keep: f64,
    /// Hessian of each moved point, for `Truncation::Project`; identity where empty.
    pub metric: &'a [Mat3],
}

/// The outcome for one point.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Where the point may go.
    kept: Vec3,
    /// A fraction of the increment that is allowed as well, for groups.
    t: f64,
    by_plane: bool,
    by_box: bool,
    far: bool,
}

/// A truncation with its parameters and reusable memory.
#[derive(Clone, Debug)]
pub struct Truncator {
    kind: Truncation,
    split: GapSplit,
    gamma: f64,
    outcomes: Vec<Outcome>,
    kept: Vec<Vec3>,
    group_t: Vec<f64>,
}

impl Truncator {
    /// The truncation the settings ask for.
    pub fn new(settings: &SolverSettings) -> Self {
        Truncator {
            kind: settings.truncation,
            split: settings.gap_split,
            gamma: settings.relaxation,
            outcomes: Vec::new(),
            kept: Vec::new(),
            group_t: Vec::new(),
        }
    }

    /// Cuts the proposals of the moved points, accepts what is left and seals the displacement.
    ///
    /// Afterwards, for every listed pair, the advances of the two sides add up to at most γ·gap, and every point is
    /// inside its budget box (except with `Truncation::None`). A proposal that is not a number, or beyond any, moves
    /// nothing.
    ///
    /// # Panics
    /// When the detection is not the one that the displacement was accumulated under.
    pub fn apply(
        &mut self,
        x: &[Vec3],
        detection: &Detection,
        dx: &mut Displacement,
        request: &Request<'_>,
    ) -> Cut {
        dx.bind(detection);
        for &v in request.moved {
            dx.drop_wild(v);
        }
        dx.measure(request.moved);
        let rule = Rule {
            gamma: self.gamma,
            split: self.split,
            floor: detection.floor,
            keep: request.keep,
            held: request.held,
            held_keep: request.held_keep,
        };
        match self.kind {
            Truncation::None => self.run(dx, request.moved, |_, p| free(p)),
            Truncation::Isotropic => {
                self.run(dx, request.moved, |v, p| isotropic(detection, dx, &rule, v, p));
            }
            Truncation::Planar => {
                self.run(dx, request.moved, |v, p| planar::cut(detection, dx, &rule, v, p));
            }
            Truncation::Project => {
                let metric = |k: usize| request.metric.get(k).copied().unwrap_or(Mat3::IDENTITY);
                let points = request.moved;
                (points, 0..points.len())
                    .into_par_iter()
                    .with_min_len(TASK)
                    .map(|(&v, k)| {
                        let p = dx.proposed()[v as usize];
                        if rests(dx, v) {
                            free(p)
                        } else {
                            project::cut(detection, dx, &rule, v, p, &metric(k))
                        }
                    })
                    .collect_into_vec(&mut self.outcomes);
            }
            Truncation::Ccd => {
                let t = ccd::largest_step(x, detection, dx, request.moved, self.gamma);
                self.run(dx, request.moved, |v, p| {
                    let a = dx.accepted()[v as usize];
                    Outcome { kept: a + t * (p - a), t, by_plane: t < 1.0, by_box: false, far: false }
                });
            }
        }
        self.unite_groups(dx, request);
        self.accept(dx, request.moved)
    }

    /// Whether a plane cut the `k`-th of the points moved last.
    pub fn stopped_by_plane(&self, k: usize) -> bool {
        self.outcomes.get(k).is_some_and(|o| o.by_plane)
    }

    fn run(&mut self, dx: &Displacement, moved: &[u32], cut: impl Fn(u32, Vec3) -> Outcome + Sync) {
        moved
            .par_iter()
            .with_min_len(TASK)
            .map(|&v| {
                let p = dx.proposed()[v as usize];
                if rests(dx, v) { free(p) } else { cut(v, p) }
            })
            .collect_into_vec(&mut self.outcomes);
    }

    /// Points of one group share the smallest fraction: scaling an increment down further is always safe.
    fn unite_groups(&mut self, dx: &Displacement, request: &Request<'_>) {
        if request.groups.is_empty() || request.group_count == 0 || self.kind == Truncation::None {
            return;
        }
        self.group_t.clear();
        self.group_t.resize(request.group_count, 1.0);
        for (&v, o) in request.moved.iter().zip(&self.outcomes) {
            let g = request.groups[v as usize];
            if g != NO_GROUP {
                let t = &mut self.group_t[g as usize];
                *t = t.min(o.t);
            }
        }
        for (&v, o) in request.moved.iter().zip(&mut self.outcomes) {
            let g = request.groups[v as usize];
            // The member with the smallest fraction too: what it kept need not lie on its way.
            if g != NO_GROUP && self.group_t[g as usize] < 1.0 {
                let (a, p) = (dx.accepted()[v as usize], dx.proposed()[v as usize]);
                o.t = self.group_t[g as usize];
                o.kept = a + o.t * (p - a);
            }
        }
    }

    fn accept(&mut self, dx: &mut Displacement, moved: &[u32]) -> Cut {
        let mut cut = Cut::default();
        self.kept.clear();
        for (&v, o) in moved.iter().zip(&self.outcomes) {
            let (a, p) = (dx.accepted()[v as usize], dx.proposed()[v as usize]);
            cut.wanted += (p - a).length();
            cut.kept += (o.kept - a).length();
            cut.truncated += u32::from(o.by_plane);
            cut.bounded += u32::from(o.by_box);
            cut.cut_far += u32::from(o.far);
            self.kept.push(o.kept);
        }
        dx.seal(moved, &self.kept);
        cut
    }
}

/// Nothing is asked of this point that it has not got: it stays, to the bit.
#[inline]
fn rests(dx: &Displacement, v: u32) -> bool {
    dx.proposed()[v as usize] == dx.accepted()[v as usize]
}

fn free(p: Vec3) -> Outcome {
    Outcome { kept: p, t: 1.0, by_plane: false, by_box: false, far: false }
}

/// The numbers that divide a gap.
#[derive(Clone, Copy, Debug)]
struct Rule<'a> {
    gamma: f64,
    split: GapSplit,
    floor: f64,
    keep: f64,
    held: &'a [bool],
    held_keep: f64,
}

/// An initial guess may always use this share of γ·gap, however close the pair is to `keep`.
const GUESS_SHARE: f64 = 0.2;

/// A side gets at least this share of the room even when only the other one approaches, so that it can still move
/// when its turn comes. Larger: the approaching side is cut sooner. Zero: a receding side that turns waits for the
/// next detection.
const MIN_SHARE: f64 = 0.05;

impl Rule<'_> {
    /// What both sides together may advance [m]: γ g, never nearer than the floor, less for a guess that would come
    /// nearer than `keep`.
    #[inline]
    fn room(&self, gap: f64) -> f64 {
        let room = (self.gamma * gap).min(gap - self.floor).max(0.0);
        if self.keep > 0.0 { room.min((gap - self.keep).max(GUESS_SHARE * room)) } else { room }
    }

    /// The room of a pair: prescribed points keep their distance without exception.
    #[inline]
    fn room_of(&self, plane: &Plane) -> f64 {
        let room = self.room(plane.gap);
        if !self.held.is_empty() && plane.points.iter().any(|&v| self.held[v as usize]) {
            room.min((plane.gap - self.held_keep).max(0.0))
        } else {
            room
        }
    }

    /// True when no pair with this gap, or a wider one, can be closed by two points that move at most `longest` [m].
    #[inline]
    fn is_wide(&self, gap: f64, longest: f64) -> bool {
        let room = self.room(gap);
        let room = if self.held.is_empty() { room } else { room.min((gap - self.held_keep).max(0.0)) };
        2.0 * longest <= room
    }

    /// How far a point with this free radius may move without a look at its planes [m].
    #[inline]
    fn free_bound(&self, free_radius: f64) -> f64 {
        let gap = 2.0 * free_radius;
        let room = self.room(gap);
        0.5 * if self.held.is_empty() { room } else { room.min((gap - self.held_keep).max(0.0)) }
    }

    /// How far each side may advance: `None` when both proposals fit.
    #[inline]
    fn limits(&self, plane: &Plane, dx: &Displacement) -> Option<[f64; 2]> {
        let mut before = [0.0_f64; 2];
        let mut after = [0.0_f64; 2];
        for slot in 0..4 {
            let v = plane.points[slot] as usize;
            let side = usize::from(slot >= plane.side_a as usize);
            before[side] = before[side].max(plane.advance(slot, dx.accepted()[v]));
            after[side] = after[side].max(plane.advance(slot, dx.proposed()[v]));
        }
        // A side that withdraws may be held back by another pair: until it has gone it keeps its room.
        let after = [after[0].max(before[0]), after[1].max(before[1])];
        let room = self.room_of(plane);
        if after[0] + after[1] <= room {
            return None;
        }
        // Room that neither side has used, shared between the further advances.
        let left = (room - before[0] - before[1]).max(0.0);
        let more = [after[0] - before[0], after[1] - before[1]];
        let share = match self.split {
            GapSplit::Proportional => {
                let sum = more[0] + more[1];
                let a = if sum > 0.0 { more[0] / sum } else { 0.5 };
                left * a.clamp(MIN_SHARE, 1.0 - MIN_SHARE)
            }
            GapSplit::WaterFilling => {
                let half = 0.5 * left;
                let a = if more[0] <= half {
                    more[0]
                } else if more[1] <= half {
                    left - more[1]
                } else {
                    half
                };
                a.clamp(MIN_SHARE * left, (1.0 - MIN_SHARE) * left)
            }
        };
        Some([before[0] + share, before[1] + (left - share)])
    }
}

/// Largest s in [0, 1] with `a + s·(p − a)` inside the box that contains `a`.
#[inline]
fn stay_inside(budget: &Aabb, a: Vec3, p: Vec3) -> f64 {
    let mut s = 1.0_f64;
    for k in 0..3 {
        let step = p[k] - a[k];
        let room = if step > 0.0 { budget.max[k] - a[k] } else { a[k] - budget.min[k] };
        // Rounding may have left `a` outside.
        let room = room.max(0.0);
        if step.abs() > room {
            s = s.min(room / step.abs());
        }
    }
    s
}

/// Isotropic: within γ/2 of the smallest gap, and within the box.
fn isotropic(detection: &Detection, dx: &Displacement, rule: &Rule<'_>, v: u32, p: Vec3) -> Outcome {
    let i = v as usize;
    let a = dx.accepted()[i];
    let budget = &detection.budget[i];
    let bound = rule.free_bound(detection.free_radius[i]);
    let length = p.length();
    if length <= bound {
        let t = stay_inside(budget, a, p);
        let kept = if t < 1.0 { a + t * (p - a) } else { p };
        return Outcome { kept, t, by_plane: false, by_box: t < 1.0, far: false };
    }
    let inside = p * (bound / length);
    let s = stay_inside(budget, a, inside);
    Outcome {
        kept: a + s * (inside - a),
        t: stay_within(bound, a, p).min(stay_inside(budget, a, p)),
        by_plane: true,
        by_box: s < 1.0,
        far: detection.free_radius[i] > rule.keep,
    }
}

/// Largest s in [0, 1] with `|a + s (p − a)| ≤ radius`, for |a| ≤ radius: s² A + 2 s B = C.
fn stay_within(radius: f64, a: Vec3, p: Vec3) -> f64 {
    let d = p - a;
    let (aa, b, c) = (d.length_squared(), a.dot(d), (radius * radius - a.length_squared()).max(0.0));
    let root = (b * b + aa * c).sqrt();
    // Of the two forms of the positive root, the one without cancellation.
    let s = if b > 0.0 { c / (b + root) } else { (root - b) / aa };
    if s < 1.0 { s.max(0.0) } else { 1.0 }
}
