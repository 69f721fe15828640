//! What contacts remember from step to step: how they hold along themselves, and how far they reach.
//!
//! **Friction** is a spring along the contact with a limit. The force is T = T₀ + k u, with the slip u of this step, cut to
//! μ times the normal force; T₀ is the force at the end of the step before. This is an augmented Lagrangian with
//! one update of its multiplier T₀ a step [Simo 1992]: a contact below its limit gives way by T/k, once, and then stands
//! still. Without T₀, force would need slip in every step, and what stands on a slope would creep.
//!
//! **Reach.** Which pairs are contacts is a choice by features, and it can change at rest. A pair that is chosen while it is
//! near would push at once with all its force, out of nothing. So it begins with the radius at which it feels nothing: its
//! distance one step before, and grows to its full radius in some steps. What really approaches was farther away than the
//! radius, and is met with the whole of it. Likewise a pair that is chosen no more loses its stiffness in some steps, so that
//! what it carried passes to its neighbours: a choice that flickers, as between faces that meet flat, makes no noise.
//!
//! **Stiffness.** A contact is made stiff enough for the masses of its own points. What stands on them may weigh more: then the
//! stiffness grows by a little each step, until the contact gives way by no more than a part of its radius. Where the load
//! goes, it falls back more slowly.
//!
//! Reach and stiffness do not change by and by where one side is a rigid body. Its faces meet flat, and contacts at one place
//! share its stiffness (`place`): what went on beside them would shake what stands.
//!
//! A contact is known by its features. When a point comes to a neighbouring feature its contact gets another
//! name: what no contact of this name holds any more is handed to the nearest one between the same two objects that
//! shares a point with it.

use super::element::{Contact, Kind};
use super::{ContactModel, Contacts, Slip, law};
use littoral_geom::math::Vec3;
use rayon::prelude::*;

/// Numbers of one contact in the memory of a snapshot: kind, four points, radius, share, stiffness, force, whether it
/// slid.
const NUMBERS: usize = 12;

/// Share of its full radius by which the radius of a contact grows in a step, and of its stiffness by which it fades and comes
/// back. Larger: what is chosen in a narrow place kicks. Smaller: what begins nearer than its radius stays so for longer, and
/// what is chosen no more acts for longer.
const GROWTH: f64 = 0.05;

/// Stiffness that a load asks for, over its force a contact radius: the contact gives way by a quarter of its radius then.
/// Smaller: loads are carried by the logarithm, where gaps are small and forces steep. Larger: slower convergence.
const LOADED: f64 = 4.0;

/// Factor by which the stiffness of a contact grows in a step at most. Larger: what it gives to the energy of a pressed contact
/// is felt as a kick. Smaller: a sudden load is carried by the logarithm for longer.
const STIFFEN: f64 = 1.1;

/// Factor by which it falls back in a step at most. It is slower than growth, so that what bounces on a place does not pump.
const SOFTEN: f64 = 0.99;

/// Contacts that a parallel task looks at, at least.
const TASK: usize = 256;

/// A point with more contacts than this does not tell where a contact of it has gone: it is a corner of something large,
/// which touches many. Larger: a sheet that slides over two large triangles costs the square of its contacts.
const TELLING: usize = 64;

/// What one contact began a step with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held {
    /// Its radius [m].
    pub(super) radius: f64,
    /// Share of its stiffness that it had [–].
    pub(super) share: f64,
    /// Stiffness [N/m] that its load asks for from then on, the whole of it.
    pub(super) stiffness: f64,
}

/// What one contact ended a step with.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Remembered {
    kind: Kind,
    points: [u32; 4],
    /// What it began that step with.
    held: Held,
    /// Force of friction on the first side, as a gradient [N].
    pull: Vec3,
    /// It slid.
    slid: bool,
}

/// The contacts at the end of the last step that were nearer than their radius, in the order of the contacts.
#[derive(Clone, Debug, Default)]
pub struct ContactMemory {
    list: Vec<Remembered>,
    /// Positions one step before the start of this step (n) [m].
    before: Vec<Vec3>,
}

impl ContactMemory {
    /// Reads what [`ContactMemory::write`] wrote. The step begins at `x` with the velocities `v` and has the size `h` [s].
    pub fn read(&mut self, memory: &[f64], x: &[Vec3], v: &[Vec3], h: f64) {
        self.list.clear();
        self.list.extend(memory.chunks_exact(NUMBERS).map(|m| Remembered {
            kind: Kind::from_number(m[0] as u8),
            points: [1, 2, 3, 4].map(|k| m[k] as u32),
            held: Held { radius: m[5], share: m[6], stiffness: m[7] },
            pull: Vec3::new(m[8], m[9], m[10]),
            slid: m[11] != 0.0,
        }));
        self.before.clear();
        self.before.extend(x.iter().zip(v).map(|(x, v)| *x - h * *v));
    }

    /// Appends the memory to the memory of a snapshot.
    pub fn write(&self, memory: &mut Vec<f64>) {
        for b in &self.list {
            memory.push(f64::from(b.kind as u8));
            memory.extend(b.points.map(f64::from));
            memory.extend([b.held.radius, b.held.share, b.held.stiffness]);
            memory.extend(b.pull.to_array());
            memory.push(f64::from(u8::from(b.slid)));
        }
    }

    /// What contacts had in the last step, for those from these features on.
    pub(super) fn from(&self, kind: Kind, points: [u32; 4]) -> HeldFrom<'_> {
        let first = self.list.partition_point(|b| (b.kind, b.points) < (kind, points));
        HeldFrom { rest: &self.list[first..] }
    }

    /// Calls `visit(point, collider)` for the points that touched a moving collider at the end of the last step, with
    /// a point of the collider.
    pub fn for_each_driven(&self, model: &ContactModel, mut visit: impl FnMut(u32, u32)) {
        for held in &self.list {
            let points = &held.points[..held.kind.used()];
            let driven = |v: &u32| model.driven[*v as usize];
            let Some(&collider) = points.iter().find(|v| driven(v)) else { continue };
            for &v in points.iter().filter(|v| !driven(v)) {
                visit(v, collider);
            }
        }
    }

    /// Takes what the contacts hold at the end of a step at `x` [m].
    pub fn take(&mut self, contacts: &Contacts, x: &[Vec3], slip: &Slip<'_>) {
        let near = contacts.list.par_iter().with_min_len(TASK).filter(|c| !c.has_particle());
        let held = near.filter_map(|c| {
            let bridge = c.bridge(x);
            if bridge.distance >= c.radius.max(c.goal) {
                return None;
            }
            let held = Held { radius: c.radius, share: c.share, stiffness: asked(c, bridge.distance) };
            let (pull, slid) = c.friction_force(&bridge, x, slip);
            Some(Remembered { kind: c.kind, points: c.points, held, pull, slid })
        });
        self.list = held.collect();
    }

    /// Gives the contacts of a new detection at `x` [m] what they held at the end of the last step.
    pub fn give(&self, model: &ContactModel, x: &[Vec3], contacts: &mut Contacts) {
        let mut orphans = Vec::new();
        let mut newborn = Vec::new();
        let mut old = self.list.iter().peekable();
        // Both lists are in the order of kinds and points.
        for (number, c) in contacts.list.iter_mut().enumerate().filter(|(_, c)| !c.has_particle()) {
            let name = (c.kind, c.points);
            while let Some(held) = old.next_if(|b| (b.kind, b.points) < name) {
                orphans.push(*held);
            }
            if let Some(held) = old.next_if(|b| (b.kind, b.points) == name) {
                (c.grip, c.slid) = (held.pull, held.slid);
                continue;
            }
            let distance = c.bridge(x).distance;
            if distance < c.radius && !model.meets_body(c.points()) {
                c.radius = c.bridge(&self.before).distance.max(distance).min(c.radius);
                newborn.push(number as u32);
            }
        }
        orphans.extend(old);
        for held in orphans {
            let Some((heir, sign)) = heir(&held, model, x, contacts) else { continue };
            let c = &mut contacts.list[heir as usize];
            c.grip += sign * held.pull;
            if newborn.binary_search(&heir).is_ok() {
                c.radius = c.radius.max(held.held.radius.min(c.goal));
                c.slid = held.slid;
                if model.stiffness.is_none() {
                    c.stiffness = c.stiffness.max(held.held.stiffness);
                }
            }
        }
    }
}

/// Finds what contacts held, which are asked for in their order.
pub(super) struct HeldFrom<'a> {
    rest: &'a [Remembered],
}

impl HeldFrom<'_> {
    /// What the contact of these features had in the last step; `None` if it was not near.
    #[inline]
    pub(super) fn of(&mut self, kind: Kind, points: [u32; 4]) -> Option<Held> {
        while let [first, rest @ ..] = self.rest {
            let name = (first.kind, first.points);
            if name >= (kind, points) {
                return (name == (kind, points)).then_some(first.held);
            }
            self.rest = rest;
        }
        None
    }
}

impl Held {
    /// A contact that begins with this radius [m].
    pub(super) fn fresh(radius: f64) -> Held {
        Held { radius, share: 1.0, stiffness: 0.0 }
    }

    /// What it begins the next step with, on the way to the radius `goal`; `full` is that of a contact that is served. `None`
    /// when it is not served and has let go.
    pub(super) fn next(&self, served: bool, goal: f64, full: f64) -> Option<Held> {
        if served {
            let radius = goal.min(self.radius + GROWTH * full);
            return Some(Held { radius, share: (self.share + GROWTH).min(1.0), ..*self });
        }
        (self.radius > goal && self.share > GROWTH).then_some(Held { share: self.share - GROWTH, ..*self })
    }
}

/// Stiffness [N/m] that a contact asks for at the distance `d` [m].
fn asked(c: &Contact, d: f64) -> f64 {
    let now = c.stiffness / c.share;
    let (force, _) = law::force_and_curvature(d, c.stiffness, c.radius);
    (LOADED * force / c.goal).clamp(SOFTEN * now, STIFFEN * now)
}

/// The nearest contact between the objects of `old` that shares a point with it, and −1 if its sides are the other
/// way round.
fn heir(held: &Remembered, model: &ContactModel, x: &[Vec3], contacts: &Contacts) -> Option<(u32, f64)> {
    let old = Contact { kind: held.kind, points: held.points, ..Contact::NONE };
    let at = old.ends(&old.bridge(x), x);
    let telling = old.points().iter().copied().filter(|&v| contacts.count_of(v) <= TELLING);
    let mut near: Vec<u32> = Vec::new();
    contacts.of_points(&telling.collect::<Vec<u32>>(), &mut near);
    let mut best: Option<(f64, u32, f64)> = None;
    for number in near {
        let new = contacts.get(number);
        let Some(sign) = same_sides(&old, new, model) else { continue };
        let ends = new.ends(&new.bridge(x), x);
        let (a, b) = if sign > 0.0 { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
        let away = at[0].distance_squared(a) + at[1].distance_squared(b);
        if best.is_none_or(|(least, ..)| away < least) {
            best = Some((away, number, sign));
        }
    }
    best.map(|(_, heir, sign)| (heir, sign))
}

/// 1 when the first sides of both contacts belong together, and the second ones; −1 when they are crossed over; `None`
/// when they are of other objects, or a side of one object could be either.
fn same_sides(old: &Contact, new: &Contact, model: &ContactModel) -> Option<f64> {
    let objects = |c: &Contact| [0, c.split()].map(|s| model.object_of(c.points[s]));
    let (o, n) = (objects(old), objects(new));
    if o[0] != o[1] {
        return if o == n {
            Some(1.0)
        } else if o == [n[1], n[0]] {
            Some(-1.0)
        } else {
            None
        };
    }
    if o != n {
        return None;
    }
    // Within one object points tell the sides.
    let (a, b) = (old.points().split_at(old.split()), new.points().split_at(new.split()));
    let share = |a: &[u32], b: &[u32]| a.iter().any(|p| b.contains(p));
    let (straight, crossed) = (share(a.0, b.0) || share(a.1, b.1), share(a.0, b.1) || share(a.1, b.0));
    (straight != crossed).then_some(if straight { 1.0 } else { -1.0 })
}
