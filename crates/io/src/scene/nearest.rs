//! The nearest known word to a misspelt one.

/// The candidate with the fewest edits (insertion, deletion, substitution, swap of neighbours) from `word`,
/// if there is one within half the word's length; the first of equals.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Beyond half the letters changed a suggestion is noise.
    let limit = (word.chars().count() / 2).clamp(1, 4);
    let lower = word.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .map(|c| (edits(&lower, &c.to_lowercase().replace('-', "_")), c))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// Number of edits between two words: optimal string alignment.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let width = b.len() + 1;
    let mut d = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            d[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let substitution = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (d[(i - 1) * width + j] + 1)
                    .min(d[i * width + j - 1] + 1)
                    .min(d[(i - 1) * width + j - 1] + substitution);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(d[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    d[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_count_insertion_deletion_substitution_and_swap() {
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("density", "desnity"), 1);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("iterations", "iteration"), 1);
    }

    #[test]
    fn a_word_unlike_all_others_has_no_nearest() {
        let keys = ["density", "young", "poisson"];
        assert_eq!(nearest("desnity", keys), Some("density"));
        assert_eq!(nearest("colour", keys), None);
    }
}
