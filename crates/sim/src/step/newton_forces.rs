//! Forces of contact between objects at the end of a step of Newton's method: what its barriers and its friction pull
//! with where the points have come to rest.

use super::newton_ipc::NewtonIpc;
use crate::system::System;
use littoral_geom::math::Vec3;

impl NewtonIpc {
    /// Force on each object of all other solids and colliders [N] at the positions `x` [m] of a step from `x_n` [m].
    pub(super) fn contact_forces(&mut self, system: &System, x: &[Vec3], x_n: &[Vec3]) -> Vec<Vec3> {
        let first = system.geometry.first_particle() as u32;
        let mut forces = vec![Vec3::ZERO; system.objects.len()];
        let object = |v: u32| system.contact.object_of(v) as usize;
        let mut add = |a: usize, b: usize, force: Vec3| {
            if a != b {
                forces[a] += force;
                forces[b] -= force;
            }
        };
        self.barriers.touches(x, &mut self.work.touches);
        for t in self.work.touches.iter().filter(|t| t.points[0] < first) {
            let (closest, force) = t.barrier.pull(&t.gather(x));
            let split = t.barrier.pair.side_a();
            add(object(t.points[0]), object(t.points[split]), force * closest.normal);
        }
        for s in self.friction.list.iter().filter(|s| s.points[0] < first) {
            add(object(s.points[0]), object(s.other_side()), -self.friction.derivatives(s, x, x_n).0);
        }
        forces
    }
}
