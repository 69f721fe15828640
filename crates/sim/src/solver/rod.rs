//! Block descent of rods: a whole chain at a time, points and frames together, by one Newton step of a direct solve.
//!
//! A point alone passes a bend on by one segment per sweep, so that a rod of a hundred segments would need some 10⁸ of
//! them. Along a chain the Newton system has a band of two blocks and is solved exactly (`chain`). Frames have no inertia:
//! they stand where their energy is least for the points as they are, and their part of the step follows with the rest.
//! Where something else moves the points, by truncation or as a body, frames follow their segments by the shortest
//! rotation.

use super::chain::ChainSystem;
use super::descent::Objective;
use crate::kinematic::{MEMORY, PrescribedSet, Progress};
use crate::model::Snapshot;
use crate::potential::rod::{transport, turned};
use crate::rod::{Chain, FRAME_MEMORY, Rods};
use littoral_geom::math::{Mat3, Quat, Vec3};
use rayon::prelude::*;

/// Largest turn of a segment in one Newton step [rad]; the step of its chain is shortened to that. Larger: what is left
/// out of the second order throws the ends of loose rods about. Smaller: fast turns need more sweeps.
pub(super) const LARGEST_TURN: f64 = 0.5;

/// Stiffness against turning a frame, as a share of GJ/l: a free rod may spin about itself at no cost, which would leave
/// its system singular. It acts on a step alone and is no energy. A tenth of it nears the rounding of stiff rods, ten
/// times as much slows the twist of rods with ten thousand segments.
pub(super) const HESITATION: f64 = 1e-8;

/// A chain in motion.
#[derive(Clone, Debug, Default)]
struct Moving {
    frames: Vec<Quat>,
    /// Difference of the ends that each frame belongs to [m].
    along: Vec<Vec3>,
    /// Strains at the start of the step.
    segment_strain: Vec<Vec3>,
    joint_strain: Vec<Vec3>,
    /// Frames that are prescribed in this step.
    clamped: Vec<bool>,
    /// What other chains do at its points: position in the chain, gradient [N], stiffness [N/m].
    pulls: Vec<(usize, Vec3, Mat3)>,
    system: ChainSystem,
    moves: Vec<(Vec3, Mat3)>,
}

/// The frames of all rods, and the solver's memory.
#[derive(Clone, Debug, Default)]
pub struct RodDescent {
    chains: Vec<Moving>,
    inverse_h: f64,
}

/// Where an unknown stands in the system.
#[derive(Clone, Copy)]
enum Slot {
    Main(usize),
    Border(usize),
}

impl RodDescent {
    /// Takes the frames from the memory of the state, at the start of a step of `h` [s].
    pub fn begin(&mut self, rods: &Rods, state: &Snapshot, h: f64) {
        self.inverse_h = 1.0 / h;
        self.chains.resize_with(rods.chains.len(), Moving::default);
        for (moving, chain) in self.chains.iter_mut().zip(&rods.chains) {
            let n = chain.segments.len();
            moving.frames.clear();
            moving.frames.extend((0..n).map(|k| rods.frame(&state.memory, chain, k)));
            moving.along.clear();
            moving.along.extend((0..n).map(|k| along(chain, k, &state.x)));
            moving.clamped.clear();
            moving.clamped.resize(n, false);
            moving.segment_strain.clear();
            let strain = |k: usize| chain.segments[k].strain(&chain.at(k, &state.x), moving.frames[k]);
            moving.segment_strain.extend((0..n).map(strain));
            moving.joint_strain.clear();
            let frames = &moving.frames;
            moving.joint_strain.extend(chain.joints.iter().enumerate().map(|(k, j)| {
                let [a, b] = chain.joined(k);
                j.strain(frames[a], frames[b])
            }));
        }
    }

    /// Adds the elastic energy of each rod [J], its frames following its segments to `x` [m], to the sum of its component.
    pub fn add_energies(&self, rods: &Rods, x: &[Vec3], component: &[u32], sums: &mut [f64]) {
        for (moving, chain) in self.chains.iter().zip(&rods.chains) {
            let frames: Vec<Quat> = (moving.frames.iter().enumerate())
                .map(|(k, q)| transport(moving.along[k], along(chain, k, x)) * *q)
                .collect();
            let segments = chain.segments.iter().enumerate();
            let stretch: f64 =
                segments.map(|(k, s)| s.energy(&chain.at(k, x), frames[k], Vec3::ZERO, 0.0)).sum();
            let joints = chain.joints.iter().enumerate();
            let bend: f64 = joints
                .map(|(k, j)| {
                    let [a, b] = chain.joined(k);
                    j.energy(frames[a], frames[b], Vec3::ZERO, 0.0)
                })
                .sum();
            sums[component[chain.points[0] as usize] as usize] += stretch + bend;
        }
    }

    /// Turns the frames of segments both of whose ends are held by one set with that set.
    pub fn clamp(&mut self, rods: &Rods, prescribed: &[PrescribedSet], state: &Snapshot) {
        for (moving, chain) in self.chains.iter_mut().zip(&rods.chains) {
            for (k, clamp) in chain.clamps.iter().enumerate() {
                let Some(set) = clamp.map(|s| s as usize) else { continue };
                moving.clamped[k] = prescribed[set].acts(state.time);
                let progress = Progress::read(&state.memory[MEMORY * set..][..MEMORY]);
                if let (true, Some(turn)) =
                    (moving.clamped[k], prescribed[set].motion.rotation(progress.clock))
                {
                    let q = turn * chain.frames[k];
                    // Of the two quaternions of a rotation, the one that goes on.
                    moving.frames[k] = if q.dot(moving.frames[k]) < 0.0 { -q } else { q };
                }
            }
        }
    }

    /// One Newton step of every chain of a group at the positions `x` [m]: the moves of the group's points [m], with
    /// their Hessian blocks. Held points do not move.
    pub fn descend(
        &mut self,
        rods: &Rods,
        group: usize,
        objective: &Objective<'_>,
        x: &[Vec3],
        held: &[bool],
        moves: &mut Vec<(Vec3, Mat3)>,
    ) {
        let inverse_h = self.inverse_h;
        for (c, chain) in rods.chains.iter().enumerate() {
            if chain.group == group && !rods.shared[c].is_empty() {
                let mut pulls = std::mem::take(&mut self.chains[c].pulls);
                pulls.clear();
                pulls.extend(rods.shared[c].iter().map(|s| {
                    let other = &self.chains[s.chain];
                    let (gradient, block) = other.pull_of(&rods.chains[s.chain], s.segment, x, inverse_h);
                    (s.index, s.sign * gradient, block)
                }));
                self.chains[c].pulls = pulls;
            }
        }
        self.chains.par_iter_mut().zip(&rods.chains).with_max_len(1).for_each(|(moving, chain)| {
            if chain.group == group {
                moving.follow(chain, x);
                moving.assemble(chain, objective, x, held, inverse_h);
                moving.system.solve();
                moving.advance(chain);
            }
        });
        moves.clear();
        for (moving, _) in self.chains.iter().zip(&rods.chains).filter(|(_, c)| c.group == group) {
            moves.extend(&moving.moves);
        }
    }

    /// Writes the frames to the memory of a state at the end of its step.
    pub fn finish(&mut self, rods: &Rods, state: &mut Snapshot) {
        for (moving, chain) in self.chains.iter_mut().zip(&rods.chains) {
            moving.follow(chain, &state.x);
            for (k, q) in moving.frames.iter().enumerate() {
                let place = rods.place(chain, k);
                state.memory[place..place + FRAME_MEMORY].copy_from_slice(&q.to_array());
            }
        }
    }
}

#[inline]
fn along(chain: &Chain, k: usize, x: &[Vec3]) -> Vec3 {
    let [a, b] = chain.at(k, x);
    b - a
}

impl Moving {
    /// Turns every frame with its segment, as the points were moved since.
    fn follow(&mut self, chain: &Chain, x: &[Vec3]) {
        for k in 0..self.frames.len() {
            let now = along(chain, k, x);
            if now != self.along[k] {
                if !self.clamped[k] {
                    self.frames[k] = (transport(self.along[k], now) * self.frames[k]).normalize();
                }
                self.along[k] = now;
            }
        }
    }

    /// Gradient at the last end of a segment and its stiffness there, as another chain feels them.
    fn pull_of(&self, chain: &Chain, k: usize, x: &[Vec3], inverse_h: f64) -> (Vec3, Mat3) {
        let segment = &chain.segments[k];
        let frame = match self.clamped[k] {
            true => self.frames[k],
            false => transport(self.along[k], along(chain, k, x)) * self.frames[k],
        };
        let bending = chain.joints.first().map_or(0.0, |j| j.bending);
        let ratio = segment.damping * inverse_h;
        segment.pull(&chain.at(k, x), frame, self.segment_strain[k], ratio, bending)
    }

    /// Slot of point i (even unknowns 2i) or frame i (2i + 1); a ring has its first point and frame in the border.
    #[inline]
    fn slot(chain: &Chain, unknown: usize) -> Slot {
        match chain.is_closed {
            false => Slot::Main(unknown),
            true if unknown < 2 => Slot::Border(unknown),
            true => Slot::Main(unknown - 2),
        }
    }

    /// Gradient and Hessian of the objective over the chain.
    fn assemble(
        &mut self,
        chain: &Chain,
        objective: &Objective<'_>,
        x: &[Vec3],
        held: &[bool],
        inverse_h: f64,
    ) {
        let Moving { system, moves, frames, pulls, .. } = self;
        let unknowns = chain.points.len() + chain.segments.len();
        system.reset(if chain.is_closed { unknowns - 2 } else { unknowns }, chain.is_closed);
        moves.clear();
        for (i, &v) in chain.points.iter().enumerate() {
            let (gradient, hessian) = objective.block(v, x);
            let slot = Self::slot(chain, 2 * i);
            system.pull(slot, -gradient);
            system.couple(slot, slot, hessian);
        }
        for &(i, gradient, block) in pulls.iter() {
            let slot = Self::slot(chain, 2 * i);
            system.pull(slot, -gradient);
            system.couple(slot, slot, block);
        }
        for (k, s) in chain.segments.iter().enumerate() {
            let ratio = s.damping * inverse_h;
            let r = s.response(&chain.at(k, x), frames[k], self.segment_strain[k], ratio);
            let [x0, x1] = chain.ends(k).map(|i| Self::slot(chain, 2 * i));
            let q = Self::slot(chain, 2 * k + 1);
            system.pull(x0, r.force);
            system.pull(x1, -r.force);
            system.pull(q, -r.torque);
            system.couple(x0, x0, r.xx);
            system.couple(x1, x1, r.xx);
            system.couple(x1, x0, -r.xx);
            system.couple(x1, q, r.x_turn);
            system.couple(x0, q, -r.x_turn);
            system.couple(q, q, r.turn_turn);
        }
        for (k, j) in chain.joints.iter().enumerate() {
            let [a, b] = chain.joined(k);
            let r = j.response(frames[a], frames[b], self.joint_strain[k], j.damping * inverse_h);
            let [qa, qb] = [a, b].map(|k| Self::slot(chain, 2 * k + 1));
            system.pull(qa, r.torque);
            system.pull(qb, -r.torque);
            let idle = Mat3::from_diagonal(Vec3::splat(HESITATION * j.twisting / j.length));
            system.couple(qa, qa, r.turn_turn + idle);
            system.couple(qb, qb, r.turn_turn + idle);
            system.couple(qb, qa, -r.turn_turn);
        }
        if chain.joints.is_empty() {
            // A single segment may spin about itself: any stiffness will do, since nothing turns it.
            let idle = chain.segments.iter().map(|s| s.across * s.length).sum::<f64>();
            let q = Self::slot(chain, 1);
            system.couple(q, q, Mat3::from_diagonal(Vec3::splat(HESITATION * idle)));
        }
        for (i, &v) in chain.points.iter().enumerate() {
            let slot = Self::slot(chain, 2 * i);
            moves.push((Vec3::ZERO, system.own(slot)));
            if held[v as usize] {
                system.take_out(slot);
            }
        }
        for k in (0..chain.segments.len()).filter(|&k| self.clamped[k]) {
            system.take_out(Self::slot(chain, 2 * k + 1));
        }
    }

    /// Takes the step from the solution, shortened where a segment would turn too far.
    fn advance(&mut self, chain: &Chain) {
        let system = &self.system;
        let solution = |unknown: usize| match Self::slot(chain, unknown) {
            Slot::Main(k) => system.right[k],
            Slot::Border(k) => system.corner_right[k],
        };
        let mut largest: f64 = 0.0;
        for k in 0..chain.segments.len() {
            let [a, b] = chain.ends(k).map(|i| solution(2 * i));
            let across = (b - a).cross(self.along[k]).length() / self.along[k].length_squared();
            largest = largest.max(across).max(solution(2 * k + 1).length());
        }
        let is_sound = largest.is_finite();
        let share = if !is_sound { 0.0 } else { (LARGEST_TURN / largest).min(1.0) };
        if share == 0.0 {
            return;
        }
        for (i, m) in self.moves.iter_mut().enumerate() {
            m.0 = share * solution(2 * i);
        }
        for k in 0..chain.segments.len() {
            let [a, b] = chain.ends(k).map(|i| self.moves[i].0);
            self.along[k] += b - a;
            if !self.clamped[k] {
                self.frames[k] = turned(self.frames[k], share * solution(2 * k + 1));
            }
        }
    }
}

impl ChainSystem {
    /// Adds to the right-hand side.
    #[inline]
    fn pull(&mut self, slot: Slot, force: Vec3) {
        match slot {
            Slot::Main(k) => self.right[k] += force,
            Slot::Border(k) => self.corner_right[k] += force,
        }
    }

    /// Adds a block in the given row and column; its transpose is implied.
    #[inline]
    fn couple(&mut self, row: Slot, column: Slot, block: Mat3) {
        match (row, column) {
            (Slot::Main(i), Slot::Main(j)) if i == j => self.diagonal[i] += block,
            (Slot::Main(i), Slot::Main(j)) => {
                let (high, low, block) = if i > j { (i, j, block) } else { (j, i, block.transpose()) };
                if high - low == 1 {
                    self.next[low] += block;
                } else {
                    self.second[low] += block;
                }
            }
            (Slot::Main(i), Slot::Border(j)) => self.border[i][j] += block,
            (Slot::Border(i), Slot::Main(j)) => self.border[j][i] += block.transpose(),
            (Slot::Border(i), Slot::Border(j)) if i >= j => self.corner[i + j] += block,
            (Slot::Border(i), Slot::Border(j)) => self.corner[i + j] += block.transpose(),
        }
    }

    /// The diagonal block.
    fn own(&self, slot: Slot) -> Mat3 {
        match slot {
            Slot::Main(k) => self.diagonal[k],
            Slot::Border(k) => self.corner[2 * k],
        }
    }

    fn take_out(&mut self, slot: Slot) {
        match slot {
            Slot::Main(k) => self.hold(k),
            Slot::Border(k) => self.hold_border(k),
        }
    }
}
