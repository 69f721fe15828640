//! Walls near particles: what they hide from a particle's sum, and how several of them combine.
//!
//! What a wall hides is as dense as what is seen [Ferrand 2013]: φ = Σ + γ φ, so that φ = Σ/(1 − γ). Were it of the rest density, Σ + γ,
//! a particle at a wall would resist only 1 − γ of what presses it along the wall, and the layers there would hang on
//! those within.
//!
//! A wall is a plane, told by its nearest point. Where planes meet, the volumes behind them overlap: of what is left
//! by the nearer walls, each takes its own share, 1 − Π(1 − γ_k). A lattice in a corner at half a spacing from each
//! wall then sums to 1 within 1 % (the kernel is nearly a product of functions of x, y and z). Walls that face the
//! same way are the same wall seen twice: the γ_k of a plane is weighted by 1 − max(0, n_k·n_l), the least over nearer
//! walls l. Whoever tells what a wall hides has seen to that.

use super::kernel::Kernel;
use super::nodes::NO_NODE;
use littoral_geom::math::Vec3;

/// A wall near a particle, reported by whoever knows the surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// The particle.
    pub particle: u32,
    /// Distance d of the particle from the wall [m]; only walls with d < ħ count.
    pub distance: f64,
    /// Unit vector from the nearest point of the wall to the particle.
    pub normal: Vec3,
    /// Corners of the wall that are unknowns, as indices of the nodes given; [`NO_NODE`] for others.
    pub nodes: [u32; 3],
    /// Weights of the corners at the nearest point [–], usually barycentric. Those of prescribed corners are not used.
    pub weights: [f64; 3],
    /// Velocity of that point over the step by its prescribed corners, already weighted [m/s]. The point moves by this
    /// times h and Σ weight·displacement over its nodes.
    pub velocity: Vec3,
    /// Kernel volume behind the wall [–], and integral of the kernel over it [1/spacing], so that the volumes of a
    /// particle's walls combine as 1 − Π(1 − γ); `None`: those of a whole plane.
    pub hides: Option<[f64; 2]>,
    /// True if the fluid sticks to the wall, through its viscosity; false if it slips.
    pub no_slip: bool,
}

impl Wall {
    /// A free-slip wall at rest, at the distance [m] and with the normal given.
    pub fn fixed(particle: u32, distance: f64, normal: Vec3) -> Self {
        let (nodes, weights) = ([NO_NODE; 3], [0.0; 3]);
        Wall { particle, distance, normal, nodes, weights, velocity: Vec3::ZERO, hides: None, no_slip: false }
    }

    /// True if every number is finite.
    pub(super) fn is_finite(&self) -> bool {
        let weights = self.weights.iter().all(|w| w.is_finite());
        weights
            && self.hides.is_none_or(|h| h.iter().all(|v| v.is_finite()))
            && self.distance.is_finite()
            && self.normal.is_finite()
            && self.velocity.is_finite()
    }
}

/// Walls leave this share of the space around a particle open at least [–]; what they hide of the rest has the rest density.
/// At a wall it is 0.85, in a corner 0.61. Halved, what is wedged into a crack is pushed twice as hard.
const OPEN: f64 = 0.25;

/// A sum with what walls hide from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Completed {
    /// φ [–].
    pub fill: f64,
    /// ∂φ/∂Σ = 1/(1 − γ) [–].
    pub open: f64,
    /// ∂φ/∂γ over ∂φ/∂Σ [–]: φ.
    pub rise: f64,
}

/// Completes the sum over pairs Σ by the share γ that walls hide: φ = Σ/(1 − γ).
pub(super) fn complete(sum: f64, hidden: f64) -> Completed {
    let open = 1.0 / (1.0 - hidden).max(OPEN);
    let beyond = (hidden - (1.0 - OPEN)).max(0.0);
    let fill = open * (sum + beyond);
    Completed { fill, open, rise: if beyond > 0.0 { 1.0 } else { fill } }
}

/// What one wall contributes to its particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    /// Slope of the volume by the distance of the wall, γ′ Π(1 − γ) over the other walls [1/m], ≤ 0.
    pub slope: f64,
    /// Share of a whole plane that the wall makes up [–], in [0, 1].
    pub weight: f64,
    /// Volume of the wall alone [–].
    volume: f64,
}

/// The volume that the walls of one particle, nearest first, add to its sum; each wall's share is written to `out`.
pub(super) fn combine(kernel: &Kernel, walls: &[Wall], out: &mut [Share]) -> f64 {
    let mut left = 1.0;
    for (k, wall) in walls.iter().enumerate() {
        let plane = kernel.half_space(wall.distance);
        let (volume, slope, weight) = match wall.hides {
            Some([volume, area]) => (volume, -area, if plane > volume { volume / plane } else { 1.0 }),
            None => {
                let overlap = walls[..k].iter().map(|near| near.normal.dot(wall.normal)).fold(0.0, f64::max);
                let weight = (1.0 - overlap).max(0.0);
                (weight * plane, -weight * kernel.plane(wall.distance), weight)
            }
        };
        let volume = kernel.wall_scale() * volume;
        out[k] = Share { slope: kernel.wall_scale() * slope, weight, volume };
        left *= 1.0 - volume;
    }
    for share in out.iter_mut() {
        // γ stays below 1, so the product can be divided by each of its factors.
        share.slope *= left / (1.0 - share.volume);
    }
    1.0 - left
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: i64 = i64::MIN;

    #[test]
    fn what_walls_hide_is_as_dense_as_what_is_seen_and_its_slopes_are_derivatives() {
        for (sum, hidden) in [(0.85, 0.15), (0.9, 0.15), (0.3, 0.6), (0.3, 0.9)] {
            let found = complete(sum, hidden);
            if hidden < 1.0 - OPEN {
                assert!(
                    (found.fill - (sum + hidden * found.fill)).abs() < 1e-15,
                    "{sum} {hidden}: {found:?}"
                );
            }
            let e = 1e-6;
            let by_sum = (complete(sum + e, hidden).fill - complete(sum - e, hidden).fill) / (2.0 * e);
            let by_hidden = (complete(sum, hidden + e).fill - complete(sum, hidden - e).fill) / (2.0 * e);
            // Central differences: e² times a third derivative of some 10.
            assert!((by_sum - found.open).abs() < 1e-9, "{sum} {hidden}: {by_sum} {found:?}");
            assert!(
                (by_hidden - found.open * found.rise).abs() < 1e-9,
                "{sum} {hidden}: {by_hidden} {found:?}"
            );
        }
    }

    fn wall(normal: Vec3, distance: f64) -> Wall {
        Wall::fixed(0, distance, normal)
    }

    fn volume(kernel: &Kernel, walls: &[Wall]) -> f64 {
        combine(kernel, walls, &mut vec![Share::default(); walls.len()])
    }

    #[test]
    fn a_lattice_in_a_corner_reads_one() {
        let k = Kernel::new(2.0, 1.0);
        let walls = [wall(Vec3::X, 0.5), wall(Vec3::Y, 0.5), wall(Vec3::Z, 0.5)];
        let firsts = [[0, ALL, ALL], [0, 0, ALL], [0, 0, 0]];
        for (n, first) in firsts.into_iter().enumerate() {
            let sum = k.lattice_fill(1.0, first) + volume(&k, &walls[..=n]);
            // A face is exact by construction; an edge is 0.3 %, a corner 0.8 % short.
            assert!((sum - 1.0).abs() < 0.0085, "{} walls: {sum}", n + 1);
        }
    }

    #[test]
    fn a_wall_seen_twice_counts_once() {
        let k = Kernel::new(2.0, 1.0);
        let once = volume(&k, &[wall(Vec3::Z, 0.4)]);
        assert_eq!(volume(&k, &[wall(Vec3::Z, 0.4), wall(Vec3::Z, 0.4), wall(Vec3::Z, 0.4)]), once);
        let facing = volume(&k, &[wall(Vec3::Z, 0.4), wall(-Vec3::Z, 0.4)]);
        assert!((facing - (1.0 - (1.0 - once).powi(2))).abs() < 1e-15);
    }

    #[test]
    fn slopes_are_the_derivatives_of_the_volume() {
        let k = Kernel::new(2.0, 1.0);
        let tilted = Vec3::new(0.6, 0.8, 0.0);
        let walls = [wall(Vec3::X, 0.3), wall(tilted, 0.5), wall(Vec3::Z, 0.9)];
        let mut shares = [Share::default(); 3];
        combine(&k, &walls, &mut shares);
        for n in 0..3 {
            let e = 1e-6;
            let moved = |s: f64| {
                let mut w = walls;
                w[n].distance += s * e;
                volume(&k, &w)
            };
            let fd = (moved(1.0) - moved(-1.0)) / (2.0 * e);
            assert!((fd - shares[n].slope).abs() < 1e-9, "wall {n}: {fd} {}", shares[n].slope);
        }
    }
}
