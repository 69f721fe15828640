//! Where the picture is taken from.

use super::raster::{Projection, View};
use super::stage::{Extents, Stage, is_box, unit_up};
use super::{Kind, Scene};
use littoral_geom::math::{Aabb, Vec3};

/// A pinhole camera. Every field may be overridden after `Camera::auto`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position of the eye [m].
    pub eye: Vec3,
    /// Point in the middle of the picture [m].
    pub target: Vec3,
    /// Vertical opening angle [rad], in (0, π). Default: 0.5 (29°), which distorts little.
    pub fov: f64,
}

/// Default vertical opening angle [rad].
const FOV: f64 = 0.5;
/// Share of the picture's half size that the framed box may fill: the rest is air, text and shadow.
const FILL: f64 = 0.88;
/// Share of the sight lines that colliders may block before another side is tried.
const BLOCKED: usize = 4;

impl Camera {
    /// A three-quarter view from above onto everything that moves in the scene and onto `boxes` [m], which hold the
    /// moving objects in the other frames of a run. `aspect` is width / height of the picture, > 0.
    ///
    /// The camera stays above the ground, looks at the wider side, and walks around the scene when colliders hide it.
    pub fn auto(scene: &Scene, boxes: &[Aabb], aspect: f64) -> Camera {
        let stage = Stage::new(scene);
        let extents = Extents::of(scene);
        let framed = framed_box(scene, &extents, boxes);
        let up = unit_up(scene.up);
        let aspect = if aspect > 0.0 && aspect.is_finite() { aspect } else { 16.0 / 9.0 };

        // Horizontal directions: `side` along the wider extent.
        let e1 = if up.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
        let e1 = (e1 - e1.dot(up) * up).normalize();
        let e2 = up.cross(e1);
        let size = framed.extent();
        let width = |d: Vec3| size.dot(d.abs());
        let (side, toward) = if width(e1) >= width(e2) { (e1, -e2) } else { (e2, e1) };
        // Flat things are seen from higher up: 17° … 35°.
        let flatness = 1.0 - (width(up) / width(side).max(f64::MIN_POSITIVE)).min(1.0);
        let elevation = 0.30 + 0.31 * flatness;

        // 1. Try the sides in order of beauty, keep the first that is free, or the freest.
        let mut best: Option<(usize, Camera)> = None;
        for degrees in [-32.0f64, 32.0, -58.0, 58.0, 0.0, -90.0, 90.0, -135.0, 135.0, 180.0] {
            let angle = degrees.to_radians();
            let level = angle.cos() * toward + angle.sin() * side;
            let backward = elevation.cos() * level + elevation.sin() * up;
            let camera = fitting(&framed, backward, up, aspect);
            let blocked = blocked_sights(&stage, scene, &framed, camera.eye);
            if best.is_none_or(|(b, _)| blocked < b) {
                best = Some((blocked, camera));
            }
            if blocked <= BLOCKED {
                break;
            }
        }
        let mut camera = best.map_or(fitting(&framed, (e1 + up).normalize(), up, aspect), |(_, c)| c);

        // 2. Stay above the ground.
        if let Some(h) = stage.ground {
            let least = h + 0.05 * (camera.eye - camera.target).length();
            camera.eye += (least - camera.eye.dot(up)).max(0.0) * up;
        }
        camera
    }

    /// The frame of the camera for a picture of `width × height` samples.
    pub(super) fn view(&self, width: usize, height: usize, up: Vec3, radius: f64) -> View {
        let eye = if self.eye.is_finite() { self.eye } else { Vec3::splat(3.0 * radius) };
        let target = if self.target.is_finite() { self.target } else { Vec3::ZERO };
        let fov = if self.fov > 0.0 && self.fov < 3.1 { self.fov } else { FOV };
        let forward = (target - eye).try_normalize().unwrap_or(-up);
        let right = forward.cross(up).try_normalize().unwrap_or_else(|| forward.any_orthonormal_vector());
        let focal = 0.5 * height as f64 / (0.5 * fov).tan();
        let distance = (target - eye).length();
        let distance = if distance > 0.0 { distance } else { radius };
        View {
            origin: eye,
            right,
            down: forward.cross(right),
            forward,
            projection: Projection::Perspective { focal, distance },
            width,
            height,
        }
    }
}

/// The box to frame: what moves, and the colliders that are part of the same scene rather than its surroundings.
fn framed_box(scene: &Scene, extents: &Extents, boxes: &[Aabb]) -> Aabb {
    let moving = boxes.iter().filter(|b| is_box(b)).fold(extents.main, |all, b| all.union(*b));
    if !is_box(&moving) {
        return Aabb { min: Vec3::splat(-0.5), max: Vec3::splat(0.5) };
    }
    let size = moving.extent().length();
    let near = moving.inflated(0.25 * size);
    let mut framed = moving;
    for (object, b) in scene.objects.iter().zip(&extents.objects) {
        if object.kind == Kind::Collider && is_box(b) && b.extent().length() < 1.2 * size && b.overlaps(&near)
        {
            framed = framed.union(Aabb { min: b.min.max(near.min), max: b.max.min(near.max) });
        }
    }
    let least = if size > 0.0 { 0.0 } else { 0.5 };
    framed.inflated(least)
}

/// The camera that looks along −`backward` from just so far away that the box fills the picture.
fn fitting(framed: &Aabb, backward: Vec3, up: Vec3, aspect: f64) -> Camera {
    let forward = -backward;
    let right = forward.cross(up).try_normalize().unwrap_or_else(|| forward.any_orthonormal_vector());
    let above = right.cross(forward);
    let tan_y = FILL * (0.5 * FOV).tan();
    let tan_x = tan_y * aspect;
    let corners = corners(framed);
    // The four planes of the pyramid through the eye, as tight as the corners allow: the eye at
    // target + x right + y above − z forward has  (±(c − eye)·right) ≤ tan_x (c − eye)·forward  for every corner c.
    let reach = |axis: Vec3, tan: f64, sign: f64| {
        let extremes = corners.iter().map(|c| sign * c.dot(axis) - tan * c.dot(forward));
        extremes.fold(f64::NEG_INFINITY, f64::max)
    };
    let (r_plus, r_minus) = (reach(right, tan_x, 1.0), reach(right, tan_x, -1.0));
    let (a_plus, a_minus) = (reach(above, tan_y, 1.0), reach(above, tan_y, -1.0));
    // Both planes of a pair meet at the eye: e·axis = (plus − minus)/2, −tan e·forward = (plus + minus)/2.
    let (x, y) = (0.5 * (r_plus - r_minus), 0.5 * (a_plus - a_minus));
    let z = -((r_plus + r_minus) / (2.0 * tan_x)).max((a_plus + a_minus) / (2.0 * tan_y));
    let eye = x * right + y * above + z * forward;
    let depth = (framed.center() - eye).dot(forward);
    Camera { eye, target: eye + depth * forward, fov: FOV }
}

/// The eight corners of a box.
fn corners(b: &Aabb) -> [Vec3; 8] {
    std::array::from_fn(|k| {
        let pick = |bit: usize, low: f64, high: f64| if k & bit == 0 { low } else { high };
        Vec3::new(pick(1, b.min.x, b.max.x), pick(2, b.min.y, b.max.y), pick(4, b.min.z, b.max.z))
    })
}

/// How many of 27 sight lines from the eye into the box are blocked by colliders before they reach the box's middle.
fn blocked_sights(stage: &Stage, scene: &Scene, framed: &Aabb, eye: Vec3) -> usize {
    let is_collider = |o: u32| scene.objects.get(o as usize).is_some_and(|o| o.kind == Kind::Collider);
    let colliders: Vec<[Vec3; 3]> =
        stage.faces.iter().filter(|f| is_collider(f.object)).map(|f| f.corners).collect();
    let blocked = (0..27).filter(|k| {
        let share = |i: u32| 0.2 + 0.3 * f64::from(i % 3);
        let t = Vec3::new(share(*k), share(k / 3), share(k / 9));
        let d = framed.min + t * framed.extent() - eye;
        // Only what stands in front of the box counts: what is inside belongs to the scene.
        let front = 1.0 - 0.5 * framed.extent().length() / d.length().max(f64::MIN_POSITIVE);
        colliders.iter().any(|c| hit(eye, d, c).is_some_and(|t| t > 0.0 && t < front))
    });
    blocked.count()
}

/// Parameter of the hit of the line o + t d with a triangle.
fn hit(o: Vec3, d: Vec3, c: &[Vec3; 3]) -> Option<f64> {
    let q = c.map(|c| c - o);
    let normal = (q[1] - q[0]).cross(q[2] - q[0]);
    let e = [q[1].cross(q[2]), q[2].cross(q[0]), q[0].cross(q[1])].map(|n| n.dot(d));
    let inside = e.iter().all(|e| *e >= 0.0) || e.iter().all(|e| *e <= 0.0);
    let t = normal.dot(q[0]) / normal.dot(d);
    (inside && t.is_finite()).then_some(t)
}
