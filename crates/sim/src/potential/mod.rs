//! Energies. Each is a pure function of one element that touches N points, in a file of its own that reads like
//! its formula. Energies are in J, positions in m, forces in N; the gradient is minus the force.
//!
//! To add one: write the file, then register it in the list at the end of `check.rs`, which tests its derivatives
//! and invariants.
//!
//! Rate damping acts on the internal rate (Green strain, angle, length since the start of the step), never on the
//! displacement itself: a rigid motion is not damped. The damping coefficient β [s] is the ratio of stress per
//! strain rate to stress per strain; the dissipation potential of a step of length h is β/h times the elastic
//! energy of the strain gained in it.

#[cfg(test)]
pub(crate) mod check;

pub mod bending;
#[cfg(test)]
mod calibration;
pub mod collapse;
pub mod drag;
mod energies;
pub(crate) mod fan;
mod fan_block;
mod fan_star;
pub mod gravity;
pub mod inertia;
mod lane_scalar;
mod lanes;
pub mod membrane;
mod membrane_modes;
pub mod rod;
mod scalar;
pub mod spring;
mod strain_limit;
mod sym;
pub mod tet;
mod tet_modes;
mod tether;

pub use bending::Hinge;
pub use collapse::Collapse;
pub use drag::Drag;
pub use gravity::Gravity;
pub use inertia::Inertia;
pub use membrane::{MembraneParameters, NeoHookeanMembrane, StVenantMembrane};
pub use rod::{FramedSegment, RodJoint, RodParameters, RodSegment};
pub use spring::Spring;
pub use strain_limit::StrainLimit;
pub use tet::{FixedCorotatedTet, StableNeoHookeanTet};
pub use tether::Tether;

use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::mesh::Csr;
use rayon::prelude::*;

/// Elements of a parallel task: it costs more than handing it out.
const CHUNK: usize = 1024;

/// The energy of one element that touches N points. Energies in J, positions in m.
pub trait Potential<const N: usize>: Sync + Send {
    /// Energy [J].
    fn value(&self, x: &[Vec3; N]) -> f64;

    /// Gradient [N], one vector per point; the force is its negative.
    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N];

    /// Exact Hessian [N/m]: block `[i][j]` is ∂²E/∂xᵢ∂xⱼ.
    fn hessian(&self, x: &[Vec3; N]) -> [[Mat3; N]; N];

    /// A positive semidefinite Hessian [N/m]: the exact one with its negative eigenvalues set to zero, or the
    /// Gauss–Newton part where the energy says so.
    fn hessian_psd(&self, x: &[Vec3; N]) -> [[Mat3; N]; N];

    /// Gradient [N] and a positive semidefinite diagonal Hessian block [N/m] of one corner (< N): what vertex
    /// block descent needs.
    fn block(&self, x: &[Vec3; N], corner: usize) -> (Vec3, Mat3);

    /// Energies [J] of elements on these points, each as `value` gives it.
    fn values(elements: &[Self], points: &[[u32; N]], x: &[Vec3], out: &mut [f64])
    where
        Self: Sized,
    {
        for ((element, points), out) in elements.iter().zip(points).zip(out) {
            *out = element.value(&points.map(|p| x[p as usize]));
        }
    }

    /// Calls `lag` for elements on these points.
    fn lag_all(elements: &mut [Self], points: &[[u32; N]], x_n: &[Vec3], h: f64)
    where
        Self: Sized,
    {
        for (element, points) in elements.iter_mut().zip(points) {
            element.lag(&points.map(|p| x_n[p as usize]), h);
        }
    }

    /// Remembers the start of the step `x_n` [m] and its length `h` [s], > 0, for what depends on rates. A pure
    /// function of its arguments: calling it after a restart restores the same element.
    fn lag(&mut self, x_n: &[Vec3; N], h: f64) {
        let _ = (x_n, h);
    }
}

/// All elements of one kind, as parallel arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Term<P, const N: usize> {
    /// Indices of the points that each element touches (e, N).
    pub points: Vec<[u32; N]>,
    /// The elements (e).
    pub elements: Vec<P>,
}

impl<P, const N: usize> Default for Term<P, N> {
    fn default() -> Self {
        Term { points: Vec::new(), elements: Vec::new() }
    }
}

impl<P: Potential<N>, const N: usize> Term<P, N> {
    /// Appends an element on the given points.
    pub fn push(&mut self, points: [u32; N], element: P) {
        self.points.push(points);
        self.elements.push(element);
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Positions [m] of the points of element `e`.
    #[inline]
    pub fn gather(&self, x: &[Vec3], e: usize) -> [Vec3; N] {
        self.points[e].map(|p| x[p as usize])
    }

    /// The elements at each of `n` points, as element·4 + corner.
    pub(crate) fn incidence(&self, n: usize) -> Csr {
        assert!(self.len() < (u32::MAX / 4) as usize, "more than 2^30 elements of one kind");
        let corners = self.points.iter().enumerate();
        let pairs =
            corners.flat_map(|(k, e)| e.iter().enumerate().map(move |(c, &v)| (v, (4 * k + c) as u32)));
        Csr::from_pairs(n, pairs)
    }

    /// Energy [J], summed in the order of the elements.
    pub fn value(&self, x: &[Vec3]) -> f64 {
        self.values(x).iter().sum()
    }

    /// Energy of each element [J].
    pub(crate) fn values(&self, x: &[Vec3]) -> Vec<f64> {
        let mut values = vec![0.0; self.len()];
        let chunks = self.elements.par_chunks(CHUNK).zip(self.points.par_chunks(CHUNK));
        chunks.zip(values.par_chunks_mut(CHUNK)).for_each(|((e, points), out)| P::values(e, points, x, out));
        values
    }

    /// Adds the gradient [N] to `gradient` (n), in the order of the elements.
    pub fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for (e, element) in self.elements.iter().enumerate() {
            let g = element.gradient(&self.gather(x, e));
            for (point, g) in self.points[e].iter().zip(g) {
                gradient[*point as usize] += g;
            }
        }
    }

    /// Remembers the start of a step of length `h` [s] in every element.
    pub fn lag(&mut self, x_n: &[Vec3], h: f64) {
        let chunks = self.elements.par_chunks_mut(CHUNK).zip(self.points.par_chunks(CHUNK));
        chunks.for_each(|(elements, points)| P::lag_all(elements, points, x_n, h));
    }
}

/// Why an element cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ElementError {
    /// A rest triangle without area.
    #[error(
        "triangle without area at rest (area {area:e} m², longest edge {longest:e} m): remove or merge it"
    )]
    ZeroArea {
        /// Rest area [m²].
        area: f64,
        /// Longest rest edge [m].
        longest: f64,
    },
    /// A rest tetrahedron without volume or with negative volume.
    #[error("tet inverted or flat at rest (volume {volume:e} m³): check the vertex order of the mesh")]
    NoVolume {
        /// Signed rest volume [m³].
        volume: f64,
    },
    /// A rest length of zero.
    #[error("edge of zero length at rest ({length:e} m): merge its ends")]
    ZeroLength {
        /// Rest length [m].
        length: f64,
    },
    /// A parameter out of range.
    #[error("{name} = {value}: expected {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Value found.
        value: f64,
        /// The valid range.
        expected: &'static str,
    },
}

impl ElementError {
    /// `Ok` when `valid`, otherwise the error about the parameter.
    fn check(
        valid: bool,
        name: &'static str,
        value: f64,
        expected: &'static str,
    ) -> Result<(), ElementError> {
        if valid { Ok(()) } else { Err(ElementError::Parameter { name, value, expected }) }
    }

    /// Refuses what is not a finite number above zero.
    fn check_positive(name: &'static str, value: f64) -> Result<(), ElementError> {
        Self::check(value.is_finite() && value > 0.0, name, value, "a finite number > 0")
    }

    /// Refuses what is not a finite number of at least zero.
    fn check_not_negative(name: &'static str, value: f64) -> Result<(), ElementError> {
        Self::check(value.is_finite() && value >= 0.0, name, value, "a finite number ≥ 0")
    }

    /// Refuses Poisson's ratios outside (−1, 0.5).
    fn check_poisson(value: f64) -> Result<(), ElementError> {
        Self::check(value > -1.0 && value < 0.5, "Poisson's ratio", value, "a number in (−1, 0.5)")
    }
}

/// A rest triangle counts as without area below this multiple of its longest edge squared: its height is then a
/// rounding error of the positions. Doubling it would refuse valid slivers, halving it accepts noise.
const FLAT_TRIANGLE: f64 = 1e-12;

/// Area [m²] of a rest triangle, refused when it is a rounding error of the edges.
fn rest_area(x_rest: &[Vec3; 3]) -> Result<f64, ElementError> {
    let area = littoral_geom::mesh::triangle_area(*x_rest);
    let longest = (0..3).map(|c| x_rest[c].distance(x_rest[(c + 1) % 3])).fold(0.0, f64::max);
    if area.is_finite() && area > FLAT_TRIANGLE * longest * longest {
        Ok(area)
    } else {
        Err(ElementError::ZeroArea { area, longest })
    }
}

/// `blocks[i][j]` built from a function of the pair.
fn blocks<const N: usize>(f: impl Fn(usize, usize) -> Mat3) -> [[Mat3; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| f(i, j)))
}

/// Sum of two Hessians.
fn add_blocks<const N: usize>(a: [[Mat3; N]; N], b: [[Mat3; N]; N]) -> [[Mat3; N]; N] {
    blocks(|i, j| a[i][j] + b[i][j])
}
