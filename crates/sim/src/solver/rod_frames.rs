//! The frames of rods in Newton's method, where each is an unknown beside the points.
//!
//! Energies, their derivatives and the small stiffness against idle turns are those of block descent, which solves a
//! chain at a time (`rod`); here frames and points of all rods stand in one system with everything else. Where truncation
//! gave a point less than was asked, the frame follows its segment by the shortest rotation.

use super::objective::Derivatives;
use super::rod::{HESITATION, LARGEST_TURN};
use super::sparse::{NONE, Unknowns};
use crate::kinematic::{MEMORY, PrescribedSet, Progress};
use crate::model::Snapshot;
use crate::potential::rod::{transport, turned};
use crate::rod::{Chain, FRAME_MEMORY, Rods};
use littoral_geom::math::{Mat3, Quat, Vec3};

/// The frames of all segments, in their order.
#[derive(Clone, Debug, Default)]
pub struct RodFrames {
    frames: Vec<Quat>,
    /// Difference of the ends that each frame belongs to [m].
    along: Vec<Vec3>,
    /// Strains at the start of the step, of segments and of joints.
    segment_strain: Vec<Vec3>,
    joint_strain: Vec<Vec3>,
    /// Frames that are prescribed in this step.
    clamped: Vec<bool>,
    /// 1/h [1/s].
    inverse_h: f64,
}

/// Calls `visit(chain, k, number)` for every segment.
fn for_segments(rods: &Rods, mut visit: impl FnMut(&Chain, usize, usize)) {
    for chain in &rods.chains {
        (0..chain.segments.len()).for_each(|k| visit(chain, k, chain.first + k));
    }
}

/// Calls `visit(chain, k, number)` for every joint.
fn for_joints(rods: &Rods, mut visit: impl FnMut(&Chain, usize, usize)) {
    let mut number = 0;
    for chain in &rods.chains {
        for k in 0..chain.joints.len() {
            visit(chain, k, number);
            number += 1;
        }
    }
}

fn along(chain: &Chain, k: usize, x: &[Vec3]) -> Vec3 {
    let [a, b] = chain.at(k, x);
    b - a
}

/// The frames that joint `k` of a chain joins.
fn joined(chain: &Chain, k: usize) -> [usize; 2] {
    chain.joined(k).map(|s| chain.first + s)
}

impl RodFrames {
    /// Takes the frames from the memory of the state, at the start of a step of `h` [s].
    pub fn begin(&mut self, rods: &Rods, prescribed: &[PrescribedSet], state: &Snapshot, h: f64) {
        *self = RodFrames { inverse_h: 1.0 / h, ..RodFrames::default() };
        for_segments(rods, |chain, k, _| {
            let frame = rods.frame(&state.memory, chain, k);
            self.frames.push(frame);
            self.along.push(along(chain, k, &state.x));
            self.segment_strain.push(chain.segments[k].strain(&chain.at(k, &state.x), frame));
            self.clamped.push(chain.clamps[k].is_some_and(|s| prescribed[s as usize].acts(state.time)));
        });
        for_joints(rods, |chain, k, _| {
            let [a, b] = joined(chain, k);
            self.joint_strain.push(chain.joints[k].strain(self.frames[a], self.frames[b]));
        });
    }

    /// Turns the frames of segments both of whose ends are held by one set with that set.
    pub fn clamp(&mut self, rods: &Rods, prescribed: &[PrescribedSet], state: &Snapshot) {
        for_segments(rods, |chain, k, s| {
            let Some(set) = chain.clamps[k].map(|s| s as usize).filter(|_| self.clamped[s]) else { return };
            let progress = Progress::read(&state.memory[MEMORY * set..][..MEMORY]);
            if let Some(turn) = prescribed[set].motion.rotation(progress.clock) {
                let q = turn * chain.frames[k];
                // Of the two quaternions of a rotation, the one that goes on.
                self.frames[s] = if q.dot(self.frames[s]) < 0.0 { -q } else { q };
            }
        });
    }

    /// Which frames are unknowns.
    pub fn moving(&self) -> impl Iterator<Item = bool> + '_ {
        self.clamped.iter().map(|c| !c)
    }

    /// Couplings of the frames with each other and with the ends of their segments.
    pub fn couplings(&self, rods: &Rods, unknowns: &Unknowns, pairs: &mut Vec<(u32, u32)>) {
        let mut couple = |a: u32, b: u32| {
            if a != NONE && b != NONE && a != b {
                pairs.push((a.min(b), a.max(b)));
            }
        };
        for_segments(rods, |chain, k, s| {
            for v in chain.points_of(k) {
                couple(unknowns.of_frame[s], unknowns.of_point[v as usize]);
            }
        });
        for_joints(rods, |chain, k, _| {
            let [a, b] = joined(chain, k);
            couple(unknowns.of_frame[a], unknowns.of_frame[b]);
        });
    }

    /// Energy of all rods [J] at `x` [m], with damping.
    pub fn value(&self, rods: &Rods, x: &[Vec3]) -> f64 {
        let mut sum = 0.0;
        for_segments(rods, |chain, k, s| {
            let segment = &chain.segments[k];
            let ratio = segment.damping * self.inverse_h;
            sum += segment.energy(&chain.at(k, x), self.frames[s], self.segment_strain[s], ratio);
        });
        for_joints(rods, |chain, k, j| {
            let ([a, b], joint) = (joined(chain, k), &chain.joints[k]);
            let ratio = joint.damping * self.inverse_h;
            sum += joint.energy(self.frames[a], self.frames[b], self.joint_strain[j], ratio);
        });
        sum
    }

    /// Adds gradient and Hessian.
    pub fn add(&self, rods: &Rods, unknowns: &Unknowns, x: &[Vec3], out: &mut Derivatives) {
        for_segments(rods, |chain, k, s| {
            let segment = &chain.segments[k];
            let ratio = segment.damping * self.inverse_h;
            let r = segment.response(&chain.at(k, x), self.frames[s], self.segment_strain[s], ratio);
            let ends = chain.points_of(k);
            out.gradient[ends[0] as usize] -= r.force;
            out.gradient[ends[1] as usize] += r.force;
            let [x0, x1] = ends.map(|v| unknowns.of_point[v as usize]);
            let q = unknowns.of_frame[s];
            let idle =
                if chain.joints.is_empty() { HESITATION * segment.across * segment.length } else { 0.0 };
            out.add_turn(q, r.torque);
            for (row, column, block) in [
                (x0, x0, r.xx),
                (x1, x1, r.xx),
                (x1, x0, -r.xx),
                (x1, q, r.x_turn),
                (x0, q, -r.x_turn),
                (q, q, r.turn_turn + Mat3::from_diagonal(Vec3::splat(idle))),
            ] {
                out.add_block(row, column, &block);
            }
        });
        for_joints(rods, |chain, k, j| {
            let ([a, b], joint) = (joined(chain, k), &chain.joints[k]);
            let ratio = joint.damping * self.inverse_h;
            let r = joint.response(self.frames[a], self.frames[b], self.joint_strain[j], ratio);
            let [qa, qb] = [a, b].map(|s| unknowns.of_frame[s]);
            out.add_turn(qa, -r.torque);
            out.add_turn(qb, r.torque);
            let idle = Mat3::from_diagonal(Vec3::splat(HESITATION * joint.twisting / joint.length));
            out.add_block(qa, qa, &(r.turn_turn + idle));
            out.add_block(qb, qb, &(r.turn_turn + idle));
            out.add_block(qb, qa, &-r.turn_turn);
        });
    }

    /// Largest share of the direction `p` in which no segment turns farther than a linear model is good for [–].
    pub fn allowed_share(&self, rods: &Rods, unknowns: &Unknowns, p: &[Vec3]) -> f64 {
        let mut largest = 0.0_f64;
        for_segments(rods, |chain, k, s| {
            let across = moved(chain, k, unknowns, p).cross(self.along[s]).length();
            let turn = unknowns.of_frame[s];
            let turn = if turn == NONE { 0.0 } else { p[turn as usize].length() };
            largest = largest.max(turn).max(across / self.along[s].length_squared());
        });
        if largest > LARGEST_TURN { LARGEST_TURN / largest } else { 1.0 }
    }

    /// Longest way that a turn of the direction `p` stands for, over the length of its segment [m].
    pub fn longest(&self, rods: &Rods, unknowns: &Unknowns, p: &[Vec3]) -> f64 {
        let mut longest = 0.0_f64;
        for_segments(rods, |chain, k, s| {
            let q = unknowns.of_frame[s];
            if q != NONE {
                longest = longest.max(p[q as usize].length() * chain.segments[k].length);
            }
        });
        longest
    }

    /// Turns the frames by a share of the direction `p`, as if all points went with it.
    pub fn advance(&mut self, rods: &Rods, unknowns: &Unknowns, p: &[Vec3], share: f64) {
        for_segments(rods, |chain, k, s| {
            self.along[s] += share * moved(chain, k, unknowns, p);
            let q = unknowns.of_frame[s];
            if q != NONE {
                self.frames[s] = turned(self.frames[s], share * p[q as usize]);
            }
        });
    }

    /// Turns every frame with its segment, to where the points are.
    pub fn follow(&mut self, rods: &Rods, x: &[Vec3]) {
        for_segments(rods, |chain, k, s| {
            let now = along(chain, k, x);
            if now != self.along[s] {
                if !self.clamped[s] {
                    self.frames[s] = (transport(self.along[s], now) * self.frames[s]).normalize();
                }
                self.along[s] = now;
            }
        });
    }

    /// Writes the frames to the memory of a state at the end of its step.
    pub fn finish(&mut self, rods: &Rods, state: &mut Snapshot) {
        self.follow(rods, &state.x);
        for_segments(rods, |chain, k, s| {
            let place = rods.place(chain, k);
            state.memory[place..place + FRAME_MEMORY].copy_from_slice(&self.frames[s].to_array());
        });
    }
}

/// What the direction `p` adds to the difference of the ends of a segment [m].
fn moved(chain: &Chain, k: usize, unknowns: &Unknowns, p: &[Vec3]) -> Vec3 {
    let [a, b] = chain.points_of(k).map(|v| match unknowns.of_point[v as usize] {
        NONE => Vec3::ZERO,
        u => p[u as usize],
    });
    b - a
}
