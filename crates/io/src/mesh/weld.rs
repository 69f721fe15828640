//! Coinciding vertices made one.
//!
//! Welding joins what an exporter split along a seam, so by default it touches only vertices on open borders of the
//! same object: two closed bodies that touch, or two named objects, stay apart.

use std::collections::HashMap;

use littoral_geom::math::Vec3;

/// Cells of the search grid are this many tolerances wide: wide enough that a point rarely lies near a cell's wall
/// (then 1.4 cells are searched on average), narrow enough that a cell holds few points.
const CELL: f64 = 16.0;

/// For each vertex the one it is welded to: the first of smaller index that is a candidate of the same group within
/// `tolerance` [m], else itself. `group(v)` is `None` for a vertex that is no candidate. A tolerance of zero joins
/// equal positions.
pub(super) fn weld(x: &[Vec3], tolerance: f64, group: impl Fn(u32) -> Option<u32>) -> Vec<u32> {
    let mut cells: HashMap<(u32, [i64; 3]), Vec<u32>> = HashMap::new();
    let mut target: Vec<u32> = (0..x.len() as u32).collect();
    for v in 0..x.len() as u32 {
        let Some(g) = group(v) else { continue };
        let p = x[v as usize];
        let (low, high) = (key(p - tolerance, tolerance), key(p + tolerance, tolerance));
        let mut found: Option<u32> = None;
        for i in low[0]..=high[0] {
            for j in low[1]..=high[1] {
                for k in low[2]..=high[2] {
                    let Some(kept) = cells.get(&(g, [i, j, k])) else { continue };
                    let near = kept.iter().find(|&&w| x[w as usize].distance(p) <= tolerance);
                    found = found.into_iter().chain(near.copied()).min();
                }
            }
        }
        match found {
            Some(w) => target[v as usize] = w,
            None => cells.entry((g, key(p, tolerance))).or_default().push(v),
        }
    }
    target
}

/// Grid cell of a point; for a zero tolerance the point itself, both zeros alike.
fn key(p: Vec3, tolerance: f64) -> [i64; 3] {
    if tolerance > 0.0 {
        // Saturates beyond 2⁶³ cells: such points share a cell and are told apart by distance.
        (p / (CELL * tolerance)).floor().to_array().map(|c| c as i64)
    } else {
        (p + 0.0).to_array().map(|c| c.to_bits() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grid finds what a search over all pairs finds.
    #[test]
    fn welding_equals_the_search_over_all_pairs() {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1 << 24) as f64
        };
        for tolerance in [0.0, 1e-3, 0.02, 0.2, 3.0] {
            let mut x: Vec<Vec3> = (0..300).map(|_| Vec3::new(random(), random(), random()) - 0.5).collect();
            x.extend_from_within(..50);
            let group = |v: u32| (!v.is_multiple_of(7)).then_some(v % 2);
            let mut expected: Vec<u32> = (0..x.len() as u32).collect();
            for v in 0..x.len() {
                let kept = (0..v).find(|&w| {
                    expected[w] == w as u32
                        && group(w as u32).is_some()
                        && group(w as u32) == group(v as u32)
                        && x[w].distance(x[v]) <= tolerance
                });
                expected[v] = kept.map_or(v as u32, |w| w as u32);
            }
            assert_eq!(weld(&x, tolerance, group), expected, "tolerance {tolerance}");
        }
    }

    #[test]
    fn zero_and_minus_zero_are_the_same_place() {
        let x = [Vec3::ZERO, Vec3::new(-0.0, 0.0, -0.0)];
        assert_eq!(weld(&x, 0.0, |_| Some(0)), [0, 0]);
    }
}
