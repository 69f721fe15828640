//! Where particles start: lattices in boxes and in closed meshes, layers of a nozzle, and which of several sources'
//! particles are too near to something.
//!
//! A particle stands for a cube of side dx around it, so a filling keeps dx/2 from what bounds it. The lattice is
//! cubic, never hexagonal: the fluid's kernel sum of a cubic lattice at spacing dx is what reads as rest density.

use crate::inside::Solid;
use crate::math::{Aabb, Vec3};
use crate::near::NearTriangles;
use crate::particle_grid::ParticleGrid;
use rayon::prelude::*;

/// Most particles of one filling: 1.6 GB of positions.
pub const MAX_PARTICLES: f64 = (1u64 << 26) as f64;

/// Share of a length by which it may fall short and still count as kept, so that a lattice that fits exactly is not
/// lost to rounding. Anything well above 1e-15 and below what a fluid notices will do.
const SLACK: f64 = 1e-6;

/// Why nothing could be filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SamplingError {
    /// The spacing is not a positive length.
    #[error(
        "a particle spacing must be a positive length, found {spacing} m: try a twentieth of the fluid's size"
    )]
    Spacing {
        /// What was given [m].
        spacing: f64,
    },
    /// A box, a mesh or a nozzle has no size, a negative one, or one that is not finite.
    #[error("the {what} to fill must have a positive, finite size, found {size:?} m")]
    Size {
        /// "box", "mesh" or "nozzle".
        what: &'static str,
        /// What was given [m].
        size: [f64; 3],
    },
    /// The nozzle has no direction, or its width is not told by what is up.
    #[error("a nozzle needs a direction, and an up that is not along it, found {direction:?} and {up:?}")]
    Direction {
        /// Direction of the jet.
        direction: [f64; 3],
        /// What is up.
        up: [f64; 3],
    },
    /// More than [`MAX_PARTICLES`].
    #[error(
        "a spacing of {spacing} m makes {count:e} lattice points, at most {MAX_PARTICLES:e} are allowed: try a spacing {factor:.1} times as large"
    )]
    TooMany {
        /// The spacing [m].
        spacing: f64,
        /// Lattice points that it makes.
        count: f64,
        /// What to multiply the spacing by.
        factor: f64,
    },
}

/// Points along the three axes, centred.
#[derive(Clone, Copy, Debug)]
struct Lattice {
    first: Vec3,
    counts: [usize; 3],
    dx: f64,
}

impl Lattice {
    /// `count(size)` points along an axis on which the box has that size.
    fn new(
        what: &'static str,
        bounds: Aabb,
        dx: f64,
        count: impl Fn(f64) -> f64,
    ) -> Result<Lattice, SamplingError> {
        let size = bounds.extent();
        if !(dx > 0.0 && dx.is_finite()) {
            return Err(SamplingError::Spacing { spacing: dx });
        }
        if !(size.is_finite() && size.min_element() > 0.0) {
            return Err(SamplingError::Size { what, size: size.to_array() });
        }
        let counts = size.to_array().map(|s| count(s).max(1.0));
        let total = counts[0] * counts[1] * counts[2];
        if total > MAX_PARTICLES {
            let factor = 1.01 * (total / MAX_PARTICLES).cbrt();
            return Err(SamplingError::TooMany { spacing: dx, count: total, factor });
        }
        let first = bounds.center() - 0.5 * dx * (Vec3::from(counts) - 1.0);
        Ok(Lattice { first, counts: counts.map(|c| c as usize), dx })
    }

    /// The points that are wanted, x fastest.
    fn points(&self, wanted: impl Fn(Vec3) -> bool + Sync) -> Vec<Vec3> {
        let [nx, ny, nz] = self.counts;
        let place = |i: usize| {
            let at = Vec3::new((i % nx) as f64, (i / nx % ny) as f64, (i / nx / ny) as f64);
            self.first + self.dx * at
        };
        (0..nx * ny * nz).into_par_iter().with_min_len(64).map(place).filter(|p| wanted(*p)).collect()
    }
}

/// Fills a box with a cubic lattice of spacing `dx` [m], x fastest.
///
/// Along each axis it has round(size/dx) layers, at least one, centred in the box. Where the size is a multiple of dx
/// the outer layers are dx/2 from the faces; elsewhere between dx/4 and 3dx/4, and the volume that the particles stand
/// for, dx³ each, is nearest to the box's along each axis. A box thinner than dx/2 gets one layer in its middle.
pub fn fill_box(bounds: Aabb, dx: f64) -> Result<Vec<Vec3>, SamplingError> {
    Ok(Lattice::new("box", bounds, dx, |size| (size / dx).round())?.points(|_| true))
}

/// A stand-off of half a spacing, at which a cuboid whose size is a multiple of dx is filled exactly.
pub fn default_stand_off(dx: f64) -> f64 {
    0.5 * dx
}

/// Fills a closed mesh with a cubic lattice of spacing `dx` [m], x fastest: all points that are inside and no nearer
/// than `stand_off` [m], ≥ 0, to the surface.
///
/// The lattice is centred in the mesh's box and has as many layers along each axis as keep the stand-off from the
/// box's faces, at least one. A surface that is not aligned with the lattice loses, on average, what is nearer to it
/// than the stand-off: with [`default_stand_off`] a ball of ten spacings radius stands for 14 % less than its volume
/// ((1 − 0.05)³), with 0 for its volume, give or take.
pub fn fill_solid(solid: &Solid, dx: f64, stand_off: f64) -> Result<Vec<Vec3>, SamplingError> {
    let layers = |size: f64| ((size - 2.0 * stand_off) / dx + 1.0 + SLACK).floor();
    let lattice = Lattice::new("mesh", solid.bounds(), dx, layers)?;
    let kept = stand_off * (1.0 - SLACK);
    Ok(lattice.points(|p| solid.contains(p) && solid.distance(p) >= kept))
}

/// The opening of an emitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nozzle {
    /// A disc.
    Disc {
        /// Radius [m], > 0.
        radius: f64,
    },
    /// A rectangle.
    Rectangle {
        /// Size across `up` [m], > 0.
        width: f64,
        /// Size along `up` [m], > 0.
        height: f64,
        /// Its part across the jet is the direction of the height.
        up: Vec3,
    },
}

/// One layer of particles of an emitter at `center` whose jet leaves along `direction`, of any length > 0: a square
/// lattice of spacing `dx` [m] across the jet. Layers dx apart make a cubic lattice, so an emitter of speed v releases
/// one every dx/v.
///
/// A disc takes the points of a lattice through its centre that lie in it: together they stand for its area, give or
/// take, and the outermost reach dx/2 beyond it. In a pipe of radius R, ask for R − dx/2. A rectangle has
/// round(size/dx) points along each side, at least one, centred, as in [`fill_box`].
pub fn nozzle_layer(
    center: Vec3,
    direction: Vec3,
    nozzle: Nozzle,
    dx: f64,
) -> Result<Vec<Vec3>, SamplingError> {
    let up = match nozzle {
        Nozzle::Disc { .. } => direction.any_orthogonal_vector(),
        Nozzle::Rectangle { up, .. } => up,
    };
    let axis = direction.normalize_or_zero();
    let (across, along) = (axis.cross(up).normalize_or_zero(), up.reject_from(axis).normalize_or_zero());
    if !(center.is_finite() && axis.is_finite() && axis != Vec3::ZERO && across != Vec3::ZERO) {
        return Err(SamplingError::Direction { direction: direction.to_array(), up: up.to_array() });
    }
    let half = |size: f64| 0.5 * ((size / dx).round().max(1.0) - 1.0);
    // Half the size of the lattice, in spacings, and the radius that cuts it.
    let (size, reach, cut) = match nozzle {
        Nozzle::Disc { radius } => {
            let cells = (radius / dx + SLACK).floor();
            ([radius, radius, radius], [cells, cells], radius * (1.0 + SLACK))
        }
        Nozzle::Rectangle { width, height, .. } => {
            ([width, height, height], [half(width), half(height)], f64::INFINITY)
        }
    };
    if !(dx > 0.0 && dx.is_finite()) {
        return Err(SamplingError::Spacing { spacing: dx });
    }
    if !size.iter().all(|s| *s > 0.0 && s.is_finite()) {
        return Err(SamplingError::Size { what: "nozzle", size });
    }
    let counts = reach.map(|r| 2.0 * r + 1.0);
    if counts[0] * counts[1] > MAX_PARTICLES {
        let count = counts[0] * counts[1];
        return Err(SamplingError::TooMany {
            spacing: dx,
            count,
            factor: 1.01 * (count / MAX_PARTICLES).sqrt(),
        });
    }
    let [columns, rows] = counts.map(|c| c as usize);
    let at = |i: usize| {
        let (u, v) = (dx * ((i % columns) as f64 - reach[0]), dx * ((i / columns) as f64 - reach[1]));
        (u.hypot(v) <= cut).then_some(center + u * across + v * along)
    };
    Ok((0..columns * rows).filter_map(at).collect())
}

/// Which of many particles may stay, and how many may not, and why. Each check looks only at those that passed the
/// checks before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlaps {
    /// Whether each particle stays (n).
    pub keep: Vec<bool>,
    /// Particles refused for being too near to a triangle.
    pub near_surface: usize,
    /// Particles refused for being inside a closed mesh.
    pub inside_solid: usize,
    /// Particles refused for being too near to one of another source.
    pub near_other: usize,
    /// Particles refused for a coordinate that is not finite.
    pub not_finite: usize,
}

impl Overlaps {
    /// Starts with all particles that have finite coordinates.
    pub fn new(points: &[Vec3]) -> Overlaps {
        let keep: Vec<bool> = points.iter().map(|p| p.is_finite()).collect();
        let not_finite = keep.iter().filter(|k| !**k).count();
        Overlaps { keep, near_surface: 0, inside_solid: 0, near_other: 0, not_finite }
    }

    /// How many particles stay.
    pub fn kept(&self) -> usize {
        self.keep.iter().filter(|k| **k).count()
    }

    /// The entries of those that stay.
    pub fn retained<T: Copy>(&self, items: &[T]) -> Vec<T> {
        items.iter().zip(&self.keep).filter_map(|(item, keep)| keep.then_some(*item)).collect()
    }

    /// Refuses particles nearer than `stand_off` [m] to one of the triangles over the vertices `x`.
    pub fn refuse_near_surface(
        &mut self,
        points: &[Vec3],
        x: &[Vec3],
        triangles: &[[u32; 3]],
        stand_off: f64,
    ) {
        if stand_off <= 0.0 {
            return;
        }
        let left = self.indices();
        let positions: Vec<Vec3> = left.iter().map(|&i| points[i]).collect();
        let mut near = NearTriangles::default();
        near.fit_positions(x, triangles, &positions, stand_off * (1.0 - SLACK));
        let refused = left.iter().enumerate().filter(|(k, _)| !near.list(*k).is_empty());
        for (_, &i) in refused {
            self.keep[i] = false;
            self.near_surface += 1;
        }
    }

    /// Refuses particles inside a closed mesh.
    pub fn refuse_inside(&mut self, points: &[Vec3], solid: &Solid) {
        let left = self.indices();
        let positions: Vec<Vec3> = left.iter().map(|&i| points[i]).collect();
        for (&i, inside) in left.iter().zip(solid.contains_each(&positions)) {
            self.keep[i] &= !inside;
            self.inside_solid += usize::from(inside);
        }
    }

    /// Refuses particles nearer than `distance` [m] to one of another source that stays; `source[i]` is that of
    /// particle i. Of two sources the one with the smaller number stays. 0.5 dx is a good distance: lattices that meet
    /// face to face pass.
    pub fn refuse_near_other(&mut self, points: &[Vec3], source: &[u32], distance: f64) {
        if distance <= 0.0 {
            return;
        }
        let left = self.indices();
        let positions: Vec<Vec3> = left.iter().map(|&i| points[i]).collect();
        let mut grid = ParticleGrid::default();
        grid.fit(&positions, distance * (1.0 - SLACK));
        let mut slot_of = vec![0u32; left.len()];
        for (slot, &k) in grid.order().iter().enumerate() {
            slot_of[k as usize] = slot as u32;
        }
        let mut turns: Vec<usize> = (0..left.len()).collect();
        turns.sort_by_key(|&k| source[left[k]]);
        // Sources with smaller numbers have had their turn, so what is left of them stays.
        for k in turns {
            let own = source[left[k]];
            let mut others =
                grid.neighbors(slot_of[k]).iter().map(|&s| left[grid.order()[s as usize] as usize]);
            if others.any(|other| source[other] < own && self.keep[other]) {
                self.keep[left[k]] = false;
                self.near_other += 1;
            }
        }
    }

    /// The particles that stay so far.
    fn indices(&self) -> Vec<usize> {
        (0..self.keep.len()).filter(|&i| self.keep[i]).collect()
    }
}
