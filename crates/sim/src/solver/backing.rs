//! The elasticity behind the surface nodes of a fluid phase: its second-order model at xⁿ over all points of the bodies
//! that the fluid touches.

use super::assembly::{ElasticPlaces, elastic_pairs};
use super::cholesky::Cholesky;
use super::sparse::{BlockMatrix, Unknowns};
use crate::fluid::Backing;
use crate::system::System;
use littoral_geom::math::{Mat3, Vec3};

/// The model and its memory. Dropping the memory changes no result.
#[derive(Debug, Default)]
pub struct ElasticBacking {
    /// Which points are nodes.
    pub unknowns: Unknowns,
    places: ElasticPlaces,
    /// h² K [kg].
    stiffness: BlockMatrix,
    /// M + h² K + blocks [kg].
    whole: BlockMatrix,
    cholesky: Cholesky,
    mass: Vec<f64>,
    /// h² g [kg m].
    gradient: Vec<Vec3>,
    of_points: Vec<Vec3>,
}

impl ElasticBacking {
    /// Expands the elastic energy at the positions `x` [m] (n) for a step `h` [s]; points in `unknowns` move.
    pub fn expand(&mut self, system: &System, unknowns: Unknowns, x: &[Vec3], h: f64) {
        if unknowns != self.unknowns || self.stiffness.len() != unknowns.len() {
            self.stiffness.set_pattern(unknowns.len(), elastic_pairs(&system.neighbours, &unknowns));
            self.unknowns = unknowns;
        }
        self.places.update(&system.elastic, &self.unknowns, &self.stiffness);
        self.stiffness.clear();
        self.of_points.clear();
        self.of_points.resize(x.len(), Vec3::ZERO);
        self.places.add(&system.elastic, x, &mut self.of_points, &mut self.stiffness);
        self.stiffness.scale(h * h);
        let points = &self.unknowns.points;
        self.mass.clear();
        self.mass.extend(points.iter().map(|&v| system.mass[v as usize]));
        self.gradient.clear();
        self.gradient.extend(points.iter().map(|&v| h * h * self.of_points[v as usize]));
    }
}

impl ElasticBacking {
    /// Gives the nodes in `nodes` a mass of their own [kg].
    pub(super) fn set_masses(&mut self, nodes: std::ops::Range<usize>, mass: f64) {
        self.mass[nodes].fill(mass);
    }
}

impl Backing for ElasticBacking {
    fn gradient(&self) -> &[Vec3] {
        &self.gradient
    }

    fn product(&self, p: &[Vec3], y: &mut Vec<Vec3>) {
        self.stiffness.multiply(p, y);
    }

    fn factorise(&mut self, blocks: &[Mat3]) -> bool {
        self.whole.clone_from(&self.stiffness);
        for (i, (mass, block)) in self.mass.iter().zip(blocks).enumerate() {
            self.whole.add_diagonal(i as u32, Mat3::from_diagonal(Vec3::splat(*mass)) + *block);
        }
        self.cholesky.factorise(&self.whole).is_ok()
    }

    fn solve(&mut self, r: &[Vec3], z: &mut Vec<Vec3>) {
        self.cholesky.substitute(r, z);
    }
}
