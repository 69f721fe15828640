//! Volume, centre and second moments of what a closed surface encloses, and of a thin shell along a surface.
//!
//! Polynomials up to degree two are integrated exactly: over the cone from a common apex to each triangle (divergence
//! theorem), or over the triangles themselves. Nothing here knows a density.

use crate::math::{Mat3, Vec3, outer};

/// Moments of a region with a measure μ: its volume, or its area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Measure μ = ∫ 1 [m³ or m²]; negative for a surface that is inside out.
    pub measure: f64,
    /// Centre c = ∫ x / μ [m].
    pub center: Vec3,
    /// Second moments about the centre, ∫ (x−c)(x−c)ᵀ [m⁵ or m⁴].
    pub second: Mat3,
}

impl Moments {
    /// Inertia tensor about the centre for a density of one, tr(S) 1 − S [m⁵ or m⁴].
    pub fn inertia(&self) -> Mat3 {
        let s = &self.second;
        Mat3::from_diagonal(Vec3::splat(s.x_axis.x + s.y_axis.y + s.z_axis.z)) - *s
    }

    /// Of the solid inside a closed surface whose normals point outwards.
    pub fn of_solid(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Moments {
        // Signed cones from a point of the surface: V = det/6, ∫ x xᵀ = V/20 (Σ pᵢpᵢᵀ + s sᵀ), s = Σ pᵢ.
        Self::sum(vertices, triangles, |[a, b, c]| (a.dot(b.cross(c)) / 6.0, 4.0, 20.0))
    }

    /// Of the surface itself.
    pub fn of_shell(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Moments {
        // ∫ x xᵀ = A/12 (Σ pᵢpᵢᵀ + s sᵀ).
        Self::sum(vertices, triangles, |[a, b, c]| (0.5 * (b - a).cross(c - a).length(), 3.0, 12.0))
    }

    /// Adds simplices given by their measure, the divisor of their centre and that of their second moments. Coordinates
    /// count from the mean of the vertices, which is also the apex of the cones.
    fn sum(
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        simplex: impl Fn([Vec3; 3]) -> (f64, f64, f64),
    ) -> Moments {
        let origin = vertices.iter().sum::<Vec3>() / vertices.len().max(1) as f64;
        let (mut measure, mut first, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
        for t in triangles {
            let p = t.map(|v| vertices[v as usize] - origin);
            let (m, centre, spread) = simplex(p);
            let s = p[0] + p[1] + p[2];
            measure += m;
            first += (m / centre) * s;
            let squares = outer(p[0], p[0]) + outer(p[1], p[1]) + outer(p[2], p[2]) + outer(s, s);
            second += squares * (m / spread);
        }
        if measure == 0.0 {
            return Moments { measure, center: origin, second };
        }
        let c = first / measure;
        Moments { measure, center: origin + c, second: second - outer(c, c) * measure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;
    use crate::shapes;

    fn close(a: Mat3, b: Mat3, tolerance: f64) -> bool {
        (a - b).to_cols_array().iter().all(|e| e.abs() <= tolerance)
    }

    #[test]
    fn a_turned_box_has_the_moments_of_the_formula() {
        let (a, b, c) = (0.3, 0.5, 0.9);
        let mesh = shapes::cuboid([a, b, c], [2, 3, 1]);
        let turn = Quat::from_scaled_axis(Vec3::new(0.4, -1.1, 0.7));
        let place = Vec3::new(3.0, -2.0, 5.0);
        let x: Vec<Vec3> = mesh.vertices.iter().map(|&v| place + turn * v).collect();
        let m = Moments::of_solid(&x, &mesh.triangles);
        // Rounding of coordinates of size 6 against lengths of 0.3: 1e-13 leaves two digits.
        assert!((m.measure - a * b * c).abs() < 1e-13 && (m.center - place).length() < 1e-13);
        let v = a * b * c;
        let inertia = Vec3::new(b * b + c * c, a * a + c * c, a * a + b * b) * (v / 12.0);
        let r = Mat3::from_quat(turn);
        assert!(close(m.inertia(), r * Mat3::from_diagonal(inertia) * r.transpose(), 1e-13));
    }

    #[test]
    fn the_shell_of_a_box_has_the_moments_of_six_plates() {
        let (a, b, c) = (0.3, 0.5, 0.9);
        let mesh = shapes::cuboid([a, b, c], [1, 1, 1]);
        let m = Moments::of_shell(&mesh.vertices, &mesh.triangles);
        let area = 2.0 * (a * b + b * c + c * a);
        assert!((m.measure - area).abs() < 1e-14);
        // ∫ x² over the faces x = ±a/2 and over the other four.
        let xx = 2.0 * b * c * a * a / 4.0 + 2.0 * (b + c) * a.powi(3) / 12.0;
        assert!((m.second.x_axis.x - xx).abs() < 1e-14, "{} against {xx}", m.second.x_axis.x);
    }

    #[test]
    fn a_fine_sphere_comes_near_two_fifths_m_r_squared() {
        let mesh = shapes::sphere(0.5, 5);
        let m = Moments::of_solid(&mesh.vertices, &mesh.triangles);
        let ratio = m.inertia().x_axis.x / (0.4 * m.measure * 0.25);
        // An inscribed polyhedron: the error falls with the square of the edge length, 0.02 radii here.
        assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
    }
}
