//! Plays a random case: detections, proposals on random subsets, commits, and the judgement of every path between.

use crate::oracle::Everything;
use crate::scenes::{KINDS, Kind, Scene, scene};
use littoral_geom::math::{Aabb, Mat3, Vec3};
use littoral_geom::random::Random;
use littoral_geom::referee::Referee;
use littoral_sim::safe::{Detection, Detector, Displacement, Prediction, SafePositions};
use littoral_sim::settings::{GapSplit, SolverSettings, Truncation};
use littoral_sim::truncation::{NO_GROUP, Request, Truncator};

/// What a case is played with.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub truncation: Truncation,
    pub split: GapSplit,
    pub gamma: f64,
}

impl Rules {
    pub fn planar() -> Self {
        Rules { truncation: Truncation::Planar, split: GapSplit::WaterFilling, gamma: 0.85 }
    }

    pub fn truncator(&self) -> Truncator {
        Truncator::new(&SolverSettings {
            truncation: self.truncation,
            gap_split: self.split,
            relaxation: self.gamma,
            ..SolverSettings::default()
        })
    }
}

/// Every truncation that guarantees something.
pub const SAFE: [(Truncation, GapSplit); 6] = [
    (Truncation::Slide, GapSplit::WaterFilling),
    (Truncation::Planar, GapSplit::WaterFilling),
    (Truncation::Planar, GapSplit::Proportional),
    (Truncation::Isotropic, GapSplit::WaterFilling),
    (Truncation::Project, GapSplit::WaterFilling),
    (Truncation::Ccd, GapSplit::WaterFilling),
];

/// The state of one game.
pub struct Game {
    pub scene: Scene,
    pub everything: Everything,
    pub x: SafePositions,
    pub dx: Displacement,
    pub detector: Detector,
    pub detection: Detection,
    pub rules: Rules,
    pub truncator: Truncator,
    /// Applications since the detection.
    applied: usize,
    /// Longest displacement of any point since the detection [m]: what was added up was rounded at this size.
    longest: f64,
}

/// What is asked in one application, besides the proposals.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub moved: Vec<u32>,
    pub groups: Vec<u32>,
    pub group_count: usize,
    pub keep: f64,
    pub metric: Vec<Mat3>,
}

impl Ask {
    pub fn of(moved: Vec<u32>) -> Self {
        Ask { moved, ..Ask::default() }
    }
}

impl Game {
    pub fn new(scene: Scene, rules: Rules) -> Self {
        let x = SafePositions::trusted(scene.x.clone());
        Game {
            everything: Everything::of(&scene.geometry),
            dx: Displacement::zero(&x),
            detector: Detector::new(&scene.geometry),
            detection: Detection::unlimited(&x),
            truncator: rules.truncator(),
            x,
            rules,
            scene,
            applied: 0,
            longest: 0.0,
        }
    }

    pub fn points(&self) -> usize {
        self.scene.x.len()
    }

    pub fn detect(&mut self, wanted: &[Vec3], margin: &[f64], contact_radius: f64) {
        let prediction = Prediction { wanted, margin, contact_radius, present: &[] };
        self.detector.detect(&self.scene.geometry, &self.x, &prediction, &mut self.detection);
        self.applied = 0;
        self.longest = 0.0;
    }

    /// Detects all but the `kept` components anew; answers those of them that others may meet now.
    pub fn renew(&mut self, wanted: &[Vec3], margin: &[f64], kept: &[bool]) -> Vec<u32> {
        let contact_radius = self.detection.floor * 1e5;
        let prediction = Prediction { wanted, margin, contact_radius, present: &[] };
        let g = &self.scene.geometry;
        let met = self.detector.renew(g, &self.x, &prediction, kept, &mut self.detection);
        if met.is_empty() {
            self.dx.carry(g, &self.detection);
        }
        met
    }

    /// Judges the straight path of the components that go, while all others stay, and commits it.
    pub fn commit_part(&mut self, going: &[bool]) -> Result<(), String> {
        let component = &self.scene.geometry.component;
        let mut to = self.placed(self.dx.accepted());
        for (v, to) in to.iter_mut().enumerate().filter(|(v, _)| !going[component[*v] as usize]) {
            *to = self.x.as_slice()[v];
        }
        let from = self.x.as_slice();
        if self.rules.truncation != Truncation::Ccd
            && let Some(touch) = self.everything.trouble(&[from, &to])
        {
            return Err(format!("path of a part: {touch:?}"));
        }
        self.x.commit_islands(&self.scene.geometry, &mut self.detection, &mut self.dx, going);
        Ok(())
    }

    /// Where everything is with the displacement `d`: safe position + frame + d.
    fn placed(&self, d: &[Vec3]) -> Vec<Vec3> {
        let start = self.x.as_slice().iter().zip(&self.detection.frame);
        start.zip(d).map(|((x, f), d)| *x + (*d + *f)).collect()
    }

    /// Truncates the proposals in place and judges the path from what was accepted before.
    pub fn apply(&mut self, ask: &Ask, timings: Option<&mut Random>) -> Result<(), String> {
        let before = self.dx.accepted().to_vec();
        let request = Request {
            moved: &ask.moved,
            groups: &ask.groups,
            group_count: ask.group_count,
            keep: ask.keep,
            metric: &ask.metric,
            ..Request::default()
        };
        self.truncator.apply(self.x.as_slice(), &self.detection, &mut self.dx, &request);
        self.applied += 1;
        self.longest = self.dx.accepted().iter().map(|d| d.length()).fold(self.longest, f64::max);
        self.check_budgets()?;
        let after = self.dx.accepted().to_vec();
        let (from, to) = (self.placed(&before), self.placed(&after));
        let fail = |what: &str, touch| Err(format!("{what}: {touch:?}"));
        if let Some(touch) = self.everything.trouble(&[&from, &to]) {
            return fail("path of one application", touch);
        }
        if self.rules.truncation == Truncation::Ccd {
            return Ok(());
        }
        self.check_advances()?;
        // Planes that follow both sides hold for points that go at one pace.
        if let Some(r) = timings.filter(|_| self.rules.truncation == Truncation::Isotropic) {
            let own = before.iter().zip(&after).map(|(a, k)| *a + r.unit() * (*k - *a)).collect::<Vec<_>>();
            let between = self.placed(&own);
            if let Some(touch) = self.everything.trouble(&[&from, &between, &to]) {
                return fail("path with timings of its own", touch);
            }
        }
        Ok(())
    }

    /// Judges the straight path of the commit (unless steps of continuous detection make it a polyline) and commits.
    pub fn commit(&mut self) -> Result<(), String> {
        if self.rules.truncation != Truncation::Ccd || self.applied <= 1 {
            let to = self.placed(self.dx.accepted());
            if let Some(touch) = self.everything.trouble(&[self.x.as_slice(), &to]) {
                return Err(format!("path of the commit: {touch:?}"));
            }
        }
        self.x.commit(&self.detection, &mut self.dx);
        Ok(())
    }

    /// Exact judgement of the safe positions.
    pub fn check_state(&self) -> Result<(), String> {
        let g = &self.scene.geometry;
        let referee = Referee::new(&g.surface.edges, &g.surface.triangles, &g.tets, &g.active);
        let x = self.x.as_slice();
        let (mut crossings, inverted) = (referee.crossings_brute_force(x), referee.inverted(x));
        crossings.retain(|&[e, t]| {
            !g.is_entangled(g.surface.edges[e as usize][0], g.surface.triangles[t as usize][0])
        });
        if crossings.is_empty() && inverted.is_empty() && referee.non_finite(x) == 0 {
            return Ok(());
        }
        Err(format!("exact: crossings {crossings:?}, inverted {inverted:?}"))
    }

    /// Every point is inside its budget, to the rounding of one multiply–add.
    fn check_budgets(&self) -> Result<(), String> {
        for (v, (d, budget)) in self.dx.accepted().iter().zip(&self.detection.budget).enumerate() {
            let b = budget.around;
            let slack = 4.0 * f64::EPSILON * b.max.max(-b.min).max_element();
            let b = if slack.is_finite() { b.inflated(slack) } else { b };
            if !b.overlaps(&Aabb::point(*d)) {
                return Err(format!("point {v} at {d} has left its budget {b:?}"));
            }
            let tube = budget.tube;
            if !tube.inflated(8.0 * f64::EPSILON * (tube.way.length() + d.length())).has_between(*d) {
                return Err(format!("point {v} at {d} has left its tube {tube:?}"));
            }
        }
        Ok(())
    }

    /// The two sides of every listed pair use at most γ of its gap.
    fn check_advances(&self) -> Result<(), String> {
        for (k, p) in self.detection.planes.iter().enumerate() {
            let mut side = [f64::NEG_INFINITY; 2];
            for slot in 0..4 {
                let s = &mut side[usize::from(slot >= p.side_a as usize)];
                *s = s.max(p.advance(slot, self.dx.accepted()[p.points[slot] as usize]));
            }
            // Some rounding errors of the gap and of all that was added up.
            let behind = p.behind.iter().copied().fold(0.0, f64::max);
            let slack = 16.0 * f64::EPSILON * (p.gap + self.longest + behind);
            if side[0] + side[1] > self.rules.gamma * p.gap + slack {
                return Err(format!("plane {k} {p:?}: sides use {side:?}, more than γ {}", self.rules.gamma));
            }
        }
        Ok(())
    }
}

/// What a prediction foresees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Foresight {
    Nothing,
    Exact,
    /// All components travel together, far.
    Together,
    /// Some components go far, each its own way, past what rests.
    Passing,
    /// Each component travels on its own.
    Apart,
}

/// Plays the case with this seed.
pub fn play(seed: u64) -> Result<(), String> {
    let mut r = Random::new(seed);
    let kind = KINDS[r.below(KINDS.len())];
    let (truncation, split) = SAFE[[0, 0, 1, 1, 2, 3, 4, 5][r.below(8)]];
    let gamma = [0.5, 0.85, 0.95][r.below(3)];
    let rules = Rules { truncation, split, gamma };
    let s = [1e-3, 1.0, 1e3][r.below(3)];
    let far = if r.chance(0.2) && kind != Kind::Tiny && kind != Kind::FlatTets { 10.0 * s } else { 0.0 };
    let mut scene = scene(kind, &mut r).scaled(s, r.in_cube(1.0) * far);
    let components = scene.geometry.prescribed.len();
    if components > 1 && r.chance(0.15) {
        // Two that pass through each other while everything else may not.
        let (a, b) = (r.below(components) as u32, r.below(components) as u32);
        scene.geometry.entangled = if a == b { Vec::new() } else { vec![[a.min(b), a.max(b)]] };
    }
    let mut game = Game::new(scene, rules);
    play_rounds(&mut game, &mut r)
        .and_then(|()| game.check_state())
        .map_err(|e| format!("seed {seed}, {kind:?}, {rules:?}, scale {s}: {e}"))
}

fn play_rounds(game: &mut Game, r: &mut Random) -> Result<(), String> {
    for _ in 0..1 + r.below(3) {
        let (wanted, margin) = predict(game, r);
        let contact_radius = game.scene.gap * [1e-3, 0.5, 3.0][r.below(3)];
        game.detect(&wanted, &margin, contact_radius);
        for k in 0..1 + r.below(3) {
            let mut ask = Ask::of(subset(game.points(), r));
            propose(game, k, &wanted, &ask.moved, r);
            if k == 0 && r.chance(0.3) {
                ask.keep = game.scene.gap * r.log_between(0.01, 3.0);
            }
            if r.chance(0.25) {
                (ask.groups, ask.group_count) = groups(game, r);
            }
            if game.rules.truncation == Truncation::Project && r.chance(0.7) {
                ask.metric = ask.moved.iter().map(|_| metric(r)).collect();
            }
            let own_times = r.chance(0.5);
            game.apply(&ask, own_times.then_some(r))?;
        }
        game.commit()?;
    }
    Ok(())
}

/// A symmetric positive definite matrix with a condition number up to 10⁴.
pub fn metric(r: &mut Random) -> Mat3 {
    let (a, b, c) = (r.direction(), r.direction(), r.direction());
    let weights = [0; 3].map(|_| r.log_between(1e-2, 1e2));
    let o = littoral_geom::math::outer;
    o(a, a) * weights[0] + o(b, b) * weights[1] + o(c, c) * weights[2] + Mat3::IDENTITY * 1e-2
}

/// What a random prediction foresees of the motion, and the room around it.
pub fn predict(game: &Game, r: &mut Random) -> (Vec<Vec3>, Vec<f64>) {
    let foresight =
        [Foresight::Nothing, Foresight::Exact, Foresight::Together, Foresight::Apart, Foresight::Passing]
            [r.below(5)];
    let n = game.points();
    let (gap, size) = (game.scene.gap, game.scene.size);
    let small = r.log_between(1e-2 * gap, 1.0 * size);
    let margin: Vec<f64> = (0..n).map(|_| small * r.unit()).collect();
    let noise = small * [0.0, 0.3][r.below(2)];
    let common = r.direction() * (1000.0 * gap).min(20.0 * size) * r.log_between(0.1, 1.0);
    let own: Vec<Vec3> =
        game.scene.geometry.prescribed.iter().map(|_| r.direction() * small * 10.0).collect();
    let far: Vec<Vec3> = own.iter().map(|_| passing(size, r)).collect();
    let wanted = (0..n)
        .map(|v| {
            let c = game.scene.geometry.component[v] as usize;
            match foresight {
                _ if game.scene.geometry.prescribed[c] && foresight != Foresight::Exact => Vec3::ZERO,
                Foresight::Nothing => Vec3::ZERO,
                Foresight::Exact => r.in_cube(small),
                Foresight::Together => common + noise * r.in_cube(1.0),
                Foresight::Apart => own[c] + noise * r.in_cube(1.0),
                Foresight::Passing => far[c] + 0.1 * noise * r.in_cube(1.0),
            }
        })
        .collect();
    (wanted, margin)
}

/// A long way past others, or none.
fn passing(size: f64, r: &mut Random) -> Vec3 {
    if r.chance(0.4) { Vec3::ZERO } else { r.direction() * size * r.log_between(0.1, 5.0) }
}

/// All, one, or some of the points.
pub fn subset(n: usize, r: &mut Random) -> Vec<u32> {
    match r.below(4) {
        0 => (0..n as u32).collect(),
        1 => vec![r.below(n) as u32],
        _ => {
            let p = r.between(0.1, 0.9);
            (0..n as u32).filter(|_| r.chance(p)).collect()
        }
    }
}

fn groups(game: &Game, r: &mut Random) -> (Vec<u32>, usize) {
    let g = &game.scene.geometry;
    let chosen: Vec<bool> = g.prescribed.iter().map(|&p| p || r.chance(0.3)).collect();
    let of = |&c: &u32| if chosen[c as usize] { c } else { NO_GROUP };
    (g.component.iter().map(of).collect(), g.prescribed.len())
}

/// Writes proposals for the points that move.
pub fn propose(game: &mut Game, k: usize, wanted: &[Vec3], moved: &[u32], r: &mut Random) {
    let (gap, size) = (game.scene.gap, game.scene.size);
    let x = game.x.as_slice().to_vec();
    let accepted = game.dx.accepted().to_vec();
    let frame = game.detection.frame.clone();
    let center = x.iter().sum::<Vec3>() / x.len() as f64;
    let amplitude = r.log_between(0.1 * gap, 100.0 * size);
    let common = r.direction() * amplitude;
    let single = moved.get(r.below(moved.len())).copied();
    let style = if k == 0 && r.chance(0.3) { 0 } else { r.below(8) };
    let crush = r.between(0.2, 3.0);
    let proposals = game.dx.edit();
    for &v in moved {
        let i = v as usize;
        let a = accepted[i];
        proposals[i] = match style {
            0 => wanted[i] - frame[i],
            1 => r.in_cube(amplitude),
            // Everything through one point and out on the other side.
            2 => crush * (center - x[i]),
            // One corner swings far, the others stay.
            3 if Some(v) == single => a + common,
            3 => a,
            4 => common + 0.1 * gap * r.in_cube(1.0),
            5 => a + gap * r.in_cube(1.0),
            // Back, or beyond the start.
            6 => a * r.between(-1.0, 1.0),
            _ => a + common * r.between(-1.0, 1.0),
        };
    }
}
