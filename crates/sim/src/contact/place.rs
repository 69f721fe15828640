//! Contacts of rigid bodies at the same place, which share its stiffness.
//!
//! Where faces meet flat and corner to corner, a place is served by one contact or by up to four: a corner over a face, two
//! corners beside edges, two edges that cross. A thousandth of the contact radius decides which. With the whole stiffness for
//! each of them a pressed place would gain energy where one is added and let go of what it bears where one is dropped; both
//! shake what rests, and shaking changes the choice again. An arch of 25 stones, whose joints held 6 J and gained mostly 20 to 40 J
//! a second so, went on rocking for ever.
//!
//! So contact i has the share
//!
//! ωᵢ = cᵢ/Σⱼ φᵢⱼ,   φᵢⱼ = f(s) max(0, nᵢ·nⱼ)²,   f(s) = (1 − s²)² below s = 1,
//!
//! of its stiffness, where the sum is over the contacts between the same two components, i among them, and s is the distance
//! of the contact points of i and j on either side, the larger of the two, over the contact radius. Of m contacts at one
//! place each has 1/m, one that is farther than the radius from all others has the whole, and in between the shares go
//! over smoothly. cᵢ is 1, but up to 2 where both sides have a point at the place, each of which is to be stopped:
//! the sum of f over the nearest point of i on either side.

use super::element::Contact;
use super::{ContactModel, Contacts};
use littoral_geom::math::Vec3;
use rayon::prelude::*;

/// Contacts that a parallel task places, at least.
const TASK: usize = 256;

/// A contact whose radius is smaller than this share of another one's is kept for its last resort, and serves no place.
const SERVES: f64 = 0.5;

/// Where a contact acts, its first side being that of the lower component.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The components of both sides, the lower first.
    pair: [u32; 2],
    /// Number of the contact.
    number: u32,
    /// Contact points on the two sides [m].
    ends: [Vec3; 2],
    /// Unit direction from the second side to the first.
    normal: Vec3,
    /// Contact radius [m].
    radius: f64,
    /// How many points are at the place, c, from 1 to 2.
    corners: f64,
    /// How many contacts are, Σⱼ φᵢⱼ.
    crowd: f64,
}

/// f of two points at this squared distance [m²]: 1 at one place, 0 at two that are farther apart than the `radius` [m].
fn nearness(distance_sq: f64, radius: f64) -> f64 {
    (1.0 - distance_sq / (radius * radius)).max(0.0).powi(2)
}

impl Place {
    fn of(contact: &Contact, number: usize, x: &[Vec3], component: &[u32]) -> Place {
        let bridge = contact.bridge(x);
        let [a, b] = contact.ends(&bridge, x);
        let [first, second] = [0, contact.split()].map(|s| component[contact.points[s] as usize]);
        let (number, normal, radius) = (number as u32, bridge.normal, contact.goal);
        let (one, other) = contact.points().split_at(contact.split());
        let near = |points: &[u32], end: Vec3| {
            let nearness = |v: &u32| nearness(x[*v as usize].distance_squared(end), radius);
            points.iter().map(nearness).fold(0.0, f64::max)
        };
        let corners = (near(one, a) + near(other, b)).max(1.0);
        let (pair, ends, normal) = if first <= second {
            ([first, second], [a, b], normal)
        } else {
            ([second, first], [b, a], -normal)
        };
        Place { pair, number, ends, normal, radius, corners, crowd: 1.0 }
    }

    /// φ of two contacts: 1 at one place, 0 at two.
    fn overlap(&self, other: &Place) -> f64 {
        let radius = self.radius.max(other.radius);
        if self.radius.min(other.radius) < SERVES * radius {
            return 0.0;
        }
        let [a, b] = [0, 1].map(|k| self.ends[k].distance_squared(other.ends[k]));
        nearness(a.max(b), radius) * self.normal.dot(other.normal).max(0.0).powi(2)
    }
}

/// Counts the crowds of the contacts of one pair of components, and sorts them along an axis.
fn count_crowds(group: &mut [Place]) {
    let corner = |pick: fn(Vec3, Vec3) -> Vec3| group.iter().map(|p| p.ends[0]).reduce(pick);
    let size = corner(Vec3::max).zip(corner(Vec3::min)).map_or(Vec3::ZERO, |(high, low)| high - low);
    let axis = size.max_position();
    // What is farther apart along one axis than the radius is at two places.
    group.sort_unstable_by(|a, b| a.ends[0][axis].total_cmp(&b.ends[0][axis]).then(a.number.cmp(&b.number)));
    let widest = group.iter().map(|p| p.radius).fold(0.0, f64::max);
    for i in 0..group.len() {
        let (place, after) = group[i..].split_at_mut(1);
        let last = place[0].ends[0][axis] + widest;
        for other in after.iter_mut().take_while(|p| p.ends[0][axis] <= last) {
            let overlap = place[0].overlap(other);
            place[0].crowd += overlap;
            other.crowd += overlap;
        }
    }
}

impl ContactModel {
    /// True when a rigid body meets another one, or a collider.
    fn is_stiff(&self, points: &[u32]) -> bool {
        let keeps_shape = |v: &u32| self.rigid[*v as usize] || self.mass[*v as usize] == 0.0;
        self.meets_body(points) && points.iter().all(keeps_shape)
    }

    /// Gives the contacts of rigid bodies with each other and with colliders their shares of the stiffness of their places at
    /// `x` [m].
    pub(super) fn share_places(&self, x: &[Vec3], component: &[u32], contacts: &mut Contacts) {
        if self.rigid.is_empty() {
            return;
        }
        let all = contacts.list.par_iter().enumerate().with_min_len(TASK);
        let stiff = all.filter(|(_, c)| !c.has_particle() && self.is_stiff(c.points()));
        let places = &mut contacts.places;
        places.clear();
        places.par_extend(stiff.map(|(k, c)| Place::of(c, k, x, component)));
        places.sort_unstable_by_key(|p| (p.pair, p.number));
        for group in places.chunk_by_mut(|a, b| a.pair == b.pair) {
            count_crowds(group);
            for place in &*group {
                contacts.list[place.number as usize].stiffness *= place.corners / place.crowd;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::Kind;
    use super::*;
    use littoral_geom::random::Random;

    const R: f64 = 2e-3;

    fn place(number: u32, at: Vec3, normal: Vec3) -> Place {
        Place {
            pair: [0, 1],
            number,
            ends: [at + 0.8 * R * normal, at],
            normal,
            radius: R,
            corners: 1.0,
            crowd: 1.0,
        }
    }

    /// With their crowds.
    fn crowded(places: &[Place]) -> Vec<Place> {
        let mut places = places.to_vec();
        count_crowds(&mut places);
        places
    }

    /// Σ ω.
    fn stiffness(places: &[Place]) -> f64 {
        crowded(places).iter().map(|p| 1.0 / p.crowd).sum()
    }

    #[test]
    fn a_place_is_as_stiff_as_one_contact_however_many_serve_it() {
        let mut random = Random::new(5);
        for _ in 0..1000 {
            let n = random.direction();
            // A second place, ten radii away, and a third one that faces another way.
            let across = n.any_orthonormal_vector();
            let far = [place(8, 10.0 * R * across, n), place(9, Vec3::ZERO, across)];
            let spread = random.log_between(1e-9, 1e-3) * R;
            let mut at: Vec<Place> = Vec::new();
            for k in 0..4 {
                at.push(place(k, spread * random.in_cube(1.0), n));
                let all = [&at[..], &far].concat();
                // Two points are at most 2√3 spread apart on a side: 1 − (1 − s²)² < 2 s², s ≤ 3.5e-3.
                let total = stiffness(&all);
                assert!((total - 3.0).abs() < 2.5e-5, "{} contacts: {total} times the stiffness", k + 1);
            }
        }
    }

    #[test]
    fn contacts_that_part_go_over_smoothly_to_their_whole_stiffness() {
        let total = |s: f64| stiffness(&[place(0, Vec3::ZERO, Vec3::Z), place(1, s * R * Vec3::X, Vec3::Z)]);
        assert_eq!((total(0.0), total(1.0), total(7.0)), (1.0, 2.0, 2.0));
        // 2/(1 + φ) has the slope 2 |φ′|/(1 + φ)² < 2 · 1.54 with |φ′| = 4 s (1 − s²) ≤ 8/(3√3).
        let steps = 1000;
        for k in 0..steps {
            let [a, b] = [k, k + 1].map(|k| total(1.2 * f64::from(k) / f64::from(steps)));
            assert!(b >= a && b - a < 3.1 * 1.2 / f64::from(steps), "from {a} to {b}");
        }
    }

    #[test]
    fn sorting_along_an_axis_finds_what_all_pairs_do() {
        let mut random = Random::new(6);
        for _ in 0..200 {
            let extent = random.log_between(0.5, 30.0) * R;
            let places: Vec<Place> =
                (0..20).map(|k| place(k, extent * random.in_cube(1.0), random.direction())).collect();
            for p in crowded(&places) {
                let others = places.iter().filter(|q| q.number != p.number);
                let all = 1.0 + others.map(|q| p.overlap(q)).sum::<f64>();
                // Sums of 20 numbers up to one in another order.
                assert!((all - p.crowd).abs() < 1e-13, "{} and {all}", p.crowd);
            }
        }
    }

    /// A corner over a triangle, at this distance from one of its corners.
    #[test]
    fn a_corner_over_a_corner_counts_twice_and_over_a_face_once() {
        let contact = Contact { kind: Kind::PointFace, points: [0, 1, 2, 3], goal: R, ..Contact::NONE };
        let corners = |s: f64| {
            let at = Vec3::new(s * R, s * R, 0.0);
            let x = [at + 0.8 * R * Vec3::Z, Vec3::ZERO, Vec3::X, Vec3::Y];
            Place::of(&contact, 0, &x, &[0, 1, 1, 1]).corners
        };
        assert_eq!((corners(0.0), corners(1.0), corners(30.0)), (2.0, 1.0, 1.0));
        // s² is 2 · 0.3².
        assert!((corners(0.3) - 1.0 - 0.82_f64.powi(2)).abs() < 1e-14);
    }

    #[test]
    fn what_is_kept_for_a_last_resort_takes_no_share() {
        let last = Place { radius: 0.1 * R, ..place(1, Vec3::ZERO, Vec3::Z) };
        let found = crowded(&[place(0, Vec3::ZERO, Vec3::Z), last]);
        assert_eq!([found[0].crowd, found[1].crowd], [1.0, 1.0]);
    }
}
