//! One vertex of block descent [Chen 2024, VBD]: minimise ½(m/h²)|x−y|² + E over this vertex alone, one Newton step.

use crate::contact::{Block, Contacts, Slip};
use crate::elastic::{Elastic, Inertia};
use littoral_geom::math::{Mat3, Vec3};

/// What a descent reads.
#[derive(Clone, Copy, Debug)]
pub struct Objective<'a> {
    /// Elastic elements.
    pub elastic: &'a Elastic,
    /// Contacts since the last detection.
    pub contacts: &'a Contacts,
    /// What contacts measure from.
    pub slip: Slip<'a>,
    /// How far each point has gone from where it was detected, at most (n) [m].
    pub moved: &'a [f64],
    /// Colour of each point.
    pub color_of: &'a [u32],
    /// Mass (n) [kg].
    pub mass: &'a [f64],
    /// Inertial target y (n) [m].
    pub y: &'a [Vec3],
    /// 1/h² [1/s²].
    pub inverse_h2: f64,
}

impl Objective<'_> {
    /// Steps of the `points` from the positions `x` [m], and their Hessian blocks [N/m]; none for those that are `held` (n). They
    /// are the `window` of a colour, or any points.
    pub fn newton_steps(
        &self,
        (points, window): (&[u32], Option<(usize, usize)>),
        x: &[Vec3],
        held: &[bool],
        out: &mut [(Vec3, Mat3)],
    ) {
        let is_alone = |v: u32| self.elastic.is_fan(v) && !self.contacts.touches(v);
        let covers = |v: u32| window.is_some() && self.elastic.has_fan(v);
        if let Some(window) = window {
            let inertia = Inertia { mass: self.mass, y: self.y, inverse_h2: self.inverse_h2, is_alone };
            self.elastic.fan_blocks(window, x, inertia, out);
        }
        for (&v, out) in points.iter().zip(out) {
            if held[v as usize] {
                *out = (Vec3::ZERO, Mat3::IDENTITY);
            } else if window.is_none() || !is_alone(v) {
                let start = if covers(v) { *out } else { self.start(v, x) };
                *out = self.newton_step(v, x, start);
            }
        }
    }

    /// A Newton step, and more of them where it begins a contact, or leaves one that presses. Inertia and the elastic fan are
    /// in the `start`.
    ///
    /// A contact that begins on the way is met where the step would end, and the step is taken again with it: without,
    /// the vertex would go as deep as if nothing were there. Friction joins in the next sweep. A vertex that something holds already
    /// does not fall, and contacts that it meets then wait for that sweep, too.
    #[inline]
    fn newton_step(&self, v: u32, x: &[Vec3], start: (Vec3, Mat3)) -> (Vec3, Mat3) {
        let rest = self.elastic.beside_fan(v, x, start);
        let contact = self.contact_block(v, x);
        let (mut gradient, mut hessian) = (rest.0 + contact.gradient, rest.1 + contact.hessian);
        let mut step = solve_spd(&hessian, -gradient);
        if !contact.acts
            && step.length_squared() > contact.clear * contact.clear
            && let Some(begun) = self.contacts.begun((v, x), step, self.color_of, self.moved)
        {
            gradient += begun.0;
            hessian += begun.1;
            step = solve_spd(&hessian, -gradient);
        }
        if !Contacts::may_open(contact.gap, step) {
            return (step, hessian);
        }
        self.contacts.retreat((v, x), &self.slip, self.color_of, rest, (step, hessian), solve_spd)
    }

    /// Gradient [N] and Hessian block [N/m] at vertex `v` of all that is no rod: inertia, other elements, contact.
    #[inline]
    pub fn block(&self, v: u32, x: &[Vec3]) -> (Vec3, Mat3) {
        let (inertia, elastic) = (self.inertia(v, x), self.elastic.block(v, x));
        let (gradient, hessian) = (elastic.0 + inertia.0, elastic.1 + inertia.1);
        let contact = self.contact_block(v, x);
        (gradient + contact.gradient, hessian + contact.hessian)
    }

    #[inline]
    fn inertia(&self, v: u32, x: &[Vec3]) -> (Vec3, Mat3) {
        let i = v as usize;
        let weight = self.mass[i] * self.inverse_h2;
        (weight * (x[i] - self.y[i]), Mat3::from_diagonal(Vec3::splat(weight)))
    }

    /// Inertia and the elastic fan of `v`.
    #[inline]
    fn start(&self, v: u32, x: &[Vec3]) -> (Vec3, Mat3) {
        let (inertia, fan) = (self.inertia(v, x), self.elastic.fan_block(v, x));
        (fan.0 + inertia.0, fan.1 + inertia.1)
    }

    #[inline]
    fn contact_block(&self, v: u32, x: &[Vec3]) -> Block {
        if self.contacts.touches(v) {
            self.contacts.block((v, x), &self.slip, self.color_of, self.moved)
        } else {
            Block::default()
        }
    }

    /// Gradient of the whole objective at vertex `v` [N], with the particles that it touches having given way.
    pub fn gradient(&self, v: u32, x: &[Vec3]) -> Vec3 {
        let i = v as usize;
        let (mut gradient, _) = self.elastic.block(v, x);
        gradient += self.mass[i] * self.inverse_h2 * (x[i] - self.y[i]);
        if self.contacts.touches(v) {
            gradient += self.contacts.block((v, x), &self.slip, self.color_of, self.moved).gradient;
        }
        gradient
    }
}

/// Solves a symmetric positive definite 3×3 system by LDLᵀ. The inertia on the diagonal bounds it away from
/// singular.
#[inline]
fn solve_spd(a: &Mat3, b: Vec3) -> Vec3 {
    let (a00, a10, a20) = (a.x_axis.x, a.x_axis.y, a.x_axis.z);
    let (a11, a21, a22) = (a.y_axis.y, a.y_axis.z, a.z_axis.z);
    let i0 = 1.0 / a00;
    let (l10, l20) = (a10 * i0, a20 * i0);
    let d1 = a11 - l10 * a10;
    let i1 = 1.0 / d1;
    let r21 = a21 - l20 * a10;
    let l21 = r21 * i1;
    let d2 = a22 - l20 * a20 - l21 * r21;
    let y0 = b.x;
    let y1 = b.y - l10 * y0;
    let y2 = b.z - l20 * y0 - l21 * y1;
    let z2 = y2 / d2;
    let z1 = y1 * i1 - l21 * z2;
    let z0 = y0 * i0 - l10 * z1 - l20 * z2;
    Vec3::new(z0, z1, z2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::math::outer;

    #[test]
    fn the_small_solve_inverts_positive_definite_matrices() {
        for k in 0..100 {
            let s = f64::from(k);
            let (a, b) = (Vec3::new(s.sin(), s.cos(), 0.3), Vec3::new(0.1, (2.0 * s).sin(), 1.0));
            let m = Mat3::from_diagonal(Vec3::new(0.1, 0.2, 0.3)) + outer(a, a) * 10.0 + outer(b, b);
            let x = Vec3::new(1.0, -2.0, 0.5 * s);
            // Condition number below 1e4: twelve digits remain of sixteen.
            assert!((solve_spd(&m, m * x) - x).length() < 1e-11 * (1.0 + x.length()));
        }
    }
}
