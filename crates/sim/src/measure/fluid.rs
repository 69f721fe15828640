//! The height of a free surface that is neither fooled by spray above it nor by the spacing of the particles.

use crate::fluid::Kernel;
use littoral_geom::math::Vec3;
use std::collections::BTreeMap;

/// Side of a column in spacings: the support of the kernel, so that a column and its eight neighbours hold all that is
/// felt near its axis.
const SIDE: f64 = 2.0;
/// Lines of a column, from its axis in spacings: two a spacing each way, which averages a lattice exactly.
const LINES: [[f64; 2]; 4] = [[-0.25, -0.25], [0.25, -0.25], [-0.25, 0.25], [0.25, 0.25]];
/// Steps up a column in spacings; the surface is interpolated within one.
const STEP: f64 = 0.125;

/// Particles of each column, ascending in z.
type Columns = BTreeMap<[i64; 2], Vec<Vec3>>;

/// Height [m] of the free surface of particles `x` [m] that are `spacing` [m] apart at rest; NaN where nothing is filled.
///
/// The filling φ(z) = Σ W(|x − x_i|) dx³, averaged over four lines of an upright column of side 2 dx, is 1 inside the
/// fluid and ½ at a flat surface. A column's height is where φ first falls below ½ on the way up from its lowest
/// particle, so what flies above does not count. The result is the median of the columns that are surrounded by others,
/// where there are any: at the rim the kernel is cut.
pub(super) fn level(x: &[Vec3], spacing: f64) -> f64 {
    let kernel = Kernel::new(SIDE * spacing, spacing);
    let side = SIDE * spacing;
    let low = x.iter().fold(Vec3::INFINITY, |m, &p| m.min(p));
    let mut columns = Columns::new();
    for &p in x.iter().filter(|p| p.is_finite()) {
        let cell = ((p - low) / side).floor();
        columns.entry([cell.x as i64, cell.y as i64]).or_default().push(p);
    }
    columns.values_mut().for_each(|c| c.sort_by(|a, b| a.z.total_cmp(&b.z)));

    let height = |key: &[i64; 2]| {
        let axis = low + side * Vec3::new(key[0] as f64 + 0.5, key[1] as f64 + 0.5, 0.0);
        column_height(&columns, *key, axis, &kernel, spacing)
    };
    let is_surrounded = |key: &&[i64; 2]| around(**key).filter(|k| columns.contains_key(k)).count() == 9;
    let inner: Vec<f64> = columns.keys().filter(is_surrounded).filter_map(height).collect();
    let mut heights = if inner.is_empty() { columns.keys().filter_map(height).collect() } else { inner };
    heights.sort_by(f64::total_cmp);
    match heights.len() {
        0 => f64::NAN,
        n => 0.5 * (heights[(n - 1) / 2] + heights[n / 2]),
    }
}

/// A column and its eight neighbours.
fn around([i, j]: [i64; 2]) -> impl Iterator<Item = [i64; 2]> {
    (0..9).map(move |k| [i + k % 3 - 1, j + k / 3 - 1])
}

/// Where the filling around `axis` first falls below ½; `None` when it is below at the lowest particle.
fn column_height(columns: &Columns, key: [i64; 2], axis: Vec3, kernel: &Kernel, spacing: f64) -> Option<f64> {
    let near: Vec<&[Vec3]> = around(key).filter_map(|k| columns.get(&k)).map(Vec::as_slice).collect();
    let filling = |z: f64| {
        let reach = kernel.support();
        let felt = near.iter().flat_map(|c| {
            let from = c.partition_point(|p| p.z < z - reach);
            let to = c.partition_point(|p| p.z <= z + reach);
            &c[from..to.max(from)]
        });
        let sum: f64 = felt
            .map(|&p| {
                let lines = LINES.iter().map(|[u, v]| {
                    let on_line = Vec3::new(axis.x + u * spacing, axis.y + v * spacing, z);
                    kernel.value(on_line.distance(p))
                });
                lines.sum::<f64>()
            })
            .sum();
        sum * spacing.powi(3) / LINES.len() as f64
    };
    let own = columns.get(&key)?;
    let (lowest, highest) = (own.first()?.z, own.last()?.z);
    let mut below = filling(lowest);
    if below < 0.5 {
        return None;
    }
    // Beyond the support above the highest particle of the column only its neighbours could fill anything.
    let steps = ((highest - lowest) / spacing + SIDE) / STEP;
    for k in 1..=steps.ceil() as u64 {
        let z = lowest + STEP * spacing * k as f64;
        let above = filling(z);
        if above < 0.5 {
            return Some(z - STEP * spacing * (0.5 - above) / (below - above));
        }
        below = above;
    }
    Some(lowest + STEP * spacing * steps.ceil())
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_geom::random::Random;

    /// A lattice of n particles that fills the box from the origin to n dx.
    fn block(n: [u32; 3], dx: f64) -> Vec<Vec3> {
        let mut out = Vec::new();
        for k in 0..n[2] {
            for j in 0..n[1] {
                for i in 0..n[0] {
                    out.push((Vec3::new(i.into(), j.into(), k.into()) + 0.5) * dx);
                }
            }
        }
        out
    }

    #[test]
    fn the_level_of_a_filled_box_is_its_height() {
        for n in [[12, 12, 10], [9, 13, 3], [7, 7, 1]] {
            let dx = 0.02;
            let found = level(&block(n, dx), dx);
            let height = f64::from(n[2]) * dx;
            // One layer is a film that no kernel of two spacings resolves; the quadrature of the rest is good to 1 %.
            let tolerance = if n[2] == 1 { 0.5 } else { 0.01 };
            assert!((found - height).abs() < tolerance * dx, "{n:?}: {found} of {height}");
        }
    }

    #[test]
    fn spray_and_disorder_do_not_move_the_level() {
        let dx = 0.01;
        let mut random = Random::new(5);
        let mut x = block([20, 20, 12], dx);
        for p in &mut x {
            *p += random.in_cube(0.2 * dx);
        }
        for _ in 0..200 {
            let at = Vec3::new(random.unit(), random.unit(), 1.0 + random.unit());
            x.push(at * Vec3::new(20.0, 20.0, 15.0) * dx);
        }
        let found = level(&x, dx);
        // The mean shift of about 80 surface particles, each 0.1 dx off by chance.
        assert!((found - 0.12).abs() < 0.05 * dx, "{found}");
    }

    #[test]
    fn drops_have_no_level() {
        let x = [Vec3::ZERO, Vec3::X, Vec3::new(3.0, 1.0, 5.0)];
        assert!(level(&x, 0.1).is_nan());
        assert!(level(&[], 0.1).is_nan());
    }
}
