//! The kernel volume behind a triangle, as a particle sees it.
//!
//! What a surface hides from a particle is all that lies beyond it on the rays that meet it: no neighbour is seen there,
//! and that much is missing from its sum. Over the directions Ω of the rays, which meet the surface at s(Ω),
//! γ = ∫ G(s) dΩ with G(s) = ∫_s^ħ W r² dr. Over a triangle in a plane at the distance d that integral, and that of W
//! over the triangle, are sums over its edges: the sector between the foot of the particle and an edge at the distance a
//! from it, seen from −α to β, holds
//!
//! ```text
//! ∫ [Γ(d) − (d/r) Γ(r)] dφ/2π     and     ∫ [ω(d) − ω(r)] dφ/2π,     r² = d² + a²/cos²φ,
//! ```
//!
//! where Γ and ω are the volume behind a whole plane and the integral of W over it ([`Kernel::half_space`],
//! [`Kernel::plane`]). An edge between two triangles of one plane cancels to the bit, so that a flat wall is what it is
//! however it is cut. Behind curved surfaces there is less than behind a plane: a tenth less for the first layer of
//! particles at a ball of five spacings.

use super::kernel::{Kernel, gauss};
use littoral_geom::math::Vec3;
use std::f64::consts::TAU;

/// Farther than this multiple of its size a triangle is summed up by three points. Smaller: errors above a thousandth.
const FAR: f64 = 2.0;

/// A sector whose edge passes the foot nearer than this share of the support holds nothing.
const THROUGH: f64 = 1e-9;

/// What a triangle hides from a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shadow {
    /// Kernel volume beyond the triangle [–], in [0, ½].
    pub volume: f64,
    /// Integral of the kernel over the triangle [1/length].
    pub area: f64,
    /// Normal of the triangle, on the side of the particle.
    pub normal: Vec3,
    /// True where the particle is on the side of the triangle's own normal.
    pub in_front: bool,
}

impl Shadow {
    /// Of the triangle with `corners` relative to the particle, whose nearest point is at `distance`, in the units of the
    /// kernel. `None` if it has no area.
    pub fn of(kernel: &Kernel, corners: [Vec3; 3], distance: f64) -> Option<Self> {
        let [a, b, c] = corners;
        let cross = (b - a).cross(c - a);
        let double_area = cross.length();
        if double_area <= f64::MIN_POSITIVE || !double_area.is_finite() {
            return None;
        }
        let own = cross / double_area;
        let height = -own.dot(a);
        let (in_front, d) = (height >= 0.0, height.abs());
        let normal = if in_front { own } else { -own };
        let size_sq = (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
        let (volume, area) = if distance * distance > FAR * FAR * size_sq {
            by_points(kernel, corners, d, 0.5 * double_area)
        } else {
            let side = if in_front { 1.0 } else { -1.0 };
            by_sectors(kernel, corners.map(|x| x + d * normal), d, side * normal)
        };
        Some(Shadow { volume: volume.max(0.0), area: area.max(0.0), normal, in_front })
    }
}

/// The two integrals by the rule of three inner points, exact for quadratic integrands.
fn by_points(kernel: &Kernel, [a, b, c]: [Vec3; 3], d: f64, area: f64) -> (f64, f64) {
    let (mut volume, mut sum) = (0.0, 0.0);
    for x in [4.0 * a + b + c, a + 4.0 * b + c, a + b + 4.0 * c] {
        let r = x.length() / 6.0;
        volume += kernel.beyond(r) * d / (r * r * r);
        sum += kernel.value(r);
    }
    (volume * area / 3.0, sum * area / 3.0)
}

/// The same by sectors; the corners lie in the plane through the origin that `normal` is right-handed to.
fn by_sectors(kernel: &Kernel, corners: [Vec3; 3], d: f64, normal: Vec3) -> (f64, f64) {
    let reach_sq = kernel.support() * kernel.support() - d * d;
    if reach_sq <= 0.0 {
        return (0.0, 0.0);
    }
    let whole = (kernel.half_space(d), kernel.plane(d));
    let (mut volume, mut area) = (0.0, 0.0);
    for k in 0..3 {
        let (u, v) = (corners[k], corners[(k + 1) % 3]);
        let along = (v - u).normalize_or_zero();
        let offset = normal.dot(u.cross(along));
        let a = offset.abs();
        if a < THROUGH * kernel.support() {
            continue;
        }
        let (from, to) = ((u.dot(along) / a).atan(), (v.dot(along) / a).atan());
        let (mut lost, mut missed) = (0.0, 0.0);
        if a * a < reach_sq {
            let limit = ((reach_sq - a * a).sqrt() / a).atan();
            let (from, to) = (from.clamp(-limit, limit), to.clamp(-limit, limit));
            let rim = |phi: f64| {
                let r = (d * d + a * a * (1.0 + phi.tan().powi(2))).sqrt();
                (d / r * kernel.half_space(r), kernel.plane(r))
            };
            let middle = from.max(0.0).min(to);
            for (x, y) in [gauss_of_two(from, middle, rim), gauss_of_two(middle, to, rim)] {
                lost += x;
                missed += y;
            }
        }
        let side = offset.signum() / TAU;
        volume += side * ((to - from) * whole.0 - lost);
        area += side * ((to - from) * whole.1 - missed);
    }
    (volume, area)
}

/// Both integrals of a pair of functions over [a, b]; nothing if it is empty.
fn gauss_of_two(a: f64, b: f64, f: impl Fn(f64) -> (f64, f64)) -> (f64, f64) {
    if b <= a { (0.0, 0.0) } else { gauss(a, b, f) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::distance::closest_point_triangle;
    use littoral_geom::mesh::TriMesh;
    use littoral_geom::shapes;

    /// Volume and area of what a mesh hides from the origin, of the triangles that it sees from in front.
    fn hidden(kernel: &Kernel, mesh: &TriMesh) -> (f64, f64) {
        let (mut volume, mut pull) = (0.0, Vec3::ZERO);
        for t in &mesh.triangles {
            let corners = t.map(|c| mesh.vertices[c as usize]);
            let distance = closest_point_triangle(Vec3::ZERO, corners).distance_sq.sqrt();
            let Some(s) = Shadow::of(kernel, corners, distance) else { continue };
            if s.in_front {
                volume += s.volume;
                pull += s.area * s.normal;
            }
        }
        (volume, pull.length())
    }

    #[test]
    fn a_flat_wall_is_a_half_space_however_it_is_cut() {
        let kernel = Kernel::new(2.0, 1.0);
        for cuts in [1, 7, 40] {
            let mut mesh = shapes::grid([9.0, 11.0], [cuts, cuts]);
            for d in [0.05, 0.5, 1.3] {
                mesh.vertices.iter_mut().for_each(|p| *p = Vec3::new(p.x + 0.03, p.y - 0.02, -d));
                let (volume, area) = hidden(&kernel, &mesh);
                let (v, a) = (kernel.half_space(d), kernel.plane(d));
                // Points stand for small triangles far away.
                assert!((volume - v).abs() < 1e-3 * v, "{cuts} cuts, {d}: {volume} for {v}");
                assert!((area - a).abs() < 1e-3 * a, "{cuts} cuts, {d}: {area} for {a}");
                mesh.vertices.iter_mut().for_each(|p| *p -= Vec3::new(0.03, -0.02, 0.0));
            }
        }
    }

    #[test]
    fn a_ball_hides_the_shadow_it_casts() {
        let kernel = Kernel::new(2.0, 1.0);
        let radius = 4.0;
        let mut mesh = shapes::sphere(radius, 4);
        for d in [0.3, 0.5, 1.0] {
            let center = radius + d;
            mesh.vertices.iter_mut().for_each(|p| *p -= Vec3::new(0.0, 0.0, center));
            let (volume, _) = hidden(&kernel, &mesh);
            mesh.vertices.iter_mut().for_each(|p| *p += Vec3::new(0.0, 0.0, center));
            // A ray at the angle θ meets the ball at c cos θ − √(R² − c² sin² θ).
            let limit = (radius / center).asin();
            let n = 20_000;
            let expected: f64 = (0..n)
                .map(|k| {
                    let theta = (k as f64 + 0.5) / n as f64 * limit;
                    let s = center * theta.cos() - (radius.powi(2) - (center * theta.sin()).powi(2)).sqrt();
                    TAU * theta.sin() * kernel.beyond(s) * limit / n as f64
                })
                .sum();
            // The mesh lies within the ball, by 0.01 in the middle of a triangle.
            assert!((volume / expected - 1.0).abs() < 0.02, "{d}: {volume} for {expected}");
            assert!(volume < 0.97 * kernel.half_space(d), "{d}: a ball hides less than a half-space");
        }
    }
}
