//! Coarse correction of block descent: the rigid motions of whole components.
//!
//! A vertex update passes a force on by one edge, so a stiff body follows gravity, friction or a push only slowly.
//! Its rigid motions cost no elastic energy: restricted to them, the objective is inertia plus contact, a 6×6 system
//! per component. One Newton step of it before a sweep leaves the sweep with what it is good at.

use super::descent::Objective;
use crate::system::System;
use littoral_geom::math::{Mat3, Vec3, skew};

/// Largest turn of one step [rad]: points go along tangents, so that a longer one blows the component up, by ½ θ². The
/// whole step is shortened to that.
const LARGEST_TURN: f64 = 0.5;

/// Symmetric 6×6 system of one component, in blocks: translation t and rotation θ about the centre.
#[derive(Clone, Copy, Debug, Default)]
struct Rigid {
    center: Vec3,
    gradient_t: Vec3,
    gradient_r: Vec3,
    tt: Mat3,
    tr: Mat3,
    rr: Mat3,
}

impl Rigid {
    const ZERO: Rigid = Rigid {
        center: Vec3::ZERO,
        gradient_t: Vec3::ZERO,
        gradient_r: Vec3::ZERO,
        tt: Mat3::ZERO,
        tr: Mat3::ZERO,
        rr: Mat3::ZERO,
    };

    /// Adds a gradient and Hessian block at the point `p`, which moves by u = t + θ × r = t − [r]ₓ θ.
    fn add(&mut self, p: Vec3, gradient: Vec3, hessian: &Mat3) {
        let r = p - self.center;
        let k = skew(r);
        self.gradient_t += gradient;
        self.gradient_r += r.cross(gradient);
        // J = [I, −[r]ₓ]: JᵀHJ in blocks, with [r]ₓᵀ = −[r]ₓ.
        let hk = *hessian * k;
        self.tt += *hessian;
        self.tr -= hk;
        self.rr -= k * hk;
    }

    /// Minimiser (t, θ) of the quadratic model, by the Schur complement of the translation.
    fn solve(&self) -> Option<(Vec3, Vec3)> {
        let inverse = self.tt.inverse();
        let schur = self.rr - self.tr.transpose() * inverse * self.tr;
        let right = self.gradient_r - self.tr.transpose() * (inverse * self.gradient_t);
        let turn = -(schur.inverse() * right);
        let shift = -(inverse * (self.gradient_t + self.tr * turn));
        (turn.is_finite() && shift.is_finite()).then_some((shift, turn))
    }
}

/// The correction and its memory.
#[derive(Clone, Debug, Default)]
pub struct RigidCorrection {
    bodies: Vec<Rigid>,
    motion: Vec<Option<(Vec3, Vec3)>>,
    /// Points that move, and the component of every point as their group.
    pub points: Vec<u32>,
}

impl RigidCorrection {
    /// Lists the points of the components that may move as a whole: simulated, none of their points held, and no rods.
    ///
    /// Rods are solved whole anyway, and to turn one about its own axis is to turn almost nothing: tangents would
    /// enlarge what little there is with every such step.
    pub fn begin(&mut self, system: &System, held: &[bool]) {
        let component = &system.geometry.component;
        let mut free: Vec<bool> = system.geometry.prescribed.iter().map(|p| !p).collect();
        for (v, &c) in component.iter().enumerate() {
            free[c as usize] &= !held[v] && system.mass[v] > 0.0;
        }
        let geometry = &system.geometry;
        let segments = &geometry.surface.edges[geometry.surface.edges.len() - geometry.lines..];
        for end in segments.iter().flatten() {
            free[component[*end as usize] as usize] = false;
        }
        self.points.clear();
        self.points.extend((0..component.len() as u32).filter(|&v| free[component[v as usize] as usize]));
        self.bodies.clear();
        self.bodies.resize(free.len(), Rigid::ZERO);
        self.motion.clear();
        self.motion.extend(free.iter().map(|&f| f.then_some((Vec3::ZERO, Vec3::ZERO))));
    }

    /// Proposes the Newton step of every free component by adding to the displacements `dx`.
    pub fn propose(&mut self, system: &System, objective: &Objective<'_>, x: &[Vec3], dx: &mut [Vec3]) {
        let component = &system.geometry.component;
        self.bodies.fill(Rigid::ZERO);
        let mut masses = vec![0.0; self.bodies.len()];
        for &v in &self.points {
            let (i, c) = (v as usize, component[v as usize] as usize);
            masses[c] += system.mass[i];
            self.bodies[c].center += system.mass[i] * x[i];
        }
        for (body, m) in self.bodies.iter_mut().zip(&masses) {
            if *m > 0.0 {
                body.center /= *m;
            }
        }
        let with_drag = !system.elastic.drags.term.is_empty();
        for &v in &self.points {
            let (i, c) = (v as usize, component[v as usize] as usize);
            let w = system.mass[i] * objective.inverse_h2;
            let mut gradient = w * (x[i] - objective.y[i]);
            let mut hessian = Mat3::from_diagonal(Vec3::splat(w));
            if with_drag {
                // The one element kind that resists rigid motion.
                system.elastic.drags.add_block(v, x, &mut gradient, &mut hessian);
            }
            self.bodies[c].add(x[i], gradient, &hessian);
        }
        objective.contacts.for_each_side(
            x,
            &objective.slip,
            component,
            |side, other, point, gradient, hessian| {
                if self.motion[side as usize].is_some() {
                    // Both sides may answer the same contact at once: each then sees twice its curvature.
                    let both = if self.motion[other as usize].is_some() { 2.0 } else { 1.0 };
                    self.bodies[side as usize].add(point, gradient, &(hessian * both));
                }
            },
        );
        system.elastic.for_each_tie(x, component, |tie| {
            let sides = tie.points.map(|p| component[p as usize] as usize);
            for (k, sign) in [(0, 1.0), (1, -1.0)] {
                if self.motion[sides[k]].is_some() {
                    let both = if self.motion[sides[1 - k]].is_some() { 2.0 } else { 1.0 };
                    self.bodies[sides[k]].add(tie.places[k], sign * tie.gradient, &(tie.hessian * both));
                }
            }
        });
        for (motion, body) in self.motion.iter_mut().zip(&self.bodies) {
            if motion.is_some() {
                let (shift, turn) = body.solve().unwrap_or((Vec3::ZERO, Vec3::ZERO));
                let share = (LARGEST_TURN / turn.length()).min(1.0);
                *motion = Some((share * shift, share * turn));
            }
        }
        for &v in &self.points {
            let (i, c) = (v as usize, component[v as usize] as usize);
            if let Some((shift, turn)) = self.motion[c] {
                dx[i] += shift + turn.cross(x[i] - self.bodies[c].center);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::math::outer;

    #[test]
    fn the_rigid_step_minimises_the_quadratic_model() {
        let points = [Vec3::new(1.0, 0.2, 0.0), Vec3::new(-0.5, 0.9, 0.1), Vec3::new(0.1, -0.7, 1.2)];
        let mut body = Rigid { center: Vec3::new(0.1, 0.1, 0.3), ..Rigid::ZERO };
        let parts: Vec<(Vec3, Vec3, Mat3)> = points
            .iter()
            .enumerate()
            .map(|(k, &p)| {
                let g = Vec3::new(0.3, -0.2 * k as f64, 0.5);
                (p, g, Mat3::from_diagonal(Vec3::splat(2.0)) + outer(p, p))
            })
            .collect();
        for (p, g, h) in &parts {
            body.add(*p, *g, h);
        }
        let (shift, turn) = body.solve().unwrap();
        // Stationary: the model's gradient g + H u, summed as force and torque, vanishes.
        let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
        for (p, g, h) in &parts {
            let r = *p - body.center;
            let f = *g + *h * (shift + turn.cross(r));
            force += f;
            torque += r.cross(f);
        }
        assert!(force.length() < 1e-12 && torque.length() < 1e-12, "{force} {torque}");
    }
}
