//! One contact element: which features meet, the bridge between them, and what it does to either side.

use super::law;
use littoral_geom::distance::{closest_edge_edge, closest_point_edge, closest_point_triangle};
use littoral_geom::math::{Mat3, Vec3, outer};

/// Which features meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    PointPoint,
    PointEdge,
    PointFace,
    EdgeEdge,
}

/// The slot of the particle in a contact without one.
pub(super) const NO_PARTICLE: u8 = 4;

/// Share of the limit from which a contact slides: what is cut to it is off by a rounding.
const SLIDING: f64 = 1.0 - 1e-9;

/// Stiffness of a contact along itself, over that across it. On a slope of tan α = μ what falls on it goes μ times as far along it
/// as into it: with 1 friction would reach its limit just then, and rounding would decide. Larger: slower convergence.
const ALONG: f64 = 2.0;

/// What rounding may take of a distance, as a share of the contact radius: far more than it does, and far less than
/// makes a difference to what is looked at.
pub(super) const ROUNDING: f64 = 1e-6;

/// No slot of a contact: asked for what its solid side feels.
pub const NO_SLOT: usize = 5;

/// One contact element.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    pub(super) kind: Kind,
    /// Its points; unused slots repeat the first.
    pub(super) points: [u32; 4],
    /// Contact radius of this pair [m], the distance at which it begins in this step.
    pub(super) radius: f64,
    /// The radius it grows to [m].
    pub(super) goal: f64,
    /// Share of its stiffness that it has kept since features chose it last [–], in (0, 1].
    pub(super) share: f64,
    /// Stiffness k [N/m].
    pub(super) stiffness: f64,
    /// Friction coefficient μ [–].
    pub(super) friction: f64,
    /// Slot of a fluid particle in `points`, or 4.
    pub(super) particle: u8,
    /// Inertia m/h² of that particle [N/m]; infinite without one.
    pub(super) give: f64,
    /// Force that friction ended the last step with, as a gradient on the first side [N].
    pub(super) grip: Vec3,
    /// It slid at the end of the last step.
    pub(super) slid: bool,
    /// Sides of its triangle beyond which the face goes on flat: bit k for side k.
    pub(super) seams: u8,
    /// Its sides are at least that far apart at the detection [m]; −∞ where nothing is known.
    pub(super) gap: f64,
}

/// A contact at given positions: the bridge between the two sides.
#[derive(Clone, Copy, Debug)]
pub struct Bridge {
    /// Weights of the four points; positive on the first side, they sum to zero.
    pub weights: [f64; 4],
    /// Unit direction from the second side to the first.
    pub normal: Vec3,
    /// Distance [m].
    pub distance: f64,
}

impl Kind {
    /// The kind with this number, the last one for any that is none.
    pub(super) fn from_number(number: u8) -> Kind {
        match number {
            0 => Kind::PointPoint,
            1 => Kind::PointEdge,
            2 => Kind::PointFace,
            _ => Kind::EdgeEdge,
        }
    }

    /// Number of points.
    #[inline]
    pub(super) fn used(self) -> usize {
        match self {
            Kind::PointPoint => 2,
            Kind::PointEdge => 3,
            Kind::PointFace | Kind::EdgeEdge => 4,
        }
    }

    /// Number of points on the first side.
    #[inline]
    pub(super) fn split(self) -> usize {
        if self == Kind::EdgeEdge { 2 } else { 1 }
    }
}

/// What a contact does to its first side at the contact point there. The second side feels the opposite force and the
/// same curvature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Normal force [N], ≥ 0.
    pub force: f64,
    /// Gradient by the contact point [N]: what friction resists less the normal force along the normal.
    pub gradient: Vec3,
    /// Positive semidefinite Hessian by the contact point [N/m].
    pub hessian: Mat3,
}

/// What friction measures from, and what particles give way from.
#[derive(Clone, Copy, Debug)]
pub struct Slip<'a> {
    /// Positions at the start of the step (n) [m].
    pub x_n: &'a [Vec3],
    /// Inertial targets (n) [m]; where it is empty, particles stay where they are.
    pub targets: &'a [Vec3],
}

impl Contact {
    /// A contact that does nothing.
    pub(super) const NONE: Contact = Contact {
        kind: Kind::PointPoint,
        points: [0; 4],
        radius: 0.0,
        goal: 0.0,
        share: 1.0,
        stiffness: 0.0,
        friction: 0.0,
        particle: NO_PARTICLE,
        give: f64::INFINITY,
        grip: Vec3::ZERO,
        slid: false,
        seams: 0,
        gap: f64::NEG_INFINITY,
    };

    /// Its points, those of the first side first.
    #[inline]
    pub fn points(&self) -> &[u32] {
        &self.points[..self.kind.used()]
    }

    /// True when one of its points is a particle of a fluid.
    #[inline]
    pub(super) fn has_particle(&self) -> bool {
        self.particle != NO_PARTICLE
    }

    /// Number of points on the first side.
    #[inline]
    pub fn split(&self) -> usize {
        self.kind.split()
    }

    /// Distance beyond its radius [m] that is left at least where its points have `moved` by these lengths since the detection
    /// (n) [m]: a convex combination of points moves no farther than the farthest of them.
    #[inline]
    pub(super) fn beyond(&self, moved: &[f64]) -> f64 {
        // Slots that are not used repeat the first, which only makes the second side move farther.
        let [a, b, c, d] = self.points.map(|v| moved[v as usize]);
        let sides = if self.split() == 1 { a + b.max(c).max(d) } else { a.max(b) + c.max(d) };
        self.gap - self.radius - sides
    }

    /// It is too far away to act, for all that its points can have `moved` since the detection (n) [m].
    #[inline]
    pub fn is_beyond(&self, moved: &[f64]) -> bool {
        self.beyond(moved) > ROUNDING * self.radius
    }

    /// The bridge at the positions `x` [m].
    #[inline]
    pub fn bridge(&self, x: &[Vec3]) -> Bridge {
        self.bridge_of(self.at(x))
    }

    #[inline]
    fn at(&self, x: &[Vec3]) -> [Vec3; 4] {
        self.points.map(|v| x[v as usize])
    }

    /// The bridge where its points are at `p` [m].
    #[inline]
    fn bridge_of(&self, p: [Vec3; 4]) -> Bridge {
        let (weights, between) = match self.kind {
            Kind::PointPoint => ([1.0, -1.0, 0.0, 0.0], p[0] - p[1]),
            Kind::PointEdge => {
                let c = closest_point_edge(p[0], p[1], p[2]);
                ([1.0, c.t - 1.0, -c.t, 0.0], p[0] - c.point)
            }
            Kind::PointFace => {
                let c = closest_point_triangle(p[0], [p[1], p[2], p[3]]);
                if self.seams != 0
                    && let Some(bridge) = self.beyond_seam(c.region, p)
                {
                    return bridge;
                }
                ([1.0, -c.bary[0], -c.bary[1], -c.bary[2]], p[0] - c.point)
            }
            Kind::EdgeEdge => {
                let c = closest_edge_edge(p[0], p[1], p[2], p[3]);
                ([1.0 - c.s, c.s, c.t - 1.0, -c.t], c.point_a - c.point_b)
            }
        };
        let distance = between.length();
        let normal = if distance > 0.0 { between / distance } else { Vec3::ZERO };
        Bridge { weights, normal, distance }
    }

    /// The contact points on the first and on the second side [m], for a bridge at `x`.
    pub fn ends(&self, bridge: &Bridge, x: &[Vec3]) -> [Vec3; 2] {
        let mut ends = [Vec3::ZERO; 2];
        for (s, (&p, &w)) in self.points().iter().zip(&bridge.weights).enumerate() {
            if s < self.split() {
                ends[0] += w * x[p as usize];
            } else {
                ends[1] -= w * x[p as usize];
            }
        }
        ends
    }

    /// Curvature that a point of the solid side feels when it moves: the particle, whose block holds nothing else,
    /// gives way at once. This is the Schur complement of the particle's unknowns [Xie 2023, §5].
    #[inline]
    fn yielding(&self, curvature: f64) -> f64 {
        if self.give < f64::INFINITY && curvature > 0.0 {
            curvature * self.give / (curvature + self.give)
        } else {
            curvature
        }
    }

    /// What the contact does at the positions `x` [m], where it makes this bridge; `None` where it does not act. `slot`
    /// is the one of the points that moves: to a particle its contact does not yield.
    ///
    /// This is the force law of a contact, and its only place: blocks of points and of bodies both ask here.
    #[inline]
    pub fn response(&self, bridge: &Bridge, x: &[Vec3], slip: &Slip<'_>, slot: usize) -> Option<Response> {
        if bridge.distance >= self.radius {
            return None;
        }
        let u = if self.friction > 0.0 { self.slip(bridge, x, slip) } else { Vec3::ZERO };
        let response = self.response_at(bridge.normal, bridge.distance, u, slot)?;
        if !self.has_particle() || slot == self.particle as usize || slip.targets.is_empty() {
            return Some(response);
        }
        let force = self.yielded(response.force, bridge, x, slip.targets);
        let gradient = response.gradient + (response.force - force) * bridge.normal;
        Some(Response { force, gradient, ..response })
    }

    /// What is left of the `force` [N] on the solid once the particle has given way as [`yielding`](Self::yielding) says:
    /// its inertia a and the contact's curvature k leave f − k (f − a s)/(a + k), where a s is the force that would hold it at
    /// this distance from its target. A particle at rest between both leaves all of f; one that has not come away from the
    /// surface yet, f being large, leaves no more than what its motion is worth. It is taken to give way, never to follow.
    fn yielded(&self, force: f64, bridge: &Bridge, x: &[Vec3], targets: &[Vec3]) -> f64 {
        let slot = self.particle as usize;
        let p = self.points[slot] as usize;
        let away = bridge.weights[slot] * bridge.normal;
        let held_by = self.give * (x[p] - targets[p]).dot(away);
        let (_, curvature) = law::force_and_curvature(bridge.distance, self.stiffness, self.radius);
        let way = ((force - held_by) / (self.give + curvature)).max(0.0);
        (force - curvature * way).max(0.0)
    }

    /// The same at a `distance` [m] along the normal `n`, with the slip `u` [m].
    #[inline]
    pub(super) fn response_at(&self, n: Vec3, distance: f64, u: Vec3, slot: usize) -> Option<Response> {
        if distance >= self.radius {
            return None;
        }
        let (force, curvature) = law::force_and_curvature(distance, self.stiffness, self.radius);
        let curvature = if slot == self.particle as usize { curvature } else { self.yielding(curvature) };
        let nn = outer(n, n);
        let mut gradient = -force * n;
        let mut hessian = nn * curvature;
        if self.friction > 0.0 {
            let (pull, stiffness) = self.drag(n, force, curvature, u);
            gradient += pull;
            hessian += stiffness;
        }
        Some(Response { force, gradient, hessian })
    }

    /// What the contact would do at the end of the `moves` of its points [m] from the positions `x` [m], and its bridge at `x`;
    /// `None` where it acts already, or would not begin.
    ///
    /// The feature is taken as the plane across the bridge, however deep the moves end behind it, and the force as its first
    /// stage k (r − d), without friction. Moves that pass by the feature do not begin: halfway into the contact radius the
    /// points must really be that near.
    pub(super) fn begins(&self, x: &[Vec3], moves: [Vec3; 4], slot: usize) -> Option<(Bridge, Response)> {
        let p = self.at(x);
        let bridge = self.bridge_of(p);
        let n = bridge.normal;
        let way: Vec3 = bridge.weights.iter().zip(moves).map(|(w, m)| *w * m).sum();
        let nearer = -n.dot(way);
        let depth = self.radius - (bridge.distance - nearer);
        if bridge.distance < self.radius || depth <= 0.0 {
            return None;
        }
        let share = ((bridge.distance - 0.5 * self.radius) / nearer).min(1.0);
        let inside: [Vec3; 4] = std::array::from_fn(|s| p[s] + share * moves[s]);
        if self.bridge_of(inside).distance >= self.radius {
            return None;
        }
        let k = self.stiffness;
        let curvature = if slot == self.particle as usize { k } else { self.yielding(k) };
        let force = k * depth;
        Some((bridge, Response { force, gradient: -force * n, hessian: outer(n, n) * curvature }))
    }

    /// Way [m] of the first side past the second since the start of the step, along and across the normal.
    #[inline]
    pub(super) fn slip(&self, bridge: &Bridge, x: &[Vec3], slip: &Slip<'_>) -> Vec3 {
        let mut u = Vec3::ZERO;
        for (&p, &w) in self.points().iter().zip(&bridge.weights) {
            u += w * (x[p as usize] - slip.x_n[p as usize]);
        }
        u
    }

    /// Force of friction as a gradient on the first side [N], and its stiffness [N/m]: T₀ + k u with the slip u of the step
    /// across the normal `n`, cut to μ times the normal `force`. k is twice the curvature of the normal law, so that a contact that
    /// is about to slide has given way along itself by μ/2 times what it has given way across.
    ///
    /// Where it is cut, the stiffness is that of the secant, k μ f/|T|, which never overshoots a turn of the force but comes
    /// slowly to where friction does not turn. So a contact that slid and slides on has none along its way, as its force has.
    #[inline]
    fn drag(&self, n: Vec3, force: f64, curvature: f64, u: Vec3) -> (Vec3, Mat3) {
        let stiffness = ALONG * curvature;
        let mut pull = self.grip + stiffness * u;
        pull -= n.dot(pull) * n;
        let across = Mat3::IDENTITY - outer(n, n);
        let (most, size) = (self.friction * force, pull.length());
        if size <= most {
            return (pull, across * stiffness);
        }
        let along = pull / size;
        let slides_on = self.slid && self.grip.dot(along) > 0.0 && u.dot(along) > 0.0;
        let free = if slides_on { across - outer(along, along) } else { across };
        (along * most, free * (stiffness * most / size))
    }

    /// Force of friction at the positions `x` [m] as a gradient on the first side [N], and whether it slides.
    pub(super) fn friction_force(&self, bridge: &Bridge, x: &[Vec3], slip: &Slip<'_>) -> (Vec3, bool) {
        if bridge.distance >= self.radius || self.friction == 0.0 {
            return (Vec3::ZERO, false);
        }
        let (force, curvature) = law::force_and_curvature(bridge.distance, self.stiffness, self.radius);
        let pull = self.drag(bridge.normal, force, self.yielding(curvature), self.slip(bridge, x, slip)).0;
        (pull, pull.length() > SLIDING * self.friction * force)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A particle at the height `d` over a point of a solid, with the inertia 5 N/m and a target `s` below it: force on
    /// the solid.
    fn push(d: f64, s: f64) -> f64 {
        let contact = Contact {
            points: [0, 1, 0, 0],
            radius: 2e-3,
            stiffness: 600.0,
            particle: 0,
            give: 5.0,
            ..Contact::NONE
        };
        let x = [Vec3::Z * d, Vec3::ZERO];
        let targets = [Vec3::Z * (d - s), Vec3::ZERO];
        let slip = Slip { x_n: &x, targets: &targets };
        let response = contact.response(&contact.bridge(&x), &x, &slip, 1).unwrap();
        // The gradient is by the first side, which is the particle's.
        assert_eq!(response.gradient, Vec3::Z * -response.force);
        response.force
    }

    #[test]
    fn a_particle_at_rest_between_inertia_and_contact_leaves_all_of_the_force() {
        let d = 0.7 * 2e-3;
        let (force, _) = law::force_and_curvature(d, 600.0, 2e-3);
        assert!((push(d, force / 5.0) - force).abs() < 1e-12 * force);
    }

    #[test]
    fn a_particle_that_has_not_come_away_yet_pushes_with_what_its_motion_is_worth() {
        // a (s + d) k/(a + k): 1 cm of way at 5 N/m, and the distance that it doubles.
        let (d, s) = (2e-6, 1e-2);
        let (force, curvature) = law::force_and_curvature(d, 600.0, 2e-3);
        assert!(force > 1e3 * 5.0 * s, "{force} N is what the law says");
        let exact = 5.0 * (s + d) * curvature / (curvature + 5.0);
        assert!((push(d, s) - exact).abs() < 1e-9 * exact, "{} N of {exact}", push(d, s));
        // One that flies away pushes with no more than what is left of the law.
        assert!((0.0..force).contains(&push(d, -1e-2)));
    }
}
