//! What a scene says about single pairs of objects: a friction of their own, or no contact at all.
//!
//! Contact that is switched off is gone whole: no force, and no plane in the safety set. The guarantee then does not
//! cover the pair; the verdict counts its crossings apart, under the names of the two.

/// What holds between two objects, or within one.
#[derive(Clone, Debug, PartialEq)]
pub struct PairRule {
    /// Names of the two objects; the same twice is contact of an object with itself.
    pub objects: [String; 2],
    /// Friction coefficient μ of the pair [–], ≥ 0; `None` leaves the geometric mean of the two.
    pub friction: Option<f64>,
    /// False switches contact off.
    pub contact: bool,
}

/// The rules of a scene by the indices of its objects. Empty rules cost nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairing {
    /// Object of each point (n); empty where no rule is.
    object: Vec<u32>,
    /// Pairs without contact, the lower index first, sorted.
    off: Vec<[u32; 2]>,
    /// Pairs with a friction of their own, sorted.
    friction: Vec<([u32; 2], f64)>,
}

/// The pair, the lower index first.
#[inline]
fn ordered(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl Pairing {
    /// Rules between objects given by index; `object` holds the object of each point.
    pub fn new(object: &[u32], rules: &[([u32; 2], &PairRule)]) -> Self {
        let mut pairing = Pairing::default();
        if rules.is_empty() {
            return pairing;
        }
        pairing.object = object.to_vec();
        for ([a, b], rule) in rules {
            if !rule.contact {
                pairing.off.push(ordered(*a, *b));
            } else if let Some(mu) = rule.friction {
                pairing.friction.push((ordered(*a, *b), mu));
            }
        }
        pairing.off.sort_unstable();
        pairing.off.dedup();
        pairing.friction.sort_by_key(|f| f.0);
        pairing
    }

    /// True when contact of some pair is switched off.
    #[inline]
    pub fn any_off(&self) -> bool {
        !self.off.is_empty()
    }

    /// The pairs without contact, as object indices, the lower first, sorted.
    pub fn off(&self) -> &[[u32; 2]] {
        &self.off
    }

    /// The number of the switched-off pair that the objects of the points `p` and `q` are; `None` where they meet.
    #[inline]
    pub fn off_pair(&self, p: u32, q: u32) -> Option<usize> {
        if self.off.is_empty() {
            return None;
        }
        self.off.binary_search(&ordered(self.object[p as usize], self.object[q as usize])).ok()
    }

    /// Friction coefficient of the objects `a` and `b`, whose own coefficients are `mu_a` and `mu_b`: that of their rule,
    /// or the geometric mean √(μ_a μ_b).
    #[inline]
    pub fn friction(&self, a: u32, b: u32, mu_a: f64, mu_b: f64) -> f64 {
        if !self.friction.is_empty()
            && let Ok(k) = self.friction.binary_search_by_key(&ordered(a, b), |f| f.0)
        {
            return self.friction[k].1;
        }
        (mu_a * mu_b).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_hold_whichever_object_comes_first_and_only_for_their_pair() {
        let rule =
            |contact, friction| PairRule { objects: [String::new(), String::new()], friction, contact };
        let (off, rough) = (rule(false, Some(0.5)), rule(true, Some(0.9)));
        let pairing = Pairing::new(&[0, 0, 1, 2], &[([2, 0], &off), ([1, 2], &rough), ([1, 1], &off)]);
        assert_eq!(pairing.off(), [[0, 2], [1, 1]]);
        assert_eq!((pairing.off_pair(3, 1), pairing.off_pair(0, 3)), (Some(0), Some(0)));
        assert_eq!(
            (pairing.off_pair(0, 1), pairing.off_pair(2, 3), pairing.off_pair(2, 2)),
            (None, None, Some(1))
        );
        assert_eq!((pairing.friction(2, 1, 0.1, 0.4), pairing.friction(0, 1, 0.1, 0.4)), (0.9, 0.2));
        assert!(!Pairing::new(&[0, 1], &[]).any_off());
    }
}
