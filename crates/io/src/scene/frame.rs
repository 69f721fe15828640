//! From the units and axes of a scene file to metres with z up, and back for what is measured.

use super::spec::{Units, Up};
use super::spec_motion::Rotation;
use littoral_geom::math::{Aabb, Mat3, Quat, Vec3};

/// Units and up axis of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub units: Units,
    pub up: Up,
}

impl Frame {
    /// A length [m].
    pub fn length(self, length: f64) -> f64 {
        self.units.metres(length)
    }

    /// A vector that is no length: a velocity, an axis. A quarter turn about x takes y up to z up.
    pub fn vector(self, v: [f64; 3]) -> Vec3 {
        match self.up {
            Up::Z => Vec3::new(v[0], v[1], v[2]),
            Up::Y => Vec3::new(v[0], -v[2], v[1]),
        }
    }

    /// The gradient of a velocity, given by its rows, along our axes.
    pub fn gradient(self, rows: [[f64; 3]; 3]) -> Mat3 {
        let turn = Mat3::from_cols(
            self.vector([1.0, 0.0, 0.0]),
            self.vector([0.0, 1.0, 0.0]),
            self.vector([0.0, 0.0, 1.0]),
        );
        let [a, b, c] = rows.map(Vec3::from_array);
        turn * Mat3::from_cols(a, b, c).transpose() * turn.transpose()
    }

    /// A point or displacement [m].
    pub fn point(self, p: [f64; 3]) -> Vec3 {
        self.vector(p.map(|c| self.length(c)))
    }

    /// A box, given by two opposite corners [m].
    pub fn aabb(self, [a, b]: [[f64; 3]; 2]) -> Aabb {
        let (a, b) = (self.point(a), self.point(b));
        Aabb { min: a.min(b), max: a.max(b) }
    }

    /// Extents or factors along the axes of the file, along ours.
    pub fn extents(self, s: [f64; 3]) -> [f64; 3] {
        match self.up {
            Up::Z => s,
            Up::Y => [s[0], s[2], s[1]],
        }
    }

    /// An axis of the file as an axis of ours (0, 1, 2) and its sign.
    pub fn axis(self, axis: usize) -> (usize, f64) {
        match (self.up, axis) {
            (Up::Z, a) => (a, 1.0),
            (Up::Y, 1) => (2, 1.0),
            (Up::Y, 2) => (1, -1.0),
            (Up::Y, a) => (a, 1.0),
        }
    }

    /// A rotation. Its axis turns with the axes of the file, its angle stays.
    pub fn rotation(self, rotation: &Rotation) -> Quat {
        let written = if let (Some(axis), Some(angle)) = (rotation.axis, rotation.angle_deg) {
            Quat::from_axis_angle(Vec3::from_array(axis).normalize(), angle.to_radians())
        } else if let Some([x, y, z]) = rotation.euler_deg {
            Quat::from_rotation_z(z.to_radians())
                * Quat::from_rotation_y(y.to_radians())
                * Quat::from_rotation_x(x.to_radians())
        } else if let Some([x, y, z, w]) = rotation.quaternion {
            Quat::from_xyzw(x, y, z, w).normalize()
        } else {
            Quat::IDENTITY
        };
        let v = self.vector([written.x, written.y, written.z]);
        Quat::from_xyzw(v.x, v.y, v.z, written.w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Y_UP: Frame = Frame { units: Units::Cm, up: Up::Y };

    #[test]
    fn y_up_turns_into_z_up_without_mirroring() {
        let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|v| Y_UP.vector(v));
        assert_eq!(y, Vec3::Z);
        assert_eq!(x.cross(y), z);
        for axis in 0..3 {
            let mut v = [0.0; 3];
            v[axis] = 1.0;
            let (ours, sign) = Y_UP.axis(axis);
            assert_eq!(Y_UP.vector(v)[ours] * sign, 1.0);
        }
    }

    #[test]
    fn a_gradient_commutes_with_the_change_of_axes() {
        let rows = [[1.0, 2.0, -3.0], [0.5, -4.0, 6.0], [7.0, 8.0, 9.0]];
        let r = [0.3, -0.7, 0.2];
        let product = rows.map(|row| row[0] * r[0] + row[1] * r[1] + row[2] * r[2]);
        assert!((Y_UP.gradient(rows) * Y_UP.vector(r) - Y_UP.vector(product)).length() < 1e-14);
    }

    #[test]
    fn a_rotation_commutes_with_the_change_of_axes() {
        let p = [0.3, -0.7, 0.2];
        for rotation in [
            Rotation { axis: Some([1.0, 2.0, -3.0]), angle_deg: Some(77.0), ..Default::default() },
            Rotation { euler_deg: Some([10.0, -40.0, 120.0]), ..Default::default() },
            Rotation { quaternion: Some([0.1, 0.5, -0.2, 2.0]), ..Default::default() },
        ] {
            let z_up = Frame { units: Units::M, up: Up::Z };
            let turned = (z_up.rotation(&rotation) * Vec3::from_array(p)).to_array();
            let expected = Y_UP.vector(turned);
            // Three products of unit quaternions and vectors of length below one.
            assert!((Y_UP.rotation(&rotation) * Y_UP.vector(p) - expected).length() < 1e-15);
        }
    }

    #[test]
    fn euler_angles_turn_about_x_then_y_then_z_of_the_scene() {
        let z_up = Frame { units: Units::M, up: Up::Z };
        let r = Rotation { euler_deg: Some([90.0, 0.0, 90.0]), ..Default::default() };
        // y goes to z about x, and z stays where it is about z; x goes to y about z.
        assert!((z_up.rotation(&r) * Vec3::Y - Vec3::Z).length() < 1e-15);
        assert!((z_up.rotation(&r) * Vec3::X - Vec3::Y).length() < 1e-15);
    }

    #[test]
    fn two_millimetres_are_the_same_bits_in_every_metric_unit() {
        assert_eq!(Units::Mm.metres(2.0), 0.002);
        assert_eq!(Units::Cm.metres(0.2), 0.002);
        for units in [Units::M, Units::Cm, Units::Mm] {
            for length in [0.002, 1.5e-4, 3e-4, 8e-4] {
                assert_eq!(units.metres(units.exactly(length).unwrap()), length);
            }
            // Where rounding forbids it there is none.
            assert!(units.exactly(1.0 / 3.0).is_none_or(|l| units.metres(l) == 1.0 / 3.0));
        }
    }
}
