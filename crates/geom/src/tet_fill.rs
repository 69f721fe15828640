//! Fills a surface with tets of good quality: isosurface stuffing on a body-centred cubic lattice [Labelle
//! 2007].
//!
//! 1. Lattice nodes are inside where the winding number exceeds ½, so small holes and self-crossings do no harm.
//! 2. Edges between inside and outside nodes are cut at the surface; nodes too near a cut move onto it.
//! 3. What is left of each lattice tet is filled by a stencil.
//! 4. Crumbs and points where the boundary touches itself are removed.
//!
//! Sharp edges that do not lie on the lattice are chamfered by a fraction of the spacing. Walls of 1.3
//! spacings and more come out whole; thinner ones may tear, and a filling that loses a noticeable part of the
//! body is refused.

mod embed;
mod lattice;
mod quality;
mod repair;
mod stuffing;

#[cfg(test)]
mod tests;

pub use embed::embed;
pub use quality::{TetQuality, tet_quality};

use crate::inside::Solid;
use crate::math::Vec3;
use crate::mesh::{TetMesh, TriMesh, boundary_triangles, open_edges};
use lattice::{Lattice, SLOTS};
use rayon::prelude::*;
use stuffing::Cuts;

/// More tets than this are refused: at about 1 kB each in a simulation they fill several GB.
const MAX_TETS: f64 = 5e6;
/// Most lattice nodes, inside and outside; each costs some 50 bytes and a winding number while filling.
const MAX_NODES: f64 = 3e7;
/// Tets per inside lattice node: twelve per cube of two nodes.
const TETS_PER_NODE: f64 = 6.0;
/// Cuts are found to this share of the spacing; the angles of the tets do not see it.
const CUT_ACCURACY: f64 = 1e-4;
/// Share of the inside nodes that may see an undecided winding number before the surface counts as open.
const UNDECIDED_SHARE: f64 = 0.05;
/// Share of a surface's edges that may be open before a failed filling is blamed on that and not on the
/// spacing.
const OPEN_SHARE: f64 = 0.1;
/// A point of the surface farther than this many spacings from the tets is lost. Chamfers of sharp edges stay
/// nearer, holes torn into a thin wall do not.
const LOST_DISTANCE: f64 = 0.5;
/// Share of the surface's area that may be lost before the spacing counts as too coarse.
const LOST_AREA: f64 = 0.02;
/// Share of the body's volume that may be lost. Chamfers and chords take 11 % of a ball three spacings wide;
/// a plate loses more than this where its lattice layers tear, below 1.3 spacings of thickness.
const LOST_VOLUME: f64 = 0.15;

/// Why a surface could not be filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FillError {
    /// The spacing is not a positive length.
    #[error("a tet spacing must be a positive length, found {spacing} m: try a tenth of the body's size")]
    Spacing {
        /// The spacing found [m].
        spacing: f64,
    },
    /// A corner index or position of the surface cannot be used.
    #[error("triangle {triangle} of the surface has a missing or non-finite corner: repair the mesh first")]
    Corner {
        /// Index of the first such triangle.
        triangle: usize,
    },
    /// The surface has no inside.
    #[error(
        "the surface is open: {open_edges} edges are not shared by two triangles of equal orientation, and \
         {undecided_percent:.0} % of the inside is undecided; close the holes, orient the triangles alike, or \
         simulate it as cloth"
    )]
    Open {
        /// Edges that are not matched by an edge of opposite direction.
        open_edges: usize,
        /// Share of the lattice nodes that lie far from the surface and still see no whole winding number [%].
        undecided_percent: f64,
    },
    /// Parts of the body are thinner than the spacing.
    #[error(
        "a tet spacing of {spacing} m is too coarse: {lost_percent:.0} % of the body is thinner and would be \
         lost; try {suggestion:.3e} m"
    )]
    TooCoarse {
        /// The spacing [m].
        spacing: f64,
        /// Share of the surface's area or of the volume that the tets miss, whichever is more [%].
        lost_percent: f64,
        /// A spacing to try [m].
        suggestion: f64,
    },
    /// The result would be larger than is allowed.
    #[error(
        "a tet spacing of {spacing} m would make up to {tets:.1e} tets where 5e6 are allowed; \
         try {suggestion:.3e} m"
    )]
    TooFine {
        /// The spacing [m].
        spacing: f64,
        /// Estimated number of tets.
        tets: f64,
        /// A spacing to try [m].
        suggestion: f64,
    },
}

/// Fills a closed surface with positively oriented tets whose edges are about `spacing` [m] long.
///
/// Dihedral angles of the result lie between 10° and 165°, see [`tet_quality`]; its boundary follows the
/// surface to a fraction of the spacing and is a closed manifold. Small holes are bridged, overlapping parts
/// are united, an inside-out surface is turned over. The same surface and spacing give the same bits.
pub fn tet_fill(surface: &TriMesh, spacing: f64) -> Result<TetMesh, FillError> {
    if !(spacing > 0.0 && spacing.is_finite()) {
        return Err(FillError::Spacing { spacing });
    }
    let usable = |v: &u32| surface.vertices.get(*v as usize).is_some_and(|p| p.is_finite());
    if let Some(triangle) = surface.triangles.iter().position(|t| !t.iter().all(usable)) {
        return Err(FillError::Corner { triangle });
    }
    if surface.triangles.is_empty() {
        return Err(FillError::Open { open_edges: 0, undecided_percent: 100.0 });
    }
    let solid = Solid::new(&surface.vertices, &surface.triangles);
    let too_fine = |tets: f64, excess: f64| {
        // The count falls as the cube of the spacing; a little more, so that the suggestion is accepted.
        FillError::TooFine { spacing, tets, suggestion: 1.05 * spacing * excess.cbrt() }
    };
    let nodes = Lattice::node_count(solid.bounds(), spacing);
    if nodes > MAX_NODES {
        return Err(too_fine(TETS_PER_NODE * nodes, nodes / MAX_NODES));
    }
    let lattice = Lattice::around(solid.bounds(), spacing);
    // 1. Sides.
    let winding: Vec<f32> = (0..lattice.nodes())
        .into_par_iter()
        .map(|n| solid.winding_number(lattice.position(n)) as f32)
        .collect();
    let inside: Vec<bool> = winding.iter().map(|&w| w > 0.5).collect();
    check_decided(surface, &solid, &lattice, &winding)?;
    let tets = TETS_PER_NODE * inside.iter().filter(|&&i| i).count() as f64;
    if tets > MAX_TETS {
        return Err(too_fine(tets, tets / MAX_TETS));
    }
    // 2. Cuts. 3. Stencils. 4. Repair.
    let mut mesh = stuffing::stuff(&lattice, &inside, &find_cuts(&solid, &lattice, &inside));
    repair::remove_crumbs(&mut mesh, spacing);
    repair::make_boundary_manifold(&mut mesh);
    repair::drop_unused_vertices(&mut mesh);
    let overlapping = winding.iter().any(|&w| w > 1.5);
    check_complete(surface, &solid, &mesh, spacing, overlapping)?;
    Ok(mesh)
}

/// Cuts of all lattice edges whose ends are on different sides.
fn find_cuts(solid: &Solid, lattice: &Lattice, inside: &[bool]) -> Cuts {
    let crosses = |n: u32, slot: u32| {
        let end = lattice.edge_end(n, slot)?;
        (inside[n as usize] != inside[end as usize]).then_some((slot, end))
    };
    // Most nodes have no cut edge; depths are computed once for those that do.
    let depths: Vec<f64> = (0..lattice.nodes())
        .into_par_iter()
        .map(|n| {
            let changes = |(owner, slot): (u32, u32)| crosses(owner, slot).is_some();
            if !lattice.edges_around(n).any(changes) {
                return 0.0;
            }
            let distance = solid.distance(lattice.position(n));
            if inside[n as usize] { distance } else { -distance }
        })
        .collect();
    let row = |n: u32| {
        let cut = |slot: u32| {
            let (slot, end) = crosses(n, slot)?;
            let known = [n, end].map(|e| (lattice.position(e), depths[e as usize]));
            Some((slot, find_crossing(solid, known, inside[n as usize], lattice.spacing)))
        };
        (0..SLOTS).filter_map(cut).collect()
    };
    Cuts::new((0..lattice.nodes()).into_par_iter().map(row).collect())
}

/// Share of the segment, from its first end, at which the surface is crossed: regula falsi on the depth, halved
/// in between so that a jump of the depth at a hole is found as well. Ends are given as position and depth.
fn find_crossing(solid: &Solid, ends: [(Vec3, f64); 2], first_inside: bool, spacing: f64) -> f64 {
    let (mut low, mut high) = ((0.0, ends[0].1), (1.0, ends[1].1));
    // Every third step halves, so the bracket is narrow enough after 3 · log₂(1 / accuracy) steps at the latest.
    let mut step = 0;
    loop {
        step += 1;
        let span = low.1 - high.1;
        let straight = if span == 0.0 { 0.5 } else { (low.1 / span).clamp(0.0, 1.0) };
        let t = low.0 + (high.0 - low.0) * if step % 3 == 0 { 0.5 } else { straight };
        if high.0 - low.0 < CUT_ACCURACY {
            return t;
        }
        let depth = solid.depth(ends[0].0.lerp(ends[1].0, t));
        if depth.abs() < CUT_ACCURACY * spacing {
            return t;
        }
        if (depth > 0.0) == first_inside { low = (t, depth) } else { high = (t, depth) }
    }
}

/// Refuses a surface whose winding number is undecided far from it: one that is open or inconsistently
/// oriented.
fn check_decided(mesh: &TriMesh, solid: &Solid, lattice: &Lattice, winding: &[f32]) -> Result<(), FillError> {
    // The dipoles' error is a few hundredths: a quarter from the nearest integer is undecided.
    let undecided = (0..lattice.nodes())
        .into_par_iter()
        .filter(|&n| {
            let w = winding[n as usize];
            (w - w.round()).abs() > 0.25 && solid.distance(lattice.position(n)) > lattice.spacing
        })
        .count() as f64;
    let inside = winding.iter().filter(|&&w| w > 0.5).count() as f64;
    if undecided > UNDECIDED_SHARE * inside {
        let undecided_percent = 100.0 * (undecided / inside.max(undecided));
        return Err(FillError::Open { open_edges: open_edges(&mesh.triangles), undecided_percent });
    }
    Ok(())
}

/// Refuses a filling that misses parts of the body: parts thinner than the spacing. `overlapping` says that
/// some node lies inside twice.
fn check_complete(
    surface: &TriMesh,
    solid: &Solid,
    mesh: &TetMesh,
    spacing: f64,
    overlapping: bool,
) -> Result<(), FillError> {
    let skin = TriMesh { vertices: mesh.vertices.clone(), triangles: boundary_triangles(&mesh.tets) };
    let skin = Solid::new(&skin.vertices, &skin.triangles);
    let (area, missed) = surface
        .triangles
        .par_iter()
        .map(|t| lost_area(t.map(|v| surface.vertices[v as usize]), solid, &skin, spacing))
        .collect::<Vec<_>>()
        .into_iter()
        .fold((0.0, 0.0), |(t, l), (area, lost)| (t + area, l + lost));
    let open_edges = open_edges(&surface.triangles);
    let volume = surface.enclosed_volume().abs();
    // The enclosed volume is the body's when nothing is open or counted twice.
    let simple = open_edges == 0 && !overlapping && volume > 0.0;
    let lost_volume = if simple { 1.0 - mesh.volume() / volume } else { 0.0 };
    let lost_area = if mesh.tets.is_empty() || area == 0.0 { 1.0 } else { missed / area };
    if lost_area <= LOST_AREA && lost_volume <= LOST_VOLUME {
        return Ok(());
    }
    if open_edges as f64 > OPEN_SHARE * 1.5 * surface.triangles.len() as f64 {
        return Err(FillError::Open { open_edges, undecided_percent: 100.0 });
    }
    // Volume over area is half the thickness of a plate and a third of a ball's radius: two thirds of a
    // thickness.
    let suggestion = (4.0 / 3.0 * volume / surface.area()).max(1e-3 * spacing).min(0.5 * spacing);
    Err(FillError::TooCoarse { spacing, lost_percent: 100.0 * lost_area.max(lost_volume), suggestion })
}

/// Area of a triangle that bounds the inside, and how much of it is lost to the skin of the tets.
fn lost_area(x: [Vec3; 3], solid: &Solid, skin: &Solid, spacing: f64) -> (f64, f64) {
    let normal = (x[1] - x[0]).cross(x[2] - x[0]);
    let Some(direction) = normal.try_normalize() else { return (0.0, 0.0) };
    // Large triangles are sampled at the centres of a few rows of smaller ones.
    let longest = (0..3).map(|i| x[i].distance(x[(i + 1) % 3])).fold(0.0, f64::max);
    let rows = (longest / (2.0 * spacing)).ceil().clamp(1.0, 8.0);
    let share = 0.5 * normal.length() / (0.5 * rows * (rows + 1.0));
    let (mut area, mut lost) = (0.0, 0.0);
    for i in 0..rows as u32 {
        for j in 0..rows as u32 - i {
            let (u, v) = ((i as f64 + 1.0 / 3.0) / rows, (j as f64 + 1.0 / 3.0) / rows);
            let p = x[0] + u * (x[1] - x[0]) + v * (x[2] - x[0]);
            // Only triangles between inside and outside count, not those within overlapping parts.
            let step = 1e-3 * spacing * direction;
            if solid.contains(p + step) != solid.contains(p - step) {
                area += share;
                lost += if skin.distance(p) > LOST_DISTANCE * spacing { share } else { 0.0 };
            }
        }
    }
    (area, lost)
}
