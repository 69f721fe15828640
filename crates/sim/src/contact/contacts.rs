//! The contacts between two detections, by point: what they do to points, bodies and components.

use super::element::{Bridge, Contact, NO_SLOT, ROUNDING, Slip};
use super::place::Place;
use super::serve::Found;
use super::{ContactModel, law};
use crate::liquid::PARTICLE_COLOR;
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;

/// The contacts between two detections.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    pub(super) list: Vec<Contact>,
    offsets: Vec<u32>,
    items: Vec<u32>,
    pub(super) spare: Vec<Found>,
    pub(super) places: Vec<Place>,
}

/// What contacts do to a point.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Gradient [N].
    pub gradient: Vec3,
    /// Positive semidefinite Hessian [N/m].
    pub hessian: Mat3,
    /// Smallest distance [m] of those that press so hard that their law is steep; infinite without one.
    pub gap: f64,
    /// Moves up to this length begin no contact [m].
    pub clear: f64,
    /// Whether any contact acts.
    pub acts: bool,
}

impl Default for Block {
    /// That of a point without contacts.
    fn default() -> Self {
        Block {
            gradient: Vec3::ZERO,
            hessian: Mat3::ZERO,
            gap: f64::INFINITY,
            clear: f64::INFINITY,
            acts: false,
        }
    }
}

/// Sum of the weights of those points of a contact that move together with `v`.
#[inline]
pub(super) fn together(contact: &Contact, bridge: &Bridge, v: u32, color_of: &[u32]) -> f64 {
    let color = color_of[v as usize];
    let shares = contact.points().iter().zip(&bridge.weights);
    shares.filter(|(p, _)| color_of[**p as usize] == color).map(|(_, w)| w.abs()).sum()
}

/// Two points of a colour that bear a contact on its two sides with more than this share, as the product of their weights, take
/// turns. Smaller: more points go in a pass of their own. Larger: more of them move at once, each with the curvature of both, which
/// brings what they have in common to its place ten times more slowly.
const TURNS: f64 = 0.1;

impl Contacts {
    /// Pairs of points of the same colour below `colors` on the two sides of a contact that acts at `x` [m], the higher
    /// first, sorted: those that should not move at once.
    pub fn rivals(&self, x: &[Vec3], color_of: &[u32], colors: u32, out: &mut Vec<[u32; 2]>) {
        out.clear();
        for contact in self.list.iter().filter(|c| !c.has_particle()) {
            let points = contact.points();
            let (one, other) = points.split_at(contact.split());
            let alike = |p: u32, q: u32| {
                color_of[p as usize] < colors && color_of[p as usize] == color_of[q as usize]
            };
            if !one.iter().any(|&p| other.iter().any(|&q| alike(p, q))) {
                continue;
            }
            let bridge = contact.bridge(x);
            if bridge.distance >= contact.radius {
                continue;
            }
            for (i, &p) in one.iter().enumerate() {
                for (j, &q) in other.iter().enumerate() {
                    let share = bridge.weights[i] * bridge.weights[one.len() + j];
                    if p != q && alike(p, q) && share.abs() > TURNS {
                        out.push([p.max(q), p.min(q)]);
                    }
                }
            }
        }
        out.sort_unstable();
        out.dedup();
    }

    pub(super) fn index(&mut self, n: usize) {
        self.offsets.clear();
        self.offsets.resize(n + 1, 0);
        for c in &self.list {
            for &v in c.points() {
                self.offsets[v as usize + 1] += 1;
            }
        }
        for v in 0..n {
            self.offsets[v + 1] += self.offsets[v];
        }
        self.items.clear();
        self.items.resize(self.offsets[n] as usize, 0);
        for (k, c) in self.list.iter().enumerate() {
            for (slot, &v) in c.points().iter().enumerate() {
                self.items[self.offsets[v as usize] as usize] = (4 * k + slot) as u32;
                self.offsets[v as usize] += 1;
            }
        }
        for v in (1..=n).rev() {
            self.offsets[v] = self.offsets[v - 1];
        }
        self.offsets[0] = 0;
    }

    /// True when point `v` belongs to some contact element.
    #[inline]
    pub fn touches(&self, v: u32) -> bool {
        self.offsets[v as usize] < self.offsets[v as usize + 1]
    }

    /// Number of contact elements of point `v`.
    #[inline]
    pub(super) fn count_of(&self, v: u32) -> usize {
        (self.offsets[v as usize + 1] - self.offsets[v as usize]) as usize
    }

    /// True when point `v` shares a contact element with a simulated point of a solid.
    pub fn meets_simulated(&self, v: u32, color_of: &[u32]) -> bool {
        let row = self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize;
        self.items[row].iter().any(|item| {
            let points = self.list[(item >> 2) as usize].points();
            points.iter().any(|&p| color_of[p as usize] < PARTICLE_COLOR)
        })
    }

    /// What all contacts do to point `v`.
    ///
    /// Points of the same colour move at once: their shares of a contact are added to this point's curvature, so
    /// that simultaneous moves do not overshoot. What the points have `moved` since the detection (n) [m], at most, tells which
    /// contacts are too far away to act.
    pub fn block(&self, (v, x): (u32, &[Vec3]), slip: &Slip<'_>, color_of: &[u32], moved: &[f64]) -> Block {
        let mut block = Block::default();
        for (contact, slot) in self.of_point(v) {
            let beyond = contact.beyond(moved);
            if beyond > ROUNDING * contact.radius {
                block.clear = block.clear.min(beyond);
                continue;
            }
            let bridge = contact.bridge(x);
            let w = bridge.weights[slot];
            let Some(response) = contact.response(&bridge, x, slip, slot) else {
                block.clear = block.clear.min(bridge.distance - contact.radius);
                continue;
            };
            block.acts = true;
            if w == 0.0 {
                continue;
            }
            block.gradient += w * response.gradient;
            block.hessian += response.hessian * (w.abs() * together(contact, &bridge, v, color_of));
            if law::is_steep(bridge.distance, contact.radius) && !contact.has_particle() {
                block.gap = block.gap.min(bridge.distance);
            }
        }
        block
    }

    /// What the contacts that point `v` would begin by the move `step` [m] do to it: their gradient [N], continued linearly from
    /// there to where it is now, and their Hessian [N/m]. Only those that it meets itself: as a corner of what is met it bears a
    /// part, and its neighbours the rest.
    pub fn begun(
        &self,
        (v, x): (u32, &[Vec3]),
        step: Vec3,
        color_of: &[u32],
        moved: &[f64],
    ) -> Option<(Vec3, Mat3)> {
        let (mut found, way) = (None, step.length());
        for (contact, slot) in self.of_point(v).filter(|(_, slot)| *slot == 0) {
            if contact.beyond(moved) - way > ROUNDING * contact.radius {
                continue;
            }
            let moves = contact.points.map(|q| if q == v { step } else { Vec3::ZERO });
            let Some((bridge, response)) = contact.begins(x, moves, slot) else { continue };
            let w = bridge.weights[slot];
            let hessian = response.hessian * (w.abs() * together(contact, &bridge, v, color_of));
            let (g, h) = found.get_or_insert((Vec3::ZERO, Mat3::ZERO));
            *g += w * response.gradient - hessian * step;
            *h += hessian;
        }
        found
    }

    /// The contacts of point `v`, with its slot in each.
    #[inline]
    pub fn of_point(&self, v: u32) -> impl Iterator<Item = (&Contact, usize)> {
        let row = self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize;
        self.items[row].iter().map(|&item| (&self.list[(item >> 2) as usize], (item & 3) as usize))
    }

    /// Numbers of the contacts that hold any of the `points`, sorted, each once: those of a body.
    pub fn of_points(&self, points: &[u32], out: &mut Vec<u32>) {
        out.clear();
        for &v in points {
            let row = self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize;
            out.extend(self.items[row].iter().map(|item| item >> 2));
        }
        out.sort_unstable();
        out.dedup();
    }

    /// All contacts, in their order.
    pub fn all(&self) -> &[Contact] {
        &self.list
    }

    /// The contact of this number.
    #[inline]
    pub fn get(&self, number: u32) -> &Contact {
        &self.list[number as usize]
    }

    /// Calls `visit(side, other, point, gradient, hessian)` for both sides of every acting contact between different
    /// components: the contact point on that side, gradient [N] and positive semidefinite Hessian [N/m] there.
    pub fn for_each_side(
        &self,
        x: &[Vec3],
        slip: &Slip<'_>,
        component: &[u32],
        mut visit: impl FnMut(u32, u32, Vec3, Vec3, Mat3),
    ) {
        for contact in &self.list {
            let split = contact.split();
            let (a, b) = (component[contact.points[0] as usize], component[contact.points[split] as usize]);
            if a == b {
                continue;
            }
            let bridge = contact.bridge(x);
            // A particle never moves as a body: what is visited here is the solid it touches.
            let Some(response) = contact.response(&bridge, x, slip, NO_SLOT) else { continue };
            let [point_a, point_b] = contact.ends(&bridge, x);
            visit(a, b, point_a, response.gradient, response.hessian);
            visit(b, a, point_b, -response.gradient, response.hessian);
        }
    }

    /// Adds the force of particles on each object [N] at the positions `x` [m].
    pub fn add_particle_forces(&self, model: &ContactModel, x: &[Vec3], out: &mut [Vec3]) {
        for contact in self.list.iter().filter(|c| c.has_particle()) {
            let bridge = contact.bridge(x);
            if bridge.distance >= contact.radius {
                continue;
            }
            let (force, _) = law::force_and_curvature(bridge.distance, contact.stiffness, contact.radius);
            let slot = contact.particle as usize;
            // The weight of the particle tells which way the normal points.
            let away = bridge.weights[slot] * bridge.normal;
            let other = contact.points[if slot == 0 { 1 } else { 0 }];
            out[model.object_of(other) as usize] -= force * away;
        }
    }

    /// Adds the force of contacts on each object [N] at the positions `x` [m], those with particles and those within one
    /// object left out.
    pub fn add_solid_forces(&self, model: &ContactModel, x: &[Vec3], slip: &Slip<'_>, out: &mut [Vec3]) {
        let between = |contact: &Contact| {
            let [a, b] = [0, contact.split()].map(|s| model.object_of(contact.points[s]) as usize);
            if a == b || contact.has_particle() {
                return None;
            }
            let response = contact.response(&contact.bridge(x), x, slip, NO_SLOT)?;
            Some((a, b, response.gradient))
        };
        let forces: Vec<_> = self.list.par_iter().with_min_len(256).filter_map(between).collect();
        // One after the other, so that the sum does not depend on the number of threads.
        for (a, b, gradient) in forces {
            out[a] -= gradient;
            out[b] += gradient;
        }
    }

    /// Calls `visit(points, weights, split, hessian)` for every acting contact: its points, the first `split` of them on
    /// the first side, and their weights w; the Hessian of the points s and t is w_s w_t times the given one [N/m].
    pub fn for_each_acting(
        &self,
        x: &[Vec3],
        slip: &Slip<'_>,
        mut visit: impl FnMut(&[u32], &[f64], usize, Mat3),
    ) {
        for contact in &self.list {
            let bridge = contact.bridge(x);
            // Its own curvature, as the particle feels it: no side is asked alone.
            let Some(response) = contact.response(&bridge, x, slip, contact.particle as usize) else {
                continue;
            };
            let points = contact.points();
            visit(points, &bridge.weights[..points.len()], contact.split(), response.hessian);
        }
    }

    /// Calls `visit(points, split, energy)` for every acting contact: as above, and its energy [J] without friction.
    pub fn for_each_energy(&self, x: &[Vec3], mut visit: impl FnMut(&[u32], usize, f64)) {
        for c in &self.list {
            let d = c.bridge(x).distance;
            if d < c.radius {
                visit(c.points(), c.split(), law::energy(d, c.stiffness, c.radius));
            }
        }
    }

    /// Number of contacts closer than their radius at `x`, and their energy [J].
    pub fn active(&self, x: &[Vec3]) -> (u32, f64) {
        let mut count = 0;
        let mut energy = 0.0;
        for c in &self.list {
            let d = c.bridge(x).distance;
            if d < c.radius {
                count += 1;
                energy += law::energy(d, c.stiffness, c.radius);
            }
        }
        (count, energy)
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::Kind;
    use super::*;
    use littoral_geom::random::Random;

    const R: f64 = 2e-3;

    /// Contacts between random features at about twice their radius, whose points then move.
    #[test]
    fn contacts_too_far_away_to_act_are_left_out_without_a_trace() {
        let mut random = Random::new(21);
        let (mut acting, mut skipped) = (0, 0);
        for _ in 0..2000 {
            let at: Vec<Vec3> = (0..8).map(|_| 2.0 * R * random.in_cube(1.0)).collect();
            let kinds = [
                (Kind::PointFace, [0, 1, 2, 3]),
                (Kind::EdgeEdge, [0, 4, 5, 6]),
                (Kind::PointEdge, [0, 3, 7, 0]),
                (Kind::PointPoint, [0, 6, 0, 0]),
            ];
            let known = kinds.map(|(kind, points)| {
                let far = Contact { kind, points, radius: R, goal: R, stiffness: 1e3, ..Contact::NONE };
                Contact { gap: far.bridge(&at).distance, friction: 0.3, ..far }
            });
            let mut contacts = Contacts::default();
            contacts.list.extend(known);
            contacts.index(at.len());
            let way = R * random.log_between(1e-3, 1.0);
            let x: Vec<Vec3> = at.iter().map(|p| *p + way * random.in_cube(1.0)).collect();
            let moved: Vec<f64> = at.iter().zip(&x).map(|(a, b)| a.distance(*b)).collect();
            let nowhere = vec![f64::INFINITY; at.len()];
            let (slip, colors) = (Slip { x_n: &at, targets: &[] }, [0, 1, 2, 3, 4, 5, 6, 7]);
            let blocks = [&moved, &nowhere].map(|moved| contacts.block((0, &x), &slip, &colors, moved));
            let [block, all] = blocks;
            assert_eq!((block.gradient, block.hessian), (all.gradient, all.hessian));
            assert_eq!((block.gap, block.acts), (all.gap, all.acts));
            assert!(block.clear <= all.clear, "{} m and {} m", block.clear, all.clear);
            let step = R * random.in_cube(1.0);
            let begun = [&moved, &nowhere].map(|moved| contacts.begun((0, &x), step, &colors, moved));
            assert_eq!(begun[0], begun[1]);
            acting += u32::from(all.acts);
            skipped += contacts.list.iter().filter(|c| c.beyond(&moved) > 0.0).count();
        }
        assert!(acting > 200 && skipped > 200, "{acting} act, {skipped} are left out");
    }
}
