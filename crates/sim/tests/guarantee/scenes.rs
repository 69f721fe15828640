//! Small hard scenes: free of intersections at the start, a few triangles or tets each.

use littoral_geom::math::{Quat, Vec3};
use littoral_geom::mesh::{boundary_triangles, connected_components, tet_volume, unique_edges};
use littoral_geom::pairs::Surface;
use littoral_geom::random::Random;
use littoral_geom::referee::Referee;
use littoral_sim::safe::Geometry;

/// What a scene is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Disjoint triangles in a box.
    Soup,
    /// The same, up to a million times longer than wide.
    Slivers,
    /// Two sheets hinged nearly shut.
    Folded,
    /// Triangles whose edges are parallel, exactly or nearly.
    Parallel,
    /// A stack of sheets.
    Layers,
    /// Points next to an edge or corner of a triangle.
    Corners,
    /// A tet, or a block of them.
    Tets,
    /// Tets almost without volume.
    FlatTets,
    /// A collider with things around it.
    Collider,
    /// Things as near as 1e-9 of their size.
    Tiny,
    /// A crumpled sheet.
    Crumpled,
}

pub const KINDS: [Kind; 11] = [
    Kind::Soup,
    Kind::Slivers,
    Kind::Folded,
    Kind::Parallel,
    Kind::Layers,
    Kind::Corners,
    Kind::Tets,
    Kind::FlatTets,
    Kind::Collider,
    Kind::Tiny,
    Kind::Crumpled,
];

/// Positions and topology, with the lengths that motions are measured in.
#[derive(Clone, Debug)]
pub struct Scene {
    pub x: Vec<Vec3>,
    pub geometry: Geometry,
    /// Size of a primitive [m].
    pub size: f64,
    /// Size of a gap [m].
    pub gap: f64,
}

/// A connected or unconnected piece of a scene.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub x: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub tets: Vec<[u32; 4]>,
    pub prescribed: bool,
}

impl Part {
    pub fn triangle(x: [Vec3; 3]) -> Self {
        Part { x: x.to_vec(), triangles: vec![[0, 1, 2]], ..Part::default() }
    }

    /// A flat sheet of `m` × `n` cells of size 1, with alternating diagonals.
    pub fn sheet(m: u32, n: u32) -> Self {
        let at = |i: u32, j: u32| i * (n + 1) + j;
        let x = (0..=m).flat_map(|i| (0..=n).map(move |j| Vec3::new(i as f64, j as f64, 0.0))).collect();
        let mut triangles = Vec::new();
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            let cell = if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
            triangles.extend(cell);
        }
        Part { x, triangles, ..Part::default() }
    }

    pub fn tets(x: Vec<Vec3>, tets: Vec<[u32; 4]>) -> Self {
        Part { x, triangles: boundary_triangles(&tets), tets, prescribed: false }
    }

    pub fn mapped(mut self, f: impl Fn(Vec3) -> Vec3) -> Self {
        self.x.iter_mut().for_each(|p| *p = f(*p));
        self
    }

    pub fn fixed(self) -> Self {
        Part { prescribed: true, ..self }
    }
}

/// The parts as one scene.
pub fn assemble(parts: &[Part], size: f64, gap: f64) -> Scene {
    let (mut x, mut triangles, mut tets, mut active) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let first = x.len() as u32;
        triangles.extend(part.triangles.iter().map(|t| t.map(|c| c + first)));
        tets.extend(part.tets.iter().map(|t| t.map(|c| c + first)));
        x.extend(&part.x);
        active.resize(x.len(), !part.prescribed);
    }
    joined(x, triangles, tets, active, [size, gap])
}

/// One scene of everything.
fn joined(
    x: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    tets: Vec<[u32; 4]>,
    active: Vec<bool>,
    [size, gap]: [f64; 2],
) -> Scene {
    let component = connected_components(x.len(), &triangles, &tets);
    let count = component.iter().max().map_or(0, |&c| c as usize + 1);
    let mut prescribed = vec![false; count];
    for (&c, &a) in component.iter().zip(&active) {
        prescribed[c as usize] |= !a;
    }
    let mut collider_triangles = vec![Vec::new(); count];
    for (k, t) in triangles.iter().enumerate() {
        let c = component[t[0] as usize] as usize;
        if prescribed[c] {
            collider_triangles[c].push(k as u32);
        }
    }
    let surface =
        Surface { vertices: (0..x.len() as u32).collect(), edges: unique_edges(&triangles), triangles };
    let geometry =
        Geometry { surface, tets, component, prescribed, active, collider_triangles, ..Geometry::default() };
    Scene { x, geometry, size, gap }
}

impl Scene {
    /// No edge meets a triangle and no tet is inverted, exactly.
    pub fn is_free(&self) -> bool {
        let g = &self.geometry;
        let everything = vec![true; self.x.len()];
        let referee = Referee::new(&g.surface.edges, &g.surface.triangles, &g.tets, &everything);
        referee.crossings_brute_force(&self.x).is_empty() && referee.inverted(&self.x).is_empty()
    }

    /// The same with another part, which has no tets.
    pub fn with(self, part: &Part) -> Self {
        let Scene { mut x, geometry: g, size, gap } = self;
        let first = x.len() as u32;
        let (mut triangles, mut active) = (g.surface.triangles, g.active);
        triangles.extend(part.triangles.iter().map(|t| t.map(|c| c + first)));
        x.extend(&part.x);
        active.resize(x.len(), !part.prescribed);
        joined(x, triangles, g.tets, active, [size, gap])
    }

    /// Everything scaled by `s`, then moved by `offset`.
    pub fn scaled(mut self, s: f64, offset: Vec3) -> Self {
        self.x.iter_mut().for_each(|p| *p = s * *p + offset);
        self.size *= s;
        self.gap *= s;
        self
    }
}

/// A scene of that kind at unit size.
pub fn scene(kind: Kind, r: &mut Random) -> Scene {
    loop {
        let s = match kind {
            Kind::Soup => soup(r, |r| triangle(r, 0.5)),
            Kind::Slivers => soup(r, sliver),
            Kind::Folded => folded(r),
            Kind::Parallel => parallel(r),
            Kind::Layers => {
                let gap = r.log_between(1e-4, 0.2);
                layers(r, gap)
            }
            Kind::Corners => corners(r),
            Kind::Tets => tets(r),
            Kind::FlatTets => flat_tets(r),
            Kind::Collider => collider(r),
            Kind::Tiny => tiny(r),
            Kind::Crumpled => crumpled(r),
        };
        if s.is_free() {
            return s;
        }
    }
}

fn triangle(r: &mut Random, half: f64) -> Part {
    let c = r.in_cube(0.6);
    Part::triangle([0; 3].map(|_| c + r.in_cube(half)))
}

fn sliver(r: &mut Random) -> Part {
    let (c, u, w) = (r.in_cube(0.4), r.direction(), r.direction());
    let thin = r.log_between(1e-6, 1e-1);
    let t = r.unit();
    Part::triangle([c, c + u, c + u * t + w * thin])
}

/// Parts added one by one where they fit.
fn soup(r: &mut Random, part: impl Fn(&mut Random) -> Part) -> Scene {
    let wanted = 2 + r.below(5);
    let mut parts: Vec<Part> = Vec::new();
    for _ in 0..4 * wanted {
        parts.push(part(r));
        if !assemble(&parts, 1.0, 0.1).is_free() {
            parts.pop();
        } else if parts.len() == wanted {
            break;
        }
    }
    assemble(&parts, 1.0, 0.1)
}

/// ```text
///      ____ upper sheet, turned by a small angle about the hinge
/// hinge
///      ‾‾‾‾ lower sheet
/// ```
fn folded(r: &mut Random) -> Scene {
    let (m, angle) = (1 + r.below(2) as u32, r.log_between(1e-5, 0.3));
    let mut part = Part::sheet(2 * m, 1 + r.below(2) as u32);
    let (jitter, crooked) = (0.3 * angle, r.chance(0.5));
    for p in &mut part.x {
        let side = p.x - m as f64;
        let z = if side > 0.0 { angle * side } else { 0.0 };
        *p = Vec3::new(side.abs(), p.y, z);
        if crooked {
            p.x += r.between(-0.2, 0.2);
            p.y += r.between(-0.2, 0.2);
            p.z += jitter * r.unit() * side.abs().min(1.0);
        }
    }
    assemble(&[part], 1.0, angle)
}

fn parallel(r: &mut Random) -> Scene {
    let skew = [0.0, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3][r.below(6)];
    let gap = r.log_between(1e-6, 0.3);
    let turn = Quat::from_axis_angle(r.direction(), r.between(0.0, 3.0));
    let aligned = r.chance(0.3);
    let parts: Vec<Part> = (0..2 + r.below(3))
        .map(|k| {
            // An edge along x, lifted layer by layer; its triangle hangs away to either side.
            let z = gap * k as f64;
            let shift = if aligned { 0.0 } else { r.between(-1.5, 1.5) };
            let tip = Vec3::new(
                shift + r.between(-0.5, 1.5),
                if r.chance(0.5) { 1.0 } else { -1.0 },
                z + gap * r.unit(),
            );
            let noise = skew * r.in_cube(1.0);
            let x = [Vec3::new(shift, 0.0, z), Vec3::new(shift + 1.0, 0.0, z) + noise, tip];
            let x = if aligned { x } else { x.map(|p| turn * p) };
            Part::triangle(x)
        })
        .collect();
    assemble(&parts, 1.0, gap)
}

fn layers(r: &mut Random, gap: f64) -> Scene {
    let count = 2 + r.below(2);
    let (m, n) = (1 + r.below(2) as u32, 1);
    let crooked = if r.chance(0.5) { 0.3 * gap } else { 0.0 };
    let turn = if r.chance(0.5) {
        Quat::IDENTITY
    } else {
        Quat::from_axis_angle(r.direction(), r.between(0.0, 3.0))
    };
    let parts: Vec<Part> = (0..count)
        .map(|k| {
            let mut part = Part::sheet(m, n);
            let shift = if r.chance(0.3) {
                Vec3::ZERO
            } else {
                Vec3::new(r.between(-0.7, 0.7), r.between(-0.7, 0.7), 0.0)
            };
            for p in &mut part.x {
                *p = turn * (*p + shift + Vec3::Z * (gap * k as f64 + crooked * r.unit()));
            }
            part
        })
        .collect();
    assemble(&parts, 1.0, gap)
}

/// A triangle with points (of small triangles) that project onto, beside or beyond an edge or a corner.
fn corners(r: &mut Random) -> Scene {
    let base =
        Part::triangle([Vec3::ZERO, Vec3::X, Vec3::new(r.between(-0.5, 1.5), r.between(0.2, 1.5), 0.0)]);
    let gap = r.log_between(1e-6, 0.2);
    let beside = [0.0, 0.0, -gap, gap, -1e-9][r.below(5)];
    let mut parts = vec![base];
    for k in 0..1 + r.below(2) {
        let along = [0.0, 0.5, 1.0, -gap, r.unit()][r.below(5)];
        let sign = if k == 0 { 1.0 } else { -1.0 };
        let p = Vec3::new(along, beside, sign * gap);
        let away = Vec3::Z * sign + 0.5 * r.in_cube(1.0);
        let side = r.in_cube(0.5);
        parts.push(Part::triangle([p, p + away, p + away + side]));
    }
    assemble(&parts, 1.0, gap)
}

fn tets(r: &mut Random) -> Scene {
    let parts = (0..1 + r.below(2))
        .map(|k| {
            let shift = Vec3::X * (1.6 * k as f64);
            if r.chance(0.5) {
                bare(one_tet(r, 1.0).mapped(|p| p + shift), r)
            } else {
                let jitter = r.between(0.0, 0.25);
                let mut part = cube();
                part.x.iter_mut().for_each(|p| *p += shift + r.in_cube(jitter));
                bare(part, r)
            }
        })
        .collect::<Vec<_>>();
    assemble(&parts, 1.0, 0.3)
}

fn one_tet(r: &mut Random, flatness: f64) -> Part {
    loop {
        let mut x = [0; 4].map(|_| r.in_cube(0.5));
        x.iter_mut().for_each(|p| p.z *= flatness);
        let turn = Quat::from_axis_angle(r.direction(), r.between(0.0, 3.0));
        let x = x.map(|p| turn * p);
        let volume = tet_volume(x);
        if volume.abs() > 1e-3 * flatness {
            let x = if volume > 0.0 { x } else { [x[1], x[0], x[2], x[3]] };
            return Part::tets(x.to_vec(), vec![[0, 1, 2, 3]]);
        }
    }
}

/// Half of them without their surface, as inside a body, where only the seven pairs of each tet guard it.
fn bare(mut part: Part, r: &mut Random) -> Part {
    if r.chance(0.5) {
        part.triangles.clear();
    }
    part
}

/// The unit cube as five tets: one regular, four corners.
fn cube() -> Part {
    let x: Vec<Vec3> =
        (0..8).map(|k| Vec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64)).collect();
    let tets = vec![[0, 3, 5, 6], [1, 0, 3, 5], [2, 3, 0, 6], [4, 0, 5, 6], [7, 3, 6, 5]];
    let tets = tets
        .into_iter()
        .map(
            |t: [u32; 4]| {
                if tet_volume(t.map(|v| x[v as usize])) > 0.0 { t } else { [t[1], t[0], t[2], t[3]] }
            },
        )
        .collect();
    Part::tets(x, tets)
}

fn flat_tets(r: &mut Random) -> Scene {
    let flatness = r.log_between(1e-9, 1e-1);
    let parts: Vec<Part> = (0..1 + r.below(2))
        .map(|k| one_tet(r, flatness).mapped(|p| p + Vec3::X * (1.5 * k as f64)))
        .collect();
    assemble(&parts, 1.0, flatness)
}

fn collider(r: &mut Random) -> Scene {
    let mut base = Part::sheet(1 + r.below(2) as u32, 1).mapped(|p| p - Vec3::new(0.5, 0.5, 0.0)).fixed();
    if r.chance(0.3) {
        base.x.iter_mut().for_each(|p| p.z += r.between(-0.1, 0.1));
    }
    let gap = r.log_between(1e-4, 0.3);
    let mut parts = vec![base];
    for _ in 0..1 + r.below(4) {
        let c = Vec3::new(r.between(-0.6, 0.6), r.between(-0.6, 0.6), 0.0);
        let side = if r.chance(0.6) { 1.0 } else { -1.0 };
        let mut part =
            if r.chance(0.25) { one_tet(r, 1.0) } else { Part::triangle([0; 3].map(|_| r.in_cube(0.4))) };
        let low = part.x.iter().map(|p| side * p.z).fold(f64::INFINITY, f64::min);
        part.x.iter_mut().for_each(|p| *p += c + Vec3::Z * (side * (gap - low)));
        parts.push(part);
        if !assemble(&parts, 1.0, gap).is_free() {
            parts.pop();
        }
    }
    assemble(&parts, 1.0, gap)
}

fn tiny(r: &mut Random) -> Scene {
    let gap = r.log_between(1e-9, 1e-6);
    match r.below(3) {
        0 => layers(r, gap),
        1 => {
            // A sheet over a collider, turned so that no coordinate is exact.
            let turn = Quat::from_axis_angle(r.direction(), r.between(0.1, 3.0));
            let below = Part::sheet(1, 1).mapped(|p| turn * (p - 0.3 * Vec3::X)).fixed();
            let above = Part::sheet(1, 1).mapped(|p| turn * (p + Vec3::Z * gap));
            assemble(&[below, above], 1.0, gap)
        }
        _ => {
            // Edges that cross above each other, and a point above a face.
            let turn = Quat::from_axis_angle(r.direction(), r.between(0.0, 3.0));
            let angle = r.log_between(1e-4, 1.5);
            let tip = r.between(-0.5, 0.5);
            let below = Part::triangle([-0.5 * Vec3::X, 0.5 * Vec3::X, Vec3::new(tip, 1.0, -0.5)]);
            let along = Vec3::new(angle.cos(), angle.sin(), 0.0);
            let lift = Vec3::Z * gap;
            let above =
                Part::triangle([lift - 0.5 * along, lift + 0.5 * along, lift + Vec3::new(tip, -1.0, 0.7)]);
            assemble(&[below.mapped(|p| turn * p), above.mapped(|p| turn * p)], 1.0, gap)
        }
    }
}

fn crumpled(r: &mut Random) -> Scene {
    let mut part = Part::sheet(2, 1 + r.below(2) as u32);
    let rough = r.between(0.1, 0.8);
    part.x.iter_mut().for_each(|p| *p += r.in_cube(rough));
    assemble(&[part], 1.0, 0.2)
}
