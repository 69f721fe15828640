//! The soup of disjoint triangles in a unit cube that truncations are compared on [Chen 2026, Table 2]: how much of their
//! motion is left. A test asks for it, and `littoral bench truncation` prints it.

use crate::safe::{Detection, Detector, Displacement, Geometry, Prediction, SafePositions};
use crate::settings::{GapSplit, SolverSettings, Truncation};
use crate::truncation::{Request, Truncator};
use littoral_geom::math::{Aabb, Quat, Vec3};
use littoral_geom::mesh::unique_edges;
use littoral_geom::pairs::Surface;
use littoral_geom::random::Random;
use littoral_geom::referee::Referee;

/// How the triangles want to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Each point on its own.
    Linear,
    /// Each triangle by a rotation about its centre and a translation.
    RotationAndTranslation,
}

/// Disjoint triangles.
#[derive(Debug)]
pub struct Soup {
    x: Vec<Vec3>,
    geometry: Geometry,
    referee: Referee,
}

impl Soup {
    /// `count` equilateral triangles of edge `size` [m] at random places of the unit cube, none crossing another.
    pub fn new(count: usize, size: f64, r: &mut Random) -> Self {
        let mut x: Vec<Vec3> = Vec::with_capacity(3 * count);
        let mut boxes: Vec<Aabb> = Vec::with_capacity(count);
        while boxes.len() < count {
            let c = Vec3::splat(0.5) + r.in_cube(0.5);
            let u = r.direction();
            let w = u.cross(r.direction()).normalize();
            // Corners at a distance of size/√3 from the centre, 120° apart.
            let corner = |angle: f64| c + (u * angle.cos() + w * angle.sin()) * (size / 3.0_f64.sqrt());
            let new = [0.0, 1.0, 2.0].map(|k| corner(k * std::f64::consts::TAU / 3.0));
            let b = Aabb::of(new);
            let mut near = new.to_vec();
            for (k, _) in boxes.iter().enumerate().filter(|(_, o)| o.overlaps(&b)) {
                near.extend(&x[3 * k..3 * k + 3]);
            }
            let triangles: Vec<[u32; 3]> =
                (0..near.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            let active: Vec<bool> = (0..near.len()).map(|v| v < 3).collect();
            let referee = Referee::new(&unique_edges(&triangles), &triangles, &[], &active);
            if referee.crossings_brute_force(&near).is_empty() {
                x.extend(new);
                boxes.push(b);
            }
        }
        let triangles: Vec<[u32; 3]> = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let edges = unique_edges(&triangles);
        let active = vec![true; x.len()];
        let referee = Referee::new(&edges, &triangles, &[], &active);
        let geometry = Geometry {
            surface: Surface { vertices: (0..x.len() as u32).collect(), edges, triangles },
            tets: Vec::new(),
            component: (0..x.len() as u32).map(|v| v / 3).collect(),
            prescribed: vec![false; count],
            active,
            collider_triangles: vec![Vec::new(); count],
            ..Geometry::default()
        };
        Soup { x, geometry, referee }
    }

    /// Displacements of length about `amplitude` [m].
    pub fn wanted(&self, motion: Motion, amplitude: f64, r: &mut Random) -> Vec<Vec3> {
        match motion {
            Motion::Linear => self.x.iter().map(|_| r.direction() * amplitude).collect(),
            Motion::RotationAndTranslation => self
                .x
                .chunks(3)
                .flat_map(|t| {
                    let center = (t[0] + t[1] + t[2]) / 3.0;
                    let reach = t[0].distance(center);
                    let turn = Quat::from_axis_angle(r.direction(), amplitude / reach);
                    let shift = r.direction() * amplitude;
                    [0, 1, 2].map(|k| turn * (t[k] - center) + center + shift - t[k])
                })
                .collect(),
        }
    }

    /// What a truncation with relaxation `gamma` keeps of the displacements `wanted` (n) [m], and the crossings after it.
    fn keep(
        &self,
        wanted: &[Vec3],
        truncation: Truncation,
        split: GapSplit,
        gamma: f64,
    ) -> (Vec<Vec3>, usize) {
        let n = self.x.len();
        let x = SafePositions::trusted(self.x.clone());
        let mut detection = Detection::unlimited(&x);
        // A frame per triangle, or a tube around the way of each point, would do part of the work: the comparison is about
        // the planes. With room in all directions whatever is near is listed, as published.
        let margin: Vec<f64> = wanted.iter().map(|w| w.length()).collect();
        let prediction = Prediction { wanted, margin: &margin, contact_radius: 0.0, present: &[] };
        let whole = Geometry { component: vec![0; n], prescribed: vec![false], ..self.geometry.clone() };
        Detector::new(&whole).detect(&whole, &x, &prediction, &mut detection);
        let settings =
            SolverSettings { truncation, gap_split: split, relaxation: gamma, ..SolverSettings::default() };
        let mut dx = Displacement::zero(&x);
        for (p, (w, f)) in dx.edit().iter_mut().zip(wanted.iter().zip(&detection.frame)) {
            *p = *w - *f;
        }
        let moved: Vec<u32> = (0..n as u32).collect();
        let request = Request { moved: &moved, ..Request::default() };
        Truncator::new(&settings).apply(&self.x, &detection, &mut dx, &request);
        let kept: Vec<Vec3> = dx.accepted().iter().zip(&detection.frame).map(|(d, f)| *d + *f).collect();
        let after: Vec<Vec3> = self.x.iter().zip(&kept).map(|(x, d)| *x + *d).collect();
        (kept, self.referee.crossings(&after).0.len())
    }
}

/// The comparison on one set of displacements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Comparison {
    /// Mean over the points of kept by planar / kept by isotropic truncation.
    pub planar_over_isotropic: f64,
    /// Median of the same.
    pub median: f64,
    /// Mean kept by planar truncation / by one global step.
    pub planar_over_ccd: f64,
    /// Mean kept share: planar with water-filling, planar proportional, isotropic, global.
    pub kept: [f64; 4],
    /// Crossings after any of them.
    pub crossings: usize,
}

/// Compares the truncations on the displacements `wanted` (n) [m], at the relaxation `gamma`.
pub fn compare(soup: &Soup, wanted: &[Vec3], gamma: f64) -> Comparison {
    let kinds = [
        (Truncation::Planar, GapSplit::WaterFilling),
        (Truncation::Planar, GapSplit::Proportional),
        (Truncation::Isotropic, GapSplit::Proportional),
        (Truncation::Ccd, GapSplit::Proportional),
    ];
    let results = kinds.map(|(truncation, split)| soup.keep(wanted, truncation, split, gamma));
    let n = wanted.len() as f64;
    let kept = [0, 1, 2, 3].map(|k| {
        let shares = results[k].0.iter().zip(wanted).map(|(d, w)| d.length() / w.length());
        shares.sum::<f64>() / n
    });
    // The published splitting, as in the published table.
    let mut ratios: Vec<f64> =
        results[1].0.iter().zip(&results[2].0).map(|(p, i)| p.length() / i.length()).collect();
    ratios.sort_by(f64::total_cmp);
    Comparison {
        planar_over_isotropic: ratios.iter().sum::<f64>() / n,
        median: ratios[ratios.len() / 2],
        planar_over_ccd: kept[1] / kept[3],
        kept,
        crossings: results.iter().map(|r| r.1).sum(),
    }
}
