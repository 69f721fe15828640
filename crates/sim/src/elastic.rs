//! All elastic and dissipative elements of a model, each kind with the list of elements at every point.

use crate::potential::fan::Fans;
pub(crate) use crate::potential::fan::{Inertia, WINDOW};
use crate::potential::{
    Collapse, Drag, FixedCorotatedTet, Hinge, NeoHookeanMembrane, Potential, Spring, StVenantMembrane,
    StableNeoHookeanTet, StrainLimit, Term, Tether,
};
use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::mesh::Csr;

/// The elements of one kind and, for each point, where it takes part.
#[derive(Clone, Debug)]
pub struct Incident<P, const N: usize> {
    /// The elements.
    pub term: Term<P, N>,
    /// Element·4 + corner, by point.
    incidence: Csr,
}

impl<P: Potential<N>, const N: usize> Incident<P, N> {
    /// Lists, for each of `n` points, the elements that touch it.
    pub fn new(term: Term<P, N>, n: usize) -> Self {
        let incidence = term.incidence(n);
        Incident { term, incidence }
    }

    /// Forgets the elements at the points for which `skip` holds: another sum counts them.
    fn without(mut self, skip: impl Fn(u32) -> bool) -> Self {
        let rows = 0..self.incidence.rows() as u32;
        let pairs = rows
            .clone()
            .filter(|v| !skip(*v))
            .flat_map(|v| self.incidence.row(v as usize).iter().map(move |item| (v, *item)));
        self.incidence = Csr::from_pairs(rows.len(), pairs);
        self
    }

    /// Adds gradient and positive semidefinite block of all elements at `v`.
    #[inline]
    pub fn add_block(&self, v: u32, x: &[Vec3], gradient: &mut Vec3, hessian: &mut Mat3) {
        for &item in self.incidence.row(v as usize) {
            let (e, corner) = ((item >> 2) as usize, (item & 3) as usize);
            let (g, h) = self.term.elements[e].block(&self.term.gather(x, e), corner);
            *gradient += g;
            *hessian += h;
        }
    }

    fn add_values(&self, x: &[Vec3], component: &[u32], sums: &mut [f64]) {
        for (points, value) in self.term.points.iter().zip(self.term.values(x)) {
            sums[component[points[0] as usize] as usize] += value;
        }
    }
}

/// Every element of a model.
#[derive(Clone, Debug)]
pub struct Elastic {
    /// Neo-Hookean membranes.
    pub membranes: Incident<NeoHookeanMembrane, 3>,
    /// St. Venant–Kirchhoff membranes.
    pub venant: Incident<StVenantMembrane, 3>,
    /// Bending.
    pub hinges: Incident<Hinge, 4>,
    /// Stable neo-Hookean tets.
    pub tets: Incident<StableNeoHookeanTet, 4>,
    /// Fixed corotated tets.
    pub corotated: Incident<FixedCorotatedTet, 4>,
    /// Barriers against collapse of tets.
    pub collapses: Incident<Collapse, 4>,
    /// Springs.
    pub springs: Incident<Spring, 2>,
    /// Points tied to places on triangles.
    pub tethers: Incident<Tether, 4>,
    /// Stiffening of membranes beyond a stretch.
    pub limits: Incident<StrainLimit, 3>,
    /// Air drag.
    pub drags: Incident<Drag, 3>,
    /// Rest lengths that change.
    schedules: Vec<Schedule>,
    /// Membranes and bending around the vertices of ordinary cloth.
    fans: Fans,
    /// Points with elements that are in no fan (n).
    more: Vec<bool>,
}

/// Collects elements before the point count is known.
#[derive(Clone, Debug, Default)]
pub struct ElasticTerms {
    /// Neo-Hookean membranes.
    pub membranes: Term<NeoHookeanMembrane, 3>,
    /// St. Venant–Kirchhoff membranes.
    pub venant: Term<StVenantMembrane, 3>,
    /// Bending.
    pub hinges: Term<Hinge, 4>,
    /// Stable neo-Hookean tets.
    pub tets: Term<StableNeoHookeanTet, 4>,
    /// Fixed corotated tets.
    pub corotated: Term<FixedCorotatedTet, 4>,
    /// Barriers against collapse of tets.
    pub collapses: Term<Collapse, 4>,
    /// Springs.
    pub springs: Term<Spring, 2>,
    /// Points tied to places on triangles.
    pub tethers: Term<Tether, 4>,
    /// Stiffening of membranes beyond a stretch.
    pub limits: Term<StrainLimit, 3>,
    /// Air drag.
    pub drags: Term<Drag, 3>,
    /// Rest lengths of springs and tethers that change.
    pub schedules: Vec<Schedule>,
}

/// A rest length that goes from one value to another, from the start of the run on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// A spring between vertices, not a tether.
    pub is_vertex: bool,
    /// Index of the spring or tether.
    pub element: u32,
    /// Length at the start [m].
    pub from: f64,
    /// Length at the end [m].
    pub to: f64,
    /// How long it takes [s], > 0.
    pub over: f64,
}

/// A spring or tether between two components.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
    /// A point of each of its ends.
    pub points: [u32; 2],
    /// Its ends [m].
    pub places: [Vec3; 2],
    /// Gradient at the first end, minus that at the second [N].
    pub gradient: Vec3,
    /// Positive semidefinite Hessian by either end [N/m].
    pub hessian: Mat3,
}

/// Applies a method to every kind of element.
macro_rules! each {
    ($all:expr, $term:ident => $body:expr) => {{
        let all = $all;
        {
            let $term = all.membranes;
            $body
        }
        {
            let $term = all.venant;
            $body
        }
        {
            let $term = all.hinges;
            $body
        }
        {
            let $term = all.tets;
            $body
        }
        {
            let $term = all.corotated;
            $body
        }
        {
            let $term = all.collapses;
            $body
        }
        {
            let $term = all.springs;
            $body
        }
        {
            let $term = all.tethers;
            $body
        }
        {
            let $term = all.limits;
            $body
        }
        {
            let $term = all.drags;
            $body
        }
    }};
}

/// References to every kind, so that one macro serves shared and exclusive uses.
struct Refs<'a> {
    membranes: &'a Incident<NeoHookeanMembrane, 3>,
    venant: &'a Incident<StVenantMembrane, 3>,
    hinges: &'a Incident<Hinge, 4>,
    tets: &'a Incident<StableNeoHookeanTet, 4>,
    corotated: &'a Incident<FixedCorotatedTet, 4>,
    collapses: &'a Incident<Collapse, 4>,
    springs: &'a Incident<Spring, 2>,
    tethers: &'a Incident<Tether, 4>,
    limits: &'a Incident<StrainLimit, 3>,
    drags: &'a Incident<Drag, 3>,
}

impl Elastic {
    /// Indexes the collected elements over `n` points.
    pub fn new(terms: ElasticTerms, n: usize) -> Self {
        let fans = Fans::new(&terms.membranes, &terms.hinges, n, &[]);
        Elastic {
            membranes: Incident::new(terms.membranes, n).without(|v| fans.covers(v)),
            venant: Incident::new(terms.venant, n),
            hinges: Incident::new(terms.hinges, n).without(|v| fans.covers(v)),
            tets: Incident::new(terms.tets, n),
            corotated: Incident::new(terms.corotated, n),
            collapses: Incident::new(terms.collapses, n),
            springs: Incident::new(terms.springs, n),
            tethers: Incident::new(terms.tethers, n),
            limits: Incident::new(terms.limits, n),
            drags: Incident::new(terms.drags, n),
            schedules: terms.schedules,
            fans,
            more: vec![true; n],
        }
    }

    /// Lays out what descent reads in the order in which it takes the points, colour by colour. Changes no result.
    pub fn arrange(&mut self, colors: &[Vec<u32>]) {
        let n = self.membranes.incidence.rows();
        self.fans = Fans::new(&self.membranes.term, &self.hinges.term, n, colors);
        self.index(n);
    }

    /// Finds the points with elements that are in no fan.
    fn index(&mut self, n: usize) {
        let mut more = vec![false; n];
        for (v, more) in more.iter_mut().enumerate() {
            each!(self.refs(), term => *more |= !term.incidence.row(v).is_empty());
        }
        self.more = more;
    }

    fn refs(&self) -> Refs<'_> {
        let Elastic {
            membranes,
            venant,
            hinges,
            tets,
            corotated,
            collapses,
            springs,
            tethers,
            limits,
            drags,
            ..
        } = self;
        Refs { membranes, venant, hinges, tets, corotated, collapses, springs, tethers, limits, drags }
    }

    /// Gradient [N] and positive semidefinite Hessian block [N/m] at point `v`.
    pub fn block(&self, v: u32, x: &[Vec3]) -> (Vec3, Mat3) {
        self.beside_fan(v, x, self.fans.block(v, x))
    }

    /// Gradient [N] and Hessian block [N/m] of the fan of `v`; zero if it has none.
    #[inline]
    pub(crate) fn fan_block(&self, v: u32, x: &[Vec3]) -> (Vec3, Mat3) {
        self.fans.block(v, x)
    }

    /// The `start` and what all elements that are in no fan add to it.
    #[inline]
    pub(crate) fn beside_fan(&self, v: u32, x: &[Vec3], start: (Vec3, Mat3)) -> (Vec3, Mat3) {
        let (mut gradient, mut hessian) = start;
        if self.more[v as usize] {
            each!(self.refs(), term => term.add_block(v, x, &mut gradient, &mut hessian));
        }
        (gradient, hessian)
    }

    /// Whether `v` has a fan.
    #[inline]
    pub(crate) fn has_fan(&self, v: u32) -> bool {
        self.fans.covers(v)
    }

    /// Whether no other elements act on `v` than those in its fan, which it has.
    #[inline]
    pub(crate) fn is_fan(&self, v: u32) -> bool {
        !self.more[v as usize] && self.fans.covers(v)
    }

    /// The fans of a window of a colour with inertia, as [`Fans::blocks`] gives them. A window is [`WINDOW`] points of the
    /// colours that this was arranged by.
    #[inline]
    pub(crate) fn fan_blocks(
        &self,
        (color, window): (usize, usize),
        x: &[Vec3],
        inertia: Inertia<'_, impl Fn(u32) -> bool>,
        out: &mut [(Vec3, Mat3)],
    ) {
        self.fans.blocks((color, window), x, inertia, out);
    }

    /// Sum of all energies [J], in the order of the elements. Rate terms are included when they were lagged.
    pub fn value(&self, x: &[Vec3]) -> f64 {
        let mut sum = 0.0;
        each!(self.refs(), term => sum += term.term.value(x));
        sum
    }

    /// Adds the energy [J] of each element to the sum of its component, in the order of the elements.
    pub fn value_by_component(&self, x: &[Vec3], component: &[u32], sums: &mut [f64]) {
        each!(self.refs(), term => term.add_values(x, component, sums));
    }

    /// Remembers the start of a step of length `h` [s] in every element.
    pub fn lag(&mut self, x_n: &[Vec3], h: f64) {
        self.membranes.term.lag(x_n, h);
        self.venant.term.lag(x_n, h);
        self.hinges.term.lag(x_n, h);
        self.tets.term.lag(x_n, h);
        self.corotated.term.lag(x_n, h);
        self.springs.term.lag(x_n, h);
        self.tethers.term.lag(x_n, h);
        self.drags.term.lag(x_n, h);
        self.fans.lag(x_n, &self.membranes.term.elements, &self.hinges.term.elements);
    }

    /// Calls `visit` for every spring and tether at `x` [m] that joins different components.
    pub fn for_each_tie(&self, x: &[Vec3], component: &[u32], mut visit: impl FnMut(&Joined)) {
        let joins = |points: &[u32]| component[points[0] as usize] != component[points[1] as usize];
        let (springs, tethers) = (&self.springs.term, &self.tethers.term);
        for (e, points) in springs.points.iter().enumerate().filter(|(_, p)| joins(&p[..])) {
            let at = springs.gather(x, e);
            let (gradient, hessian) = springs.elements[e].block(&at, 0);
            visit(&Joined { points: [points[0], points[1]], places: at, gradient, hessian });
        }
        for (e, points) in tethers.points.iter().enumerate().filter(|(_, p)| joins(&p[..])) {
            let at = tethers.gather(x, e);
            let (gradient, hessian) = tethers.elements[e].block(&at, 0);
            let places = [at[0], tethers.elements[e].place(&at)];
            visit(&Joined { points: [points[0], points[1]], places, gradient, hessian });
        }
    }

    /// Components that springs and tethers join count as one: the label of each point (n), where those that are
    /// `prescribed` join nothing. Without any, the components themselves.
    pub fn bonded(&self, component: &[u32], prescribed: &[bool]) -> Vec<u32> {
        let mut label: Vec<u32> = (0..prescribed.len() as u32).collect();
        let springs = self.springs.term.points.iter().map(|p| [p[0], p[1]]);
        for pair in springs.chain(self.tethers.term.points.iter().map(|p| [p[0], p[1]])) {
            let [a, b] = pair.map(|p| component[p as usize]);
            if !prescribed[a as usize] && !prescribed[b as usize] {
                let [a, b] = [label[a as usize], label[b as usize]];
                label.iter_mut().filter(|l| **l == a.max(b)).for_each(|l| *l = a.min(b));
            }
        }
        component.iter().map(|&c| label[c as usize]).collect()
    }

    /// Sets the rest lengths that change with time to those of `time` [s].
    pub fn set_time(&mut self, time: f64) {
        for s in &self.schedules {
            let share = (time / s.over).clamp(0.0, 1.0);
            let rest = s.from + share * (s.to - s.from);
            if s.is_vertex {
                self.springs.term.elements[s.element as usize].set_rest(rest);
            } else {
                self.tethers.term.elements[s.element as usize].set_rest(rest);
            }
        }
    }

    /// The points of every element, as lists of any length: for colouring and neighbours.
    pub fn stencils(&self) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        each!(self.refs(), term => all.extend(term.term.points.iter().map(|p| p.to_vec())));
        all
    }
}
