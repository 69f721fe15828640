//! Overlapping pairs among some thousand boxes, by sweep and prune along one axis: nothing is kept
//! between calls. For more boxes, or for primitives, there is `bvh`.

use crate::math::{Aabb, Vec3};

/// Calls `found(a, b)` with a < b for every two of the boxes that overlap, each pair once, in an order that the boxes
/// alone decide. Empty boxes, and those with a NaN, overlap nothing.
pub fn overlapping(boxes: &[Aabb], mut found: impl FnMut(usize, usize)) {
    let axis = widest_axis(boxes);
    // Side by side in the order in which they begin, so that one box runs past those that begin before it ends.
    let mut order: Vec<(Aabb, u32)> = boxes.iter().copied().zip(0..).collect();
    order.retain(|(b, _)| b.min[axis] <= b.max[axis]);
    order.sort_unstable_by(|(a, i), (b, j)| a.min[axis].total_cmp(&b.min[axis]).then(i.cmp(j)));
    for (k, (around, i)) in order.iter().enumerate() {
        let end = around.max[axis];
        for (other, j) in order[k + 1..].iter().take_while(|(b, _)| b.min[axis] <= end) {
            if around.overlaps(other) {
                found(*i.min(j) as usize, *i.max(j) as usize);
            }
        }
    }
}

/// The axis along which the centres of the finite boxes are spread most.
fn widest_axis(boxes: &[Aabb]) -> usize {
    let centers = || boxes.iter().map(Aabb::center).filter(|c| c.is_finite());
    let count = centers().count().max(1) as f64;
    let mean = centers().sum::<Vec3>() / count;
    let spread = centers().map(|c| (c - mean) * (c - mean)).sum::<Vec3>();
    if spread.x >= spread.y && spread.x >= spread.z {
        0
    } else if spread.y >= spread.z {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_sweep_finds_what_comparing_all_with_all_finds() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let n = random.below(60);
            let stretch = Vec3::new(1.0, random.log_between(0.1, 10.0), random.log_between(0.1, 10.0));
            let mut boxes: Vec<Aabb> = (0..n)
                .map(|_| {
                    let half = random.log_between(1e-3, 1.0);
                    Aabb::point(random.in_cube(2.0) * stretch).inflated(half)
                })
                .collect();
            // Touching, empty and unbounded ones, and such that are not numbers.
            let mixed = n > 5;
            if mixed {
                boxes[1].min = boxes[0].max;
                boxes[1].max = boxes[1].min + Vec3::ONE;
                boxes[2] = Aabb::EMPTY;
                boxes[3] = Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };
                boxes[4] = Aabb { min: Vec3::NAN, max: Vec3::NAN };
            }
            let mut expected = Vec::new();
            for a in 0..n {
                let meets = |b: usize| (!mixed || (a != 2 && b != 2)) && boxes[a].overlaps(&boxes[b]);
                expected.extend((a + 1..n).filter(|&b| meets(b)).map(|b| (a, b)));
            }
            let mut found = Vec::new();
            overlapping(&boxes, |a, b| found.push((a, b)));
            found.sort_unstable();
            assert_eq!(found, expected, "seed {seed}");
        }
    }
}
