//! A rod of Cosserat segments [Simo 1985]: each has a frame R, whose third direction is its tangent; stretch and shear tie the frame
//! to the ends of the segment, bending and twist tie the frames of neighbours to each other. SO(3) × R³ per segment.
//!
//! Stretch and shear of a segment of rest length l between x₀ and x₁:
//! E = ½ l rᵀ C r with r = Rᵀd − e₃, d = (x₁ − x₀)/l, C = diag(GA, GA, EA).
//!
//! Bending and twist of a joint between the frames q_a and q_b, l̄ its share of the length:
//! E = ½ l̄ uᵀ K u with u = (2/l̄)(Im(q̄_a q_b) − Im(p̄)), K = diag(EI, EI, GJ), p̄ the same product at rest.
//!
//! Damping: the same energies of the strain gained in the step, times β/h. What it adds to a plain sum of springs, and
//! the derivatives with respect to rotations: `docs/derivations/rods.md`.

use super::{ElementError, Potential, blocks};
use littoral_geom::math::{Mat3, Quat, Vec3, outer, skew};

/// Shear correction factor of a circular section: the share of the area that carries shear [–].
const SHEAR_SHARE: f64 = 6.0 / 7.0;

/// Material of a rod with a circular section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodParameters {
    /// Radius r [m], > 0.
    pub radius: f64,
    /// Young's modulus E [Pa], > 0.
    pub young: f64,
    /// Shear modulus G [Pa], > 0.
    pub shear: f64,
    /// Bending and twisting stiffness, over those of a solid section [–], > 0.
    pub flexural: f64,
    /// Rate damping β [s], ≥ 0.
    pub damping: f64,
}

impl RodParameters {
    /// Area of the section π r² [m²].
    pub fn area(&self) -> f64 {
        std::f64::consts::PI * self.radius * self.radius
    }

    /// Bending stiffness EI [N m²]: E π r⁴/4 for a solid section.
    pub fn bending(&self) -> f64 {
        0.25 * self.flexural * self.young * self.area() * self.radius * self.radius
    }

    /// Twisting stiffness GJ [N m²]: G π r⁴/2 for a solid section.
    pub fn twisting(&self) -> f64 {
        0.5 * self.flexural * self.shear * self.area() * self.radius * self.radius
    }
}

/// Stretch and shear of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodSegment {
    /// Rest length l [m].
    pub length: f64,
    /// Radius r of the section [m].
    pub radius: f64,
    /// C across, GA times the shear share [N].
    pub across: f64,
    /// C along, EA [N].
    pub along: f64,
    /// Rate damping β [s].
    pub damping: f64,
}

/// A segment's answer to a motion of its ends and a turn of its frame, both in world axes.
#[derive(Clone, Copy, Debug)]
pub struct SegmentResponse {
    /// ∂E/∂x₁ = −∂E/∂x₀ [N].
    pub force: Vec3,
    /// ∂E/∂θ [N m].
    pub torque: Vec3,
    /// ∂²E/∂x₁∂x₁ = −∂²E/∂x₀∂x₁, with the stiffness of its tension, positive semidefinite [N/m].
    pub xx: Mat3,
    /// ∂²E/∂x₁∂θ (rows x₁) [N], Gauss–Newton.
    pub x_turn: Mat3,
    /// ∂²E/∂θ∂θ [N m], Gauss–Newton.
    pub turn_turn: Mat3,
}

impl RodSegment {
    /// A segment of rest length `length` > 0 [m].
    pub fn new(length: f64, parameters: &RodParameters) -> Result<Self, ElementError> {
        ElementError::check_positive("radius", parameters.radius)?;
        ElementError::check_positive("young", parameters.young)?;
        ElementError::check_positive("shear", parameters.shear)?;
        ElementError::check_positive("flexural", parameters.flexural)?;
        ElementError::check_not_negative("damping", parameters.damping)?;
        if !(length > 0.0 && length.is_finite()) {
            return Err(ElementError::ZeroLength { length });
        }
        Ok(RodSegment {
            length,
            radius: parameters.radius,
            across: SHEAR_SHARE * parameters.shear * parameters.area(),
            along: parameters.young * parameters.area(),
            damping: parameters.damping,
        })
    }

    /// Strain r = Rᵀd − e₃ [–] in the axes of the frame: shear, shear, stretch.
    #[inline]
    pub fn strain(&self, x: &[Vec3; 2], frame: Quat) -> Vec3 {
        frame.conjugate() * ((x[1] - x[0]) / self.length) - Vec3::Z
    }

    #[inline]
    fn stiffness(&self) -> Vec3 {
        Vec3::new(self.across, self.across, self.along)
    }

    /// Forces and stiffnesses at a shape, with the strain r at the start of the step and β/h.
    #[inline]
    pub fn response(&self, x: &[Vec3; 2], frame: Quat, lagged: Vec3, ratio: f64) -> SegmentResponse {
        let d = (x[1] - x[0]) / self.length;
        let t = frame * Vec3::Z;
        let r = self.strain(x, frame);
        let n = self.stiffness() * (r + ratio * (r - lagged));
        let force = frame * n;
        // C in world axes, with damping: c_s I + (c_t − c_s) t tᵀ.
        let (across, along) = (self.across * (1.0 + ratio), self.along * (1.0 + ratio));
        let more = along - across;
        // Tension stiffens against a motion across: ½ T |δ|² of what the product Rᵀd leaves out. Pressure softens; that part
        // is left out, and the block stays positive.
        let tension = n.z.max(0.0);
        let xx = (Mat3::from_diagonal(Vec3::splat(across + tension)) + outer(t, t) * (more - tension))
            * (1.0 / self.length);
        // δr = Rᵀ(δx/l + d × θ): with D = [d]ₓ, C D = c_s D + (c_t − c_s) t (t × d)ᵀ.
        let side = t.cross(d);
        let x_turn = skew(d) * across + outer(t, side) * more;
        let turn_turn = (Mat3::from_diagonal(Vec3::splat(across * d.length_squared()))
            - outer(d, d) * across
            + outer(side, side) * more)
            * self.length;
        // ∂E/∂θ = l Dᵀ n = l n × d.
        SegmentResponse { force, torque: self.length * force.cross(d), xx, x_turn, turn_turn }
    }

    /// Gradient at x₁ [N], and its stiffness [N/m] where the frame is free to follow the end: along the segment as ever,
    /// across it what tension and a bending stiffness `bending` EI [N m²] leave, 6 EI/l³, if that is less.
    pub fn pull(&self, x: &[Vec3; 2], frame: Quat, lagged: Vec3, ratio: f64, bending: f64) -> (Vec3, Mat3) {
        let t = frame * Vec3::Z;
        let n = self.stiffness() * (self.strain(x, frame) * (1.0 + ratio) - ratio * lagged);
        let bent = (1.0 + ratio) * (self.across * self.length).min(6.0 * bending / self.length);
        let across = (bent / self.length + n.z.max(0.0)) / self.length;
        let along = self.along * (1.0 + ratio) / self.length;
        (frame * n, Mat3::from_diagonal(Vec3::splat(across)) + outer(t, t) * (along - across))
    }

    /// Energy [J], with damping where the ratio β/h is positive.
    #[inline]
    pub fn energy(&self, x: &[Vec3; 2], frame: Quat, lagged: Vec3, ratio: f64) -> f64 {
        let r = self.strain(x, frame);
        let gained = r - lagged;
        0.5 * self.length * self.stiffness().dot(r * r + ratio * gained * gained)
    }
}

/// A segment with its frame held fixed: an energy of its ends alone. Turning the ends without the frame costs energy, so
/// it is not invariant; together with its frame it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FramedSegment {
    /// The segment.
    pub segment: RodSegment,
    /// Its frame.
    pub frame: Quat,
    lagged: Vec3,
    ratio: f64,
}

impl FramedSegment {
    /// The segment with a frame.
    pub fn new(segment: RodSegment, frame: Quat) -> Self {
        FramedSegment { segment, frame, lagged: Vec3::ZERO, ratio: 0.0 }
    }

    /// ∂²E/∂x₁∂x₁ [N/m], exact: E is quadratic in the ends.
    fn stiffness(&self) -> Mat3 {
        let s = &self.segment;
        let t = self.frame * Vec3::Z;
        let c = Mat3::from_diagonal(Vec3::splat(s.across)) + outer(t, t) * (s.along - s.across);
        c * ((1.0 + self.ratio) / s.length)
    }
}

impl Potential<2> for FramedSegment {
    fn value(&self, x: &[Vec3; 2]) -> f64 {
        self.segment.energy(x, self.frame, self.lagged, self.ratio)
    }

    fn gradient(&self, x: &[Vec3; 2]) -> [Vec3; 2] {
        let force = self.segment.response(x, self.frame, self.lagged, self.ratio).force;
        [-force, force]
    }

    fn hessian(&self, _: &[Vec3; 2]) -> [[Mat3; 2]; 2] {
        let h = self.stiffness();
        blocks(|i, j| if i == j { h } else { -h })
    }

    fn hessian_psd(&self, x: &[Vec3; 2]) -> [[Mat3; 2]; 2] {
        self.hessian(x)
    }

    fn block(&self, x: &[Vec3; 2], corner: usize) -> (Vec3, Mat3) {
        (self.gradient(x)[corner], self.stiffness())
    }

    fn lag(&mut self, x_n: &[Vec3; 2], h: f64) {
        self.lagged = self.segment.strain(x_n, self.frame);
        self.ratio = self.segment.damping / h;
    }
}

/// Bending and twist of a joint between two segments of a rod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodJoint {
    /// Its share of the length l̄ [m].
    pub length: f64,
    /// EI [N m²].
    pub bending: f64,
    /// GJ [N m²].
    pub twisting: f64,
    /// Im(p̄) [–]: sine of half the angle between the frames at rest, times its axis.
    pub rest: Vec3,
    /// Rate damping β [s].
    pub damping: f64,
}

/// A joint's answer to turns θ_a and θ_b of its frames in world axes.
#[derive(Clone, Copy, Debug)]
pub struct JointResponse {
    /// ∂E/∂θ_b = −∂E/∂θ_a [N m].
    pub torque: Vec3,
    /// ∂²E/∂θ_b∂θ_b = ∂²E/∂θ_a∂θ_a = −∂²E/∂θ_a∂θ_b [N m], Gauss–Newton.
    pub turn_turn: Mat3,
}

impl RodJoint {
    /// A joint with the share `length` > 0 [m] of the length; `rest` is q̄_a q_b of the rest shape.
    pub fn new(length: f64, rest: Quat, parameters: &RodParameters) -> Result<Self, ElementError> {
        if !(length > 0.0 && length.is_finite()) {
            return Err(ElementError::ZeroLength { length });
        }
        let rest = if rest.w < 0.0 { -rest } else { rest };
        Ok(RodJoint {
            length,
            bending: parameters.bending(),
            twisting: parameters.twisting(),
            rest: rest.xyz(),
            damping: parameters.damping,
        })
    }

    /// Strain u [1/m]: curvatures about the first two directions of the frames, twist about the third.
    #[inline]
    pub fn strain(&self, a: Quat, b: Quat) -> Vec3 {
        (2.0 / self.length) * ((a.conjugate() * b).xyz() - self.rest)
    }

    #[inline]
    fn stiffness(&self) -> Vec3 {
        Vec3::new(self.bending, self.bending, self.twisting)
    }

    /// Torques and stiffnesses, with the strain u at the start of the step and β/h.
    ///
    /// With q̄_a q_b = (p_w, v) and B = p_w I + [v]ₓ both frames see the same matrix G = R_a B in world axes:
    /// δu = Gᵀ(θ_b − θ_a)/l̄.
    #[inline]
    pub fn response(&self, a: Quat, b: Quat, lagged: Vec3, ratio: f64) -> JointResponse {
        let p = a.conjugate() * b;
        let v = p.xyz();
        let u = (2.0 / self.length) * (v - self.rest);
        let m = self.stiffness() * (u + ratio * (u - lagged));
        // G m, and G Gᵀ = I − w wᵀ with w = R_a v, because |p| = 1.
        let torque = a * (p.w * m + v.cross(m));
        let w = a * v;
        let g = a * (p.w * Vec3::Z + v.cross(Vec3::Z));
        let bend = Mat3::from_diagonal(Vec3::splat(self.bending)) - outer(w, w) * self.bending;
        let turn_turn = (bend + outer(g, g) * (self.twisting - self.bending)) * ((1.0 + ratio) / self.length);
        JointResponse { torque, turn_turn }
    }

    /// Energy [J], with damping where the ratio β/h is positive.
    #[inline]
    pub fn energy(&self, a: Quat, b: Quat, lagged: Vec3, ratio: f64) -> f64 {
        let u = self.strain(a, b);
        let gained = u - lagged;
        0.5 * self.length * self.stiffness().dot(u * u + ratio * gained * gained)
    }
}

/// The shortest rotation that takes the direction of `from` to that of `to`; none where one has no direction.
pub fn transport(from: Vec3, to: Vec3) -> Quat {
    match (from.try_normalize(), to.try_normalize()) {
        (Some(a), Some(b)) => Quat::from_rotation_arc(a, b),
        _ => Quat::IDENTITY,
    }
}

/// A frame turned by the rotation vector θ [rad] in world axes.
#[inline]
pub fn turned(frame: Quat, turn: Vec3) -> Quat {
    // Half the vector as imaginary part, normalised: the turn to second order, and exact in direction.
    let half = 0.5 * turn;
    let q = Quat::from_xyzw(half.x, half.y, half.z, 1.0) * frame;
    q.normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::potential::check::rotation;
    use littoral_geom::random::Random;

    fn parameters(random: &mut Random) -> RodParameters {
        RodParameters {
            radius: random.log_between(1e-3, 1e-2),
            young: random.log_between(1e5, 1e9),
            shear: random.log_between(1e5, 1e9),
            flexural: random.log_between(1e-3, 1.0),
            damping: 1e-3,
        }
    }

    fn frame(random: &mut Random) -> Quat {
        Quat::from_mat3(&rotation(random))
    }

    /// Central difference of `f` at 0, best of several steps.
    fn slope(f: impl Fn(f64) -> f64, exact: f64) -> f64 {
        (3..7)
            .map(|k| {
                let h = 10f64.powi(-k);
                ((f(-2.0 * h) - f(2.0 * h) + 8.0 * (f(h) - f(-h))) / (12.0 * h) - exact).abs()
            })
            .fold(f64::INFINITY, f64::min)
    }

    fn spun(q: Quat, turn: Vec3) -> Quat {
        Quat::from_scaled_axis(turn) * q
    }

    #[test]
    fn the_torques_of_segments_are_the_slopes_of_their_energies() {
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let s = RodSegment::new(random.log_between(1e-2, 1.0), &parameters(&mut random)).unwrap();
            let q = frame(&mut random);
            let x = [random.in_cube(1.0), random.in_cube(1.0)];
            let (lagged, ratio) = (0.1 * random.in_cube(1.0), random.between(0.0, 1.0));
            let torque = s.response(&x, q, lagged, ratio).torque;
            let axis = random.direction();
            let scale = s.energy(&x, q, lagged, ratio) + torque.length();
            let error = slope(|t| s.energy(&x, spun(q, t * axis), lagged, ratio), torque.dot(axis));
            assert!(error < 1e-8 * scale, "{error:e} of {scale:e}, seed {seed}");
        }
    }

    #[test]
    fn the_torques_of_joints_are_the_slopes_of_their_energies() {
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let (a, b, rest) = (frame(&mut random), frame(&mut random), frame(&mut random));
            let j = RodJoint::new(random.log_between(1e-2, 1.0), rest, &parameters(&mut random)).unwrap();
            let (lagged, ratio) = (random.in_cube(1.0), random.between(0.0, 1.0));
            let torque = j.response(a, b, lagged, ratio).torque;
            let axis = random.direction();
            let scale = j.energy(a, b, lagged, ratio) + torque.length();
            let at_b = slope(|t| j.energy(a, spun(b, t * axis), lagged, ratio), torque.dot(axis));
            let at_a = slope(|t| j.energy(spun(a, t * axis), b, lagged, ratio), -torque.dot(axis));
            assert!(at_a.max(at_b) < 1e-8 * scale, "{at_a:e}, {at_b:e} of {scale:e}, seed {seed}");
        }
    }

    #[test]
    fn stiffnesses_are_slopes_of_forces_and_torques_where_nothing_is_strained() {
        // Gauss–Newton is the whole Hessian at rest.
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let all = RodParameters { damping: 0.0, ..parameters(&mut random) };
            let s = RodSegment::new(random.log_between(1e-2, 1.0), &all).unwrap();
            let (a, rest) = (frame(&mut random), frame(&mut random));
            let x = [random.in_cube(1.0), Vec3::ZERO];
            let x = [x[0], x[0] + s.length * (a * Vec3::Z)];
            let r = s.response(&x, a, Vec3::ZERO, 0.0);
            let (axis, way) = (random.direction(), random.direction());
            let turned = |t: f64| s.response(&x, spun(a, t * axis), Vec3::ZERO, 0.0);
            let moved = |t: f64| s.response(&[x[0], x[1] + t * s.length * way], a, Vec3::ZERO, 0.0);
            let scale = s.along.max(s.across) * s.length;
            let pairs = [
                slope(|t| turned(t).torque.dot(way), (r.turn_turn * axis).dot(way)) / scale,
                slope(|t| turned(t).force.dot(way), (r.x_turn * axis).dot(way)) * s.length / scale,
                slope(|t| moved(t).force.dot(axis), s.length * (r.xx * way).dot(axis)) * s.length / scale,
            ];
            let j = RodJoint::new(0.1, rest, &all).unwrap();
            let b = a * if rest.w < 0.0 { -rest } else { rest };
            let stiff = j.response(a, b, Vec3::ZERO, 0.0).turn_turn;
            let torque = |t: f64| j.response(a, spun(b, t * axis), Vec3::ZERO, 0.0).torque.dot(way);
            let joint = slope(torque, (stiff * axis).dot(way)) / (j.bending.max(j.twisting) / j.length);
            let worst = pairs.into_iter().fold(joint, f64::max);
            assert!(worst < 1e-7, "{pairs:?} {joint:e}, seed {seed}");
        }
    }

    #[test]
    fn a_rigid_motion_of_points_and_frames_costs_nothing_and_torques_balance() {
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let all = parameters(&mut random);
            let s = RodSegment::new(random.log_between(1e-2, 1.0), &all).unwrap();
            let (a, b, rest) = (frame(&mut random), frame(&mut random), frame(&mut random));
            let j = RodJoint::new(0.1, rest, &all).unwrap();
            let x = [random.in_cube(1.0), random.in_cube(1.0)];
            let (turn, shift) = (frame(&mut random), random.in_cube(1.0));
            let y = x.map(|p| turn * p + shift);
            let before = (s.energy(&x, a, Vec3::ZERO, 0.0), j.energy(a, b, Vec3::ZERO, 0.0));
            let after =
                (s.energy(&y, turn * a, Vec3::ZERO, 0.0), j.energy(turn * a, turn * b, Vec3::ZERO, 0.0));
            // Roundings of positions of size 2 over the length of the segment.
            let slack = 1e-12 / s.length;
            assert!((before.0 - after.0).abs() < slack * (before.0 + s.along + s.across), "seed {seed}");
            assert!((before.1 - after.1).abs() < 1e-12 * (before.1 + j.bending + j.twisting) / j.length);
            // Moment of the forces about x₀ and the torque on the frame add to nothing.
            let r = s.response(&x, a, Vec3::ZERO, 0.0);
            let moment = (x[1] - x[0]).cross(r.force) + r.torque;
            assert!(moment.length() < 1e-12 * (r.force.length() + r.torque.length()), "seed {seed}");
        }
    }

    #[test]
    fn a_circle_has_the_energy_of_its_curvature() {
        // 200 segments around a circle of radius 1: ½ EI κ² per length, to φ²/12 of the sine.
        let all = RodParameters { radius: 0.01, young: 1e6, shear: 4e5, flexural: 1.0, damping: 0.0 };
        let n = 200;
        let phi = std::f64::consts::TAU / f64::from(n);
        let j = RodJoint::new(phi, Quat::IDENTITY, &all).unwrap();
        let energy = f64::from(n) * j.energy(Quat::IDENTITY, Quat::from_rotation_x(phi), Vec3::ZERO, 0.0);
        let exact = 0.5 * all.bending() * std::f64::consts::TAU;
        assert!((energy / exact - 1.0).abs() < phi * phi / 10.0, "{energy} against {exact}");
    }
}
