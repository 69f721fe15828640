//! Gradient and projected Hessian of all elastic elements, gathered into a block matrix.
//!
//! Elements are computed in parallel and added in their order, so that the sums do not depend on the threads. Where
//! each block of each element goes is looked up once a pattern.

use super::sparse::{BlockMatrix, NONE, Unknowns};
use crate::elastic::Elastic;
use crate::potential::{Potential, Term};
use littoral_geom::math::{Mat3, Vec3};
use rayon::prelude::*;

/// Elements computed before their blocks are added: the blocks of so many fit the caches.
const CHUNK: usize = 1024;

/// The same, where Hessians alone are computed.
const HESSIANS: usize = 256;

/// Pairs (i, j), i ≥ j, of an element's points, in the order of their places.
const PAIRS: usize = 10;

/// Where the blocks of the elements of every kind go.
#[derive(Clone, Debug, Default)]
pub struct ElasticPlaces {
    kinds: Vec<Vec<[u32; PAIRS]>>,
    version: u64,
}

/// Applies a generic function to the terms of every kind of element.
macro_rules! for_each_term {
    ($elastic:expr, $term:ident => $body:expr) => {{
        let elastic = $elastic;
        for_each_term!(@one elastic.membranes, $term => $body);
        for_each_term!(@one elastic.venant, $term => $body);
        for_each_term!(@one elastic.hinges, $term => $body);
        for_each_term!(@one elastic.tets, $term => $body);
        for_each_term!(@one elastic.corotated, $term => $body);
        for_each_term!(@one elastic.collapses, $term => $body);
        for_each_term!(@one elastic.springs, $term => $body);
        for_each_term!(@one elastic.tethers, $term => $body);
        for_each_term!(@one elastic.limits, $term => $body);
        for_each_term!(@one elastic.drags, $term => $body);
    }};
    (@one $field:expr, $term:ident => $body:expr) => {{
        let $term = &$field.term;
        $body
    }};
}

/// Where each pair of points goes; `None` when the pattern lacks one.
fn places<const N: usize>(points: &[u32; N], unknowns: &Unknowns, matrix: &BlockMatrix) -> [u32; PAIRS] {
    let u = points.map(|p| unknowns.of_point[p as usize]);
    let mut places = [NONE; PAIRS];
    let mut k = 0;
    for i in 0..N {
        for j in 0..=i {
            // The pattern holds every pair of an element's points.
            places[k] = matrix.place(u[i], u[j]).unwrap_or(NONE);
            k += 1;
        }
    }
    places
}

impl ElasticPlaces {
    /// Looks up the places, if the pattern is another one than last time.
    pub fn update(&mut self, elastic: &Elastic, unknowns: &Unknowns, matrix: &BlockMatrix) {
        if self.version == matrix.version {
            return;
        }
        self.kinds.clear();
        for_each_term!(elastic, term => {
            let of = |p| places(p, unknowns, matrix);
            self.kinds.push(term.points.par_iter().with_min_len(CHUNK).map(of).collect());
        });
        self.version = matrix.version;
    }

    /// Adds gradient (n points) and Hessian of every element at `x` [m].
    pub fn add(&self, elastic: &Elastic, x: &[Vec3], gradient: &mut [Vec3], matrix: &mut BlockMatrix) {
        let mut kinds = self.kinds.iter();
        for_each_term!(elastic, term => {
            if let Some(places) = kinds.next() {
                add_term(term, x, places, gradient, matrix);
            }
        });
    }

    /// Adds the Hessian of every element at `x` [m].
    pub fn add_hessian(&self, elastic: &Elastic, x: &[Vec3], matrix: &mut BlockMatrix) {
        let mut kinds = self.kinds.iter();
        for_each_term!(elastic, term => {
            if let Some(places) = kinds.next() {
                add_hessians(term, x, places, matrix);
            }
        });
    }
}

fn add_hessians<P: Potential<N>, const N: usize>(
    term: &Term<P, N>,
    x: &[Vec3],
    places: &[[u32; PAIRS]],
    matrix: &mut BlockMatrix,
) {
    let mut results = vec![[[Mat3::ZERO; N]; N]; HESSIANS.min(term.len())];
    for first in (0..term.len()).step_by(HESSIANS) {
        let end = term.len().min(first + HESSIANS);
        let results = &mut results[..end - first];
        results.par_iter_mut().zip(first..end).with_min_len(64).for_each(|(h, e)| {
            *h = term.elements[e].hessian_psd(&term.gather(x, e));
        });
        for (h, places) in results.iter().zip(&places[first..end]) {
            let mut places = places.iter();
            for (i, row) in h.iter().enumerate() {
                for (block, &place) in row[..=i].iter().zip(&mut places) {
                    matrix.add_at(place, block);
                }
            }
        }
    }
}

fn add_term<P: Potential<N>, const N: usize>(
    term: &Term<P, N>,
    x: &[Vec3],
    places: &[[u32; PAIRS]],
    gradient: &mut [Vec3],
    matrix: &mut BlockMatrix,
) {
    let mut results: Vec<([Vec3; N], [Mat3; PAIRS])> = Vec::new();
    for first in (0..term.len()).step_by(CHUNK) {
        let end = term.len().min(first + CHUNK);
        (first..end)
            .into_par_iter()
            .with_min_len(64)
            .map(|e| {
                let p = term.gather(x, e);
                (term.elements[e].gradient(&p), lower(&term.elements[e].hessian_psd(&p)))
            })
            .collect_into_vec(&mut results);
        for (e, (g, h)) in (first..end).zip(&results) {
            for (&v, g) in term.points[e].iter().zip(g) {
                gradient[v as usize] += *g;
            }
            // Semidefinite: without a diagonal there is nothing.
            if (0..N).all(|i| h[i * (i + 3) / 2] == Mat3::ZERO) {
                continue;
            }
            for (block, &place) in h.iter().zip(&places[e]) {
                matrix.add_at(place, block);
            }
        }
    }
}

/// The blocks (i, j), i ≥ j, row by row; zero behind them.
#[inline]
fn lower<const N: usize>(h: &[[Mat3; N]; N]) -> [Mat3; PAIRS] {
    let mut packed = [Mat3::ZERO; PAIRS];
    let mut k = 0;
    for (i, row) in h.iter().enumerate() {
        for block in &row[..=i] {
            packed[k] = *block;
            k += 1;
        }
    }
    packed
}

/// Energy of all elements [J] at `x` [m], summed in their order.
pub fn elastic_value(elastic: &Elastic, x: &[Vec3]) -> f64 {
    let mut sum = 0.0;
    for_each_term!(elastic, term => {
        let value = |e: usize| term.elements[e].value(&term.gather(x, e));
        let values: Vec<f64> = (0..term.len()).into_par_iter().with_min_len(256).map(value).collect();
        sum += values.iter().sum::<f64>();
    });
    sum
}

/// The pairs of unknowns that elements couple.
pub fn elastic_pairs(neighbours: &littoral_geom::mesh::Csr, unknowns: &Unknowns) -> Vec<(u32, u32)> {
    let of = |v: u32| unknowns.of_point[v as usize];
    let rows = unknowns.points.iter();
    rows.flat_map(|&v| neighbours.row(v as usize).iter().map(move |&w| (of(v), of(w))))
        .filter(|&(a, b)| b != NONE && a < b)
        .collect()
}
