//! What the lights see: one key light with a soft shadow, and a sky of many faint lights whose shadows together
//! darken folds, corners and the ground under things (ambient occlusion without noise).
//!
//! Every light is a depth map of parallel rays over the lit ball of the stage. Lengths are in units of its radius.

use super::raster::{Layer, Projection, View};
use super::stage::Stage;
use littoral_geom::math::Vec3;
use rayon::prelude::*;

/// Sky lights: 64 make steps of 1.5 %, about one step of an 8-bit image after smoothing.
const SKY: usize = 64;
/// Samples per side of a sky map and of the key light's map.
const SKY_SIZE: usize = 320;
/// See `SKY_SIZE`.
const KEY_SIZE: usize = 2048;
/// Subsets of the sky and of the shadow taps; each sample of a pixel takes one of them, or all.
pub(super) const SUBSETS: usize = 4;
/// Sky lights of a subset.
const GROUP: usize = SKY / SUBSETS;
/// Points on the key light: the blockers' search and the shadow itself.
const TAPS: usize = 32;
/// Farthest tap from the sample asked, in samples of the key map.
const WIDEST: f32 = 32.0;
/// Side of the tiles of the key map whose least depth is known.
const TILE: usize = 16;
/// Tangent of the key light's angular radius: shadows soften by this much per length.
const KEY_TAN: f32 = 0.05;

/// Depths as one light sees them.
struct DepthMap {
    /// Unit vector towards the light.
    direction: [f32; 3],
    /// Sample x, sample y and depth [radii] as affine functions of the position [radii].
    rows: [[f32; 4]; 3],
    /// Samples per side.
    size: usize,
    /// Depth of the nearest surface [radii]; +∞ where there is none.
    depth: Vec<f32>,
}

/// A subset of the sky: the same numbers as in its maps, side by side, so that the lights are asked in parallel.
struct SkyGroup {
    direction: [[f32; GROUP]; 3],
    /// Per output (x, y, depth) and coefficient.
    rows: [[[f32; GROUP]; 4]; 3],
    maps: Vec<DepthMap>,
}

/// All lights of a picture.
pub(super) struct Lights {
    center: Vec3,
    radius: f64,
    key: DepthMap,
    /// Least depth of the key map over each tile of `TILE` samples and all that a tap may reach from there.
    key_least: Vec<f32>,
    sky: Vec<SkyGroup>,
    /// Σ (up·l) over the sky lights.
    sky_total: f32,
    disk: Vec<[f32; 2]>,
}

#[inline]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn narrow(v: Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

impl DepthMap {
    /// The depths seen from `direction`; bands of rows in parallel.
    fn new(stage: &Stage, direction: Vec3, size: usize, band: usize) -> DepthMap {
        let right = direction.any_orthonormal_vector();
        let view = View {
            origin: stage.center,
            right,
            down: right.cross(direction),
            forward: -direction,
            projection: Projection::Parallel { scale: 0.5 * (size as f64 - 4.0) / stage.radius },
            width: size,
            height: size,
        };
        let bands: Vec<Vec<f32>> = (0..size / band)
            .into_par_iter()
            .map(|k| {
                let mut layer = Layer::new(size, band, k * band);
                for f in stage.faces.iter().filter(|f| !f.ground) {
                    if let Some(f) = view.triangle(f.corners) {
                        layer.draw_triangle(&f, 0);
                    }
                }
                for b in &stage.beads {
                    if let Some(bounds) = view.bead(b) {
                        layer.draw_bead(&view, b, &bounds, 0);
                    }
                }
                layer.nearness
            })
            .collect();
        let per_radius = 0.5 * (size as f32 - 4.0);
        let middle = 0.5 * size as f32 - 0.5;
        let row = |axis: Vec3, k: f32, c: f32| {
            let a = narrow(axis);
            [k * a[0], k * a[1], k * a[2], c]
        };
        let to_radii = (1.0 / stage.radius) as f32;
        DepthMap {
            direction: narrow(direction),
            rows: [
                row(view.right, per_radius, middle),
                row(view.down, per_radius, middle),
                row(view.forward, 1.0, 0.0),
            ],
            size,
            depth: bands.concat().into_iter().map(|nearness| -nearness * to_radii).collect(),
        }
    }

    /// Sample and depth of a position [radii].
    #[inline]
    fn project(&self, p: [f32; 3]) -> [f32; 3] {
        self.rows.map(|r| r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + r[3])
    }

    /// Least depth around each tile of `TILE` × `TILE` samples, over it and its neighbours up to `WIDEST` away.
    fn least_around(&self) -> Vec<f32> {
        let tiles = self.size / TILE;
        let reach = WIDEST as usize / TILE + 1;
        // Along x, then along y, of the tile minima.
        let mut least = vec![f32::INFINITY; tiles * tiles];
        for (k, &depth) in self.depth.iter().enumerate() {
            let tile = &mut least[k / self.size / TILE * tiles + k % self.size / TILE];
            *tile = tile.min(depth);
        }
        let spread = |from: &[f32], stride: usize, place: fn(usize, usize) -> usize| {
            let around = |k: usize| {
                let i = place(k, tiles);
                let (low, high) = (i.saturating_sub(reach), (i + reach).min(tiles - 1));
                (low..=high).fold(f32::INFINITY, |m, j| m.min(from[k + j * stride - i * stride]))
            };
            (0..tiles * tiles).map(around).collect::<Vec<f32>>()
        };
        let along_x = spread(&least, 1, |k, n| k % n);
        spread(&along_x, tiles, |k, n| k / n)
    }

    /// Depth of the sample that holds (x, y).
    #[inline]
    fn at(&self, x: f32, y: f32) -> f32 {
        let (x, y) = (x + 0.5, y + 0.5);
        let n = self.size as f32;
        if x >= 0.0 && y >= 0.0 && x < n && y < n {
            self.depth[y as usize * self.size + x as usize]
        } else {
            f32::INFINITY
        }
    }
}

impl SkyGroup {
    fn new(maps: Vec<DepthMap>) -> SkyGroup {
        let mut group = SkyGroup { direction: [[0.0; GROUP]; 3], rows: [[[0.0; GROUP]; 4]; 3], maps };
        for (i, map) in group.maps.iter().enumerate() {
            for axis in 0..3 {
                group.direction[axis][i] = map.direction[axis];
                for c in 0..4 {
                    group.rows[axis][c][i] = map.rows[axis][c];
                }
            }
        }
        group
    }

    /// Σ max(0, n·l) over the lights that see `q` [radii].
    fn light(&self, q: [f32; 3], n: [f32; 3], bias: f32) -> f32 {
        let d = &self.direction;
        let mut cos = [0.0f32; GROUP];
        let mut at = [[0.0f32; GROUP]; 3];
        for i in 0..GROUP {
            cos[i] = (n[0] * d[0][i] + n[1] * d[1][i] + n[2] * d[2][i]).max(0.0);
        }
        for (at, row) in at.iter_mut().zip(&self.rows) {
            for i in 0..GROUP {
                at[i] = row[0][i] * q[0] + row[1][i] * q[1] + row[2][i] * q[2] + row[3][i];
            }
        }
        let mut sum = 0.0;
        for i in 0..GROUP {
            let open = cos[i] == 0.0 || at[2][i] < self.maps[i].at(at[0][i], at[1][i]) + bias;
            sum += if open { cos[i] } else { 0.0 };
        }
        sum
    }
}

impl Lights {
    /// Lights for this stage; the key light stands to the left of the camera, above and in front.
    pub fn new(stage: &Stage, view: &View) -> Lights {
        let right = (view.right - view.right.dot(stage.up) * stage.up)
            .normalize_or(stage.up.any_orthonormal_vector());
        let toward = right.cross(stage.up);
        let key = (0.78 * stage.up - 0.46 * right + 0.42 * toward).normalize();
        // A Fibonacci spiral over the hemisphere: even, and every fourth point is nearly so too.
        let directions: Vec<Vec3> = (0..SKY)
            .map(|i| {
                let z = (i as f64 + 0.5) / SKY as f64;
                let angle = i as f64 * 2.399_963_229_728_653;
                let r = (1.0 - z * z).sqrt();
                r * angle.cos() * right + r * angle.sin() * toward + z * stage.up
            })
            .collect();
        let maps: Vec<DepthMap> =
            directions.par_iter().map(|&d| DepthMap::new(stage, d, SKY_SIZE, SKY_SIZE)).collect();
        let mut subsets: Vec<Vec<DepthMap>> = (0..SUBSETS).map(|_| Vec::new()).collect();
        maps.into_iter().enumerate().for_each(|(i, map)| subsets[i % SUBSETS].push(map));
        let sky = subsets.into_iter().map(SkyGroup::new).collect();
        let sky_total = directions.iter().map(|d| d.dot(stage.up) as f32).sum();
        let disk = (0..TAPS)
            .map(|i| {
                let (r, a) = (((i as f32 + 0.5) / TAPS as f32).sqrt(), i as f32 * 2.399_963_2);
                [r * a.cos(), r * a.sin()]
            })
            .collect();
        let key = DepthMap::new(stage, key, KEY_SIZE, KEY_SIZE / 8);
        let key_least = key.least_around();
        Lights { center: stage.center, radius: stage.radius, key, key_least, sky, sky_total, disk }
    }

    /// Unit vector towards the key light.
    pub fn key_direction(&self) -> [f32; 3] {
        self.key.direction
    }

    /// The position in the units of the maps, and whether any map may hold something above it.
    #[inline]
    fn scaled(&self, p: Vec3) -> Option<[f32; 3]> {
        let q = (p - self.center) / self.radius;
        // Beyond 12 radii the lowest sky light's shadow of the ball has passed over the ground and the rest is < 1 %.
        (q.length_squared() < 144.0).then(|| narrow(q))
    }

    /// Light from the sky at `p` onto a surface with normal `n`, 1 on an open upward surface: the answer of one subset
    /// of `SUBSETS`, or of all. The mean over the subsets is that of all.
    pub fn sky(&self, p: Vec3, n: [f32; 3], subset: Option<usize>) -> f32 {
        let texel = 2.0 / SKY_SIZE as f32;
        // Far away nothing blocks: a position outside all maps.
        let far = [1e6, 1e6, 1e6];
        let q = self.scaled(p).map_or(far, |q| [0, 1, 2].map(|k| q[k] + 1.4 * texel * n[k]));
        let sum = |g: &SkyGroup| g.light(q, n, 0.7 * texel);
        match subset {
            Some(k) => sum(&self.sky[k]) * SUBSETS as f32 / self.sky_total,
            None => self.sky.iter().map(sum).sum::<f32>() / self.sky_total,
        }
    }

    /// Share of the key light that reaches `p` with normal `n`: percentage-closer soft shadow [Fernando 2005] over
    /// a subset of the taps or all, turned by `phase` (cos, sin).
    pub fn key(&self, p: Vec3, n: [f32; 3], subset: Option<usize>, phase: [f32; 2]) -> f32 {
        let Some(q) = self.scaled(p) else { return 1.0 };
        let map = &self.key;
        let texel = 2.0 / KEY_SIZE as f32;
        let cos = dot(n, map.direction).clamp(0.05, 1.0);
        let offset = texel * (1.5 + 1.5 * (1.0 - cos));
        let [x, y, z] = map.project([0, 1, 2].map(|k| q[k] + offset * n[k]));
        let slope = (1.0 - cos * cos).sqrt() / cos;
        let tap = |d: [f32; 2], r: f32| {
            let turned = [d[0] * phase[0] - d[1] * phase[1], d[0] * phase[1] + d[1] * phase[0]];
            map.at(x + r * turned[0], y + r * turned[1])
        };
        // A tap at distance r sees a plane of this slope up to r·slope deeper or nearer.
        let bias = |r: f32| texel * (0.7 + 0.5 * r * slope.min(4.0));

        // 0. Nothing near is nearer to the light.
        let tiles = KEY_SIZE / TILE;
        let tile = |x: f32| (x.max(0.0) as usize / TILE).min(tiles - 1);
        if self.key_least[tile(y) * tiles + tile(x)] >= z {
            return 1.0;
        }
        // 1. Mean depth of what blocks, over the part of the map from which the light may be blocked.
        let (mut blockers, mut depth) = (0.0f32, 0.0f32);
        let (skip, step) = subset.map_or((0, 1), |k| (k, SUBSETS));
        let mine = || self.disk.iter().skip(skip).step_by(step);
        for &d in mine() {
            let seen = tap(d, WIDEST);
            if seen < z - bias(WIDEST) {
                blockers += 1.0;
                depth += seen;
            }
        }
        let near = map.at(x, y);
        if near < z - bias(1.0) {
            blockers += 1.0;
            depth += near;
        }
        if blockers == 0.0 {
            return 1.0;
        }
        // 2. The width of its penumbra here, 3. the share of the light's disk that is seen past it.
        let r = ((z - depth / blockers) * KEY_TAN / texel).clamp(1.5, WIDEST);
        let (mut open, mut all) = (0.0, 0.0);
        for &d in mine() {
            open += if tap(d, r) < z - bias(r) { 0.0 } else { 1.0 };
            all += 1.0;
        }
        open / all
    }
}
