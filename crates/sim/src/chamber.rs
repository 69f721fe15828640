//! What a closed membrane holds: a gas, a pressure, or a volume.
//!
//! Its energy is a function Π(V) of the enclosed volume alone:
//!
//! * constant pressure p over the outside: Π = −p (V − V₀);
//! * gas, p V constant: Π = −p₀V₀ ln(V/V₀) + p_a (V − V₀), p₀ the absolute pressure at the volume V₀ and p_a that outside;
//! * fixed volume V̄: Π = ½ κ (V − V̄)²/V̄.
//!
//! V = ⅙ Σ x₀·(x₁×x₂) over the triangles is linear in each vertex, with the slope g = ⅙ Σ xⱼ×xₖ over the triangles around
//! it. The points of one colour share no triangle, so that V is linear in all of them: with their blocks D and
//! gradients b, the minimiser of the colour's quadratic model is
//!
//! δ = −D⁻¹(b + q g),   q = (Π′ + Π″ Σ g·δ₀)/(1 + Π″ Σ g·D⁻¹g),   δ₀ = −D⁻¹b,
//!
//! by the formula of Sherman and Morrison: q is −(the pressure after the move), however stiff the content is.

use littoral_geom::math::{Mat3, Vec3};
use littoral_geom::mesh::Csr;
use rayon::prelude::*;

/// Stiffness κ of a fixed volume [Pa]: a pressure of 1 kPa changes it by 10⁻⁴. Larger ones gain nothing that shows.
const STIFFNESS: f64 = 1e7;

/// Triangles summed by one task: their sums are added in order.
const TASK: usize = 1024;

/// What is inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    /// A pressure over that outside [Pa], whatever the volume; negative sucks.
    Constant {
        /// p [Pa].
        pressure: f64,
    },
    /// A gas of constant temperature.
    Gas {
        /// Pressure over that outside at the volume at the start [Pa], > −`ambient`.
        pressure: f64,
        /// Absolute pressure outside p_a [Pa], > 0.
        ambient: f64,
    },
    /// A liquid that fills it: the volume is kept.
    Volume {
        /// Volume over the volume at the start [–], > 0.
        ratio: f64,
    },
}

/// Content of a closed membrane, and how long it takes to fill in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// What is inside.
    pub content: Content,
    /// Time [s] over which pressure or volume go from those of the start to those given, ≥ 0.
    pub over: f64,
}

/// A closed membrane with its content.
#[derive(Clone, Debug)]
pub struct Chamber {
    /// Object it belongs to.
    pub object: u32,
    /// Triangles, seen from outside counterclockwise.
    triangles: Vec<[u32; 3]>,
    /// Corners opposite each point in the triangles around it, by point: position in `opposite`.
    around: Csr,
    filling: Filling,
    /// Volume at the start V₀ [m³].
    rest: f64,
    /// Share of the filling that is in.
    share: f64,
}

/// Π and its derivatives at a volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// Π [J].
    pub energy: f64,
    /// Π′ [Pa]: minus the pressure over that outside.
    pub first: f64,
    /// Π″ [Pa/m³], ≥ 0.
    pub second: f64,
}

impl Chamber {
    /// Chamber of a closed surface with the given triangles at `x` [m]; turned if it is inside out. `None` when it
    /// encloses nothing.
    pub fn new(object: u32, mut triangles: Vec<[u32; 3]>, x: &[Vec3], filling: Filling) -> Option<Self> {
        if volume(x, &triangles) < 0.0 {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let rest = volume(x, &triangles);
        let corners = (triangles.iter().enumerate())
            .flat_map(|(k, t)| t.iter().enumerate().map(move |(c, &v)| (v, (4 * k + c) as u32)));
        let around = Csr::from_pairs(x.len(), corners);
        let share = if filling.over > 0.0 { 0.0 } else { 1.0 };
        (rest > 0.0).then_some(Chamber { object, triangles, around, filling, rest, share })
    }

    /// Lets in what has come by `time` [s].
    pub fn set_time(&mut self, time: f64) {
        if self.filling.over > 0.0 {
            self.share = (time / self.filling.over).clamp(0.0, 1.0);
        }
    }

    /// Its points, ascending.
    pub fn points(&self) -> Vec<u32> {
        let mut points: Vec<u32> = self.triangles.iter().flatten().copied().collect();
        points.sort_unstable();
        points.dedup();
        points
    }

    /// One of its points.
    pub fn point(&self) -> u32 {
        // A closed surface has triangles.
        self.triangles[0][0]
    }

    /// Pressure over that outside at `x` [Pa].
    pub fn pressure(&self, x: &[Vec3]) -> f64 {
        -self.law(self.volume(x)).first
    }

    /// Enclosed volume V at `x` [m³].
    pub fn volume(&self, x: &[Vec3]) -> f64 {
        volume(x, &self.triangles)
    }

    /// Π at the volume `v` [m³].
    pub fn law(&self, v: f64) -> Law {
        let rest = self.rest;
        match self.filling.content {
            Content::Constant { pressure } => {
                let p = self.share * pressure;
                Law { energy: -p * (v - rest), first: -p, second: 0.0 }
            }
            Content::Gas { pressure, ambient } => {
                let amount = (ambient + self.share * pressure) * rest;
                // A volume is positive; a guess need not be.
                let v = v.max(1e-3 * rest);
                Law {
                    energy: -amount * (v / rest).ln() + ambient * (v - rest),
                    first: ambient - amount / v,
                    second: amount / (v * v),
                }
            }
            Content::Volume { ratio } => {
                let target = rest * (1.0 + self.share * (ratio - 1.0));
                let (off, k) = (v - target, STIFFNESS / target);
                Law { energy: 0.5 * k * off * off, first: k * off, second: k }
            }
        }
    }

    /// ∂V/∂x at point `v` [m²]; zero where it is no point of the surface.
    #[inline]
    pub fn slope(&self, v: u32, x: &[Vec3]) -> Vec3 {
        let at = x[v as usize];
        let mut sum = Vec3::ZERO;
        for &item in self.around.row(v as usize) {
            let (t, c) = (self.triangles[(item >> 2) as usize], (item & 3) as usize);
            let (b, c) = (t[(c + 1) % 3] as usize, t[(c + 2) % 3] as usize);
            // From the point itself: around a closed fan the origin cancels, and rounding is least from near.
            sum += (x[b] - at).cross(x[c] - at);
        }
        sum / 6.0
    }

    /// Adds the content to the moves of the points of one colour: `moves` holds the Newton step −D⁻¹b of each and its
    /// block D [N/m], `held` points stay.
    pub fn press(&self, color: &[u32], x: &[Vec3], held: &[bool], moves: &mut [(Vec3, Mat3)]) {
        let law = self.law(self.volume(x));
        let slopes: Vec<(Vec3, Vec3)> = color
            .par_iter()
            .with_min_len(TASK)
            .zip(&*moves)
            .map(|(&v, (_, block))| {
                let g = if held[v as usize] { Vec3::ZERO } else { self.slope(v, x) };
                let z = if g == Vec3::ZERO { g } else { block.inverse() * g };
                (g, z)
            })
            .collect();
        let (mut asked, mut give) = (0.0, 0.0);
        for ((g, z), (step, _)) in slopes.iter().zip(&*moves) {
            asked += g.dot(*step);
            give += g.dot(*z);
        }
        let q = (law.first + law.second * asked) / (1.0 + law.second * give);
        for ((_, z), (step, _)) in slopes.iter().zip(moves) {
            *step -= q * *z;
        }
    }
}

/// ⅙ Σ x₀·(x₁×x₂) [m³] from a point of the surface, summed in chunks of fixed size.
fn volume(x: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let Some(first) = triangles.first() else { return 0.0 };
    let o = x[first[0] as usize];
    let one = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|p| x[p as usize] - o);
        a.dot(b.cross(c))
    };
    let sums: Vec<f64> = triangles.par_chunks(TASK).map(|chunk| chunk.iter().map(one).sum::<f64>()).collect();
    sums.iter().sum::<f64>() / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::random::Random;
    use littoral_geom::shapes;

    fn chamber(content: Content) -> (Chamber, Vec<Vec3>) {
        let mesh = shapes::sphere(0.1, 2);
        let mut random = Random::new(7);
        let x: Vec<Vec3> = mesh.vertices.iter().map(|p| *p + 0.01 * random.in_cube(1.0)).collect();
        let filling = Filling { content, over: 0.0 };
        (Chamber::new(0, mesh.triangles, &mesh.vertices, filling).expect("closed"), x)
    }

    const CONTENTS: [Content; 3] = [
        Content::Constant { pressure: 300.0 },
        Content::Gas { pressure: 2000.0, ambient: 101_325.0 },
        Content::Volume { ratio: 1.3 },
    ];

    #[test]
    fn the_derivatives_of_the_energy_by_the_volume_and_by_each_vertex_are_its_differences() {
        for content in CONTENTS {
            let (chamber, x) = chamber(content);
            let v = chamber.volume(&x);
            let e = 1e-4 * v;
            let (low, mid, high) = (chamber.law(v - e), chamber.law(v), chamber.law(v + e));
            let first = (high.energy - low.energy) / (2.0 * e);
            let second = (high.first - low.first) / (2.0 * e);
            // Central differences of smooth functions: e² of their third derivatives, 1e-8, and rounding 1e-12.
            assert!((first - mid.first).abs() < 1e-6 * mid.first.abs(), "{content:?}: {first} {}", mid.first);
            assert!((second - mid.second).abs() <= 1e-6 * mid.second, "{content:?}");
            for vertex in [0, 5, 33] {
                for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                    let moved = |s: f64| {
                        let mut x = x.clone();
                        x[vertex as usize] += s * axis;
                        chamber.volume(&x)
                    };
                    // Linear: no truncation error, rounding alone.
                    let slope = (moved(1e-3) - moved(-1e-3)) / 2e-3;
                    assert!((slope - chamber.slope(vertex, &x).dot(axis)).abs() < 1e-12, "{vertex}");
                }
            }
        }
    }

    #[test]
    fn the_content_pushes_without_force_or_torque_on_the_whole() {
        let (chamber, x) = chamber(CONTENTS[0]);
        let force: Vec3 = (0..x.len()).map(|v| chamber.slope(v as u32, &x)).sum();
        let torque: Vec3 = (0..x.len()).map(|v| x[v].cross(chamber.slope(v as u32, &x))).sum();
        // Sums of 162 areas of 1e-3 m².
        assert!(force.length() < 1e-15 && torque.length() < 1e-15, "{force} {torque}");
    }

    /// The step of a colour is stationary for its quadratic model: D δ + b + g Π′(V + Σ g·δ) = 0, Π to second order.
    #[test]
    fn a_colour_moves_to_the_minimum_of_its_model_however_stiff_the_content() {
        for content in CONTENTS {
            let (chamber, x) = chamber(content);
            // No two of these icosahedron corners share a triangle of the subdivided sphere.
            let color: Vec<u32> = (0..12).collect();
            let mut random = Random::new(3);
            let block =
                |r: &mut Random| Mat3::from_diagonal(Vec3::new(1.0, 2.0, 3.0) * r.between(50.0, 90.0));
            let blocks: Vec<Mat3> = color.iter().map(|_| block(&mut random)).collect();
            let b: Vec<Vec3> = color.iter().map(|_| random.in_cube(0.1)).collect();
            let mut moves: Vec<(Vec3, Mat3)> =
                blocks.iter().zip(&b).map(|(d, b)| (-(d.inverse() * *b), *d)).collect();
            let held = vec![false; x.len()];
            chamber.press(&color, &x, &held, &mut moves);
            let law = chamber.law(chamber.volume(&x));
            let gained: f64 = color.iter().zip(&moves).map(|(&v, m)| chamber.slope(v, &x).dot(m.0)).sum();
            let q = law.first + law.second * gained;
            for (k, &v) in color.iter().enumerate() {
                let left = blocks[k] * moves[k].0 + b[k] + q * chamber.slope(v, &x);
                // Roundings of Π′, up to 1e4 Pa over a hundredth of a square metre.
                assert!(left.length() < 1e-9 * (1.0 + law.first.abs()), "{content:?}: {left}");
            }
        }
    }
}
