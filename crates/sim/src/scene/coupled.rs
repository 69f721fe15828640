//! Which components act on each other without touching.

use crate::body::Bodies;
use crate::chamber::Chamber;
use crate::joint::{Joint, Side};
use crate::kinematic::PrescribedSet;

/// What couples components.
pub(super) struct Couplings<'a> {
    /// Pairs of points that share an element.
    pub neighbours: &'a [(u32, u32)],
    pub bodies: &'a Bodies,
    pub joints: &'a [Joint],
    pub chambers: &'a [Chamber],
    pub prescribed: &'a [PrescribedSet],
}

/// The pairs of components, the lower first, sorted: those of an element, a body, a joint, a chamber, a common motion.
pub(super) fn coupled(component: &[u32], all: &Couplings<'_>) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    let mut join = |p: u32, q: u32| {
        let (a, b) = (component[p as usize], component[q as usize]);
        if a != b {
            pairs.push([a.min(b), a.max(b)]);
        }
    };
    all.neighbours.iter().for_each(|&(p, q)| join(p, q));
    for body in &all.bodies.list {
        body.points().for_each(|v| join(body.first, v as u32));
    }
    let place = |side: &Side| match side {
        Side::Body(b) => Some(all.bodies.list[*b as usize].first),
        Side::Collider { corners, .. } => Some(corners[0]),
        Side::World => None,
    };
    for joint in all.joints {
        if let [Some(p), Some(q)] = joint.sides.each_ref().map(place) {
            join(p, q);
        }
    }
    for chamber in all.chambers {
        chamber.points().iter().for_each(|&v| join(chamber.point(), v));
    }
    for set in all.prescribed {
        set.points.iter().for_each(|&v| join(set.points[0], v));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
