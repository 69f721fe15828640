//! Cutting a proposed displacement so that nothing passes through anything [Chen 2026, §4].
//!
//! For every listed pair with gap g and direction n the sum of both sides' advances stays ≤ γ g, hence a plane
//! between them exists that neither side reaches while all points go straight to where they may. An advance may be
//! negative: what one side withdraws is room for the other, so that two layers that move together do not slow each
//! other. A new proposal is measured from the displacement accepted so far: what room is left is divided, then each
//! point is cut against its share. Later in a sweep only the moved points need a look, because the plane of a pair
//! may lie anywhere between the advances of its two sides.
//!
//! A withdrawal that is only proposed may be cut by another pair. What leaned on it is then cut again (`divide`), and
//! all else of its island with it.
//!
//! Two sides together advance at most twice the longest displacement there is: wider gaps need no look. The planes of
//! a point are sorted by gap, so that it looks at those few that could bind.
//!
//! The proof is in `docs/derivations/truncation.md`.

mod ccd;
pub mod curved;
mod planar;
mod project;
mod rule;
mod shares;

use crate::body::Pose;
use crate::safe::{Detection, Displacement};
use crate::settings::{GapSplit, SolverSettings, Truncation};
use curved::{Curve, Turns};
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;
use rule::Rule;
use shares::Shares;

/// Points per parallel task: below some thousand planes a task costs more than it saves.
const TASK: usize = 256;

/// Rounds in which a side may lean on a withdrawal that is only proposed. In a stack of which the lowest layer is
/// stopped, each round stops one more layer; what is left after these is cut without leaning, which always holds.
const LEANING_ROUNDS: usize = 6;

/// A cut ends this far before its limit, in units of the lengths that an advance is computed from: rounding must not put
/// the result beyond, where it would be cut again.
const CLEAR: f64 = 16.0 * f64::EPSILON;

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
    /// Ways of the rigid bodies whose points are among the moved ones; all points of a body move, or none.
    pub turns: Option<Turns<'a>>,
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
    /// Another side leans on the withdrawal of this point: a cut must be looked at again.
    leaned_on: bool,
}

/// A truncation with its parameters and reusable memory.
#[derive(Clone, Debug)]
pub struct Truncator {
    kind: Truncation,
    split: GapSplit,
    gamma: f64,
    outcomes: Vec<Outcome>,
    cut: Vec<Stops>,
    shares: Shares,
    kept: Vec<Vec3>,
    group_t: Vec<f64>,
    body_t: Vec<f64>,
}

/// What stopped a point, in any round of an application.
#[derive(Clone, Copy, Debug, Default)]
struct Stops {
    by_plane: bool,
    by_box: bool,
    far: bool,
}

impl Stops {
    fn add(&mut self, o: &Outcome) {
        self.by_plane |= o.by_plane;
        self.by_box |= o.by_box;
        self.far |= o.far;
    }
}

impl Truncator {
    /// The truncation the settings ask for.
    pub fn new(settings: &SolverSettings) -> Self {
        Truncator {
            kind: settings.truncation,
            split: settings.gap_split,
            gamma: settings.relaxation,
            outcomes: Vec::new(),
            cut: Vec::new(),
            shares: Shares::default(),
            kept: Vec::new(),
            group_t: Vec::new(),
            body_t: Vec::new(),
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
            leaning: true,
            turns: request.turns,
            bulge: request.turns.map_or(0.0, |turns| turns.largest_bulge(request.moved)),
        };
        self.body_t.clear();
        self.body_t.resize(request.turns.map_or(0, |turns| turns.curves.len()), 1.0);
        match self.kind {
            Truncation::None => self.run(dx, request.moved, |_, p| free(p)),
            Truncation::Isotropic => {
                self.run(dx, request.moved, |v, p| isotropic(detection, dx, &rule, v, p));
            }
            Truncation::Planar | Truncation::Slide | Truncation::Project => {
                return self.divide(detection, dx, request, rule);
            }
            Truncation::Ccd => {
                let turns = request.turns.as_ref();
                let t = ccd::largest_step(x, detection, dx, request.moved, self.gamma, turns);
                self.run(dx, request.moved, |v, p| {
                    let a = dx.accepted()[v as usize];
                    Outcome { kept: a + t * (p - a), t, by_plane: t < 1.0, ..free(p) }
                });
                if let Some(turns) = turns.filter(|_| t < 1.0) {
                    self.take_bodies(dx, turns, request.moved, t);
                }
            }
        }
        if let (Some(turns), Truncation::Isotropic) = (&request.turns, self.kind) {
            let mut ways = turns.curves.to_vec();
            self.shares.begin(dx.proposed().len());
            self.cut_bodies(detection, dx, &rule, turns, &mut ways, request.moved);
        }
        self.unite_groups(dx, request);
        let wanted = asked(dx, request.moved);
        self.accept(dx, request.moved, wanted)
    }

    /// Divides and cuts, with leaning, until no withdrawal that somebody leans on was cut; in the end without leaning.
    fn divide(
        &mut self,
        detection: &Detection,
        dx: &mut Displacement,
        request: &Request<'_>,
        rule: Rule<'_>,
    ) -> Cut {
        let moved = request.moved;
        let wanted = asked(dx, moved);
        self.cut.clear();
        self.cut.resize(moved.len(), Stops::default());
        self.shares.begin(dx.proposed().len());
        if self.kind != Truncation::Planar {
            self.turn_aside(detection, dx, request, &rule);
        }
        let mut ways: Vec<Option<Curve>> = request.turns.map_or_else(Vec::new, |t| t.curves.to_vec());
        for round in 0..=LEANING_ROUNDS {
            let seen = &*dx;
            let left = ways.clone();
            let turns = request.turns.map(|t| Turns { curves: &left, ..t });
            let own = &Rule { leaning: round < LEANING_ROUNDS, turns, ..rule };
            self.shares.prepare(detection, seen, own, moved);
            let shares = &self.shares;
            shares.run(detection, moved, &mut self.outcomes, |v| {
                let p = seen.proposed()[v as usize];
                let turns = turns.is_some_and(|t| t.of(v as usize).is_some());
                if turns || rests(seen, v) || shares.is_settled(detection, v) {
                    free(p)
                } else {
                    planar::cut(detection, seen, own, shares, v, p)
                }
            });
            if let Some(turns) = &request.turns {
                self.cut_bodies(detection, seen, own, turns, &mut ways, moved);
            }
            self.unite_groups(dx, request);
            self.cut.iter_mut().zip(&self.outcomes).for_each(|(c, o)| c.add(o));
            if !self.outcomes.iter().any(|o| o.leaned_on && o.t < 1.0) {
                break;
            }
            self.shares.note(dx, moved, &self.outcomes);
            self.shares.settle(detection, moved, &self.outcomes);
            self.kept.clear();
            self.kept.extend(self.outcomes.iter().map(|o| o.kept));
            dx.revise(moved, &self.kept);
        }
        for (o, c) in self.outcomes.iter_mut().zip(&self.cut) {
            (o.by_plane, o.by_box, o.far) = (c.by_plane, c.by_box, c.far);
        }
        self.accept(dx, moved, wanted)
    }

    /// Replaces proposals that a plane would cut by such that keep to the shares and lose less of the way along them.
    /// What comes of it is cut like any other proposal.
    fn turn_aside(
        &mut self,
        detection: &Detection,
        dx: &mut Displacement,
        request: &Request<'_>,
        rule: &Rule<'_>,
    ) {
        self.shares.prepare(detection, dx, rule, request.moved);
        let (seen, kind, shares) = (&*dx, self.kind, &self.shares);
        let metric = |k: usize| request.metric.get(k).copied().unwrap_or(Mat3::IDENTITY);
        let turns = |v: u32| request.turns.is_some_and(|t| t.of(v as usize).is_some());
        let alone =
            |v: u32| (request.groups.is_empty() || request.groups[v as usize] == NO_GROUP) && !turns(v);
        (request.moved, 0..request.moved.len())
            .into_par_iter()
            .with_min_len(TASK)
            .map(|(&v, k)| {
                let p = seen.proposed()[v as usize];
                if rests(seen, v) || !alone(v) {
                    return free(p);
                }
                let mut planned = planar::cut(detection, seen, rule, shares, v, p);
                if !planned.by_plane {
                    return free(p);
                }
                planned.kept = match kind {
                    Truncation::Project => project::nearest(detection, seen, rule, v, p, &metric(k)),
                    _ => project::slid(detection, seen, rule, v, p),
                };
                planned
            })
            .collect_into_vec(&mut self.outcomes);
        self.cut.iter_mut().zip(&self.outcomes).for_each(|(c, o)| c.add(o));
        self.kept.clear();
        self.kept.extend(self.outcomes.iter().map(|o| o.kept));
        dx.revise(request.moved, &self.kept);
    }

    /// Whether a plane cut the `k`-th of the points moved last.
    pub fn stopped_by_plane(&self, k: usize) -> bool {
        self.outcomes.get(k).is_some_and(|o| o.by_plane)
    }

    /// Whether a plane of a pair farther apart than twice `keep` cut the `k`-th of the points moved last.
    pub fn stopped_far(&self, k: usize) -> bool {
        self.outcomes.get(k).is_some_and(|o| o.far)
    }

    /// Whether its budget cut the `k`-th of the points moved last.
    pub fn stopped_by_box(&self, k: usize) -> bool {
        self.outcomes.get(k).is_some_and(|o| o.by_box)
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

    /// Fraction of its way that a body kept in the last truncation.
    pub fn body_fraction(&self, body: usize) -> f64 {
        self.body_t.get(body).copied().unwrap_or(1.0)
    }

    /// Cuts what is left of the ways of bodies: the smallest fraction of any of its points is that of the body, and its
    /// points stand where its pose puts them. `turns` holds the whole ways, `ways` what is left of them.
    fn cut_bodies(
        &mut self,
        detection: &Detection,
        dx: &Displacement,
        rule: &Rule<'_>,
        turns: &Turns<'_>,
        ways: &mut [Option<Curve>],
        moved: &[u32],
    ) {
        let ball = self.kind == Truncation::Isotropic;
        let left = Turns { curves: &*ways, ..*turns };
        let shares = &self.shares;
        (moved, &mut self.outcomes).into_par_iter().with_min_len(TASK).for_each(|(&v, out)| {
            if let Some((_, curve, r)) = left.of(v as usize)
                && shares.is_stale(detection, v)
                && !shares.is_settled(detection, v)
            {
                let way = curve.of_point(r, turns.base[v as usize]);
                *out = curved::cut(detection, dx, (rule, shares), v, (way, curve.bulge(r)), ball);
            }
        });
        let mut kept = vec![1.0_f64; ways.len()];
        for (&v, o) in moved.iter().zip(&self.outcomes) {
            if let Some((b, ..)) = left.of(v as usize) {
                kept[b] = kept[b].min(o.t);
            }
        }
        let mut poses: Vec<Option<Pose>> = vec![None; ways.len()];
        for (b, way) in ways.iter_mut().enumerate() {
            if let (Some(way), Some(whole)) = (way, &turns.curves[b])
                && kept[b] < 1.0
            {
                self.body_t[b] *= kept[b];
                *way = Curve::new(way.start, self.body_t[b] * whole.shift, self.body_t[b] * whole.turn);
                poses[b] = Some(whole.at(self.body_t[b]));
            }
        }
        for (&v, o) in moved.iter().zip(&mut self.outcomes) {
            let i = v as usize;
            if let Some((b, r)) = turns.bodies.at(i)
                && let Some(pose) = &poses[b]
            {
                o.t = kept[b];
                // Nothing kept is nothing moved, to the bit.
                let rests = self.body_t[b] == 0.0;
                o.kept = if rests { dx.accepted()[i] } else { pose.place(r) - turns.base[i] };
            }
        }
    }

    /// Lets every body that moves go the fraction `t` of its way.
    fn take_bodies(&mut self, dx: &Displacement, turns: &Turns<'_>, moved: &[u32], t: f64) {
        self.body_t.fill(t);
        for (&v, o) in moved.iter().zip(&mut self.outcomes) {
            if let Some((_, curve, r)) = turns.of(v as usize) {
                // Nothing kept is nothing moved, to the bit.
                o.kept = match t {
                    0.0 => dx.accepted()[v as usize],
                    t => curve.at(t).place(r) - turns.base[v as usize],
                };
            }
        }
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

    fn accept(&mut self, dx: &mut Displacement, moved: &[u32], wanted: f64) -> Cut {
        let mut cut = Cut { wanted, ..Cut::default() };
        self.kept.clear();
        for (&v, o) in moved.iter().zip(&self.outcomes) {
            cut.kept += (o.kept - dx.accepted()[v as usize]).length();
            cut.truncated += u32::from(o.by_plane);
            cut.bounded += u32::from(o.by_box);
            cut.cut_far += u32::from(o.far);
            self.kept.push(o.kept);
        }
        dx.seal(moved, &self.kept);
        cut
    }
}

/// Σ |proposed − accepted| [m].
fn asked(dx: &Displacement, moved: &[u32]) -> f64 {
    moved.iter().map(|&v| (dx.proposed()[v as usize] - dx.accepted()[v as usize]).length()).sum()
}

/// Nothing is asked of this point that it has not got: it stays, to the bit.
#[inline]
fn rests(dx: &Displacement, v: u32) -> bool {
    dx.proposed()[v as usize] == dx.accepted()[v as usize]
}

fn free(p: Vec3) -> Outcome {
    Outcome { kept: p, t: 1.0, by_plane: false, by_box: false, far: false, leaned_on: false }
}

/// Isotropic: within γ/2 of the smallest gap, and within the box.
fn isotropic(detection: &Detection, dx: &Displacement, rule: &Rule<'_>, v: u32, p: Vec3) -> Outcome {
    let i = v as usize;
    let a = dx.accepted()[i];
    let budget = &detection.budget[i];
    let bound = rule.free_bound(detection.free_radius[i]);
    let length = p.length();
    if length <= bound {
        let t = budget.share_inside(a, p);
        let kept = if t < 1.0 { a + t * (p - a) } else { p };
        return Outcome { kept, t, by_box: t < 1.0, ..free(p) };
    }
    let inside = p * (bound / length);
    let s = budget.share_inside(a, inside);
    Outcome {
        kept: a + s * (inside - a),
        t: stay_within(bound, a, p).min(budget.share_inside(a, p)),
        by_plane: true,
        by_box: s < 1.0,
        far: detection.free_radius[i] > rule.keep,
        leaned_on: false,
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
