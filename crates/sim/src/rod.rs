//! What a system knows about its rods: chains of segments with a frame each, and how neighbours are joined.
//!
//! A chain is a line of segments, open or closed to a ring. Chains of one object may share points, as the cords of a net
//! do; there they are tied like by a ball joint, since no joint of one chain knows the frames of another. Chains without
//! a common point are solved at once, the others after one another.

use crate::potential::{RodJoint, RodSegment};
use littoral_geom::math::{Quat, Vec3};

/// Numbers a segment remembers between steps: its frame.
pub const FRAME_MEMORY: usize = 4;

/// Colours of the points of rods, counted down from here: they are no colours of block descent, and below that of
/// particles, so that contact knows what moves at once.
pub const ROD_COLOR: u32 = u32::MAX - 2;

/// A line of segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Points in their order: one more than segments, or as many when closed.
    pub points: Vec<u32>,
    /// Closed to a ring: the last segment ends at the first point.
    pub is_closed: bool,
    /// First of its segments, which are consecutive.
    pub first: usize,
    /// Its segments.
    pub segments: Vec<RodSegment>,
    /// Joints: number k is between segments k and k + 1; of a ring, the last one joins the last to the first.
    pub joints: Vec<RodJoint>,
    /// Frames at the start.
    pub frames: Vec<Quat>,
    /// Prescribed set that holds both ends of a segment, and so its frame.
    pub clamps: Vec<Option<u32>>,
    /// Which chains it is solved together with.
    pub group: usize,
}

impl Chain {
    /// Positions in `points` of the ends of segment `k`.
    #[inline]
    pub fn ends(&self, k: usize) -> [usize; 2] {
        [k, if self.is_closed && k + 1 == self.points.len() { 0 } else { k + 1 }]
    }

    /// The points of segment `k`.
    #[inline]
    pub fn points_of(&self, k: usize) -> [u32; 2] {
        self.ends(k).map(|i| self.points[i])
    }

    /// Ends of segment `k` at `x` [m].
    #[inline]
    pub fn at(&self, k: usize, x: &[Vec3]) -> [Vec3; 2] {
        self.points_of(k).map(|p| x[p as usize])
    }

    /// The segments that joint `j` joins.
    #[inline]
    pub fn joined(&self, j: usize) -> [usize; 2] {
        [j, if j + 1 == self.segments.len() { 0 } else { j + 1 }]
    }
}

/// A segment of another chain at a point of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared {
    /// Position of the point in this chain.
    pub index: usize,
    /// The other chain.
    pub chain: usize,
    /// Its segment.
    pub segment: usize,
    /// +1 if the point is the last end of that segment, −1 if it is the first.
    pub sign: f64,
}

/// The rods of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Rods {
    /// All chains.
    pub chains: Vec<Chain>,
    /// Points of each group of chains that are solved at once, chain by chain.
    pub groups: Vec<Vec<u32>>,
    /// What of other chains ends at the points of each chain.
    pub shared: Vec<Vec<Shared>>,
    /// Number of the first group among the colours of a system.
    pub first_color: usize,
    /// First number of the frames in the memory of a snapshot.
    pub memory: usize,
}

impl Rods {
    /// Segments in all.
    pub fn segment_count(&self) -> usize {
        self.chains.iter().map(|c| c.segments.len()).sum()
    }

    /// The group behind a colour of the system, if it is one.
    pub fn group_of(&self, color: usize) -> Option<usize> {
        color.checked_sub(self.first_color)
    }

    /// Where the frame of segment `k` of a chain stands in the memory.
    pub fn place(&self, chain: &Chain, k: usize) -> usize {
        self.memory + FRAME_MEMORY * (chain.first + k)
    }

    /// Reads a frame.
    pub fn frame(&self, memory: &[f64], chain: &Chain, k: usize) -> Quat {
        let m = &memory[self.place(chain, k)..];
        Quat::from_xyzw(m[0], m[1], m[2], m[3])
    }

    /// Elastic energy at `x` [m] with the frames of a memory [J].
    pub fn energy(&self, x: &[Vec3], memory: &[f64]) -> f64 {
        let mut sum = 0.0;
        for chain in &self.chains {
            let frame = |k| self.frame(memory, chain, k);
            for (k, s) in chain.segments.iter().enumerate() {
                sum += s.energy(&chain.at(k, x), frame(k), Vec3::ZERO, 0.0);
            }
            for (k, j) in chain.joints.iter().enumerate() {
                let [a, b] = chain.joined(k);
                sum += j.energy(frame(a), frame(b), Vec3::ZERO, 0.0);
            }
        }
        sum
    }

    /// The frames at the start, as a memory holds them.
    pub fn start(&self) -> impl Iterator<Item = f64> + '_ {
        self.chains.iter().flat_map(|c| &c.frames).flat_map(|q| q.to_array())
    }
}

/// Sorts chains into groups without common points, greedily in their order; sets their `group` and returns the points of
/// each group.
pub fn group(chains: &mut [Chain], points: usize) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    // The groups that a point is in already.
    let mut taken: Vec<Vec<usize>> = vec![Vec::new(); points];
    for chain in chains {
        let is_free = |g: &usize| chain.points.iter().all(|&p| !taken[p as usize].contains(g));
        let g = (0..groups.len()).find(is_free).unwrap_or(groups.len());
        if g == groups.len() {
            groups.push(Vec::new());
        }
        chain.group = g;
        groups[g].extend(&chain.points);
        for &p in &chain.points {
            taken[p as usize].push(g);
        }
    }
    groups
}

/// Lists the segments of other chains at the points of each chain.
pub fn shared(chains: &[Chain], points: usize) -> Vec<Vec<Shared>> {
    let mut at: Vec<Vec<(usize, usize, f64)>> = vec![Vec::new(); points];
    for (c, chain) in chains.iter().enumerate() {
        for k in 0..chain.segments.len() {
            let [a, b] = chain.points_of(k);
            at[a as usize].push((c, k, -1.0));
            at[b as usize].push((c, k, 1.0));
        }
    }
    let of_chain = |(c, chain): (usize, &Chain)| {
        let others = |(index, p): (usize, &u32)| {
            let there = at[*p as usize].iter().filter(move |s| s.0 != c);
            there.map(move |&(chain, segment, sign)| Shared { index, chain, segment, sign })
        };
        chain.points.iter().enumerate().flat_map(others).collect()
    };
    chains.iter().enumerate().map(of_chain).collect()
}
