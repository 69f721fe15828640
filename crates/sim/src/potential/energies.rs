//! Energies of many elements, four at a time: to the bit what `Hinge::value`, `Hinge::lag` and `NeoHookeanMembrane::value`
//! give, which hold the formulas.

use super::Potential;
use super::bending::Hinge;
use super::lane_scalar::{atan2, ln, unwrapped};
use super::lanes::{Four, Kernel, Machine, Quad, Quad3, run};
use super::membrane::{NeoHookeanMembrane, SQUASHED};
use littoral_geom::math::Vec3;

/// The `c`-th points of four elements.
#[inline(always)]
fn corner<M: Machine, const N: usize>(m: M, x: &[Vec3], points: &[[u32; N]; 4], c: usize) -> Quad3<M> {
    Quad3::gather(m, x, [points[0][c], points[1][c], points[2][c], points[3][c]])
}

/// A number of four elements.
#[inline(always)]
fn number<M: Machine, P>(m: M, elements: &[P; 4], get: impl Fn(&P) -> f64) -> Quad<M> {
    let [a, b, c, d] = elements;
    Quad::load(m, &Four([get(a), get(b), get(c), get(d)]))
}

/// θ in [−π, π], as `Hinge::fold` finds it.
#[inline(always)]
fn angle<M: Machine>(m: M, x: &[Vec3], points: &[[u32; 4]; 4]) -> Quad<M> {
    let x0 = corner(m, x, points, 0);
    let e = corner(m, x, points, 1) - x0;
    let (from2, from3) = (x0 - corner(m, x, points, 2), x0 - corner(m, x, points, 3));
    let (n1, n2) = (from2.cross(e), e.cross(from3));
    let length = e.dot(e).sqrt();
    atan2(m, length * n1.dot(from3), n1.dot(n2))
}

/// Energies of hinges [J].
struct HingeValues<'a> {
    elements: &'a [[Hinge; 4]],
    points: &'a [[[u32; 4]; 4]],
    x: &'a [Vec3],
    out: &'a mut [[f64; 4]],
}

impl Kernel for HingeValues<'_> {
    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        for ((four, points), out) in self.elements.iter().zip(self.points).zip(self.out) {
            let lagged = number(m, four, |h| h.lagged);
            let angle = unwrapped(angle(m, self.x, points), lagged);
            let (bent, gained) = (angle - number(m, four, |h| h.rest), angle - lagged);
            let ratio = number(m, four, |h| h.ratio);
            let stiffness = 0.5 * number(m, four, |h| h.stiffness);
            *out = (stiffness * (bent * bent + ratio * (gained * gained))).store();
        }
    }
}

/// Remembers the angles of hinges.
struct HingeLags<'a> {
    elements: &'a mut [[Hinge; 4]],
    points: &'a [[[u32; 4]; 4]],
    x: &'a [Vec3],
}

impl Kernel for HingeLags<'_> {
    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        for (four, points) in self.elements.iter_mut().zip(self.points) {
            let angles = angle(m, self.x, points).store();
            for (hinge, angle) in four.iter_mut().zip(angles) {
                hinge.lagged = angle;
            }
        }
    }
}

/// Energies of membranes [J].
struct MembraneValues<'a> {
    elements: &'a [[NeoHookeanMembrane; 4]],
    points: &'a [[[u32; 3]; 4]],
    x: &'a [Vec3],
    out: &'a mut [[f64; 4]],
}

impl Kernel for MembraneValues<'_> {
    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        for ((four, points), out) in self.elements.iter().zip(self.points).zip(self.out) {
            let corner = |c: usize| corner(m, self.x, points, c);
            let (x0, x1, x2) = (corner(0), corner(1), corner(2));
            let normal = (x1 - x0).cross(x2 - x0);
            let metric = number(m, four, |e| e.sheet.metric);
            let j_sq = normal.dot(normal) * metric;
            let (lambda, mu) = (number(m, four, |e| e.sheet.lambda), number(m, four, |e| e.sheet.mu));
            let squashed = Quad::splat(m, SQUASHED * SQUASHED);
            let zero = Quad::splat(m, 0.0);
            // Laws of their own, see `area_law`.
            let odd = j_sq.less(squashed, Quad::splat(m, 1.0), lambda.less(zero, Quad::splat(m, 1.0), zero));
            if !odd.is_less(Quad::splat(m, 1.0)) {
                *out = std::array::from_fn(|k| four[k].value(&points[k].map(|p| self.x[p as usize])));
                continue;
            }
            let ln_j = 0.5 * ln(m, j_sq);
            let area = (0.5 * lambda * ln_j - mu) * ln_j;
            let [e0, e1, e2] = [x2 - x1, x0 - x2, x1 - x0];
            let sq = [e0.dot(e0), e1.dot(e1), e2.dot(e2)];
            let weight = |c: usize| number(m, four, |e| e.sheet.weight[c]);
            let w = [weight(0), weight(1), weight(2)];
            let trace = w[0] * sq[0] + w[1] * sq[1] + w[2] * sq[2];
            let two = Quad::splat(m, 2.0);
            let gained = |c: usize| sq[c] - number(m, four, |e| e.sheet.lagged_sq[c]);
            let d = [gained(0), gained(1), gained(2)];
            let tr = w[0] * d[0] + w[1] * d[1] + w[2] * d[2];
            let heron =
                two * (d[0] * d[1] + d[1] * d[2] + d[2] * d[0]) - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            let strain = 0.125 * ((lambda + two * mu) * tr * tr - mu * metric * heron);
            let ratio = number(m, four, |e| e.sheet.ratio);
            *out = (0.5 * mu * (trace - two) + area + ratio * strain).store();
        }
    }
}

/// As `Hinge::value`, for all.
pub(super) fn hinge_values(elements: &[Hinge], points: &[[u32; 4]], x: &[Vec3], out: &mut [f64]) {
    let (fours, rest) = elements.as_chunks::<4>();
    let (points, points_left) = points.as_chunks::<4>();
    let (out, left) = out.as_chunks_mut::<4>();
    run(HingeValues { elements: fours, points, x, out });
    for ((hinge, points), out) in rest.iter().zip(points_left).zip(left) {
        *out = hinge.value(&points.map(|p| x[p as usize]));
    }
}

/// As `Hinge::lag`, but for the length of the step, for all.
pub(super) fn remember_angles(elements: &mut [Hinge], points: &[[u32; 4]], x: &[Vec3]) {
    let (fours, rest) = elements.as_chunks_mut::<4>();
    let (points, points_left) = points.as_chunks::<4>();
    run(HingeLags { elements: fours, points, x });
    for (hinge, points) in rest.iter_mut().zip(points_left) {
        hinge.remember_angle(&points.map(|p| x[p as usize]));
    }
}

/// As `NeoHookeanMembrane::value`, for all.
pub(super) fn membrane_values(
    elements: &[NeoHookeanMembrane],
    points: &[[u32; 3]],
    x: &[Vec3],
    out: &mut [f64],
) {
    let (fours, rest) = elements.as_chunks::<4>();
    let (points, points_left) = points.as_chunks::<4>();
    let (out, left) = out.as_chunks_mut::<4>();
    run(MembraneValues { elements: fours, points, x, out });
    for ((sheet, points), out) in rest.iter().zip(points_left).zip(left) {
        *out = sheet.value(&points.map(|p| x[p as usize]));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MembraneParameters, Term};
    use super::*;
    use littoral_geom::mesh::hinges;
    use littoral_geom::random::Random;
    use littoral_geom::shapes;

    /// Nearly flat, crumpled, squashed and folded over, and with a Poisson's ratio below zero.
    #[test]
    fn four_at_a_time_are_what_each_is_alone() {
        let mesh = shapes::grid([0.7, 0.5], [7, 5]);
        let mut random = Random::new(11);
        for (size, poisson) in [(1e-6, 0.3), (1e-2, 0.3), (0.1, 0.3), (0.4, -0.3), (1.0, 0.3), (3.0, 0.3)] {
            let mut noisy = || -> Vec<Vec3> {
                mesh.vertices.iter().map(|p| *p + 0.1 * size * random.in_cube(1.0)).collect()
            };
            let (x_n, x) = (noisy(), noisy());
            let rest = |p: u32| mesh.vertices[p as usize];
            let parameters = MembraneParameters { young: 1e6, poisson, thickness: 1e-3, damping: 1e-3 };
            let (mut membranes, mut folds) = (Term::default(), Term::default());
            for &t in &mesh.triangles {
                membranes.push(t, NeoHookeanMembrane::new(t.map(rest), &parameters).expect("a triangle"));
            }
            for h in hinges(&mesh.triangles) {
                folds.push(h, Hinge::new(h.map(rest), 1e-2, 1e-3).expect("a hinge"));
            }
            let mut alone = folds.clone();
            for (hinge, points) in alone.elements.iter_mut().zip(&alone.points) {
                hinge.lag(&points.map(|p| x_n[p as usize]), 1e-2);
            }
            membranes.lag(&x_n, 1e-2);
            folds.lag(&x_n, 1e-2);
            assert_eq!(folds, alone, "noise of {size}");
            for (e, value) in folds.values(&x).into_iter().enumerate() {
                assert_eq!(
                    value,
                    folds.elements[e].value(&folds.gather(&x, e)),
                    "hinge {e}, noise of {size}"
                );
            }
            for (e, value) in membranes.values(&x).into_iter().enumerate() {
                let exact = membranes.elements[e].value(&membranes.gather(&x, e));
                assert_eq!(value, exact, "triangle {e}, noise of {size}");
            }
        }
    }
}
