//! Commits of a part: islands that look around by themselves.
//!
//! Nothing of another island may be touched before the next detection, so that it does not matter when an island goes the
//! way that was accepted for it. What is not committed keeps its displacement, its frame, its budgets and its planes,
//! and takes them along to the next detection. The argument is in `docs/derivations/detection.md`.

use super::{Detection, Displacement, Geometry, SafePositions};
use littoral_geom::math::Vec3;

impl SafePositions {
    /// Moves the `going` components (by component) as `commit` does, and the others not at all. Nothing can be truncated
    /// or committed as a whole then, until the components were detected anew.
    ///
    /// # Panics
    /// As `commit`; and when what goes is no union of islands, or was committed before.
    pub fn commit_islands(
        &mut self,
        geometry: &Geometry,
        detection: &mut Detection,
        dx: &mut Displacement,
        going: &[bool],
    ) {
        assert_eq!(detection.epoch, self.epoch, "the detection was made at other positions");
        assert_eq!(dx.epoch, self.epoch, "the displacement belongs to another detection");
        assert!(dx.sealed, "the displacement was edited after its truncation");
        dx.bind_part(detection);
        assert_eq!(going.len(), detection.island.len(), "islands are of all components");
        for (c, &island) in detection.island.iter().enumerate() {
            assert_eq!(going[c], going[island as usize], "a part of an island was to be committed");
        }
        if detection.spent.is_empty() {
            detection.spent.resize(going.len(), false);
        }
        for (spent, _) in detection.spent.iter_mut().zip(going).filter(|(_, going)| **going) {
            assert!(!*spent, "what goes was committed before");
            *spent = true;
        }
        for (v, &c) in geometry.component.iter().enumerate() {
            if going[c as usize] {
                self.x[v] += dx.accepted[v] + detection.frame[v];
                (dx.accepted[v], dx.proposed[v], dx.sizes[v]) = (Vec3::ZERO, Vec3::ZERO, 0.0);
            }
        }
        self.epoch += 1;
        (detection.epoch, dx.epoch) = (self.epoch, self.epoch);
    }
}

impl Displacement {
    /// Ties the displacement to a detection of which a part may have been committed.
    fn bind_part(&mut self, detection: &Detection) {
        let bound = *self.detection.get_or_insert(detection.serial);
        assert_eq!(detection.serial, bound, "the displacement belongs to another detection");
    }

    /// Takes the displacement of what was kept along to the detection that kept it.
    ///
    /// # Panics
    /// When it was edited, belongs to another detection, or moves what was not kept.
    pub fn carry(&mut self, geometry: &Geometry, detection: &Detection) {
        assert_eq!(detection.epoch, self.epoch, "the detection was made at other positions");
        assert!(self.sealed, "the displacement was edited after its truncation");
        let bound = self.detection.unwrap_or(detection.serial - 1);
        assert_eq!(detection.serial - 1, bound, "the displacement belongs to another detection");
        for (d, &c) in self.accepted.iter().zip(&geometry.component) {
            let is_kept = detection.kept.get(c as usize).is_some_and(|kept| *kept);
            assert!(is_kept || *d == Vec3::ZERO, "what moved was not kept");
        }
        self.detection = Some(detection.serial);
    }

    /// Takes the proposals of the `points` back.
    pub(crate) fn withdraw(&mut self, points: &[u32]) {
        for &v in points {
            self.proposed[v as usize] = self.accepted[v as usize];
        }
    }
}

impl Detection {
    /// A part was committed since.
    pub(crate) fn is_spent(&self) -> bool {
        !self.spent.is_empty()
    }

    /// True when nothing of this component is left to be committed.
    pub(super) fn was_committed(&self, component: usize) -> bool {
        self.spent.get(component).is_some_and(|spent| *spent)
    }

    /// Tells the points their islands, if there are several.
    pub(super) fn part(&mut self, component: &[u32]) {
        self.apart.clear();
        let mut islands = (0..self.island.len()).filter(|&c| self.mobile[c] && self.island[c] as usize == c);
        if islands.nth(1).is_some() {
            self.apart.extend(component.iter().map(|&c| self.island[c as usize]));
        }
    }

    /// Begins a detection at an epoch of the safe positions, which keeps some components.
    pub(super) fn begin(&mut self, epoch: u64, kept: &[bool], floor: f64) {
        self.epoch = epoch;
        self.floor = floor;
        self.serial += 1;
        self.spent.clear();
        self.kept.clear();
        self.kept.extend(kept);
    }
}
