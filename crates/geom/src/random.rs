//! A small deterministic generator of random numbers, for tests and procedural scenes.
//!
//! SplitMix64: a 64-bit counter and a mixing function. The same seed gives the same numbers on every machine.
//! Not for cryptography, nor for statistics that need long periods.

use crate::math::Vec3;

/// A generator; its whole state is one 64-bit counter.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator with this seed.
    pub fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number in [low, high).
    #[inline]
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A number in [low, high), both > 0, each decade equally likely.
    #[inline]
    pub fn log_between(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// An integer in 0..n; 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        // The bias of the remainder is n / 2⁶⁴: far below anything a test can see.
        if n == 0 { 0 } else { (self.bits() % n as u64) as usize }
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// A point in the cube [−half, half)³.
    #[inline]
    pub fn in_cube(&mut self, half: f64) -> Vec3 {
        let mut c = || self.between(-half, half);
        Vec3::new(c(), c(), c())
    }

    /// A unit vector, every direction equally likely.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let p = self.in_cube(1.0);
            let r = p.length();
            if r > 0.1 && r <= 1.0 {
                return p / r;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_splitmix64() {
        // First outputs of the published algorithm for the seed 1234567.
        let mut r = Random::new(1_234_567);
        assert_eq!([r.bits(), r.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn the_mean_of_many_directions_vanishes() {
        let mut r = Random::new(1);
        let n = 100_000;
        let mean = (0..n).map(|_| r.direction()).sum::<Vec3>() / n as f64;
        // Each component has a standard deviation of 1/√(3n) = 0.0018; five of them.
        assert!(mean.abs().max_element() < 0.009, "{mean}");
    }
}
