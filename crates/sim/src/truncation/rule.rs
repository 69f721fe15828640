//! How the gap of a pair is divided between its two sides.

use super::curved::Turns;
use crate::safe::{Displacement, Plane};
use crate::settings::GapSplit;
use littoral_geom::math::Vec3;

/// An initial guess may always use this share of γ·gap, however close the pair is to `keep`.
const GUESS_SHARE: f64 = 0.2;

/// A side gets at least this share of the room even when only the other one approaches, so that it can still move
/// when its turn comes. Larger: the approaching side is cut sooner. Zero: a receding side that turns waits for the
/// next detection.
const MIN_SHARE: f64 = 0.05;

/// The numbers that divide a gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule<'a> {
    pub gamma: f64,
    pub split: GapSplit,
    pub floor: f64,
    pub keep: f64,
    pub held: &'a [bool],
    pub held_keep: f64,
    /// A side may count on a withdrawal of the other side that is only proposed, if both go straight.
    pub leaning: bool,
    /// Bodies that move along curves.
    pub turns: Option<Turns<'a>>,
    /// Most that any of their points leaves its straight way [m].
    pub bulge: f64,
}

/// How far each side of a pair may advance, A first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Largest advance [m]; infinite when both proposals fit.
    pub at: [f64; 2],
    /// The other side leans on the withdrawal of this one.
    pub leaned_on: [bool; 2],
}

impl Limits {
    /// Both proposals fit, and nobody leans.
    pub const FREE: Limits = Limits { at: [f64::INFINITY; 2], leaned_on: [false; 2] };

    /// True when the pair asks nothing of its points.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.at == [f64::INFINITY; 2] && self.leaned_on == [false; 2]
    }
}

impl Rule<'_> {
    /// What both sides together may advance [m]: γ g, never nearer than the floor, less for a guess that would come
    /// nearer than `keep`.
    #[inline]
    fn room(&self, gap: f64) -> f64 {
        let room = (self.gamma * gap).min(gap - self.floor).max(0.0);
        if self.keep > 0.0 { room.min((gap - self.keep).max(GUESS_SHARE * room)) } else { room }
    }

    /// The room of a pair: prescribed points keep their distance without exception.
    #[inline]
    fn room_of(&self, plane: &Plane) -> f64 {
        let room = self.room(plane.gap);
        if !self.held.is_empty() && plane.points.iter().any(|&v| self.held[v as usize]) {
            room.min((plane.gap - self.held_keep).max(0.0))
        } else {
            room
        }
    }

    /// True when no pair with this gap, or a wider one, can be closed by two points that move at most `longest` [m].
    #[inline]
    pub fn is_wide(&self, gap: f64, longest: f64) -> bool {
        let longest = longest + self.bulge;
        let room = self.room(gap);
        let room = if self.held.is_empty() { room } else { room.min((gap - self.held_keep).max(0.0)) };
        2.0 * longest <= room
    }

    /// How far a point with this free radius may move without a look at its planes [m].
    #[inline]
    pub fn free_bound(&self, free_radius: f64) -> f64 {
        let gap = 2.0 * free_radius;
        let room = self.room(gap);
        0.5 * if self.held.is_empty() { room } else { room.min((gap - self.held_keep).max(0.0)) }
    }

    /// How far each side may advance. Advances are negative where a side has withdrawn.
    #[inline]
    pub fn limits(&self, plane: &Plane, dx: &Displacement) -> Limits {
        if plane.gap > 0.0 && self.is_out_of_reach(plane, dx.sizes()) {
            return Limits::FREE;
        }
        if plane.normal == Vec3::ZERO {
            // Touching without a direction to part in: nothing moves.
            return Limits { at: [f64::NEG_INFINITY; 2], leaned_on: [false; 2] };
        }
        let mut before = [f64::NEG_INFINITY; 2];
        let mut after = [f64::NEG_INFINITY; 2];
        for slot in 0..4 {
            let v = plane.points[slot] as usize;
            let side = usize::from(slot >= plane.side_a as usize);
            before[side] = before[side].max(plane.advance(slot, dx.accepted()[v]));
            after[side] = after[side].max(plane.advance(slot, dx.proposed()[v]));
        }
        let room = self.room_of(plane);
        let withdraws = [after[0] < before[0], after[1] < before[1]];
        let stay = [after[0].max(before[0]), after[1].max(before[1])];
        if stay[0] + stay[1] + 2.0 * self.bulge <= room {
            return Limits::FREE;
        }
        // On its way a turning point may come nearer than at both ends.
        let rises = self.rises(plane);
        let rise = rises[0] + rises[1];
        if stay[0] + stay[1] + rise <= room {
            return Limits::FREE;
        }
        // On a curved way a withdrawal comes when it comes, perhaps after a swing forwards: nothing leans on it.
        let leaning = self.leaning && rise == 0.0;
        if leaning && after[0] + after[1] <= room {
            return Limits { at: [f64::INFINITY; 2], leaned_on: withdraws };
        }
        // Room that neither side has used.
        let left = (room - before[0] - before[1]).max(0.0);
        if leaning && let Some(a) = withdraws.iter().position(|w| *w) {
            // The other side follows, and leaves a reserve: small cuts of the withdrawal then change nothing for it.
            let mut at = before;
            at[1 - a] += (1.0 - MIN_SHARE) * (left + before[a] - after[a]);
            return Limits { at, leaned_on: withdraws };
        }
        // A side that withdraws may be held back by another pair: it keeps its room.
        let share = self.share(left, [stay[0] + rises[0] - before[0], stay[1] + rises[1] - before[1]]);
        Limits { at: [before[0] + share, before[1] + (left - share)], leaned_on: [false; 2] }
    }

    /// True only if the two sides cannot use up their room, whichever way displacements of these sizes point.
    #[inline]
    fn is_out_of_reach(&self, plane: &Plane, sizes: &[f64]) -> bool {
        let [a, b, c, d] = plane.points.map(|v| sizes[v as usize]);
        let (a, b) = if plane.side_a == 1 { (a, b.max(c).max(d)) } else { (a.max(b), c.max(d)) };
        a + b + 2.0 * self.bulge <= self.room_of(plane)
    }

    /// How far the ways of the two sides may rise above their ends [m].
    #[inline]
    fn rises(&self, plane: &Plane) -> [f64; 2] {
        let mut rises = [0.0_f64; 2];
        if let Some(turns) = &self.turns {
            for slot in 0..4 {
                let rise = &mut rises[usize::from(slot >= plane.side_a as usize)];
                *rise = rise.max(turns.rise(plane.points[slot] as usize, plane.normal));
            }
        }
        rises
    }

    /// What of `left` side A gets, when the sides want `more` [m].
    #[inline]
    fn share(&self, left: f64, more: [f64; 2]) -> f64 {
        match self.split {
            GapSplit::Proportional => {
                let sum = more[0] + more[1];
                let a = if sum > 0.0 { more[0] / sum } else { 0.5 };
                left * a.clamp(MIN_SHARE, 1.0 - MIN_SHARE)
            }
            GapSplit::WaterFilling => {
                let half = 0.5 * left;
                let a = if more[0] <= half {
                    more[0]
                } else if more[1] <= half {
                    left - more[1]
                } else {
                    half
                };
                a.clamp(MIN_SHARE * left, (1.0 - MIN_SHARE) * left)
            }
        }
    }
}
