//! Input in which things cross or touch at the start: what is let apart, and how.
//!
//! Planes keep a crossing as it is, neither worse nor better, and two surfaces that touch exactly have no direction to
//! part in. So two components that cross or touch at the start are *entangled*: as long as they are, no plane and no
//! contact acts between these two, and both get a gentle push apart. From the first step after which they are clear of
//! each other they are like any others, for good. What this leaves of the guarantee: `docs/derivations/untangling.md`.
//!
//! Only where the geometry says which way is anything done: where a plane along some face or edge all but parts the two,
//! or where both are closed. Else, and where a component crosses itself, the crossing is left as it is.

use crate::model::Snapshot;
use crate::system::System;
use littoral_geom::inside::Solid;
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::open_edges;

/// Two components that a plane parts but for this share of the contact radius count as touching.
const TOUCHING: f64 = 0.5;

/// What touches is lifted by this share of the contact radius. Smaller: contact forces begin from smaller gaps and push
/// harder. Larger: a visible hop.
const LIFT: f64 = 0.1;

/// Steps in which a depth is overcome.
const LIFT_STEPS: f64 = 8.0;

/// Time in which bodies that overlap part by the extent of their overlap [s].
const PART_TIME: f64 = 0.5;

/// Time in which they come to that speed [s].
const SPEED_UP_TIME: f64 = 0.1;

/// Steps after parting in which the two may not fly apart faster than they were pushed: contact forces that begin within a
/// part of their radius move them out of it in a step, and would leave them the speed of that.
const CALM_STEPS: f64 = 4.0;

/// Bodies that overlap by less than this share of the size of the smaller one go on as from there.
const LEAST_EXTENT: f64 = 0.1;

/// Crossings of a pair that are asked for a direction.
const ASKED: usize = 64;

/// Which way two components part.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// The first to the side of this direction, over this depth [m].
    Side(Vec3, f64),
    /// Both are closed: the way in which their overlap shrinks fastest.
    Overlap,
}

/// One side of a pair.
#[derive(Clone, Debug)]
struct Side {
    component: u32,
    points: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    fixed: bool,
}

/// Two components that crossed at the start.
#[derive(Clone, Debug)]
struct Pair {
    sides: [Side; 2],
    way: Way,
}

/// All of them. Whether a pair still is entangled stands in the memory of the snapshot: 1, then minus the steps in which it
/// is calmed, then 0 for good.
#[derive(Clone, Debug, Default)]
pub struct Untangle {
    pairs: Vec<Pair>,
    memory: usize,
}

impl Untangle {
    /// Finds what may part among the `crossings` of the start, (edge, triangle), and appends a number each to `memory`.
    pub fn new(system: &System, x: &[Vec3], crossings: &[[u32; 2]], memory: &mut Vec<f64>) -> Self {
        let geometry = &system.geometry;
        let surface = &geometry.surface;
        let mut found: Vec<([u32; 2], [u32; 2])> = crossings
            .iter()
            .filter_map(|&[e, t]| {
                let (p, q) = (surface.edges[e as usize][0], surface.triangles[t as usize][0]);
                let (a, b) = (geometry.component[p as usize], geometry.component[q as usize]);
                let apart = a != b && geometry.pairing.off_pair(p, q).is_none();
                apart.then_some(([a.min(b), a.max(b)], [e, t]))
            })
            .collect();
        found.sort_unstable();
        let pairs: Vec<Pair> = found
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|of_pair| {
                let sides = of_pair[0].0.map(|c| Side::of(system, c));
                let way = which_way(system, x, &sides, of_pair)?;
                (!(sides[0].fixed && sides[1].fixed)).then_some(Pair { sides, way })
            })
            .collect();
        let first = memory.len();
        memory.resize(first + pairs.len(), 1.0);
        Untangle { pairs, memory: first }
    }

    /// The component pairs that still are entangled, the lower first, sorted.
    pub fn open(&self, memory: &[f64]) -> Vec<[u32; 2]> {
        let open = self.pairs.iter().zip(&memory[self.memory..]).filter(|(_, m)| **m > 0.0);
        open.map(|(p, _)| [p.sides[0].component, p.sides[1].component]).collect()
    }

    /// Pushes what is entangled apart, and calms what just came free, before a step of size `h` [s].
    pub fn push(&self, system: &System, state: &mut Snapshot, h: f64) {
        for (k, pair) in self.pairs.iter().enumerate() {
            let left = state.memory[self.memory + k];
            if left == 0.0 {
                continue;
            }
            let (n, speed, gain) = match pair.way {
                Way::Side(n, depth) => {
                    let speed = (LIFT * system.contact.radius() + depth / LIFT_STEPS) / h;
                    (n, speed, f64::INFINITY)
                }
                Way::Overlap => {
                    let (n, extent) = way_out(&state.x, &pair.sides, system.gravity);
                    let speed = extent / PART_TIME;
                    (n, speed, h * speed / SPEED_UP_TIME)
                }
            };
            if left > 0.0 {
                pair.part(system, &mut state.v, n, speed, gain, h * system.gravity.length());
            } else {
                pair.calm(system, &mut state.v, n, speed);
                state.memory[self.memory + k] = left + 1.0;
            }
        }
    }

    /// True while something is entangled or just came free.
    pub fn is_active(&self, memory: &[f64]) -> bool {
        memory[self.memory..].iter().any(|m| *m != 0.0)
    }

    /// Frees the pairs that do not cross any more, given all crossings at the positions of `state`.
    pub fn settle(&self, system: &System, state: &mut Snapshot, crossings: &[[u32; 2]]) {
        let geometry = &system.geometry;
        let mut crossed: Vec<[u32; 2]> = crossings
            .iter()
            .map(|&[e, t]| {
                let a = geometry.component[geometry.surface.edges[e as usize][0] as usize];
                let b = geometry.component[geometry.surface.triangles[t as usize][0] as usize];
                [a.min(b), a.max(b)]
            })
            .collect();
        crossed.sort_unstable();
        for (pair, memory) in self.pairs.iter().zip(&mut state.memory[self.memory..]) {
            let key = [pair.sides[0].component, pair.sides[1].component];
            if *memory > 0.0 && crossed.binary_search(&key).is_err() && !pair.holds_another(&state.x) {
                *memory = -CALM_STEPS;
            }
        }
    }
}

impl Side {
    fn of(system: &System, component: u32) -> Self {
        let g = &system.geometry;
        let points = (0..g.component.len() as u32).filter(|&v| g.component[v as usize] == component);
        let triangles = g.surface.triangles.iter().filter(|t| g.component[t[0] as usize] == component);
        Side {
            component,
            points: points.collect(),
            triangles: triangles.copied().collect(),
            fixed: g.prescribed[component as usize],
        }
    }

    fn bounds(&self, x: &[Vec3]) -> Aabb {
        Aabb::of(self.points.iter().map(|&v| x[v as usize]))
    }

    /// Mass [kg] and mean velocity [m/s].
    fn motion(&self, system: &System, v: &[Vec3]) -> (f64, Vec3) {
        let mass: f64 = self.points.iter().map(|&p| system.mass[p as usize]).sum();
        let momentum: Vec3 = self.points.iter().map(|&p| system.mass[p as usize] * v[p as usize]).sum();
        if mass > 0.0 { (mass, momentum / mass) } else { (mass, Vec3::ZERO) }
    }

    /// Corners of the triangles that reach into the box.
    fn near<'a>(&'a self, x: &'a [Vec3], around: Aabb) -> impl Iterator<Item = Vec3> + 'a {
        let inside = move |t: &&[u32; 3]| Aabb::of(t.map(|v| x[v as usize])).overlaps(&around);
        self.triangles.iter().filter(inside).flatten().map(|&v| x[v as usize])
    }
}

impl Pair {
    /// Gives the sides velocities by which they part along `n` with `speed`, gaining at most `gain` in a step, when
    /// weight, or friction by it, works against them with `weight` [m/s] in a step.
    fn part(&self, system: &System, v: &mut [Vec3], n: Vec3, speed: f64, gain: f64, weight: f64) {
        let relative = self.relative(system, v, n);
        // Twice, because what the one side gets may be lost to what it lies on.
        let more = (speed + 2.0 * weight - relative).clamp(0.0, gain + 2.0 * weight);
        self.give(system, v, n, more);
    }

    /// Takes away what of their speed apart along `n` is above `speed` [m/s].
    fn calm(&self, system: &System, v: &mut [Vec3], n: Vec3, speed: f64) {
        let above = (self.relative(system, v, n) - speed).max(0.0);
        self.give(system, v, n, -above);
    }

    /// Speed at which they part along `n` [m/s].
    fn relative(&self, system: &System, v: &[Vec3], n: Vec3) -> f64 {
        n.dot(self.sides[0].motion(system, v).1 - self.sides[1].motion(system, v).1)
    }

    /// Adds a relative velocity along `n`, shared so that momentum stays, or all to what is free.
    fn give(&self, system: &System, v: &mut [Vec3], n: Vec3, more: f64) {
        let [(ma, _), (mb, _)] = [0, 1].map(|s| self.sides[s].motion(system, v));
        let share = match [self.sides[0].fixed, self.sides[1].fixed] {
            [false, true] => 1.0,
            [true, _] => 0.0,
            [false, false] => mb / (ma + mb),
        };
        for (side, velocity) in self.sides.iter().zip([share * more, (share - 1.0) * more]) {
            if !side.fixed {
                side.points.iter().for_each(|&p| v[p as usize] += velocity * n);
            }
        }
    }

    /// One body is within the other: without crossings, but not apart.
    fn holds_another(&self, x: &[Vec3]) -> bool {
        if self.way != Way::Overlap {
            return false;
        }
        [(0, 1), (1, 0)].into_iter().any(|(a, b)| {
            let solid = Solid::new(x, &self.sides[b].triangles);
            self.sides[a].triangles.first().is_some_and(|t| solid.contains(x[t[0] as usize]))
        })
    }
}

/// The way two components part; `None` where the geometry does not say.
fn which_way(system: &System, x: &[Vec3], sides: &[Side; 2], found: &[([u32; 2], [u32; 2])]) -> Option<Way> {
    let surface = &system.geometry.surface;
    let radius = system.contact.radius();
    let [box_a, box_b] = [0, 1].map(|s| sides[s].bounds(x).inflated(radius));
    let near: [Vec<Vec3>; 2] = [sides[0].near(x, box_b).collect(), sides[1].near(x, box_a).collect()];
    let mut best: Option<(f64, Vec3)> = None;
    let mut consider = |n: Vec3| {
        let length = n.length();
        if length.is_nan() || length <= 0.0 {
            return;
        }
        for n in [n / length, -n / length] {
            let low = near[0].iter().map(|p| n.dot(*p)).fold(f64::INFINITY, f64::min);
            let high = near[1].iter().map(|p| n.dot(*p)).fold(f64::NEG_INFINITY, f64::max);
            let depth = (high - low).max(0.0);
            if best.is_none_or(|b| depth < b.0) {
                best = Some((depth, n));
            }
        }
    };
    for (_, [e, t]) in found.iter().take(ASKED) {
        let [p, q] = surface.edges[*e as usize].map(|v| x[v as usize]);
        let [a, b, c] = surface.triangles[*t as usize].map(|v| x[v as usize]);
        consider((b - a).cross(c - a));
        for side in [b - a, c - b, a - c] {
            consider((q - p).cross(side));
        }
    }
    match best {
        Some((depth, n)) if depth <= TOUCHING * radius => Some(Way::Side(n, depth)),
        _ => sides.iter().all(|s| open_edges(&s.triangles) == 0).then_some(Way::Overlap),
    }
}

/// The direction from the second to the first in which their overlap shrinks fastest, and its extent that way [m].
///
/// Moving the first body by u changes the volume of the overlap by u·∮ n dA over its surface within the second.
fn way_out(x: &[Vec3], sides: &[Side; 2], gravity: Vec3) -> (Vec3, f64) {
    let mut change = Vec3::ZERO;
    let mut within = Vec::new();
    for (a, b, sign) in [(0, 1, 1.0), (1, 0, -1.0)] {
        let solid = Solid::new(x, &sides[b].triangles);
        let outward =
            if littoral_geom::mesh::enclosed_volume(x, &sides[a].triangles) < 0.0 { -sign } else { sign };
        for t in &sides[a].triangles {
            let [p, q, r] = t.map(|v| x[v as usize]);
            if solid.contains((p + q + r) / 3.0) {
                change += outward * 0.5 * (q - p).cross(r - p);
                within.extend([p, q, r]);
            }
        }
    }
    let center = |s: usize| sides[s].bounds(x).center();
    let apart = center(0) - center(1);
    let choices = [-change, apart, -gravity, Vec3::Z];
    let n = choices.into_iter().find(|n| n.length() > 0.0).unwrap_or(Vec3::Z).normalize();
    let smallest =
        [0, 1].map(|s| sides[s].bounds(x).extent().length()).into_iter().fold(f64::INFINITY, f64::min);
    let low = within.iter().map(|p| n.dot(*p)).fold(f64::INFINITY, f64::min);
    let high = within.iter().map(|p| n.dot(*p)).fold(f64::NEG_INFINITY, f64::max);
    // Also where the overlap is too small for the middle of any triangle to lie within.
    (n, (high - low).max(LEAST_EXTENT * smallest))
}
