//! Freezes a fluid at the start of a step: neighbours, densities, walls, viscosity.

use super::nodes::{Anchor, Node, corners};
use super::system::{Diagonal, SlotWall, System};
use super::viscosity::{self, Viscous};
use super::walls::{self, Share, Wall};
use super::{ABSENT, Fluid, NO_SLOT, Visibility, density};
use littoral_geom::math::{Mat3, Vec3, outer};
use rayon::prelude::*;

impl Fluid {
    /// Freezes the fluid at the positions `x` [m] for a step `h` [s], with the walls near its particles and the nodes
    /// that are corners of them. Walls of particles that do not exist are ignored, and so are those beyond the support.
    /// What names a node that does not exist takes it for prescribed.
    ///
    /// # Panics
    /// If `x` is not as long as the list of kinds.
    pub fn prepare(
        &mut self,
        x: &[Vec3],
        h: f64,
        nodes: &[Node],
        walls: &[Wall],
        visibility: Option<&Visibility>,
    ) {
        assert_eq!(x.len(), self.kinds.len(), "one position per particle is needed");
        self.sort_particles(x);
        if let Some(v) = visibility {
            let order = &self.order;
            self.grid.retain(|a, b| {
                let (a, b) = (order[a as usize], order[b as usize]);
                let near = v.near_surface[a as usize] && v.near_surface[b as usize];
                !near || (v.sees)(a.min(b), a.max(b))
            });
        }
        self.freeze_particles(h);
        self.system.nodes.set_masses(nodes, self.reference_mass());
        self.system.stencils.clear();
        density::sum_pairs(&self.kernel, &self.grid, &mut self.system, &mut self.summed_gradient);
        self.freeze_walls(walls);
        let kernel = &self.kernel;
        let System { fill, ratio, surface, .. } = &mut self.system;
        for (i, gradient) in self.summed_gradient.iter().enumerate() {
            (ratio[i], surface[i]) = density::complete(kernel, fill[i], gradient.length());
        }
        self.freeze_viscosity(h);
    }

    /// Gives a slot to each particle that is there, and its neighbours.
    fn sort_particles(&mut self, x: &[Vec3]) {
        let support = self.support();
        let is_there = |i: usize| self.kinds[i] != ABSENT && x[i].is_finite();
        let all = (0..x.len()).all(is_there);
        self.ignored = (0..x.len()).filter(|i| self.kinds[*i] != ABSENT && !x[*i].is_finite()).count() as u32;
        self.given.clear();
        self.order.clear();
        if all {
            self.grid.fit(x, support);
            self.order.extend_from_slice(self.grid.order());
        } else {
            self.given.extend_from_slice(x);
            let there: Vec<u32> = (0..x.len() as u32).filter(|i| is_there(*i as usize)).collect();
            let places: Vec<Vec3> = there.iter().map(|i| x[*i as usize]).collect();
            self.grid.fit(&places, support);
            self.order.extend(self.grid.order().iter().map(|k| there[*k as usize]));
        }
        self.slots.clear();
        self.slots.resize(x.len(), NO_SLOT);
        for (slot, i) in self.order.iter().enumerate() {
            self.slots[*i as usize] = slot as u32;
        }
    }

    /// What pairs need to know, and the pairs themselves if viscosity is strong enough to need them.
    fn freeze_viscosity(&mut self, h: f64) {
        let scale = h / (self.spacing * self.spacing);
        let strongest = self.materials.iter().map(|m| m.viscosity).fold(0.0, f64::max);
        self.system.viscous.clear();
        if strongest == 0.0 {
            return;
        }
        let reference = self.materials[0].density;
        for (slot, i) in self.order.iter().enumerate() {
            let m = &self.materials[self.kinds[*i as usize] as usize];
            let rest_density = m.density / reference;
            let density = rest_density / self.system.ratio[slot];
            self.system.viscous.push(Viscous { viscosity: scale * m.viscosity, density, rest_density });
        }
        if scale * strongest > viscosity::EXPLICIT_BELOW {
            viscosity::set_pairs(&self.viscous_weight, &self.grid, &mut self.system);
        }
    }

    /// Positions, masses and stiffnesses.
    fn freeze_particles(&mut self, h: f64) {
        let (spacing, materials, kinds) = (self.spacing, &self.materials, &self.kinds);
        let reference = materials.first().map_or(1.0, |m| m.density);
        let places = self.grid.positions();
        let origin = places.first().copied().unwrap_or(Vec3::ZERO);
        let system = &mut self.system;
        system.h = h;
        places.par_iter().with_min_len(4096).map(|x| (*x - origin) / spacing).collect_into_vec(&mut system.x);
        let material = |i: &u32| &materials[kinds[*i as usize] as usize];
        let order = &self.order;
        system.mass.clear();
        system.mass.extend(order.iter().map(|i| material(i).density / reference));
        // h² k V₀/(m_ref dx²), m_ref = ρ_ref V₀.
        let scale = h * h / (reference * spacing * spacing);
        system.stiffness.clear();
        system.stiffness.extend(order.iter().map(|i| scale * material(i).stiffness));
        let n = order.len();
        system.ratio.resize(n, 1.0);
        system.surface.resize(n, 0.0);
        system.active.resize(n, false);
        system.open.clear();
        system.open.resize(n, 1.0);
        system.push.clear();
        system.push.resize(n, Vec3::ZERO);
        system.offset.clear();
        system.offset.resize(n, 0.0);
    }

    /// The walls that count, as slot and index: by slot, and nearest first.
    fn sort_walls(&mut self, walls: &[Wall]) -> Vec<(u32, u32)> {
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        for (index, wall) in walls.iter().enumerate() {
            if !wall.is_finite() {
                self.ignored += 1;
            } else if let Some(slot) = self.slot(wall.particle)
                && wall.distance < self.support()
            {
                sorted.push((slot, index as u32));
            }
        }
        let distance = |index: u32| walls[index as usize].distance;
        sorted.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then(distance(a.1).total_cmp(&distance(b.1))).then(a.1.cmp(&b.1))
        });
        sorted
    }

    /// Adds the walls to the sums, and their forces to the system.
    fn freeze_walls(&mut self, walls: &[Wall]) {
        let sorted = self.sort_walls(walls);
        let kernel = &self.kernel;
        let system = &mut self.system;
        self.wall_count = walls.len();
        system.walls.clear();
        self.drags.clear();
        self.wall_anchors.clear();
        let (mut own, mut shares) = (Vec::new(), Vec::new());
        for group in sorted.chunk_by(|a, b| a.0 == b.0) {
            let slot = group[0].0;
            let i = slot as usize;
            own.clear();
            own.extend(group.iter().map(|(_, index)| {
                let w = walls[*index as usize];
                Wall { distance: w.distance / self.spacing, ..w }
            }));
            shares.clear();
            shares.resize(own.len(), Share::default());
            let hidden = walls::combine(kernel, &own, &mut shares);
            let completed = walls::complete(system.fill[i], hidden);
            (system.fill[i], system.open[i]) = (completed.fill, completed.open);
            self.summed_gradient[i] *= completed.open;
            shares.iter_mut().for_each(|share| share.slope *= completed.rise);
            let material = &self.materials[self.kinds[own[0].particle as usize] as usize];
            let sliding = system.h * material.viscosity / (self.spacing * self.spacing) * system.mass[i];
            for (((_, index), wall), share) in group.iter().zip(&own).zip(&shares) {
                let drag =
                    if wall.no_slip { sliding * share.weight * kernel.wall_drag(wall.distance) } else { 0.0 };
                let wall = SlotWall {
                    slot,
                    index: *index,
                    normal: wall.normal,
                    motion: wall.velocity * (system.h / self.spacing),
                    corners: corners(wall.nodes, wall.weights, system.nodes.len()),
                    slope: share.slope,
                    drag,
                };
                self.summed_gradient[i] += completed.open * wall.slope * wall.normal;
                // s += −φ γ′ n·(u − u_wall)
                system.offset[i] += wall.slope * wall.normal.dot(wall.motion);
                system.walls.push(wall);
                match wall.anchor() {
                    Some(anchor) => self.wall_anchors.push(anchor),
                    None => {
                        system.push[i] -= wall.slope * wall.normal;
                        self.drags.extend(wall.fixed_drag());
                    }
                }
            }
        }
    }
}

impl SlotWall {
    /// Hessian of the drag by the relative displacement.
    fn hessian(&self) -> Mat3 {
        self.drag * (Mat3::IDENTITY - outer(self.normal, self.normal))
    }

    /// What a wall with nodes adds to the system.
    fn anchor(&self) -> Option<Anchor> {
        let (nodes, weights) = self.corners?;
        let hessian = self.hessian();
        let (push, force) = (self.slope * self.normal, hessian * self.motion);
        Some(Anchor { slot: self.slot, nodes, weights, push, force, hessian })
    }

    /// The drag of a wall without nodes.
    fn fixed_drag(&self) -> Option<Diagonal> {
        let hessian = self.hessian();
        let drag = Diagonal { slot: self.slot, gradient: -(hessian * self.motion), hessian };
        (self.drag > 0.0).then_some(drag)
    }
}
