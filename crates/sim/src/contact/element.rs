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

/// No slot of a contact: asked for what its solid side feels.
pub const NO_SLOT: usize = 5;

/// One contact element.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    pub(super) kind: Kind,
    /// Its points; unused slots repeat the first.
    pub(super) points: [u32; 4],
    /// Contact radius of this pair [m].
    pub(super) radius: f64,
    /// Stiffness k [N/m].
    pub(super) stiffness: f64,
    /// Friction coefficient μ [–].
    pub(super) friction: f64,
    /// Slot of a fluid particle in `points`, or 4.
    pub(super) particle: u8,
    /// Inertia m/h² of that particle [N/m]; infinite without one.
    pub(super) give: f64,
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

/// What friction measures from.
#[derive(Clone, Copy, Debug)]
pub struct Slip<'a> {
    /// Positions at the start of the step (n) [m].
    pub x_n: &'a [Vec3],
    /// Slip below which friction is regularised, ε_v h [m].
    pub epsilon: f64,
}

impl Slip<'_> {
    /// f₁(y)/y [1/m] of the regularised Coulomb law for a slip y [m]: f₁ = y/ε (2 − y/ε) below ε, 1 above.
    #[inline]
    fn softened(&self, y: f64) -> f64 {
        if y < self.epsilon { (2.0 - y / self.epsilon) / self.epsilon } else { 1.0 / y }
    }
}

impl Contact {
    /// Its points, those of the first side first.
    #[inline]
    pub fn points(&self) -> &[u32] {
        &self.points[..self.kind.used()]
    }

    /// Number of points on the first side.
    #[inline]
    pub fn split(&self) -> usize {
        self.kind.split()
    }

    /// The bridge at the positions `x` [m].
    #[inline]
    pub fn bridge(&self, x: &[Vec3]) -> Bridge {
        let p = self.points.map(|v| x[v as usize]);
        let (weights, between) = match self.kind {
            Kind::PointPoint => ([1.0, -1.0, 0.0, 0.0], p[0] - p[1]),
            Kind::PointEdge => {
                let c = closest_point_edge(p[0], p[1], p[2]);
                ([1.0, c.t - 1.0, -c.t, 0.0], p[0] - c.point)
            }
            Kind::PointFace => {
                let c = closest_point_triangle(p[0], [p[1], p[2], p[3]]);
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
        let (force, curvature) = law::force_and_curvature(bridge.distance, self.stiffness, self.radius);
        let curvature = if slot == self.particle as usize { curvature } else { self.yielding(curvature) };
        let n = bridge.normal;
        let nn = outer(n, n);
        let mut gradient = -force * n;
        let mut hessian = nn * curvature;
        let pull = self.friction * force;
        if pull > 0.0 {
            let mut u = Vec3::ZERO;
            for (&p, &w) in self.points().iter().zip(&bridge.weights) {
                u += w * (x[p as usize] - slip.x_n[p as usize]);
            }
            u -= n.dot(u) * n;
            let drag = pull * slip.softened(u.length());
            gradient += drag * u;
            hessian += (Mat3::IDENTITY - nn) * drag;
        }
        Some(Response { force, gradient, hessian })
    }
}
