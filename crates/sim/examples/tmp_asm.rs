//! tmp
use littoral_geom::math::*;
use littoral_sim::potential::*;
#[inline(never)]
#[unsafe(no_mangle)]
pub fn asm_nh(e: &NeoHookeanMembrane, x: &[Vec3; 3]) -> (Vec3, Mat3) {
    e.block(x, 0)
}
#[inline(never)]
#[unsafe(no_mangle)]
pub fn asm_hinge0(e: &Hinge, x: &[Vec3; 4]) -> (Vec3, Mat3) {
    e.block(x, 0)
}
#[inline(never)]
#[unsafe(no_mangle)]
pub fn asm_hinge2(e: &Hinge, x: &[Vec3; 4]) -> (Vec3, Mat3) {
    e.block(x, 2)
}
#[inline(never)]
#[unsafe(no_mangle)]
pub fn asm_stvk(e: &StVenantMembrane, x: &[Vec3; 3]) -> (Vec3, Mat3) {
    e.block(x, 0)
}
fn main() {
    let p = MembraneParameters { young: 1e6, poisson: 0.3, thickness: 3e-4, damping: 1e-3 };
    let x = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let y = [Vec3::ZERO, Vec3::X, Vec3::Y, -Vec3::Y];
    println!("{:?}", asm_nh(&NeoHookeanMembrane::new(x, &p).unwrap(), &x));
    println!("{:?}", asm_stvk(&StVenantMembrane::new(x, &p).unwrap(), &x));
    println!("{:?}", asm_hinge0(&Hinge::new(y, 1.0, 0.0).unwrap(), &y));
    println!("{:?}", asm_hinge2(&Hinge::new(y, 1.0, 0.0).unwrap(), &y));
}
