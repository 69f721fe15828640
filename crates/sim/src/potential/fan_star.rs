//! Puts the triangles and hinges around a vertex into the order of a fan.

use super::Term;
use super::bending::Hinge;
use super::membrane::NeoHookeanMembrane;

/// No hinge.
pub(super) const NONE: u32 = u32::MAX;

/// One triangle of a fan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wedge {
    pub(super) j: u32,
    pub(super) k: u32,
    /// The membrane.
    pub(super) sheet: u32,
    /// Corners of the triangle at v, j and k.
    pub(super) corners: [u8; 3],
    /// Beyond the edge jk; any point without a hinge there.
    pub(super) outer: u32,
    /// Hinge on the edge jk, or `NONE`.
    pub(super) tip: u32,
    /// Hinge on the edge vj, or `NONE`.
    pub(super) spoke: u32,
}

impl Wedge {
    /// The triangle seen from one of its corners, turned one way or the other.
    fn new(sheet: u32, points: [u32; 3], corner: usize, reversed: bool) -> Self {
        let (mut j, mut k) = ((corner + 1) % 3, (corner + 2) % 3);
        if reversed {
            std::mem::swap(&mut j, &mut k);
        }
        let corners = [corner, j, k].map(|c| c as u8);
        Wedge { j: points[j], k: points[k], sheet, corners, outer: points[j], tip: NONE, spoke: NONE }
    }
}

/// The triangles and hinges at one vertex.
pub(super) struct Star<'a> {
    pub(super) membranes: &'a Term<NeoHookeanMembrane, 3>,
    pub(super) hinges: &'a Term<Hinge, 4>,
    /// Element·4 + corner.
    pub(super) triangles: &'a [u32],
    pub(super) folds: &'a [u32],
}

impl Star<'_> {
    /// The wedges in order, when every triangle and every hinge has its place in one fan.
    pub(super) fn fan(&self, reversed: bool) -> Option<Vec<Wedge>> {
        let sheets = self.triangles.iter().map(|item| self.membranes.elements[(item >> 2) as usize].sheet);
        if self.folds.is_empty() || sheets.into_iter().any(|s| s.lambda < 0.0) {
            return None;
        }
        let mut wedges = self.chain(reversed)?;
        for item in self.folds {
            let hinge = item >> 2;
            let points = self.hinges.points[hinge as usize];
            // Turned by half about its middle the hinge is the same: corners 1 and 3 become 0 and 2.
            let corner = item & 3;
            let turned = [points[1], points[0], points[3], points[2]];
            let [x0, x1, x2, x3] = if corner % 2 == 0 { points } else { turned };
            if corner >= 2 {
                let wedge = wedges.iter_mut().find(|w| (w.j, w.k, w.tip) == (x0, x1, NONE))?;
                (wedge.tip, wedge.outer) = (hinge, x3);
            } else {
                let here = wedges.iter().position(|w| (w.j, w.k, w.spoke) == (x1, x2, NONE))?;
                let before = wedges[(here + wedges.len() - 1) % wedges.len()];
                if (before.j, before.k) != (x3, x1) {
                    return None;
                }
                wedges[here].spoke = hinge;
            }
        }
        Some(wedges)
    }

    /// The triangles, each beginning where the one before ends.
    fn chain(&self, reversed: bool) -> Option<Vec<Wedge>> {
        let mut left: Vec<Wedge> = self
            .triangles
            .iter()
            .map(|item| {
                let (sheet, corner) = (item >> 2, (item & 3) as usize);
                Wedge::new(sheet, self.membranes.points[sheet as usize], corner, reversed)
            })
            .collect();
        let open = left.iter().position(|w| left.iter().all(|o| o.k != w.j));
        let mut chain = Vec::with_capacity(left.len());
        let mut next = open.or(if left.is_empty() { None } else { Some(0) })?;
        loop {
            let wedge = left.remove(next);
            chain.push(wedge);
            if left.is_empty() {
                return Some(chain);
            }
            next = left.iter().position(|w| w.j == wedge.k)?;
        }
    }
}
