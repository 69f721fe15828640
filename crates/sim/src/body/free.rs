//! Free rotation of a rigid body: a symmetric splitting into turns about the principal axes.
//!
//! The energy ½ Σ Πₖ²/Iₖ, with Π the angular momentum in the body, is a sum of three terms each of which turns the body
//! about one axis at a constant rate, exactly. Turns leave the angular momentum in the world alone, so that it is kept
//! to the bit; the composition is symmetric, of fourth order, and its energy does not drift [Hairer 2006, §II.4].

use super::{RigidBody, exp};
use littoral_geom::math::{Quat, Vec3};

/// Largest turn of one composition [rad]. Its error goes with the fifth power: 1e-7 of the turn here.
const TURN: f64 = 0.1;

/// Compositions of one step at most: a spin beyond that is not followed in detail.
const MOST: f64 = 4096.0;

/// Moments that differ by less than this share are one: the body turns about a fixed axis.
const ROUND: f64 = 1e-12;

/// Rotation after the time `h` [s] without torque, from `rotation` with the angular momentum `momentum` [kg m²/s].
pub fn rotate(body: &RigidBody, rotation: Quat, momentum: Vec3, h: f64) -> Quat {
    let spin = body.spin(rotation, momentum);
    if spin == Vec3::ZERO {
        return rotation;
    }
    let i = body.moments;
    if i.max_element() - i.min_element() <= ROUND * i.max_element() {
        return (exp(h * spin) * rotation).normalize();
    }
    let count = (spin.length() * h / TURN).ceil().clamp(1.0, MOST);
    // Suzuki's triple jump over the symmetric splitting.
    let outer = 1.0 / (2.0 - 2.0_f64.cbrt());
    let inner = 1.0 - 2.0 * outer;
    let dt = h / count;
    let mut q = rotation * body.axes;
    for _ in 0..count as u32 {
        for share in [outer, inner, outer] {
            strang(&mut q, i, momentum, share * dt);
        }
        q = q.normalize();
    }
    (q * body.axes.conjugate()).normalize()
}

/// Half a turn about x, half about y, all about z, and back.
fn strang(q: &mut Quat, moments: Vec3, momentum: Vec3, dt: f64) {
    for (k, share) in [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)] {
        let pi = (q.conjugate() * momentum)[k];
        let half = 0.5 * share * dt * pi / moments[k];
        let (s, c) = half.sin_cos();
        let mut v = [0.0; 3];
        v[k] = s;
        *q *= Quat::from_xyzw(v[0], v[1], v[2], c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::RigidBody;

    fn racket() -> RigidBody {
        RigidBody {
            first: 0,
            shape: Vec::new(),
            mass: 1.0,
            moments: Vec3::new(1.0, 2.0, 3.5),
            axes: exp(Vec3::new(0.2, -0.4, 0.9)),
            object: 0,
        }
    }

    #[test]
    fn a_tumbling_racket_keeps_its_energy() {
        let body = racket();
        let start = Quat::IDENTITY;
        // About the middle axis, a hair off: it flips over and over.
        let q = start * body.axes;
        let momentum = q * Vec3::new(1e-3, 20.0, 0.0);
        let energy = |r: Quat| 0.5 * momentum.dot(body.spin(r, momentum));
        let (mut r, mut worst) = (start, 0.0_f64);
        let mut flips = 0;
        let mut side = 1.0;
        for _ in 0..2400 {
            r = rotate(&body, r, momentum, 1.0 / 240.0);
            worst = worst.max((energy(r) / energy(start) - 1.0).abs());
            let along = ((r * body.axes).conjugate() * momentum).y;
            if along * side < 0.0 {
                flips += 1;
                side = -side;
            }
        }
        // Fourth order at 0.042 rad a step.
        assert!(worst < 1e-6, "energy off by {worst:e}");
        assert!(flips >= 3, "only {flips} flips");
    }

    #[test]
    fn steps_converge_with_the_fourth_power() {
        let mut body = racket();
        let momentum = Vec3::new(3.0, 4.0, -2.0);
        let fine = rotate(&body, Quat::IDENTITY, momentum, 0.05);
        let by_steps = |n: u32| {
            let mut q = body.axes;
            for _ in 0..n {
                let outer = 1.0 / (2.0 - 2.0_f64.cbrt());
                for share in [outer, 1.0 - 2.0 * outer, outer] {
                    strang(&mut q, body.moments, momentum, share * 0.4 / f64::from(n));
                }
            }
            q
        };
        let exact = by_steps(512);
        let error = |n: u32| (by_steps(n) * exact.conjugate()).xyz().length();
        let order = (error(8) / error(16)).log2();
        assert!((order - 4.0).abs() < 0.3, "order {order}");
        // A round body needs no steps.
        body.moments = Vec3::splat(2.0);
        let turned = rotate(&body, Quat::IDENTITY, momentum, 0.05);
        assert!((turned * exp(-momentum * 0.025)).xyz().length() < 1e-15 && fine.is_finite());
    }
}
