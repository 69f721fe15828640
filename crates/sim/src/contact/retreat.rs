//! How far a pressed point gives way in one step of block descent.
//!
//! Below half its radius a contact pushes with f = A/d, and one Newton step away from it only doubles the distance d: a
//! collider that presses from a twentieth of the radius would be answered a twentieth at a time. So where such a step opens
//! the gap by much, the point's own problem is solved further: with the elements and inertia as they were linearised,
//! and each contact followed along its normal.
//!
//! Points that move at once share a contact as in `Contacts::block`. By convexity
//! E(d + Σ w_s a_s) ≤ Σ (|w_s|/W) E(d ± W a_s) (Jensen): each follows the contact as if all of them did what it does.

use super::contacts::together;
use super::element::{Contact, Response, Slip};
use super::{Contacts, law};
use littoral_geom::math::{Mat3, Vec3};

/// Share of a gap by which a step must open it for another one to be made: below, a Newton step of the logarithm errs by
/// some hundredths. Smaller: more work for what truncation and neighbours change anyway.
const OPENS: f64 = 0.25;

/// Steps of one point at most. A gap doubles in each: from a thousandth of the radius to half of it.
const ROUNDS: usize = 10;

/// Share of a gap that a further step of the point may close: the contacts ahead of it answer before it reaches them.
const CLOSES: f64 = 0.5;

/// A contact of the point that is followed, in the frame of its positions at the start.
#[derive(Clone, Copy, Debug)]
struct Followed<'a> {
    contact: &'a Contact,
    slot: usize,
    /// The point's weight, and how far contact moves for each metre of the point, counting what moves at once.
    weight: f64,
    reach: f64,
    normal: Vec3,
    /// Distance, and slip since the start of the step [m].
    distance: f64,
    slip: Vec3,
}

impl Followed<'_> {
    /// Distance when the point has moved by `step` [m].
    fn distance(&self, step: Vec3) -> f64 {
        self.distance + self.reach * self.normal.dot(step)
    }

    fn response(&self, step: Vec3) -> Option<Response> {
        let slip = self.slip + self.reach * step;
        self.contact.response_at(self.normal, self.distance(step), slip, self.slot)
    }

    /// True where the step from `before` to `after` opens the contact by so much that its law is another one there.
    fn opens(&self, before: Vec3, after: Vec3) -> bool {
        let d = self.distance(before);
        law::is_steep(d, self.contact.radius) && self.distance(after) - d > OPENS * d
    }

    /// Share of `more` beyond `step` that closes the gap by no more than `CLOSES` of it.
    fn room(&self, step: Vec3, more: Vec3) -> f64 {
        let approach = -self.reach * self.normal.dot(more);
        let room = CLOSES * self.distance(step);
        if approach > room { room / approach } else { 1.0 }
    }
}

impl Contacts {
    /// True where a step of this length [m] may open a contact at the distance `gap` [m] by so much that its law is another
    /// one there.
    #[inline]
    pub fn may_open(gap: f64, step: Vec3) -> bool {
        step.length_squared() > (OPENS * gap) * (OPENS * gap)
    }

    /// The step of point `v` from the positions `x` [m] when its first Newton step is `step` [m], with gradient [N] and
    /// Hessian [N/m] of all but its contacts in `rest`; and the Hessian at its end. `solve` solves a positive definite system.
    pub fn retreat(
        &self,
        (v, x): (u32, &[Vec3]),
        slip: &Slip<'_>,
        color_of: &[u32],
        rest: (Vec3, Mat3),
        mut step: (Vec3, Mat3),
        solve: impl Fn(&Mat3, Vec3) -> Vec3,
    ) -> (Vec3, Mat3) {
        let (mut gradient, mut hessian) = rest;
        let mut followed = Vec::with_capacity(self.count_of(v));
        for (contact, slot) in self.of_point(v) {
            let bridge = contact.bridge(x);
            let weight = bridge.weights[slot];
            if weight == 0.0 {
                continue;
            }
            let together = together(contact, &bridge, v, color_of);
            if contact.has_particle() {
                // Its particle answers in every sweep: it stays as it was linearised.
                if let Some(response) = contact.response(&bridge, x, slip, slot) {
                    gradient += weight * response.gradient;
                    hessian += response.hessian * (weight.abs() * together);
                }
                continue;
            }
            followed.push(Followed {
                contact,
                slot,
                weight,
                reach: together.copysign(weight),
                normal: bridge.normal,
                distance: bridge.distance,
                slip: contact.slip(&bridge, x, slip),
            });
        }
        let room = |step, more| followed.iter().map(|f| f.room(step, more)).fold(1.0, f64::min);
        let mut before = Vec3::ZERO;
        for round in 1..ROUNDS {
            if !followed.iter().any(|f| f.opens(before, step.0)) {
                break;
            }
            if round == 1 {
                // The first step knows nothing of what does not act yet.
                step.0 *= room(before, step.0);
            }
            let (mut g, mut h) = (gradient + hessian * step.0, hessian);
            for f in &followed {
                if let Some(response) = f.response(step.0) {
                    g += f.weight * response.gradient;
                    h += response.hessian * (f.weight * f.reach);
                }
            }
            let more = solve(&h, -g);
            before = step.0;
            step = (before + room(before, more) * more, h);
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::super::contacts::Block;
    use super::super::element::Kind;
    use super::*;

    const R: f64 = 2e-3;
    const K: f64 = 3e3;

    /// Points at the heights `z`, and a contact of point 0 with each of the others.
    fn contacts(z: &[f64], friction: f64) -> (Vec<Vec3>, Contacts) {
        let x: Vec<Vec3> = z.iter().map(|&z| Vec3::Z * z).collect();
        let contact = |k: u32| Contact {
            kind: Kind::PointPoint,
            points: [0, k, 0, 0],
            radius: R,
            goal: R,
            stiffness: K,
            friction,
            ..Contact::NONE
        };
        let mut contacts = Contacts::default();
        contacts.list.extend((1..z.len() as u32).map(contact));
        contacts.index(z.len());
        (x, contacts)
    }

    fn divide(h: &Mat3, b: Vec3) -> Vec3 {
        h.inverse() * b
    }

    /// The step of point 0 with the weight `w` [N/m], and forces at its end.
    fn step(x: &[Vec3], contacts: &Contacts, pull: Vec3, w: f64, colors: &[u32]) -> Vec3 {
        let rest = (pull, Mat3::from_diagonal(Vec3::splat(w)));
        let slip = Slip { x_n: x, targets: &[] };
        let Block { gradient: g, hessian: h, gap, .. } =
            contacts.block((0, x), &slip, colors, &vec![f64::INFINITY; x.len()]);
        let first = (divide(&(rest.1 + h), -(rest.0 + g)), rest.1 + h);
        assert!(Contacts::may_open(gap, first.0), "it is pressed");
        contacts.retreat((0, x), &slip, colors, rest, first, divide).0
    }

    /// ```text
    ///      0        w s = A/(d + s): the point goes to where its own force holds it
    ///      1        against what presses from a thousandth of the radius
    /// ```
    #[test]
    fn one_step_ends_where_forces_balance() {
        let d = 1e-3 * R;
        let (x, contacts) = contacts(&[d, 0.0], 0.3);
        for w in [1e2, 1e4, 1e6] {
            let s = step(&x, &contacts, Vec3::new(1e-3, 0.0, 0.0), w, &[0, 1]);
            let (force, _) = law::force_and_curvature(d + s.z, K, R);
            // The last step opens the gap by a quarter at most: Newton errs by its square, 1/16, of the force.
            assert!(
                (force - w * s.z).abs() < 0.07 * force.max(1e-9 * K * R),
                "{w}: {force} N against {}",
                w * s.z
            );
        }
    }

    #[test]
    fn points_that_move_at_once_do_not_overshoot_together() {
        let d = 1e-2 * R;
        let (x, contacts) = contacts(&[d, 0.0], 0.0);
        let s = step(&x, &contacts, Vec3::ZERO, 1e4, &[0, 0]);
        // Both go as far; the force of one is not below what the gap between them pushes with.
        let (force, _) = law::force_and_curvature(d + 2.0 * s.z, K, R);
        assert!(force > 0.93 * 1e4 * s.z, "{force} N against {}", 1e4 * s.z);
    }

    /// The first step alone would go six radii far, and through what does not act at its start.
    #[test]
    fn a_contact_beyond_its_radius_is_not_passed() {
        let d = 1e-3 * R;
        let (x, contacts) = contacts(&[d, 0.0, 1.1 * R], 0.0);
        let s = step(&x, &contacts, Vec3::Z * -1e7, 1.0, &[0, 1, 2]);
        assert!((0.0..1.1 * R - d).contains(&s.z), "{} m", s.z);
    }

    /// ```text
    ///      2   ahead
    ///      0
    ///      1   presses
    /// ```
    #[test]
    fn a_contact_ahead_answers_before_it_is_reached() {
        let (d, gap) = (1e-3 * R, 0.2 * R);
        let (x, contacts) = contacts(&[d, 0.0, d + gap], 0.0);
        let s = step(&x, &contacts, Vec3::ZERO, 1.0, &[0, 1, 2]);
        // In the middle between both, to the same sixteenth.
        let middle = 0.5 * (gap - d);
        assert!((s.z - middle).abs() < 0.07 * gap, "{} m of {middle}", s.z);
    }
}
