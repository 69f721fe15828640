//! Colour of each sample: ground, object or background, lit; and the mean of the samples of a pixel.

use super::light::{Lights, SUBSETS};
use super::palette::{byte, color, mix};
use super::raster::{Footprint, Layer, NOTHING, Projection, View, hit_bead};
use super::stage::{Paint, Stage};
use littoral_geom::math::Vec3;

/// Light of the key lamp on a surface that faces it, of the open sky on an upward surface, and of the ground on a
/// downward one. An upward surface in full light receives about 1.
const KEY: f32 = 0.80;
/// See `KEY`.
const SKY: f32 = 0.46;
/// See `KEY`.
const BOUNCE: f32 = 0.20;
/// Colours of key lamp and sky: warm and cool, so that lit and shaded sides differ in hue.
const KEY_COLOR: [f32; 3] = [1.04, 1.0, 0.93];
/// See `KEY_COLOR`.
const SKY_COLOR: [f32; 3] = [0.93, 1.0, 1.10];
/// sRGB of the ground and of the background at the bottom and the top of the picture.
const GROUND: [u8; 3] = [214, 216, 218];
/// See `GROUND`.
const BACK: [[u8; 3]; 2] = [[232, 234, 236], [206, 213, 221]];

/// Steps of linear light: a step is less than one sRGB byte, even where the curve is steepest.
const BYTES: usize = 4096;

/// A lit point.
struct Hit {
    p: Vec3,
    /// Unit normal towards the eye, smooth and geometric.
    normal: Vec3,
    flat: Vec3,
    albedo: [f32; 3],
    gloss: f32,
    /// Share of an edge line that covers the sample.
    line: f32,
    /// True for the ground and what is drawn like it.
    ground: bool,
}

/// Everything that the colour of a sample depends on.
pub(super) struct Shading<'a> {
    stage: &'a Stage,
    lights: &'a Lights,
    view: &'a View,
    footprints: &'a [Option<Footprint>],
    /// Samples per pixel side.
    ss: usize,
    edges: bool,
    /// Spacing of the ground grid as a power of ten [m].
    decade: i32,
    /// Distance over which the ground fades into the background [m].
    fade: f64,
    /// Samples per unit of x/z.
    focal: f64,
    /// What the camera aims at.
    target: Vec3,
    /// Horizontal unit vectors.
    plane: [Vec3; 2],
    phases: Vec<[f32; 2]>,
    colors: Colors,
    /// sRGB bytes of linear light in `BYTES` steps.
    bytes: Vec<u8>,
}

/// Linear colours of what is around the objects.
struct Colors {
    ground: [f32; 3],
    top: [f32; 3],
    bottom: [f32; 3],
}

impl<'a> Shading<'a> {
    pub fn new(
        stage: &'a Stage,
        lights: &'a Lights,
        view: &'a View,
        footprints: &'a [Option<Footprint>],
        ss: usize,
        edges: bool,
    ) -> Self {
        // The grid must run along the coordinate axes to be a ruler.
        let e1 = if stage.up.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
        let e1 = (e1 - e1.dot(stage.up) * stage.up).normalize();
        // What stays the same over the frames of a run hangs on the camera alone.
        let (focal, distance) = match view.projection {
            Projection::Perspective { focal, distance } => (focal, distance),
            Projection::Parallel { scale } => (scale, 1.0),
        };
        let seen = view.height as f64 * distance / focal;
        let phases = (0..64).map(|k| k as f32 * std::f32::consts::TAU / 64.0).map(|a| [a.cos(), a.sin()]);
        Shading {
            stage,
            lights,
            view,
            footprints,
            ss,
            edges,
            decade: (seen / 1.5).log10().floor().clamp(-30.0, 30.0) as i32,
            fade: distance,
            focal,
            target: view.origin + distance * view.forward,
            plane: [e1, stage.up.cross(e1)],
            phases: phases.collect(),
            colors: Colors { ground: color(GROUND), top: color(BACK[1]), bottom: color(BACK[0]) },
            bytes: (0..=BYTES).map(|k| byte((k as f32 + 0.5) / BYTES as f32)).collect(),
        }
    }

    /// Spacing of the ground grid as text, in metres or, below 0.1 m, in millimetres.
    pub fn grid_spacing(&self) -> String {
        match self.decade {
            -1.. => format!("{} m", 10f64.powi(self.decade)),
            _ => format!("{} mm", 10f64.powi(self.decade + 3)),
        }
    }

    /// Averages the layer's samples into 8-bit rows of pixels, the first of which is row `first`.
    pub fn resolve(&self, layer: &Layer, first: usize, rows: &mut [u8]) {
        let (ss, width) = (self.ss, self.view.width / self.ss);
        for (k, pixel) in rows.chunks_exact_mut(3).enumerate() {
            let (px, py) = (k % width, first + k / width);
            let phase = self.phases[phase(px, py)];
            let id = |s: usize| layer.id[((k / width) * ss + s / ss) * layer.width + px * ss + s % ss];
            let light = if (0..ss * ss).all(|s| self.is_ground(id(s))) {
                // Nothing but ground: its pattern is filtered, its light is smooth.
                let middle = 0.5 * (ss as f64 - 1.0);
                let (x, y) = ((px * ss) as f64 + middle, (py * ss) as f64 + middle);
                self.sample(id(0), x, y, None, phase)
            } else {
                let mut sum = [0.0f32; 3];
                for s in 0..ss * ss {
                    let (x, y) = ((px * ss + s % ss) as f64, (py * ss + s / ss) as f64);
                    // With fewer samples than subsets each sample asks them all.
                    let subset = (ss * ss >= SUBSETS).then_some(s % SUBSETS);
                    let light = self.sample(id(s), x, y, subset, phase);
                    sum = [0, 1, 2].map(|c| sum[c] + light[c].min(1.0));
                }
                sum.map(|c| c / (ss * ss) as f32)
            };
            pixel.copy_from_slice(&light.map(|c| self.bytes[(c.clamp(0.0, 1.0) * BYTES as f32) as usize]));
        }
    }

    /// True where a sample sees nothing above the ground.
    #[inline]
    fn is_ground(&self, id: u32) -> bool {
        id == NOTHING || self.stage.faces.get(id as usize).is_some_and(|f| f.ground)
    }

    /// Linear colour of a sample that sees the shape `id`.
    fn sample(&self, id: u32, x: f64, y: f64, subset: Option<usize>, phase: [f32; 2]) -> [f32; 3] {
        let (o, d) = self.view.ray(x, y);
        let back = mix(self.colors.top, self.colors.bottom, (y as f32 + 0.5) / self.view.height as f32);
        let hit = match id {
            NOTHING => None,
            id => self.surface(id, x, y, o, d),
        };
        let depth = hit.as_ref().map_or(f64::INFINITY, |h| (h.p - o).dot(self.view.forward));
        let Some(hit) = self.ground(o, d, depth).or(hit) else { return back };
        let lit = self.lit(&hit, d, subset, phase);
        if !hit.ground {
            return lit;
        }
        // The ground dissolves into the background.
        let away = (hit.p - self.target).length() / self.fade;
        mix(lit, back, smoothstep(0.45, 1.5, away as f32))
    }

    /// The ground in front of `depth`.
    fn ground(&self, o: Vec3, d: Vec3, depth: f64) -> Option<Hit> {
        let up = self.stage.up;
        let h = self.stage.ground?;
        let (height, falls) = (o.dot(up) - h, -d.dot(up));
        // A hair lower than the colliders that lie on it.
        let t = (height + 2e-4 * self.stage.radius) / falls;
        if height <= 0.0 || falls <= 0.0 || t >= depth || t > 1e6 * self.fade {
            return None;
        }
        let p = o + t * d;
        Some(Hit { p, normal: up, flat: up, albedo: self.grid(p, d, t), gloss: 0.0, line: 0.0, ground: true })
    }

    /// Colour of the ground: a faint checker and thin lines, both filtered by the width of a sample.
    fn grid(&self, p: Vec3, d: Vec3, t: f64) -> [f32; 3] {
        let spacing = 10f64.powi(self.decade);
        let across = 2.0 * self.ss as f64 * t / self.focal;
        // Seen flat, a pixel is longer by 1/sin of the angle to the ground; one isotropic width is enough.
        let lean = (d.dot(self.stage.up).abs() / d.length()).max(0.05).sqrt();
        let w = (across / lean / spacing).max(1e-6);
        let uv = self.plane.map(|e| p.dot(e) / spacing);
        let checker = uv.map(|u| wave(u, w));
        let fine = uv.map(|u| line(u, 0.012, w)).into_iter().fold(0.0f64, f64::max);
        let coarse = uv.map(|u| line(0.1 * u, 0.0025, 0.1 * w)).into_iter().fold(0.0f64, f64::max);
        let shade = 1.0 + 0.035 * checker[0] * checker[1] - 0.10 * fine - 0.16 * coarse;
        self.colors.ground.map(|c| c * shade as f32)
    }

    /// The point of a face or bead that a sample sees.
    fn surface(&self, id: u32, x: f64, y: f64, o: Vec3, d: Vec3) -> Option<Hit> {
        let faces = &self.stage.faces;
        let Some(face) = faces.get(id as usize) else {
            let bead = &self.stage.beads[id as usize - faces.len()];
            let p = o + hit_bead(o, d, bead)? * d;
            let axis = bead.b - bead.a;
            let along =
                ((p - bead.a).dot(axis) / axis.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let n = (p - bead.a - along * axis) / bead.radius;
            let paint = self.paint(bead.object);
            return Some(Hit {
                p,
                normal: n,
                flat: n,
                albedo: paint.front,
                gloss: paint.gloss,
                line: 0.0,
                ground: false,
            });
        };
        let footprint = self.footprints[id as usize].as_ref()?;
        let e = footprint.edges.map(|e| e.at(x, y).max(0.0));
        let sum = e[0] + e[1] + e[2];
        if sum <= 0.0 {
            return None;
        }
        let b = e.map(|e| e / sum);
        let blend = |v: &[Vec3; 3]| b[0] * v[0] + b[1] * v[1] + b[2] * v[2];
        let p = blend(&face.corners);
        let front = face.normal.dot(d) < 0.0;
        let side = if front { 1.0 } else { -1.0 };
        let smooth = (side * blend(&face.normals)).normalize_or(side * face.normal);
        let paint = self.paint(face.object);
        let albedo = match (face.ground, front) {
            (true, _) => self.grid(p, d, (p - o).dot(self.view.forward)),
            (false, true) => paint.front,
            (false, false) => paint.back,
        };
        let line = if self.edges && !face.ground { edge_line(footprint, x, y, self.ss) } else { 0.0 };
        let gloss = paint.gloss;
        Some(Hit { p, normal: smooth, flat: side * face.normal, albedo, gloss, line, ground: face.ground })
    }

    fn paint(&self, object: u32) -> Paint {
        let paints = &self.stage.paints;
        paints[(object as usize).min(paints.len() - 1)]
    }

    /// Light that a hit sends along −d.
    fn lit(&self, hit: &Hit, d: Vec3, subset: Option<usize>, phase: [f32; 2]) -> [f32; 3] {
        let up = self.stage.up;
        let n = narrow(hit.normal);
        let flat = narrow(hit.flat);
        let key = self.lights.key_direction();
        let cos = dot(n, key).max(0.0).min(4.0 * dot(flat, key).max(0.0));
        let key_light = if cos > 0.0 { cos * self.lights.key(hit.p, flat, subset, phase) } else { 0.0 };
        let sky = self.lights.sky(hit.p, n, subset);
        let bounce = 0.5 - 0.5 * hit.normal.dot(up) as f32;
        let mut light =
            [0, 1, 2].map(|c| KEY * key_light * KEY_COLOR[c] + SKY * sky * SKY_COLOR[c] + BOUNCE * bounce);
        // A floor of light: nothing is black.
        light = light.map(|l| l + 0.03);

        let albedo = mix(hit.albedo, hit.albedo.map(|c| 0.25 * c), 0.55 * hit.line);
        let mut out = [0, 1, 2].map(|c| albedo[c] * light[c]);
        if hit.gloss > 0.0 && key_light > 0.0 {
            let v = narrow(-d.normalize_or(up));
            let h = [0, 1, 2].map(|k| v[k] + key[k]);
            let cos_h = dot(n, h) / dot(h, h).sqrt().max(1e-6);
            let shine = hit.gloss * cos_h.max(0.0).powi(40) * key_light.min(1.0);
            out = out.map(|c| c + 0.6 * shine);
        }
        // A soft shoulder keeps the hue of bright sides.
        out.map(|c| if c > 0.8 { 0.8 + (c - 0.8) / (1.0 + 2.0 * (c - 0.8)) } else { c })
    }
}

#[inline]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
fn narrow(v: Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Which of 64 turns the shadow taps of a pixel take: neighbours differ as much as they can [Jimenez 2014].
fn phase(x: usize, y: usize) -> usize {
    let f = (0.067_110_56 * x as f64 + 0.005_837_15 * y as f64).fract();
    (64.0 * (52.982_918_9 * f).fract()) as usize & 63
}

/// Mean over a width w of the square wave that is +1 on [0, 1), −1 on [1, 2).
fn wave(u: f64, w: f64) -> f64 {
    // The integral of the wave is a triangle of period 2.
    let integral = |u: f64| 1.0 - (u.rem_euclid(2.0) - 1.0).abs();
    (integral(u + 0.5 * w) - integral(u - 0.5 * w)) / w
}

/// Mean over a width w of lines of the given width at the integers.
fn line(u: f64, width: f64, w: f64) -> f64 {
    let w = w.max(1e-9);
    // The integral of the lines: whole ones passed, plus the part of the line that u is in.
    let integral = |u: f64| {
        let u = u + 0.5 * width;
        u.floor() * width + (u - u.floor()).min(width)
    };
    (integral(u + 0.5 * w) - integral(u - 0.5 * w)) / w
}

/// Share of the sample under a line of one pixel along the triangle's edges, weaker on triangles of few pixels.
fn edge_line(f: &Footprint, x: f64, y: f64, ss: usize) -> f32 {
    let pixel = ss as f64;
    let distance = |k: usize| f.edges[k].at(x, y) / f.edges[k].a.hypot(f.edges[k].b).max(f64::MIN_POSITIVE);
    let nearest = distance(0).min(distance(1)).min(distance(2)) / pixel;
    let [w, h] = [f.bounds.x, f.bounds.y].map(|r| f64::from(r[1] - r[0]) / pixel);
    let room = (w.max(h) / 12.0).min(1.0);
    (room * (1.1 - nearest).clamp(0.0, 1.0)) as f32
}

#[cfg(test)]
mod tests {
    use super::{line, wave};

    /// Mean of f over a width w around u by 20 000 midpoints.
    fn mean(f: impl Fn(f64) -> f64, u: f64, w: f64) -> f64 {
        let n = 20_000;
        (0..n).map(|k| f(u + w * ((k as f64 + 0.5) / n as f64 - 0.5))).sum::<f64>() / n as f64
    }

    #[test]
    fn filtered_patterns_are_the_means_of_sharp_ones() {
        for k in 0..400 {
            let (u, w) = (-3.0 + 0.0171 * k as f64, 0.01 + 0.013 * k as f64);
            // A jump lies within one of 20 000 midpoints: up to w/0.4 jumps of height 2.
            let tolerance = 2.0 * (1.0 + 2.5 * w) / 20_000.0;
            let square = |u: f64| if u.rem_euclid(2.0) < 1.0 { 1.0 } else { -1.0 };
            assert!((wave(u, w) - mean(square, u, w)).abs() < tolerance, "wave at {u}, width {w}");
            let lines = |u: f64| if (u - u.round()).abs() < 0.1 { 1.0 } else { 0.0 };
            assert!((line(u, 0.2, w) - mean(lines, u, w)).abs() < tolerance, "lines at {u}, width {w}");
        }
    }
}
