//! Attachments: seams, springs between objects, and vertices that go with a collider.
//!
//! A vertex is tied to a vertex by a spring, to a place on a surface by a tether, or follows a collider as a pin does.
//! What is tied never touches: the safety set keeps its gap positive like any other. A seam therefore closes to a small
//! distance, not to zero, and within that distance contact does not push what is tied apart.

use super::SceneError;
use super::build::Assembly;
use crate::elastic::{Elastic, Schedule};
use crate::kinematic::PrescribedSet;
use crate::model::ObjectKind;
use crate::motion::Motion;
use crate::potential::{ElementError, Spring, Tether};
use littoral_geom::distance::closest_point_triangle;
use littoral_geom::math::Vec3;
use rayon::prelude::*;

/// Shortest rest length of an attachment, as a share of the contact radius. Between sides that are nearer the planes
/// leave so little room that a seam moves stiffly; a larger share shows as a slit.
const SEAM: f64 = 0.5;

/// Where the vertices of the first object are tied to the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttachTo {
    /// To its nearest vertex (default).
    #[default]
    Vertex,
    /// To the nearest place on its surface.
    Surface,
}

/// How they are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// By springs, which pull both sides (default).
    #[default]
    Spring,
    /// As pins that follow the motion of a collider.
    Pin,
}

/// An attachment of vertices of one object to another, or to the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Names of the two objects; the same twice for a seam within one.
    pub objects: [String; 2],
    /// Vertices of the first object that may be tied; `None` all.
    pub from: Option<Vec<u32>>,
    /// Vertices of the second object that they may be tied to; `None` all.
    pub onto: Option<Vec<u32>>,
    /// Pairs of vertices, instead of the nearest.
    pub pairs: Option<Vec<[u32; 2]>>,
    /// Where they are tied to.
    pub to: AttachTo,
    /// How they are held.
    pub hold: Hold,
    /// Only vertices that begin no farther from their partner than this are tied [m]; infinite for all.
    pub reach: f64,
    /// Rest length [m], ≥ 0; `None` keeps the one at the start. Raised to half the contact radius.
    pub distance: Option<f64>,
    /// Time [s], ≥ 0, over which the rest length goes from the one at the start to `distance`.
    pub over: f64,
    /// Stiffness k of each spring [N/m], > 0; `None` takes that of the stiffer of the two points it joins.
    pub stiffness: Option<f64>,
    /// Rate damping of the springs [s], ≥ 0.
    pub damping: f64,
}

impl Default for Attachment {
    fn default() -> Self {
        Attachment {
            objects: [String::new(), String::new()],
            from: None,
            onto: None,
            pairs: None,
            to: AttachTo::Vertex,
            hold: Hold::Spring,
            reach: f64::INFINITY,
            distance: None,
            over: 0.0,
            stiffness: None,
            damping: 0.0,
        }
    }
}

/// Two points, or a point and a place on a triangle, that are tied.
#[derive(Clone, Copy, Debug)]
struct Tie {
    point: u32,
    /// Corners and barycentric weights; a vertex is its own corner with weight one.
    corners: [u32; 3],
    weights: [f64; 3],
    length: f64,
}

/// Adds the attachments of a scene, in their order; returns the pairs of points that are tied, with the rest length [m].
pub(super) fn add(
    all: &mut Assembly,
    attachments: &[Attachment],
    radius: f64,
    step: f64,
) -> Result<Vec<([u32; 2], f64)>, SceneError> {
    let mut tied = Vec::new();
    if attachments.is_empty() {
        return Ok(tied);
    }
    let stiffness = at_rest(all, step);
    for attachment in attachments {
        let [a, b] = [&attachment.objects[0], &attachment.objects[1]];
        let refuse = |what: String| SceneError::Attachment { objects: format!("\"{a}\" and \"{b}\""), what };
        check(attachment).map_err(refuse)?;
        let [first, second] = [a, b].map(|name| all.objects.iter().position(|o| o.name == *name));
        let (Some(first), Some(second)) = (first, second) else {
            return Err(refuse("there is no object of this name".into()));
        };
        if !matches!(all.objects[first].kind, ObjectKind::Cloth | ObjectKind::Soft | ObjectKind::Rod)
            || matches!(all.objects[second].kind, ObjectKind::Fluid)
        {
            return Err(refuse("expected a cloth, soft body or rod first, and no fluid".into()));
        }
        let ties = ties(all, attachment, first, second).map_err(refuse)?;
        if ties.is_empty() {
            return Err(refuse(format!(
                "no vertex has a partner within the reach of {} m: enlarge reach, or choose other vertices",
                attachment.reach
            )));
        }
        match attachment.hold {
            Hold::Pin => pin(all, &ties, first, second).map_err(refuse)?,
            Hold::Spring => {
                for tie in &ties {
                    let rest = tie_springs(all, attachment, tie, radius, &stiffness)
                        .map_err(|e| refuse(e.to_string()))?;
                    let touched = tie.corners.iter().zip(tie.weights).filter(|(_, w)| *w > 0.0);
                    tied.extend(touched.map(|(&c, _)| ([tie.point.min(c), tie.point.max(c)], rest)));
                }
            }
        }
    }
    tied.sort_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
    tied.dedup_by_key(|t| t.0);
    Ok(tied)
}

fn check(attachment: &Attachment) -> Result<(), String> {
    let not_negative = |what: &str, value: f64| {
        if value >= 0.0 { Ok(()) } else { Err(format!("{what} must not be negative, found {value}")) }
    };
    not_negative("reach [m]", attachment.reach)?;
    not_negative("distance [m]", attachment.distance.unwrap_or(0.0))?;
    not_negative("damping [s]", attachment.damping)?;
    not_negative("over [s]", attachment.over)?;
    match attachment.stiffness {
        Some(k) if !(k > 0.0 && k.is_finite()) => Err(format!("stiffness [N/m] must be positive, found {k}")),
        _ => Ok(()),
    }
}

/// Stiffness of each point at rest [N/m]: a third of the trace of its block, and what its inertia resists in a step.
fn at_rest(all: &Assembly, step: f64) -> Vec<f64> {
    let elastic = Elastic::new(all.terms.clone(), all.x.len());
    let of = |v: usize| {
        let h = elastic.block(v as u32, &all.x).1;
        let elastic = (h.x_axis.x + h.y_axis.y + h.z_axis.z) / 3.0;
        elastic.max(all.mass[v] / (step * step))
    };
    (0..all.x.len()).into_par_iter().with_min_len(1024).map(of).collect()
}

/// Who is tied to whom.
fn ties(all: &Assembly, a: &Attachment, first: usize, second: usize) -> Result<Vec<Tie>, String> {
    let ranges = [first, second].map(|k| all.objects[k].range());
    let point = |k: usize, v: u32| {
        let p = ranges[k].start + v as usize;
        let known = ranges[k].contains(&p);
        if known {
            Ok(p as u32)
        } else {
            Err(format!("there is no vertex {v}: the mesh has {}", ranges[k].len()))
        }
    };
    let vertex_tie = |p: u32, q: u32| {
        let length = all.x[p as usize].distance(all.x[q as usize]);
        Tie { point: p, corners: [q; 3], weights: [1.0, 0.0, 0.0], length }
    };
    if let Some(pairs) = &a.pairs {
        let mut ties = Vec::new();
        for &[v, w] in pairs {
            let (p, q) = (point(0, v)?, point(1, w)?);
            if p == q {
                return Err(format!("vertex {v} cannot be tied to itself"));
            }
            ties.push(vertex_tie(p, q));
        }
        return Ok(ties);
    }
    let choose = |k: usize, of: &Option<Vec<u32>>| match of {
        Some(list) => list.iter().map(|&v| point(k, v)).collect::<Result<Vec<u32>, String>>(),
        None => Ok(ranges[k].clone().map(|p| p as u32).collect()),
    };
    let (from, mut onto) = (choose(0, &a.from)?, choose(1, &a.onto)?);
    let mut chosen = vec![false; all.x.len()];
    from.iter().for_each(|&p| chosen[p as usize] = true);
    onto.retain(|&q| !chosen[q as usize]);
    let triangles: Vec<[u32; 3]> = match a.to {
        AttachTo::Vertex => Vec::new(),
        AttachTo::Surface => {
            let mut open = vec![false; all.x.len()];
            onto.iter().for_each(|&q| open[q as usize] = true);
            all.triangles.iter().filter(|t| t.iter().all(|&c| open[c as usize])).copied().collect()
        }
    };
    let nearest = |&p: &u32| {
        let x = all.x[p as usize];
        match a.to {
            AttachTo::Vertex => onto
                .iter()
                .map(|&q| (x.distance_squared(all.x[q as usize]), q))
                .min_by(|s, t| s.0.total_cmp(&t.0).then(s.1.cmp(&t.1)))
                .map(|(_, q)| vertex_tie(p, q)),
            AttachTo::Surface => triangles
                .iter()
                .map(|t| (closest_point_triangle(x, t.map(|c| all.x[c as usize])), *t))
                .min_by(|s, t| s.0.distance_sq.total_cmp(&t.0.distance_sq))
                .map(|(c, corners)| Tie { point: p, corners, weights: c.bary, length: c.distance_sq.sqrt() }),
        }
    };
    let found: Vec<Option<Tie>> = from.par_iter().map(nearest).collect();
    Ok(found.into_iter().flatten().filter(|t| t.length <= a.reach).collect())
}

/// Ties with a spring or a tether; returns its rest length [m].
fn tie_springs(
    all: &mut Assembly,
    a: &Attachment,
    tie: &Tie,
    radius: f64,
    stiffness: &[f64],
) -> Result<f64, ElementError> {
    let rest = a.distance.unwrap_or(tie.length).max(SEAM * radius);
    let begin = if a.over > 0.0 { tie.length } else { rest };
    let strongest = tie.corners.iter().zip(tie.weights).filter(|(_, w)| *w > 0.0);
    let strongest =
        strongest.map(|(&c, _)| stiffness[c as usize]).fold(stiffness[tie.point as usize], f64::max);
    let spring = Spring::new(begin, a.stiffness.unwrap_or(strongest), a.damping)?;
    let is_vertex = tie.weights[0] == 1.0;
    let element = if is_vertex {
        all.terms.springs.push([tie.point, tie.corners[0]], spring);
        all.terms.springs.len() - 1
    } else {
        let [p, q, r] = tie.corners;
        all.terms.tethers.push([tie.point, p, q, r], Tether::new(spring, tie.weights)?);
        all.terms.tethers.len() - 1
    };
    if a.over > 0.0 {
        let element = element as u32;
        all.terms.schedules.push(Schedule { is_vertex, element, from: begin, to: rest, over: a.over });
    }
    Ok(rest)
}

/// Lets the tied vertices follow a collider.
fn pin(all: &mut Assembly, ties: &[Tie], first: usize, second: usize) -> Result<(), String> {
    if all.objects[second].kind != ObjectKind::Collider {
        return Err("hold = \"pin\" needs a collider as the second object: use springs between others".into());
    }
    let moving = all.prescribed.iter().find(|s| s.object as usize == second && s.rigid);
    let motion = moving.map_or(Motion::Static, |s| s.motion.clone());
    if matches!(motion, Motion::Sequence { .. }) {
        return Err("a collider that moves by a sequence of meshes has no pose to follow: use springs".into());
    }
    let points: Vec<u32> = ties.iter().map(|t| t.point).collect();
    let held = all.prescribed.iter().filter(|s| !s.rigid).flat_map(|s| &s.points);
    let mut pinned = vec![false; all.x.len()];
    held.for_each(|&v| pinned[v as usize] = true);
    if let Some(v) = points.iter().find(|&&v| pinned[v as usize]) {
        let vertex = *v as usize - all.objects[first].range().start;
        return Err(format!("vertex {vertex} of the first object is pinned already"));
    }
    let x0: Vec<Vec3> = points.iter().map(|&v| all.x[v as usize]).collect();
    points.iter().for_each(|&v| all.v[v as usize] = Vec3::ZERO);
    all.prescribed.push(PrescribedSet {
        top_speed: motion.top_speed(&x0),
        points,
        x0,
        motion,
        release: f64::INFINITY,
        rigid: false,
        object: first as u32,
    });
    Ok(())
}
