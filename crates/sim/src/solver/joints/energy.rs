//! The energy of the rows of joints, for methods that judge a step by its objective, and what the rows of turns leave out
//! of its gradient.
//!
//! A row is λ·c + ½K c² = (λ + Kc)²/2K less a constant; where it is bounded the same with the bounded force, and linear
//! beyond. Where a row is open the turn of a body changes it by a little more than `add` says: by the slope of the
//! logarithm, the cosine of what is open between two axes, or the tilt of the axis that an angle is counted about.

use super::{JointRows, Stand, angle, limited, twist};
use crate::body::{Bodies, Pose, log_slope};
use crate::joint::{Joint, JointKind, Joints};
use crate::potential::Potential;
use crate::solver::bodies::BodySystem;
use littoral_geom::math::{Mat3, Vec3, outer};

/// λ·c + ½K c² with K > 0, of a force λ + K c.
fn stretched(multiplier: f64, pull: f64, stiffness: f64) -> f64 {
    (pull * pull - multiplier * multiplier) / (2.0 * stiffness)
}

impl JointRows {
    /// Energy of all rows [J] at the given poses, with the points at `x` [m], and the sum of the sizes of its parts.
    pub fn value(&self, joints: &Joints, bodies: &Bodies, poses: &[Pose], x: &[Vec3]) -> (f64, f64) {
        let (mut sum, mut scale) = (0.0, 0.0);
        for (k, joint) in joints.list.iter().enumerate() {
            let s = self.stand(joint, bodies, poses, x);
            for part in [self.place_energy(k, joint, &s), self.turn_energy(k, joint, &s)] {
                sum += part;
                scale += part.abs();
            }
        }
        (sum, scale)
    }

    fn place_energy(&self, k: usize, joint: &Joint, s: &Stand) -> f64 {
        let m = &self.multipliers[k];
        match joint.kind {
            JointKind::Ball | JointKind::Fixed | JointKind::Hinge { .. } => {
                let c = s.at[0] - s.at[1];
                m.place.dot(c) + 0.5 * s.stiff.0 * c.length_squared()
            }
            JointKind::Distance { length, slack } => {
                let pull = m.pull + s.stiff.0 * (s.at[0].distance(s.at[1]) - length);
                stretched(m.pull, if slack { pull.max(0.0) } else { pull }, s.stiff.0)
            }
            JointKind::Spring { .. } => self.springs[k].as_ref().map_or(0.0, |spring| spring.value(&s.at)),
        }
    }

    fn turn_energy(&self, k: usize, joint: &Joint, s: &Stand) -> f64 {
        let m = &self.multipliers[k];
        let (turn, stiff) = (s.poses[1].rotation * m.turn, s.stiff.1);
        match joint.kind {
            JointKind::Fixed => {
                let c = twist(&s.poses);
                turn.dot(c) + 0.5 * stiff * c.length_squared()
            }
            JointKind::Hinge { axis, limits, motor } => {
                let c = (s.poses[1].rotation * axis).cross(s.poses[0].rotation * axis);
                let mut sum = turn.dot(c) + 0.5 * stiff * c.length_squared();
                let now = angle(axis, &s.poses, m.angle);
                sum += stretched(m.limit, limited(limits, now, m.limit, stiff).0, stiff);
                if let Some(motor) = motor {
                    let wanted = m.motor + stiff * (now - self.angles[k] - self.h * motor.speed);
                    let held = wanted.clamp(-motor.torque, motor.torque);
                    // Beyond what the motor can hold, linear.
                    sum += stretched(m.motor, held, stiff) + (wanted - held) * held / stiff;
                }
                sum
            }
            JointKind::Ball | JointKind::Distance { .. } | JointKind::Spring { .. } => 0.0,
        }
    }

    /// Adds what `add` leaves out of the gradients by turns, and of the Hessian of a motor at the end of its torque: the
    /// stiffness K τ/|λ + K c| of the parabola that touches the energy from above. Without it a step that begins at rest
    /// would turn as far as the torque alone drives.
    pub fn add_rest_of_turns(
        &self,
        joints: &Joints,
        bodies: &Bodies,
        poses: &[Pose],
        x: &[Vec3],
        system: &mut BodySystem,
    ) {
        for (k, joint) in joints.list.iter().enumerate() {
            let s = self.stand(joint, bodies, poses, x);
            let m = &self.multipliers[k];
            let held = s.poses[1].rotation * m.turn;
            let mut stiff = Mat3::ZERO;
            let rest = match joint.kind {
                JointKind::Fixed => log_slope(twist(&s.poses)).transpose() * held - held,
                JointKind::Hinge { axis, motor, .. } => {
                    let [a, n] = s.poses.map(|p| p.rotation * axis);
                    if let Some(motor) = motor {
                        let now = angle(axis, &s.poses, m.angle);
                        let wanted =
                            (m.motor + s.stiff.1 * (now - self.angles[k] - self.h * motor.speed)).abs();
                        if wanted >= motor.torque && wanted > 0.0 {
                            stiff = outer(n, n) * (s.stiff.1 * motor.torque / wanted);
                        }
                    }
                    let torque = held + s.stiff.1 * n.cross(a);
                    let tilt = (a.dot(n) - 1.0) * torque - a.dot(torque) * n;
                    tilt + self.about_axis(k, joint, &s).0 * (angle_slope(axis, &s.poses) - n)
                }
                JointKind::Ball | JointKind::Distance { .. } | JointKind::Spring { .. } => continue,
            };
            match joint.sides.map(|side| side.body()) {
                [Some(a), Some(b)] => system.add_turn_pair(a, b, rest, &stiff),
                [Some(a), None] => system.add_turn(a, rest, &stiff),
                [None, Some(b)] => system.add_turn(b, -rest, &stiff),
                [None, None] => {}
            }
        }
    }
}

/// What `angle` changes by as the first side turns: along the axis, where both axes are one.
fn angle_slope(axis: Vec3, poses: &[Pose; 2]) -> Vec3 {
    let across = axis.any_orthonormal_vector();
    let (n, a, b) = (poses[1].rotation * axis, poses[0].rotation * across, poses[1].rotation * across);
    let (y, x) = (n.dot(b.cross(a)), a.dot(b));
    (x * (x * n - n.dot(a) * b) - y * a.cross(b)) / (x * x + y * y)
}

#[cfg(test)]
mod tests {
    use super::super::{JOINT_MEMORY, Multipliers};
    use super::*;
    use crate::body::{RigidBody, exp};
    use crate::joint::{Motor, Side};
    use littoral_geom::moments::Moments;
    use littoral_geom::random::Random;
    use littoral_geom::shapes;

    const H: f64 = 0.01;

    fn kinds() -> [JointKind; 7] {
        let axis = Vec3::new(0.3, -0.2, 1.0).normalize();
        let motor = Some(Motor { speed: 2.0, torque: 1e4 });
        let weak = Some(Motor { speed: 2.0, torque: 1e-3 });
        [
            JointKind::Ball,
            JointKind::Fixed,
            JointKind::Hinge { axis, limits: [-0.01, 0.02], motor: None },
            JointKind::Hinge { axis, limits: [-3.0, 3.0], motor },
            JointKind::Hinge { axis, limits: [-3.0, 3.0], motor: weak },
            JointKind::Distance { length: 0.9, slack: false },
            JointKind::Spring { length: 0.4, stiffness: 50.0, damping: 0.02 },
        ]
    }

    /// Two cubes whose joint is open by some way, and what it remembers.
    fn open(kind: JointKind, random: &mut Random) -> (Joints, Bodies, Vec<Pose>, Vec<f64>) {
        let mesh = shapes::cuboid([0.5, 0.4, 0.3], [1; 3]);
        let moments = Moments::of_solid(&mesh.vertices, &mesh.triangles);
        let body = |first| RigidBody::new(first, 0, &mesh.vertices, &moments, 100.0);
        let bodies = Bodies::new(vec![body(0), body(8)], 16);
        let places = [Vec3::new(0.3, 0.1, 0.0), Vec3::new(-0.3, 0.0, 0.1)];
        let sides = [Side::Body(0), Side::Body(1)];
        let joints = Joints { list: vec![Joint { sides, places, kind }], memory: 0 };
        let second = Pose { center: random.in_cube(1.0), rotation: exp(random.in_cube(2.0)) };
        let rotation = exp(random.in_cube(0.1)) * second.rotation;
        let at = second.place(places[1]) + random.in_cube(0.1);
        let first = Pose { center: at - rotation * places[0], rotation };
        let m = Multipliers {
            place: random.in_cube(100.0),
            turn: match kind {
                // Across the axis, as it is kept.
                JointKind::Hinge { axis, .. } => random.in_cube(100.0).cross(axis),
                _ => random.in_cube(100.0),
            },
            angle: 0.0,
            limit: 0.0,
            motor: 1e-4,
            pull: 30.0,
        };
        let mut memory = vec![0.0; JOINT_MEMORY];
        m.write(&mut memory);
        (joints, bodies, vec![first, second], memory)
    }

    #[test]
    fn the_gradient_of_every_joint_is_the_slope_of_its_energy() {
        for seed in 0..200 {
            for kind in kinds() {
                let mut random = Random::new(seed);
                let (joints, bodies, poses, memory) = open(kind, &mut random);
                let mut rows = JointRows::default();
                rows.begin(&joints, &memory, &poses, &[], H);
                let mut system = BodySystem::default();
                system.begin(poses.iter().map(|p| p.center));
                rows.add(&joints, &bodies, &poses, &[], &mut system);
                rows.add_rest_of_turns(&joints, &bodies, &poses, &[], &mut system);
                for b in 0..2 {
                    let (shift, turn) = (random.direction(), random.direction());
                    let value = |t: f64| {
                        let mut moved = poses.clone();
                        moved[b].center += t * shift;
                        moved[b].rotation = (exp(t * turn) * moved[b].rotation).normalize();
                        rows.value(&joints, &bodies, &moved, &[]).0
                    };
                    let e = 1e-5;
                    let slope =
                        (8.0 * (value(e) - value(-e)) - (value(2.0 * e) - value(-2.0 * e))) / (12.0 * e);
                    let g = system.gradient(b as u32);
                    let expected =
                        shift.dot(Vec3::new(g[0], g[1], g[2])) + turn.dot(Vec3::new(g[3], g[4], g[5]));
                    let scale = rows.value(&joints, &bodies, &poses, &[]).1 + expected.abs() + 1.0;
                    // Rounding of energies over the step.
                    assert!(
                        (slope - expected).abs() < 1e-8 * scale,
                        "{kind:?}: {slope} {expected}, seed {seed}"
                    );
                }
            }
        }
    }
}
