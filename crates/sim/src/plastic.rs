//! Deformation that stays: folds that keep an angle, and soft bodies that flow.
//!
//! At the end of each step what is strained beyond its yield becomes the rest shape of the next one:
//!
//! * a fold with |θ − θ̄| beyond its yield angle moves its rest angle θ̄ until it is just there;
//! * a tet has F = Fₑ Fₚ. With Fₑ = U Σ Vᵀ, ε = ln Σ and e the deviator of ε, |e| beyond √⅔ σ_y/2μ (von Mises) is scaled
//!   back to it: Fₚ⁻¹ ← Fₚ⁻¹ V exp(e′ − e) Vᵀ, which keeps the volume. The element then measures from Fₚ.
//!
//! Angles and Fₚ⁻¹ are numbers of the snapshot's memory, so that a run goes on as if it had not stopped.

use crate::elastic::Elastic;
use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::svd::svd;
use rayon::prelude::*;

/// Numbers a tet remembers.
const MATRIX: usize = 9;

/// Elements per parallel task.
const TASK: usize = 256;

/// Smallest principal stretch whose logarithm is taken: tets are positive, but a flat one has no direction to flow in.
const FLATTEST: f64 = 1e-3;

/// A fold that yields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crease {
    /// Index among the hinges.
    pub hinge: u32,
    /// Angle from the rest angle that it bears [rad], > 0.
    pub yield_angle: f64,
}

/// A tet that yields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ductile {
    /// Of the fixed corotated tets, not the stable neo-Hookean ones.
    pub corotated: bool,
    /// Index among the tets of its energy.
    pub tet: u32,
    /// Gradients of its shape functions at the start [1/m].
    pub shape: [Vec3; 4],
    /// Norm of the deviatoric logarithmic strain that it bears [–], > 0.
    pub yield_strain: f64,
}

/// All elements that yield.
#[derive(Clone, Debug, Default)]
pub struct Plastic {
    /// Where its numbers begin in the snapshot's memory.
    pub memory: usize,
    /// Folds.
    pub creases: Vec<Crease>,
    /// Tets.
    pub ductile: Vec<Ductile>,
}

fn write(m: &Mat3, numbers: &mut [f64]) {
    numbers.copy_from_slice(&m.to_cols_array());
}

fn read(numbers: &[f64]) -> Mat3 {
    let column = |k: usize| Vec3::new(numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]);
    Mat3::from_cols(column(0), column(1), column(2))
}

impl Plastic {
    /// True when nothing yields.
    pub fn is_empty(&self) -> bool {
        self.creases.is_empty() && self.ductile.is_empty()
    }

    /// Appends what is remembered before the first step.
    pub fn start(&self, elastic: &Elastic, memory: &mut Vec<f64>) {
        let hinges = &elastic.hinges.term.elements;
        memory.extend(self.creases.iter().map(|c| hinges[c.hinge as usize].rest_angle()));
        memory.extend(self.ductile.iter().flat_map(|_| Mat3::IDENTITY.to_cols_array()));
    }

    /// Gives the elements the rest shapes that are remembered.
    pub fn recall(&self, elastic: &mut Elastic, memory: &[f64]) {
        if self.is_empty() {
            return;
        }
        let (angles, matrices) = memory[self.memory..].split_at(self.creases.len());
        for (crease, angle) in self.creases.iter().zip(angles) {
            elastic.hinges.term.elements[crease.hinge as usize].set_rest_angle(*angle);
        }
        for (tet, numbers) in self.ductile.iter().zip(matrices.chunks_exact(MATRIX)) {
            let back = read(numbers).transpose();
            let shape = tet.shape.map(|m| back * m);
            if tet.corotated {
                elastic.corotated.term.elements[tet.tet as usize].set_shape(shape);
            } else {
                elastic.tets.term.elements[tet.tet as usize].set_shape(shape);
            }
        }
    }

    /// Lets flow what is beyond its yield at `x` [m].
    pub fn flow(&self, elastic: &Elastic, x: &[Vec3], memory: &mut [f64]) {
        if self.is_empty() {
            return;
        }
        let (angles, matrices) = memory[self.memory..].split_at_mut(self.creases.len());
        let hinges = &elastic.hinges.term;
        self.creases.par_iter().zip(angles).with_min_len(TASK).for_each(|(crease, rest)| {
            let e = crease.hinge as usize;
            let angle = hinges.elements[e].angle(&hinges.gather(x, e));
            if (angle - *rest).abs() > crease.yield_angle {
                *rest = angle - crease.yield_angle.copysign(angle - *rest);
            }
        });
        let ductile = self.ductile.par_iter().zip(matrices.par_chunks_exact_mut(MATRIX));
        ductile.with_min_len(TASK).for_each(|(tet, numbers)| {
            let e = tet.tet as usize;
            let x = if tet.corotated {
                elastic.corotated.term.gather(x, e)
            } else {
                elastic.tets.term.gather(x, e)
            };
            if let Some(back) = flowed(tet, &x, read(numbers)) {
                write(&back, numbers);
            }
        });
    }
}

/// Fₚ⁻¹ after a step that ended at `x` [m], from that before it; `None` where nothing yields.
fn flowed(tet: &Ductile, x: &[Vec3; 4], back: Mat3) -> Option<Mat3> {
    let f = (1..4).fold(Mat3::ZERO, |sum, i| sum + littoral_geom::math::outer(x[i] - x[0], tet.shape[i]));
    let d = svd(f * back);
    let log = d.sigma.to_array().map(|s| s.max(FLATTEST).ln());
    let log = Vec3::from_array(log);
    let deviator = log - Vec3::splat((log.x + log.y + log.z) / 3.0);
    let size = deviator.length();
    if size.is_nan() || size <= tet.yield_strain {
        return None;
    }
    let relief = deviator * (tet.yield_strain / size - 1.0);
    let relax = Mat3::from_diagonal(Vec3::new(relief.x.exp(), relief.y.exp(), relief.z.exp()));
    let back = back * (d.v * relax * d.v.transpose());
    // Its determinant is one up to rounding, which would add up.
    Some(back * back.determinant().cbrt().recip())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tet pulled along x to the stretch s with its volume kept: what it bears afterwards is its yield strain, and the
    /// rest has become its shape.
    #[test]
    fn a_stretched_tet_keeps_its_yield_strain_and_its_volume() {
        let shape = [Vec3::splat(-1.0), Vec3::X, Vec3::Y, Vec3::Z];
        let tet = Ductile { corotated: false, tet: 0, shape, yield_strain: 0.1 };
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let s = 1.5_f64;
        let f = Mat3::from_diagonal(Vec3::new(s, s.powf(-0.5), s.powf(-0.5)));
        let back = flowed(&tet, &corners.map(|p| f * p), Mat3::IDENTITY).expect("it yields");
        assert!((back.determinant() - 1.0).abs() < 1e-15);
        let elastic = f * back;
        // ln s (1, −½, −½) has the norm √1.5 ln s; afterwards 0.1.
        let left = (0.1 / 1.5_f64.sqrt()).exp();
        assert!((elastic.x_axis.x - left).abs() < 1e-14, "{} against {left}", elastic.x_axis.x);
        // At its yield it stays, up to rounding.
        let again = flowed(&tet, &corners.map(|p| f * p), back).unwrap_or(back);
        assert!((again - back).abs_diff_eq(Mat3::ZERO, 1e-14));
        assert_eq!(flowed(&tet, &corners.map(|p| p * 1.3), Mat3::IDENTITY), None);
    }
}
