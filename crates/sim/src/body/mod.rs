//! Rigid bodies: shape, mass and state. A body has six degrees of freedom, a pose; its surface vertices are points of
//! the simulation like any other and always stand at the exact image of the rest shape.
//!
//! The rotational state is the angular momentum, not the angular velocity: nothing but a torque changes it, so that
//! free flight keeps it to the bit.

pub mod free;

use littoral_geom::math::{Mat3, Quat, Vec3, skew};
use littoral_geom::moments::Moments;
use littoral_geom::svd::symmetric_eigen;

/// Place of a body: a point r of its shape stands at `center + rotation · r`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Centre of mass [m].
    pub center: Vec3,
    /// Rotation from the start.
    pub rotation: Quat,
}

impl Pose {
    /// Where the point `r` of the shape stands [m].
    #[inline]
    pub fn place(&self, r: Vec3) -> Vec3 {
        self.center + self.rotation * r
    }
}

/// What does not change about a body.
#[derive(Clone, Debug)]
pub struct RigidBody {
    /// First of its points.
    pub first: u32,
    /// Its points relative to the centre of mass, as they stand at the start [m].
    pub shape: Vec<Vec3>,
    /// Mass m [kg].
    pub mass: f64,
    /// Principal moments of inertia about the centre of mass [kg m²].
    pub moments: Vec3,
    /// From the principal axes to the axes of the shape.
    pub axes: Quat,
    /// Object it is.
    pub object: u32,
}

impl RigidBody {
    /// A body of the given vertices [m] with a mass per measure of `moments`: its centre and its shape.
    pub fn new(first: u32, object: u32, vertices: &[Vec3], moments: &Moments, density: f64) -> Self {
        let (values, axes) = symmetric_eigen(moments.inertia() * density);
        RigidBody {
            first,
            shape: vertices.iter().map(|x| *x - moments.center).collect(),
            mass: density * moments.measure,
            moments: values,
            axes: Quat::from_mat3(&axes).normalize(),
            object,
        }
    }

    /// Its points.
    #[inline]
    pub fn points(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.shape.len()
    }

    /// Inertia tensor in world axes [kg m²]: I = R I₀ Rᵀ.
    #[inline]
    pub fn inertia(&self, rotation: Quat) -> Mat3 {
        let q = Mat3::from_quat(rotation * self.axes);
        q * Mat3::from_diagonal(self.moments) * q.transpose()
    }

    /// Angular velocity ω = I⁻¹ L [rad/s] of the angular momentum L [kg m²/s].
    #[inline]
    pub fn spin(&self, rotation: Quat, momentum: Vec3) -> Vec3 {
        let q = rotation * self.axes;
        q * ((q.conjugate() * momentum) / self.moments)
    }

    /// Kinetic energy ½ m v² + ½ L·ω [J].
    pub fn kinetic(&self, state: &BodyState) -> f64 {
        let spin = self.spin(state.pose.rotation, state.momentum);
        0.5 * self.mass * state.velocity.length_squared() + 0.5 * state.momentum.dot(spin)
    }

    /// Mass that a push at the point `r` of the shape moves [kg], mean over the directions of the push:
    /// 1/m + tr([r]ₓᵀ I⁻¹ [r]ₓ)/3 is its inverse.
    pub fn effective_mass(&self, r: Vec3) -> f64 {
        let p = self.axes.conjugate() * r;
        let (i, sq) = (self.moments, p * p);
        // Along e_k the lever is p × e_k.
        let lever = (sq.y + sq.z) / i.x + (sq.x + sq.z) / i.y + (sq.x + sq.y) / i.z;
        1.0 / (1.0 / self.mass + lever / 3.0)
    }

    /// Distance of its farthest point from its centre [m].
    pub fn radius(&self) -> f64 {
        self.shape.iter().map(|r| r.length()).fold(0.0, f64::max)
    }
}

/// Numbers a body remembers between steps.
pub const BODY_MEMORY: usize = 16;

/// What changes about a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Where it is.
    pub pose: Pose,
    /// Velocity of its centre v [m/s].
    pub velocity: Vec3,
    /// Angular momentum about its centre L [kg m²/s], in world axes.
    pub momentum: Vec3,
    /// Velocity of its centre one step earlier [m/s].
    pub velocity_before: Vec3,
}

impl BodyState {
    /// Reads what `write` wrote.
    pub fn read(memory: &[f64]) -> Self {
        let v = |k: usize| Vec3::new(memory[k], memory[k + 1], memory[k + 2]);
        BodyState {
            pose: Pose {
                center: v(0),
                rotation: Quat::from_xyzw(memory[3], memory[4], memory[5], memory[6]),
            },
            velocity: v(7),
            momentum: v(10),
            velocity_before: v(13),
        }
    }

    /// Writes `BODY_MEMORY` numbers.
    pub fn write(&self, memory: &mut [f64]) {
        let q = self.pose.rotation;
        memory[0..3].copy_from_slice(&self.pose.center.to_array());
        memory[3..7].copy_from_slice(&[q.x, q.y, q.z, q.w]);
        memory[7..10].copy_from_slice(&self.velocity.to_array());
        memory[10..13].copy_from_slice(&self.momentum.to_array());
        memory[13..16].copy_from_slice(&self.velocity_before.to_array());
    }
}

/// No body: the point belongs to something else.
pub const NO_BODY: u32 = u32::MAX;

/// Colour of all points of bodies: descent by vertices leaves them alone.
pub const BODY_COLOR: u32 = u32::MAX - 2;

/// The bodies of a system, in point order.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// The bodies.
    pub list: Vec<RigidBody>,
    /// Body of each point (n), or `NO_BODY`.
    pub of_point: Vec<u32>,
    /// First of their numbers in the memory of a snapshot.
    pub memory: usize,
}

impl Bodies {
    /// Bodies of a system with `n` points.
    pub fn new(list: Vec<RigidBody>, n: usize) -> Self {
        let mut of_point = vec![NO_BODY; n];
        for (b, body) in list.iter().enumerate() {
            of_point[body.points()].fill(b as u32);
        }
        Bodies { list, of_point, memory: 0 }
    }

    /// True without bodies.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Body of point `v` and the point's place in its shape [m].
    #[inline]
    pub fn at(&self, v: usize) -> Option<(usize, Vec3)> {
        let b = self.of_point[v];
        if b == NO_BODY {
            return None;
        }
        let body = &self.list[b as usize];
        Some((b as usize, body.shape[v - body.first as usize]))
    }

    /// State of body `b` in the memory of a snapshot.
    pub fn state(&self, memory: &[f64], b: usize) -> BodyState {
        BodyState::read(&memory[self.memory + BODY_MEMORY * b..])
    }

    /// Writes the state of body `b`.
    pub fn write(&self, memory: &mut [f64], b: usize, state: &BodyState) {
        let from = self.memory + BODY_MEMORY * b;
        state.write(&mut memory[from..from + BODY_MEMORY]);
    }
}

/// Unit quaternion of the rotation vector `turn` [rad].
#[inline]
pub fn exp(turn: Vec3) -> Quat {
    let half = 0.5 * turn.length();
    // sin(θ/2)/θ, with its limit where the quotient loses digits: the next term is θ²/48.
    let s = if half > 1e-4 { 0.5 * half.sin() / half } else { 0.5 - half * half / 12.0 };
    Quat::from_xyzw(s * turn.x, s * turn.y, s * turn.z, half.cos())
}

/// Rotation vector [rad] of a unit quaternion, of all that differ by whole turns the nearest to `near`.
pub fn log_near(q: Quat, near: Vec3) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let s = v.length();
    let small = if s > 1e-9 { v * (2.0 * s.atan2(q.w) / s) } else { 2.0 * v };
    if near.length_squared() < std::f64::consts::PI * std::f64::consts::PI / 4.0 {
        return small;
    }
    // A whole turn about the same axis more or less, as often as it comes nearer.
    let axis = if s > 1e-9 { v / s } else { near.normalize() };
    let turns = ((near - small).dot(axis) / std::f64::consts::TAU).round();
    small + axis * (turns * std::f64::consts::TAU)
}

/// Slope of the logarithm: log(exp(δ) exp(θ)) = θ + A δ for small δ,
/// A = 1 − ½[θ]ₓ + (1/θ² − (1 + cos θ)/(2θ sin θ)) [θ]ₓ². Singular at a whole turn: the identity from 3 rad on.
pub fn log_slope(turn: Vec3) -> Mat3 {
    let angle = turn.length();
    if angle > 3.0 {
        return Mat3::IDENTITY;
    }
    // The difference loses digits where θ is small: the next term of its series is θ⁴/30240.
    let share = if angle > 1e-2 {
        1.0 / (angle * angle) - (1.0 + angle.cos()) / (2.0 * angle * angle.sin())
    } else {
        1.0 / 12.0 + angle * angle / 720.0
    };
    let k = skew(turn);
    Mat3::IDENTITY - k * 0.5 + k * k * share
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::random::Random;
    use littoral_geom::shapes;

    #[test]
    fn the_slope_of_the_logarithm_is_its_difference() {
        let mut random = Random::new(5);
        for _ in 0..500 {
            let turn = random.direction() * random.log_between(1e-4, 2.9);
            let (axis, e) = (random.direction(), 1e-5);
            let at = |s: f64| log_near(exp(s * axis) * exp(turn), turn);
            let off = (at(e) - at(-e)) / (2.0 * e) - log_slope(turn) * axis;
            // Rounding over the step, and its square times a slope that grows towards a whole turn.
            assert!(off.length() < 1e-8, "{off} at {turn}");
        }
    }

    #[test]
    fn the_logarithm_undoes_the_exponential_over_many_turns() {
        let mut random = Random::new(3);
        for _ in 0..2000 {
            let turn = random.direction() * random.log_between(1e-9, 20.0);
            let back = log_near(exp(turn), turn + random.in_cube(0.1) * turn.length().min(1.0));
            // Near whole turns the axis is known to ε/sin only.
            let sine = (0.5 * turn.length()).sin().abs().max(1e-9);
            assert!((back - turn).length() < 1e-13 * (1.0 + turn.length()) / sine.min(1.0), "{turn} {back}");
        }
    }

    #[test]
    fn a_state_survives_its_memory_to_the_bit() {
        let state = BodyState {
            pose: Pose { center: Vec3::new(0.1, -0.2, 0.3), rotation: exp(Vec3::new(1.0, 2.0, -0.5)) },
            velocity: Vec3::new(1.0, 2.0, 3.0),
            momentum: Vec3::new(-1.0, 0.1, 7.0),
            velocity_before: Vec3::new(0.3, 0.2, 0.1),
        };
        let mut memory = [0.0; BODY_MEMORY];
        state.write(&mut memory);
        assert_eq!(BodyState::read(&memory), state);
    }

    #[test]
    fn a_corner_of_a_cube_has_the_mass_of_the_formula() {
        let mesh = shapes::cuboid([1.0; 3], [1; 3]);
        let moments = Moments::of_solid(&mesh.vertices, &mesh.triangles);
        let body = RigidBody::new(0, 0, &mesh.vertices, &moments, 6.0);
        // I = m/6 in every direction: 1/m + 2 r²/(3 I) with r² = 3/4.
        let expected = 1.0 / (1.0 / 6.0 + 2.0 * 0.75 / 3.0);
        assert!((body.effective_mass(body.shape[0]) - expected).abs() < 1e-12);
    }
}
