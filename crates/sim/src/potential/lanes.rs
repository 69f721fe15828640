//! Four numbers at once: the same operation on every lane, each rounded as if alone, so that the bits are the same on every
//! machine. Where the processor has AVX it is one instruction; nothing is ever fused.
//!
//! A kernel is written once, over any [`Machine`], and [`run`] compiles it for each. Everything in it must be inlined: what
//! is called as a function is compiled without the instructions of the machine.

use littoral_geom::math::Vec3;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Four numbers as they lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(32))]
pub(crate) struct Four(pub(crate) [f64; 4]);

/// What computes four lanes at once.
pub(crate) trait Machine: Copy {
    /// Four numbers in a register.
    type Lanes: Copy;
    fn load(self, a: &[f64; 4]) -> Self::Lanes;
    fn store(self, a: Self::Lanes) -> [f64; 4];
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn sub(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn mul(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn div(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn neg(self, a: Self::Lanes) -> Self::Lanes;
    fn abs(self, a: Self::Lanes) -> Self::Lanes;
    fn sqrt(self, a: Self::Lanes) -> Self::Lanes;
    /// a < b ? a : b.
    fn min(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a > b ? a : b.
    fn max(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The size of `a` with the sign of `b`.
    fn copysign(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a < b ? yes : no.
    fn choose(self, a: Self::Lanes, b: Self::Lanes, yes: Self::Lanes, no: Self::Lanes) -> Self::Lanes;
    /// a < b in all lanes.
    fn all_less(self, a: Self::Lanes, b: Self::Lanes) -> bool;
}

/// Something to compute on any machine.
pub(crate) trait Kernel {
    fn run<M: Machine>(self, m: M);
}

/// Any processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

#[inline(always)]
fn each(a: [f64; 4], b: [f64; 4], f: impl Fn(f64, f64) -> f64) -> [f64; 4] {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
}

#[rustfmt::skip]
impl Machine for Portable {
    type Lanes = [f64; 4];
    #[inline(always)]
    fn load(self, a: &[f64; 4]) -> [f64; 4] { *a }
    #[inline(always)]
    fn store(self, a: [f64; 4]) -> [f64; 4] { a }
    #[inline(always)]
    fn add(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] { each(a, b, |a, b| a + b) }
    #[inline(always)]
    fn sub(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] { each(a, b, |a, b| a - b) }
    #[inline(always)]
    fn mul(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] { each(a, b, |a, b| a * b) }
    #[inline(always)]
    fn div(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] { each(a, b, |a, b| a / b) }
    #[inline(always)]
    fn neg(self, a: [f64; 4]) -> [f64; 4] { each(a, a, |a, _| -a) }
    #[inline(always)]
    fn abs(self, a: [f64; 4]) -> [f64; 4] { each(a, a, |a, _| a.abs()) }
    #[inline(always)]
    fn sqrt(self, a: [f64; 4]) -> [f64; 4] { each(a, a, |a, _| a.sqrt()) }
    #[inline(always)]
    fn min(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] { each(a, b, |a, b| if a < b { a } else { b }) }
    #[inline(always)]
    fn max(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] { each(a, b, |a, b| if a > b { a } else { b }) }
    #[inline(always)]
    fn copysign(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] { each(a, b, f64::copysign) }
    #[inline(always)]
    fn choose(self, a: [f64; 4], b: [f64; 4], yes: [f64; 4], no: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| if a[k] < b[k] { yes[k] } else { no[k] })
    }
    #[inline(always)]
    fn all_less(self, a: [f64; 4], b: [f64; 4]) -> bool { (0..4).all(|k| a[k] < b[k]) }
}

#[cfg(target_arch = "x86_64")]
mod avx {
    use super::{Kernel, Machine};
    use pulp::x86::V3;
    use std::arch::x86_64::{__m256d, _CMP_LT_OQ};

    /// Runs a kernel with AVX, compiled for it as a whole.
    pub(super) struct Call<K>(pub K, pub V3);

    impl<K: Kernel> pulp::NullaryFnOnce for Call<K> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            self.0.run(self.1);
        }
    }

    #[rustfmt::skip]
    impl Machine for V3 {
        type Lanes = __m256d;
        #[inline(always)]
        fn load(self, a: &[f64; 4]) -> __m256d { pulp::cast(*a) }
        #[inline(always)]
        fn store(self, a: __m256d) -> [f64; 4] { pulp::cast(a) }
        #[inline(always)]
        fn add(self, a: __m256d, b: __m256d) -> __m256d { self.avx._mm256_add_pd(a, b) }
        #[inline(always)]
        fn sub(self, a: __m256d, b: __m256d) -> __m256d { self.avx._mm256_sub_pd(a, b) }
        #[inline(always)]
        fn mul(self, a: __m256d, b: __m256d) -> __m256d { self.avx._mm256_mul_pd(a, b) }
        #[inline(always)]
        fn div(self, a: __m256d, b: __m256d) -> __m256d { self.avx._mm256_div_pd(a, b) }
        #[inline(always)]
        fn neg(self, a: __m256d) -> __m256d { self.avx._mm256_xor_pd(a, self.load(&[-0.0; 4])) }
        #[inline(always)]
        fn abs(self, a: __m256d) -> __m256d { self.avx._mm256_andnot_pd(self.load(&[-0.0; 4]), a) }
        #[inline(always)]
        fn sqrt(self, a: __m256d) -> __m256d { self.avx._mm256_sqrt_pd(a) }
        #[inline(always)]
        fn min(self, a: __m256d, b: __m256d) -> __m256d { self.avx._mm256_min_pd(a, b) }
        #[inline(always)]
        fn max(self, a: __m256d, b: __m256d) -> __m256d { self.avx._mm256_max_pd(a, b) }
        #[inline(always)]
        fn copysign(self, a: __m256d, b: __m256d) -> __m256d {
            let sign = self.avx._mm256_and_pd(b, self.load(&[-0.0; 4]));
            self.avx._mm256_or_pd(self.abs(a), sign)
        }
        #[inline(always)]
        fn choose(self, a: __m256d, b: __m256d, yes: __m256d, no: __m256d) -> __m256d {
            self.avx._mm256_blendv_pd(no, yes, self.avx._mm256_cmp_pd::<_CMP_LT_OQ>(a, b))
        }
        #[inline(always)]
        fn all_less(self, a: __m256d, b: __m256d) -> bool {
            self.avx._mm256_movemask_pd(self.avx._mm256_cmp_pd::<_CMP_LT_OQ>(a, b)) == 15
        }
    }
}

/// Runs the kernel on the best this processor has.
#[inline]
pub(crate) fn run(kernel: impl Kernel) {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = pulp::x86::V3::try_new() {
        return v3.vectorize(avx::Call(kernel, v3));
    }
    kernel.run(Portable);
}

/// Four numbers.
#[derive(Clone, Copy)]
pub(crate) struct Quad<M: Machine> {
    m: M,
    v: M::Lanes,
}

impl<M: Machine> Quad<M> {
    #[inline(always)]
    pub(crate) fn load(m: M, a: &Four) -> Self {
        Quad { m, v: m.load(&a.0) }
    }

    /// The same number in all lanes.
    #[inline(always)]
    pub(crate) fn splat(m: M, s: f64) -> Self {
        Quad { m, v: m.load(&[s; 4]) }
    }

    #[inline(always)]
    pub(crate) fn store(self) -> [f64; 4] {
        self.m.store(self.v)
    }

    /// The machine it lives on.
    #[inline(always)]
    pub(crate) fn machine(self) -> M {
        self.m
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        Quad { v: self.m.sqrt(self.v), ..self }
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        Quad { v: self.m.abs(self.v), ..self }
    }

    /// The smaller number of each lane; that of `o` where one is NaN.
    #[inline(always)]
    pub(crate) fn min(self, o: Self) -> Self {
        Quad { v: self.m.min(self.v, o.v), ..self }
    }

    /// The larger number of each lane; that of `o` where one is NaN.
    #[inline(always)]
    pub(crate) fn max(self, o: Self) -> Self {
        Quad { v: self.m.max(self.v, o.v), ..self }
    }

    #[inline(always)]
    pub(crate) fn copysign(self, o: Self) -> Self {
        Quad { v: self.m.copysign(self.v, o.v), ..self }
    }

    /// `yes` in the lanes where it is less than `o`, `no` in the others.
    #[inline(always)]
    pub(crate) fn less(self, o: Self, yes: Self, no: Self) -> Self {
        Quad { v: self.m.choose(self.v, o.v, yes.v, no.v), ..self }
    }

    /// Less than `o` in all lanes.
    #[inline(always)]
    pub(crate) fn is_less(self, o: Self) -> bool {
        self.m.all_less(self.v, o.v)
    }
}

macro_rules! operator {
    ($trait:ident, $name:ident) => {
        impl<M: Machine> $trait for Quad<M> {
            type Output = Quad<M>;
            #[inline(always)]
            fn $name(self, o: Quad<M>) -> Quad<M> {
                Quad { v: self.m.$name(self.v, o.v), ..self }
            }
        }
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl<M: Machine> Neg for Quad<M> {
    type Output = Quad<M>;
    #[inline(always)]
    fn neg(self) -> Quad<M> {
        Quad { v: self.m.neg(self.v), ..self }
    }
}

impl<M: Machine> Mul<Quad<M>> for f64 {
    type Output = Quad<M>;
    #[inline(always)]
    fn mul(self, o: Quad<M>) -> Quad<M> {
        Quad::splat(o.m, self) * o
    }
}

/// Four vectors.
#[derive(Clone, Copy)]
pub(crate) struct Quad3<M: Machine> {
    pub(crate) x: Quad<M>,
    pub(crate) y: Quad<M>,
    pub(crate) z: Quad<M>,
}

impl<M: Machine> Quad3<M> {
    /// The vectors with these indices.
    #[inline(always)]
    pub(crate) fn gather(m: M, from: &[Vec3], at: [u32; 4]) -> Self {
        let [a, b, c, d] =
            [from[at[0] as usize], from[at[1] as usize], from[at[2] as usize], from[at[3] as usize]];
        Quad3 {
            x: Quad { m, v: m.load(&[a.x, b.x, c.x, d.x]) },
            y: Quad { m, v: m.load(&[a.y, b.y, c.y, d.y]) },
            z: Quad { m, v: m.load(&[a.z, b.z, c.z, d.z]) },
        }
    }

    /// x, y and z.
    #[inline(always)]
    pub(crate) fn store(self) -> [[f64; 4]; 3] {
        [self.x.store(), self.y.store(), self.z.store()]
    }

    #[inline(always)]
    pub(crate) fn dot(self, o: Self) -> Quad<M> {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    #[inline(always)]
    pub(crate) fn cross(self, o: Self) -> Self {
        Quad3 {
            x: self.y * o.z - self.z * o.y,
            y: self.z * o.x - self.x * o.z,
            z: self.x * o.y - self.y * o.x,
        }
    }
}

impl<M: Machine> Add for Quad3<M> {
    type Output = Quad3<M>;
    #[inline(always)]
    fn add(self, o: Quad3<M>) -> Quad3<M> {
        Quad3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl<M: Machine> Sub for Quad3<M> {
    type Output = Quad3<M>;
    #[inline(always)]
    fn sub(self, o: Quad3<M>) -> Quad3<M> {
        Quad3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl<M: Machine> Mul<Quad3<M>> for Quad<M> {
    type Output = Quad3<M>;
    #[inline(always)]
    fn mul(self, o: Quad3<M>) -> Quad3<M> {
        Quad3 { x: self * o.x, y: self * o.y, z: self * o.z }
    }
}
