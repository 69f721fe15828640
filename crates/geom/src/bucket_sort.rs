//! Sorting of what is spread evenly over known buckets: placed there by counting, then sorted within.
//!
//! Against a comparison sort of ten thousand and more it saves most of the comparisons, and their mispredicted branches.

use std::cmp::Ordering;

/// Buckets for so many `items`: four in each on average. Fewer: longer runs to compare. More: counting costs more than it
/// saves.
#[inline]
pub fn buckets_for(items: usize) -> usize {
    items / 4 + 1
}

/// Sorts the `items` by `compare`, which must not contradict the number of an item's `bucket`, below `buckets`: what is less
/// is in the same bucket or in an earlier one. `spare` is memory to work in.
///
/// # Panics
/// When an item names a bucket that is not there.
pub fn sort_by_bucket<T: Copy>(
    (items, spare): (&mut [T], &mut Vec<T>),
    buckets: usize,
    bucket: impl Fn(&T) -> usize,
    compare: impl Fn(&T, &T) -> Ordering,
) {
    let mut starts = vec![0_u32; buckets + 1];
    for item in items.iter() {
        starts[bucket(item) + 1] += 1;
    }
    for b in 0..buckets {
        starts[b + 1] += starts[b];
    }
    spare.clear();
    spare.extend_from_slice(items);
    for item in spare.iter() {
        let place = &mut starts[bucket(item)];
        items[*place as usize] = *item;
        *place += 1;
    }
    // Placing moved each start to the start of the next bucket.
    let mut from = 0;
    for &to in &starts[..buckets] {
        let run = &mut items[from..to as usize];
        if run.len() > 1 {
            run.sort_unstable_by(&compare);
        }
        from = to as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn buckets_sort_as_comparing_does() {
        let mut spare = Vec::new();
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let n = random.below(300);
            let range = 1 + random.below(40);
            let mut items: Vec<(u32, u32)> =
                (0..n).map(|_| (random.below(range) as u32, random.below(9) as u32)).collect();
            let mut expected = items.clone();
            expected.sort();
            let buckets = range.div_ceil(3);
            sort_by_bucket((&mut items, &mut spare), buckets, |i| i.0 as usize / 3, Ord::cmp);
            assert_eq!(items, expected, "seed {seed}");
        }
    }
}
