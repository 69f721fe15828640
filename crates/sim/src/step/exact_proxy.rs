//! Exact Hessians of contact proxies: what the links of a fluid phase leave out of ∇²C(xⁿ).
//!
//! A link holds curvature along the normal, with weights that stay. ∇²C also has what the closest point does by sliding
//! and the distance by turning; since contacts push, that part is mostly negative. With it the proxy is the Taylor
//! polynomial of second order [Xie 2023, Eq. 24], and the splitting meets the joint solution to O(h⁴) instead of O(h³).

use crate::contact::barrier;
use crate::contact::barrier_set::Touch;
use crate::fluid::{NO_NODE, Stencil};
use crate::potential::Potential;
use crate::solver::sparse::Unknowns;
use littoral_geom::math::{Mat3, Vec3, outer};

/// `factor` times the exact Hessian of a particle's barrier at `x` [m], less that of its link; `first` is the first
/// particle, `motion` says how far corners go that are no unknowns [m].
pub(super) fn stencil_of(
    touch: &Touch,
    x: &[Vec3],
    factor: f64,
    first: usize,
    unknowns: &Unknowns,
    motion: impl Fn(u32) -> Vec3,
) -> Stencil {
    let p = touch.gather(x);
    let (closest, _) = touch.barrier.pull(&p);
    let (_, curvature) = barrier::slopes(closest.distance, touch.barrier.range);
    let along = outer(closest.normal, closest.normal) * (touch.barrier.strength.max(0.0) * curvature);
    let exact = touch.barrier.hessian(&p);
    let used = touch.used();
    let mut stencil = Stencil {
        particle: touch.points[0] - first as u32,
        nodes: [NO_NODE; 3],
        motion: [Vec3::ZERO; 3],
        hessian: std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let of_link = along * (closest.weights[i] * closest.weights[j]);
                if i < used && j < used { (exact[i][j] - of_link) * factor } else { Mat3::ZERO }
            })
        }),
    };
    for k in 1..used {
        let corner = touch.points[k];
        stencil.nodes[k - 1] = unknowns.of_point[corner as usize];
        if stencil.nodes[k - 1] == NO_NODE {
            stencil.motion[k - 1] = motion(corner);
        }
    }
    stencil
}
