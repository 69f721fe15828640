//! Tetrahedra: those without volume, given twice, or turned the wrong way round; and tets that overlap.

use std::collections::HashMap;

use littoral_geom::mesh::tet_volume;

use super::error::MeshError;
use super::repair::{Repair, duplicates, extract, sorted};
use super::report::FindingKind;

/// A tet whose volume is below this fraction of its longest edge cubed has none: the determinant rounds to
/// a few 1e-16 of the product of its edges.
const FLAT_TET: f64 = 1e-15;

/// Faces opposite corners 0..3, outward for positive orientation.
pub(super) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Repairs the tets, or refuses a flat one that cannot be left out.
pub(super) fn repair_tets(work: &mut Repair<'_>) -> Result<(), MeshError> {
    if work.tets.is_empty() {
        return Ok(());
    }
    let repeated = |t: &[u32; 4]| sorted(*t).windows(2).any(|w| w[0] == w[1]);
    let degenerate = extract(&mut work.tets, repeated);
    work.note(FindingKind::DegenerateTets, &degenerate);
    let twice = duplicates(&mut work.tets);
    work.note(FindingKind::DuplicateTets, &twice);
    drop_flat(work)?;
    let x = &work.x;
    let mut flipped = Vec::new();
    for (t, origin) in &mut work.tets {
        if tet_volume(t.map(|v| x[v as usize])) < 0.0 {
            t.swap(2, 3);
            flipped.push(*origin);
        }
    }
    work.note(FindingKind::FlippedTets, &flipped);
    let overlapping = overlapping(work);
    work.note(FindingKind::OverlappingTets, &overlapping);
    Ok(())
}

/// Drops flat tets from the outside in. One with a face on the surface only splits that face differently: without it
/// its other faces are the surface. One between other tets keeps them together, and is refused.
fn drop_flat(work: &mut Repair<'_>) -> Result<(), MeshError> {
    let x = &work.x;
    let is_flat = |t: &[u32; 4]| {
        let p = t.map(|v| x[v as usize]);
        let longest = (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| p[i].distance(p[j]));
        tet_volume(p).abs() <= FLAT_TET * longest.fold(0.0, f64::max).powi(3)
    };
    let mut flat: Vec<usize> = (0..work.tets.len()).filter(|&k| is_flat(&work.tets[k].0)).collect();
    if flat.is_empty() {
        return Ok(());
    }
    let mut uses: HashMap<[u32; 3], u32> = HashMap::new();
    let faces = |t: &[u32; 4]| FACES.map(|f| sorted(f.map(|c| t[c])));
    work.tets.iter().flat_map(|(t, _)| faces(t)).for_each(|face| *uses.entry(face).or_default() += 1);
    let mut dropped = vec![false; work.tets.len()];
    loop {
        let before = flat.len();
        flat.retain(|&k| {
            let faces = faces(&work.tets[k].0);
            let outside = faces.iter().any(|face| uses.get(face) == Some(&1));
            if outside {
                dropped[k] = true;
                faces.iter().for_each(|face| *uses.entry(*face).or_default() -= 1);
            }
            !outside
        });
        if flat.len() == before {
            break;
        }
    }
    if let Some(&first) = flat.first() {
        let (file, tet) = (work.source.file.into(), work.tets[first].1 as usize);
        return Err(MeshError::FlatTet { file, tet, count: flat.len() });
    }
    let mut flags = dropped.into_iter();
    let found = extract(&mut work.tets, |_| flags.next().unwrap_or(false));
    work.note(FindingKind::FlatTets, &found);
    Ok(())
}

/// A tet for each face that has two positive tets on the same side, or more than two tets.
fn overlapping(work: &Repair<'_>) -> Vec<u32> {
    let mut faces: Vec<([u32; 3], bool, u32)> = Vec::with_capacity(4 * work.tets.len());
    for (t, origin) in &work.tets {
        faces.extend(FACES.map(|f| {
            let corners = f.map(|c| t[c]);
            let [a, b, c] = corners;
            // Even permutations of the sorted corners rise twice around.
            let even = [a < b, b < c, c < a].iter().filter(|&&rises| rises).count() == 2;
            (sorted(corners), even, *origin)
        }));
    }
    faces.sort_unstable();
    let folded =
        |face: &&[([u32; 3], bool, u32)]| face.len() > 2 || (face.len() == 2 && face[0].1 == face[1].1);
    faces.chunk_by(|a, b| a.0 == b.0).filter(folded).map(|face| face[0].2).collect()
}
