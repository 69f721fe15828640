//! The scene as the renderer wants it: checked faces with smooth corner normals, beads (balls and round-ended tubes),
//! the ball that holds what matters, and the ground.

use super::{Ground, Kind, Scene, palette};
use littoral_geom::math::{Aabb, Vec3};

/// Faces that meet at a vertex are smoothed together when their normals differ by less than this [cos of 40°]:
/// a box keeps its edges, a sphere of 12 segments around is smooth.
const CREASE_COS: f64 = 0.766;
/// Coordinates beyond this [m] are treated as not finite: their products still fit an f64 with room to spare.
const FARTHEST: f64 = 1e30;
/// A collider this many times wider than the moving objects, and flatter than `FLAT` of its width, is ground.
const WIDE: f64 = 2.5;
/// See `WIDE`.
const FLAT: f64 = 0.25;

/// A triangle to draw.
pub(super) struct Face {
    pub corners: [Vec3; 3],
    pub normals: [Vec3; 3],
    /// Geometric unit normal of the front.
    pub normal: Vec3,
    pub object: u32,
    /// Drawn like the ground, with its grid.
    pub ground: bool,
}

/// A round-ended tube from `a` to `b`; a ball when both are the same.
pub(super) struct Bead {
    pub a: Vec3,
    pub b: Vec3,
    pub radius: f64,
    pub object: u32,
}

impl Bead {
    /// True for a ball.
    #[inline]
    pub fn is_ball(&self) -> bool {
        self.a == self.b
    }
}

/// Linear colours of an object.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    pub front: [f32; 3],
    pub back: [f32; 3],
    /// Strength of the highlight.
    pub gloss: f32,
}

pub(super) struct Stage {
    pub faces: Vec<Face>,
    pub beads: Vec<Bead>,
    pub paints: Vec<Paint>,
    /// Unit vector against gravity.
    pub up: Vec3,
    /// Height of the ground along `up`.
    pub ground: Option<f64>,
    /// Centre of the ball that is lit with care.
    pub center: Vec3,
    /// Its radius, > 0.
    pub radius: f64,
}

/// Boxes of a scene.
pub(super) struct Extents {
    /// Of everything that moves; of the smallest collider if nothing does; empty for an empty scene.
    pub main: Aabb,
    /// Per object.
    pub objects: Vec<Aabb>,
    /// Which objects are ground.
    pub ground: Vec<bool>,
}

impl Stage {
    pub fn new(scene: &Scene) -> Stage {
        let up = unit_up(scene.up);
        let extents = Extents::of(scene);
        let faces = faces(scene, &extents, up);
        let beads = beads(scene);
        let paints = palette::paints(scene.objects, object_count(scene));

        // The lit ball: the main box and what lies within one size of it.
        let size = extents.main.extent().length();
        let reach = extents.main.inflated(if size > 0.0 { 0.5 * size } else { 1.0 });
        let mut lit = extents.main;
        for b in extents.objects.iter().filter(|b| b.overlaps(&reach)) {
            lit = lit.union(Aabb { min: b.min.max(reach.min), max: b.max.min(reach.max) });
        }
        let (center, radius) = match is_box(&lit) {
            true => (lit.center(), 0.5 * lit.extent().length()),
            false => (Vec3::ZERO, 1.0),
        };
        let radius = if radius > 0.0 && radius.is_finite() { 1.02 * radius } else { 1.0 };

        let ground = match scene.ground {
            Ground::At(h) if h.is_finite() => Some(h),
            Ground::At(_) | Ground::Hidden => None,
            Ground::Auto => Some(auto_ground(&extents, up)),
        };
        Stage { faces, beads, paints, up, ground, center, radius }
    }
}

/// `up` as a unit vector, +z if it has no direction.
pub(super) fn unit_up(up: Vec3) -> Vec3 {
    up.try_normalize().unwrap_or(Vec3::Z)
}

/// True when the box holds at least a point.
pub(super) fn is_box(b: &Aabb) -> bool {
    b.min.cmple(b.max).all() && b.min.is_finite() && b.max.is_finite()
}

/// The vertex, if it can be drawn.
fn vertex(scene: &Scene, v: u32) -> Option<Vec3> {
    let p = *scene.vertices.get(v as usize)?;
    (p.is_finite() && p.abs().max_element() < FARTHEST).then_some(p)
}

/// Object of triangle `t`.
fn object_of(scene: &Scene, t: usize) -> u32 {
    scene.object_of_triangle.get(t).copied().unwrap_or(0)
}

/// One more than the largest object index that is listed or may be drawn as itself.
fn object_count(scene: &Scene) -> usize {
    scene.objects.len().max(1)
}

/// Lowest and highest height of the box along `up`.
fn heights(b: &Aabb, up: Vec3) -> (f64, f64) {
    let (c, r) = (b.center().dot(up), 0.5 * b.extent().dot(up.abs()));
    (c - r, c + r)
}

impl Extents {
    pub fn of(scene: &Scene) -> Extents {
        let count = object_count(scene);
        let slot = |object: u32| (object as usize).min(count - 1);
        let mut objects = vec![Aabb::EMPTY; count];
        for (t, tri) in scene.triangles.iter().enumerate() {
            if let [Some(a), Some(b), Some(c)] = tri.map(|v| vertex(scene, v)) {
                let o = &mut objects[slot(object_of(scene, t))];
                *o = o.including(a).including(b).including(c);
            }
        }
        for bead in beads(scene) {
            let o = &mut objects[slot(bead.object)];
            *o = o.union(Aabb::of([bead.a, bead.b]).inflated(bead.radius));
        }
        let moves = |o: usize| scene.objects.get(o).is_none_or(|o| o.kind != Kind::Collider);
        let mut main = (0..count).filter(|&o| moves(o)).fold(Aabb::EMPTY, |b, o| b.union(objects[o]));
        if !is_box(&main) {
            let drawn = objects.iter().filter(|b| is_box(b));
            main = drawn
                .min_by(|a, b| a.extent().length().total_cmp(&b.extent().length()))
                .copied()
                .unwrap_or(Aabb::EMPTY);
        }
        let up = unit_up(scene.up);
        let size = main.extent().length();
        let ground = (0..count)
            .map(|o| {
                let (low, high) = heights(&objects[o], up);
                let wide = objects[o].extent().length();
                !moves(o) && is_box(&objects[o]) && wide > WIDE * size && high - low < FLAT * wide
            })
            .collect();
        Extents { main, objects, ground }
    }
}

/// Height of the ground: the top of the colliders that are ground, unless something lies lower.
fn auto_ground(extents: &Extents, up: Vec3) -> f64 {
    if !is_box(&extents.main) {
        return 0.0;
    }
    let size = extents.main.extent().length();
    let mut top = f64::NEG_INFINITY;
    let mut lowest = f64::INFINITY;
    for (b, ground) in extents.objects.iter().zip(&extents.ground).filter(|(b, _)| is_box(b)) {
        let (low, high) = heights(b, up);
        match ground {
            true => top = top.max(high),
            false => lowest = lowest.min(low),
        }
    }
    // 2 % of the size: a contact offset below the top is no reason to move the ground, a fall off an edge is.
    let level = if top.is_finite() && lowest > top - 0.02 * size { top } else { lowest.min(top) };
    let level = if level.is_finite() { level } else { lowest };
    // Nothing above z = 0 but near it: the scene most likely means z = 0, which a sheet in the air should show.
    let means_zero = !top.is_finite() && lowest > 0.0 && lowest < 1.5 * size;
    if means_zero { 0.0 } else { level }
}

/// The faces that can be drawn, with corner normals smoothed over faces that meet at less than the crease angle.
fn faces(scene: &Scene, extents: &Extents, up: Vec3) -> Vec<Face> {
    let mut kept: Vec<[u32; 3]> = Vec::with_capacity(scene.triangles.len());
    let mut faces: Vec<Face> = Vec::with_capacity(scene.triangles.len());
    let mut weighted: Vec<Vec3> = Vec::with_capacity(scene.triangles.len());
    for (t, &tri) in scene.triangles.iter().enumerate() {
        let [Some(a), Some(b), Some(c)] = tri.map(|v| vertex(scene, v)) else { continue };
        let area = (b - a).cross(c - a);
        let Some(normal) = area.try_normalize() else { continue };
        let object = object_of(scene, t);
        let lies = extents.ground.get(object as usize).is_some_and(|&g| g) && normal.dot(up).abs() > 0.95;
        faces.push(Face { corners: [a, b, c], normals: [normal; 3], normal, object, ground: lies });
        weighted.push(area);
        kept.push(tri);
    }
    // Faces around each vertex, as one array with offsets.
    let mut first = vec![0u32; scene.vertices.len() + 1];
    for v in kept.iter().flatten() {
        first[*v as usize + 1] += 1;
    }
    for v in 0..scene.vertices.len() {
        first[v + 1] += first[v];
    }
    let mut next = first.clone();
    let mut around = vec![0u32; 3 * kept.len()];
    for (f, tri) in kept.iter().enumerate() {
        for &v in tri {
            around[next[v as usize] as usize] = f as u32;
            next[v as usize] += 1;
        }
    }
    for f in 0..faces.len() {
        let own = faces[f].normal;
        let normals = kept[f].map(|v| {
            let ring = &around[first[v as usize] as usize..first[v as usize + 1] as usize];
            let sum = ring.iter().fold(Vec3::ZERO, |sum, &g| {
                // A neighbour of opposite orientation counts with its other side.
                let cos = own.dot(faces[g as usize].normal);
                let side = if cos > CREASE_COS {
                    1.0
                } else if cos < -CREASE_COS {
                    -1.0
                } else {
                    0.0
                };
                sum + side * weighted[g as usize]
            });
            sum.try_normalize().unwrap_or(own)
        });
        faces[f].normals = normals;
    }
    faces
}

/// The balls and tubes that can be drawn.
fn beads(scene: &Scene) -> Vec<Bead> {
    let mut beads = Vec::new();
    let drawable = |r: f64| r > 0.0 && r < FARTHEST;
    for lines in scene.lines.iter().filter(|l| drawable(l.radius)) {
        for s in lines.segments {
            if let [Some(a), Some(b)] = s.map(|v| vertex(scene, v)) {
                beads.push(Bead { a, b, radius: lines.radius, object: lines.object });
            }
        }
    }
    for set in scene.particles.iter().filter(|p| drawable(p.radius)) {
        let finite = set.centers.iter().filter(|c| c.is_finite() && c.abs().max_element() < FARTHEST);
        beads.extend(finite.map(|&c| Bead { a: c, b: c, radius: set.radius, object: set.object }));
    }
    beads
}
