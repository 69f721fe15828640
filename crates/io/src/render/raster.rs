//! Which surface each sample sees, by affine edge functions in homogeneous coordinates [Olano 1997].
//!
//! With q = (x, y, z) in the frame of the camera, the ray through the sample with direction d hits the triangle
//! q₀ q₁ q₂ where all of d·(q₁×q₂), d·(q₂×q₀), d·(q₀×q₁) have the sign of det(q₀, q₁, q₂). d is affine in the sample,
//! hence so are the three, and 1/z. A triangle behind the eye has the other sign, so that none needs clipping.
//! Triangles are wider by `WIDER` on each side, so that no sample falls between two of them.
//! A parallel projection is the same with q = (x, y, 1).

use super::stage::Bead;
use littoral_geom::math::Vec3;

/// Samples that a triangle is widened by. The edge functions are wrong by 1e-16 × distance/edge length × samples across,
/// that is 1e-8 for edges of a hundred-thousandth of the distance; a tenth of a sample would show.
const WIDER: f64 = 1e-7;

/// What a picture or a light sees: `width × height` samples, rows from top to bottom.
pub(super) struct View {
    pub origin: Vec3,
    /// Unit vectors of increasing x, increasing y, increasing depth.
    pub right: Vec3,
    pub down: Vec3,
    pub forward: Vec3,
    pub projection: Projection,
    pub width: usize,
    pub height: usize,
}

/// How a point in the frame of a view becomes a sample.
#[derive(Clone, Copy)]
pub(super) enum Projection {
    /// Samples per unit of x/z, and the distance [m] of what the camera aims at.
    Perspective { focal: f64, distance: f64 },
    /// Samples per metre.
    Parallel { scale: f64 },
}

/// The function a·x + b·y + c of sample indices.
#[derive(Clone, Copy)]
pub(super) struct Affine {
    pub a: f64,
    pub b: f64,
    pub c: f64,
}

impl Affine {
    #[inline]
    pub fn at(&self, x: f64, y: f64) -> f64 {
        self.a * x + (self.b * y + self.c)
    }
}

/// Half-open ranges of samples that hold everything of a shape.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub x: [u32; 2],
    pub y: [u32; 2],
}

/// A triangle in samples.
pub(super) struct Footprint {
    /// Proportional to the barycentric coordinates on the ray; all ≥ 0 inside.
    pub edges: [Affine; 3],
    /// Larger is nearer: 1/z in perspective, −z in parallel projection.
    pub nearness: Affine,
    pub bounds: Bounds,
}

impl View {
    /// The point in the frame of the view.
    #[inline]
    pub fn local(&self, p: Vec3) -> Vec3 {
        let d = p - self.origin;
        Vec3::new(self.right.dot(d), self.down.dot(d), self.forward.dot(d))
    }

    /// Origin and direction of the ray through a sample centre; its parameter is the depth z.
    #[inline]
    pub fn ray(&self, x: f64, y: f64) -> (Vec3, Vec3) {
        let (u, v) = (x + 0.5 - 0.5 * self.width as f64, y + 0.5 - 0.5 * self.height as f64);
        match self.projection {
            Projection::Perspective { focal, .. } => {
                (self.origin, self.forward + (u / focal) * self.right + (v / focal) * self.down)
            }
            Projection::Parallel { scale } => {
                (self.origin + (u / scale) * self.right + (v / scale) * self.down, self.forward)
            }
        }
    }

    /// The footprint of a triangle; none when it is seen edge-on or not at all.
    pub fn triangle(&self, corners: [Vec3; 3]) -> Option<Footprint> {
        let p = corners.map(|c| self.local(c));
        let (q, scale) = match self.projection {
            Projection::Perspective { focal, .. } => (p, focal),
            Projection::Parallel { scale } => (p.map(|p| Vec3::new(p.x, p.y, 1.0)), scale),
        };
        let bounds = self.bounds_of(&p)?;
        let det = q[0].dot((q[1] - q[0]).cross(q[2] - q[0]));
        if det == 0.0 || !det.is_finite() {
            return None;
        }
        // n·d as a function of the sample, d = ((x − cx)/scale, (y − cy)/scale, 1).
        let (cx, cy) = (0.5 * self.width as f64 - 0.5, 0.5 * self.height as f64 - 0.5);
        let affine = |n: Vec3, s: f64| {
            let (a, b) = (n.x / scale, n.y / scale);
            Affine { a: s * a, b: s * b, c: s * (n.z - a * cx - b * cy) }
        };
        let side = det.signum();
        let edges = [q[1].cross(q[2]), q[2].cross(q[0]), q[0].cross(q[1])].map(|n| {
            let e = affine(n, side);
            Affine { c: e.c + WIDER * (e.a.abs() + e.b.abs()), ..e }
        });
        // The plane of the triangle, N·p = N·p₀: on a ray, 1/z = N·d / N·p₀, or z = (N·p₀ − N_x x − N_y y)/N_z.
        let normal = (p[1] - p[0]).cross(p[2] - p[0]);
        let nearness = match self.projection {
            Projection::Perspective { .. } => affine(normal, 1.0 / normal.dot(p[0])),
            Projection::Parallel { .. } => {
                affine(Vec3::new(normal.x, normal.y, -normal.dot(p[0])), 1.0 / normal.z)
            }
        };
        Some(Footprint { edges, nearness, bounds })
    }

    /// Bounds of a ball or tube.
    pub fn bead(&self, bead: &Bead) -> Option<Bounds> {
        let r = bead.radius;
        if let (Projection::Parallel { scale }, true) = (self.projection, bead.is_ball()) {
            let c = self.local(bead.a);
            let (center, reach) = ([scale * c.x, scale * c.y], scale * r);
            return self.samples(center.map(|c| c - reach), center.map(|c| c + reach));
        }
        let mut points = [Vec3::ZERO; 16];
        let (a, b) = (self.local(bead.a), self.local(bead.b));
        for (k, p) in points.iter_mut().enumerate() {
            let sign = |bit: usize| if k & bit == 0 { -r } else { r };
            *p = (if k & 8 == 0 { a } else { b }) + Vec3::new(sign(1), sign(2), sign(4));
        }
        self.bounds_of(&points)
    }

    /// Depth below which a point has no place in the picture.
    fn near(&self) -> f64 {
        match self.projection {
            // Close enough to the eye to touch it, far enough for 1/z to be a number.
            Projection::Perspective { distance, .. } => 1e-9 * distance,
            Projection::Parallel { .. } => f64::NEG_INFINITY,
        }
    }

    /// Bounds of the convex hull of points in the frame of the view; none when all lie behind the near plane.
    fn bounds_of(&self, points: &[Vec3]) -> Option<Bounds> {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        let mut include = |p: Vec3| {
            let k = match self.projection {
                Projection::Perspective { focal, .. } => focal / p.z,
                Projection::Parallel { scale } => scale,
            };
            for (axis, value) in [k * p.x, k * p.y].into_iter().enumerate() {
                low[axis] = low[axis].min(value);
                high[axis] = high[axis].max(value);
            }
        };
        // What crosses the near plane may be anywhere: the edge functions decide alone.
        let near = self.near();
        match points.iter().filter(|p| p.z < near).count() {
            0 => points.iter().for_each(|&p| include(p)),
            n if n == points.len() => return None,
            _ => return Some(Bounds { x: [0, self.width as u32], y: [0, self.height as u32] }),
        }
        self.samples(low, high)
    }

    /// The samples from `low` to `high`, both from the middle of the picture.
    fn samples(&self, low: [f64; 2], high: [f64; 2]) -> Option<Bounds> {
        let range = |low: f64, high: f64, n: usize| {
            let c = 0.5 * n as f64 - 0.5;
            // One sample wider: the rounding of the projection is far below a sample, that of huge values clamps.
            let first = (low + c).floor().clamp(0.0, n as f64) as u32;
            let end = ((high + c).ceil() + 1.0).clamp(0.0, n as f64) as u32;
            (first < end).then_some([first, end])
        };
        Some(Bounds { x: range(low[0], high[0], self.width)?, y: range(low[1], high[1], self.height)? })
    }
}

impl Footprint {
    /// Half-open range of samples of row `y` inside the triangle.
    #[inline]
    fn span(&self, y: f64) -> (usize, usize) {
        let (mut low, mut high) = (self.bounds.x[0] as f64, self.bounds.x[1] as f64 - 1.0);
        for e in &self.edges {
            let rest = e.b * y + e.c;
            // a x + rest ≥ 0
            if e.a > 0.0 {
                low = low.max((-rest / e.a).ceil());
            } else if e.a < 0.0 {
                high = high.min((-rest / e.a).floor());
            } else if rest < 0.0 {
                return (0, 0);
            }
        }
        if low <= high { (low as usize, high as usize + 1) } else { (0, 0) }
    }
}

/// Parameter of the first hit of the ray o + t d with the bead.
#[inline]
pub(super) fn hit_bead(o: Vec3, d: Vec3, bead: &Bead) -> Option<f64> {
    let r2 = bead.radius * bead.radius;
    let axis = bead.b - bead.a;
    let (m, dd) = (o - bead.a, d.length_squared());
    let ball = |center: Vec3| {
        let m = o - center;
        let (b, c) = (m.dot(d), m.length_squared() - r2);
        let h = b * b - dd * c;
        (h >= 0.0).then(|| (-b - h.sqrt()) / dd)
    };
    let aa = axis.length_squared();
    if aa == 0.0 {
        return ball(bead.a);
    }
    // The infinite cylinder: the parts of m and d across the axis.
    let (ad, am) = (axis.dot(d), axis.dot(m));
    let (a, b, c) = (aa * dd - ad * ad, aa * m.dot(d) - am * ad, aa * (m.length_squared() - r2) - am * am);
    let h = b * b - a * c;
    if h < 0.0 {
        return None;
    }
    if a > 1e-12 * aa * dd {
        let t = (-b - h.sqrt()) / a;
        let along = am + t * ad;
        if along > 0.0 && along < aa {
            return Some(t);
        }
        return ball(if along <= 0.0 { bead.a } else { bead.b });
    }
    // Along the axis (1e-12: an angle of 1e-6, below a sample): the end that is met first.
    ball(if ad > 0.0 { bead.a } else { bead.b })
}

/// No surface.
pub(super) const NOTHING: u32 = u32::MAX;

/// Nearest surface of some rows of samples.
pub(super) struct Layer {
    pub width: usize,
    pub rows: usize,
    /// Row of the first sample.
    pub first: usize,
    pub nearness: Vec<f32>,
    pub id: Vec<u32>,
}

impl Layer {
    pub fn new(width: usize, rows: usize, first: usize) -> Layer {
        let n = width * rows;
        Layer { width, rows, first, nearness: vec![f32::NEG_INFINITY; n], id: vec![NOTHING; n] }
    }

    /// Rows of the layer within the bounds.
    fn overlap(&self, bounds: &Bounds) -> std::ops::Range<usize> {
        let last = self.first + self.rows;
        (bounds.y[0] as usize).max(self.first)..(bounds.y[1] as usize).min(last)
    }

    /// Draws a triangle. Of equally near surfaces the one drawn first stays.
    #[inline]
    pub fn draw_triangle(&mut self, f: &Footprint, id: u32) {
        for y in self.overlap(&f.bounds) {
            let (x0, x1) = f.span(y as f64);
            let row = (y - self.first) * self.width;
            let rest = f.nearness.b * y as f64 + f.nearness.c;
            for x in x0..x1 {
                let near = (f.nearness.a * x as f64 + rest) as f32;
                if near > self.nearness[row + x] {
                    self.nearness[row + x] = near;
                    self.id[row + x] = id;
                }
            }
        }
    }

    /// Draws a ball or tube.
    pub fn draw_bead(&mut self, view: &View, bead: &Bead, bounds: &Bounds, id: u32) {
        if let (Projection::Parallel { scale }, true) = (view.projection, bead.is_ball()) {
            return self.draw_ball(view, bead, scale, bounds, id);
        }
        for y in self.overlap(bounds) {
            let row = (y - self.first) * self.width;
            for x in bounds.x[0] as usize..bounds.x[1] as usize {
                let (o, d) = view.ray(x as f64, y as f64);
                let Some(t) = hit_bead(o, d, bead) else { continue };
                let near = match view.projection {
                    Projection::Perspective { .. } if t <= 0.0 => continue,
                    Projection::Perspective { .. } => (1.0 / t) as f32,
                    Projection::Parallel { .. } => -t as f32,
                };
                if near > self.nearness[row + x] {
                    self.nearness[row + x] = near;
                    self.id[row + x] = id;
                }
            }
        }
    }

    /// Draws a ball as parallel rays see it: its depth is z − √(r² − d²) at a distance d from its axis. A light draws
    /// every particle, so this is worth its lines.
    fn draw_ball(&mut self, view: &View, ball: &Bead, scale: f64, bounds: &Bounds, id: u32) {
        let c = view.local(ball.a);
        let (cx, cy) =
            (scale * c.x + 0.5 * view.width as f64 - 0.5, scale * c.y + 0.5 * view.height as f64 - 0.5);
        let (r_sq, per_sample_sq) = (ball.radius * ball.radius, 1.0 / (scale * scale));
        for y in self.overlap(bounds) {
            let row = (y - self.first) * self.width;
            let dy = y as f64 - cy;
            for x in bounds.x[0] as usize..bounds.x[1] as usize {
                let dx = x as f64 - cx;
                let rest = r_sq - per_sample_sq * (dx * dx + dy * dy);
                if rest < 0.0 {
                    continue;
                }
                let near = (rest.sqrt() - c.z) as f32;
                if near > self.nearness[row + x] {
                    self.nearness[row + x] = near;
                    self.id[row + x] = id;
                }
            }
        }
    }
}

/// Which shapes touch each band of `rows` rows, in order; beads are numbered after the triangles.
pub(super) fn bin(
    footprints: &[Option<Footprint>],
    beads: &[Option<Bounds>],
    count: usize,
    rows: usize,
) -> Vec<Vec<u32>> {
    let mut bands = vec![Vec::new(); count];
    let shapes = footprints.iter().map(|f| f.as_ref().map(|f| f.bounds)).chain(beads.iter().copied());
    for (id, bounds) in shapes.enumerate() {
        let Some(b) = bounds else { continue };
        for band in &mut bands[b.y[0] as usize / rows..(b.y[1] as usize).div_ceil(rows)] {
            band.push(id as u32);
        }
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bead(a: Vec3, b: Vec3) -> Bead {
        Bead { a, b, radius: 0.5, object: 0 }
    }

    #[test]
    fn a_bead_is_hit_where_its_surface_is() {
        // A tube from x = 0 to 3; rays from above, along the axis, at its round end, and past it.
        let tube = bead(Vec3::ZERO, 3.0 * Vec3::X);
        let hit = |o: [f64; 3], d: [f64; 3]| hit_bead(Vec3::from(o), Vec3::from(d), &tube);
        assert_eq!(hit([1.0, 0.0, 2.5], [0.0, 0.0, -2.0]), Some(1.0));
        assert_eq!(hit([-2.5, 0.0, 0.0], [1.0, 0.0, 0.0]), Some(2.0));
        assert_eq!(hit([5.5, 0.0, 0.0], [-1.0, 0.0, 0.0]), Some(2.0));
        let t = hit([3.4, 0.0, 2.3], [0.0, 0.0, -1.0]).unwrap();
        assert!((t - 2.0).abs() < 1e-15, "{t}: three roundings of numbers near 2");
        assert_eq!(hit([3.6, 0.0, 2.0], [0.0, 0.0, -1.0]), None);
        assert_eq!(hit([1.0, 0.6, 2.0], [0.0, 0.0, -1.0]), None);
        let ball = bead(Vec3::X, Vec3::X);
        assert_eq!(hit_bead(Vec3::new(1.0, 0.0, 3.0), -Vec3::Z, &ball), Some(2.5));
    }

    #[test]
    fn each_sample_of_a_fan_is_covered_and_only_edges_are_covered_twice() {
        // A fan of slivers around a centre that is no sample, in both projections.
        for projection in
            [Projection::Perspective { focal: 40.0, distance: 1.0 }, Projection::Parallel { scale: 40.0 }]
        {
            let view = View {
                origin: Vec3::new(0.1, 0.2, -1.0),
                right: Vec3::X,
                down: Vec3::Y,
                forward: Vec3::Z,
                projection,
                width: 50,
                height: 50,
            };
            let rim = |k: u32| {
                let angle = f64::from(k % 97) * std::f64::consts::TAU / 97.0;
                Vec3::new(0.137 + 4.0 * angle.cos(), 0.211 + 4.0 * angle.sin(), 0.3 * (5.0 * angle).sin())
            };
            let mut count = vec![0; 50 * 50];
            for k in 0..97 {
                let mut layer = Layer::new(50, 50, 0);
                let f = view.triangle([Vec3::new(0.137, 0.211, 0.0), rim(k), rim(k + 1)]).unwrap();
                layer.draw_triangle(&f, k);
                layer.id.iter().zip(&mut count).for_each(|(id, n)| *n += i32::from(*id != NOTHING));
            }
            assert!(count.iter().all(|n| *n >= 1), "no holes");
            // No sample lies exactly on an edge here: none is covered twice.
            assert!(count.iter().all(|n| *n == 1), "no overlaps");
        }
    }

    #[test]
    fn a_ball_in_parallel_rays_is_drawn_as_any_bead() {
        let view = View {
            origin: Vec3::new(0.1, 0.2, -1.0),
            right: Vec3::X,
            down: Vec3::Y,
            forward: Vec3::Z,
            projection: Projection::Parallel { scale: 13.0 },
            width: 40,
            height: 40,
        };
        let ball = bead(Vec3::new(0.3, -0.2, 2.0), Vec3::new(0.3, -0.2, 2.0));
        // A tube too short to be seen as one.
        let tube = bead(ball.a, ball.a + 1e-9 * Vec3::Z);
        let drawn = |b: &Bead| {
            let mut layer = Layer::new(40, 40, 0);
            layer.draw_bead(&view, b, &view.bead(b).unwrap(), 7);
            layer
        };
        let (one, other) = (drawn(&ball), drawn(&tube));
        assert!(one.id == other.id && one.id.iter().filter(|id| **id == 7).count() > 120);
        let worst = one.nearness.iter().zip(&other.nearness).filter(|(a, _)| a.is_finite());
        // The tube is 1e-9 longer, and both are rounded to f32 near 2.
        assert!(worst.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 1e-6);
    }
}
