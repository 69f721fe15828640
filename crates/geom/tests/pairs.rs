//! The near pairs found by the trees are those found by comparing everything with everything.

use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::unique_edges;
use littoral_geom::pairs::{BroadPhase, Pair, Query, Surface, detect_brute_force};
use littoral_geom::random::Random;

struct Scene {
    surface: Surface,
    x: Vec<Vec3>,
    boxes: Vec<Aabb>,
    reach: Vec<f64>,
    active: Vec<bool>,
    offset: f64,
}

impl Scene {
    fn query(&self) -> Query<'_> {
        Query {
            x: &self.x,
            boxes: &self.boxes,
            reach: &self.reach,
            offset: self.offset,
            active: &self.active,
            rigid: &[],
        }
    }

    fn detect_with(&self, broad_phase: &mut BroadPhase) -> (Vec<Pair>, Vec<Pair>) {
        let (mut vt, mut ee) = (Vec::new(), Vec::new());
        broad_phase.detect(&self.surface, &self.query(), &mut vt, &mut ee);
        (vt, ee)
    }

    fn detect(&self) -> (Vec<Pair>, Vec<Pair>) {
        self.detect_with(&mut BroadPhase::new(&self.surface, self.x.len()))
    }

    fn oracle(&self) -> (Vec<Pair>, Vec<Pair>) {
        let (mut vt, mut ee) = (Vec::new(), Vec::new());
        detect_brute_force(&self.surface, &self.query(), &mut vt, &mut ee);
        (vt, ee)
    }

    /// New positions, boxes and reaches for the same surface; `reach` is relative to the scene's size 1.
    fn scatter(&mut self, r: &mut Random, scale: f64) {
        let n = self.x.len();
        let reach = r.log_between(1e-3, 0.3);
        let flat = r.chance(0.2);
        for p in &mut self.x {
            *p = r.in_cube(1.0);
            p.z *= if flat { 0.0 } else { 1.0 };
        }
        // Slivers, repeated points and points on a grid.
        for i in 1..n {
            match r.below(8) {
                0 => self.x[i] = self.x[r.below(i)],
                1 => self.x[i] = self.x[r.below(i)] + r.log_between(1e-12, 1e-2) * r.direction(),
                2 => self.x[i] = (self.x[i] * 4.0).round() / 4.0,
                _ => {}
            }
        }
        // A few points of a huge ground; a scene far from the origin.
        if r.chance(0.2) {
            let size = r.log_between(1.0, 1e4);
            (0..n).filter(|i| i % 7 == 0).for_each(|i| self.x[i] *= size);
        }
        let distance = [0.0, 100.0, 1e6][r.below(3)];
        let shift = r.in_cube(distance);
        for i in 0..n {
            self.x[i] = (self.x[i] + shift) * scale;
            self.reach[i] = reach * r.log_between(1e-2, 1.0) * scale;
            // Boxes that look ahead in one direction, and may be smaller or larger than the reach.
            let ahead = self.x[i] + self.reach[i] * r.direction();
            self.boxes[i] =
                Aabb::point(self.x[i]).including(ahead).inflated(r.between(0.0, 1.0) * self.reach[i]);
            self.active[i] = r.chance(0.7);
        }
        self.offset = if r.chance(0.5) { 0.0 } else { reach * r.unit() * scale };
    }
}

/// A soup of triangles of mixed sizes that share some points, with loose edges and vertices.
fn soup(r: &mut Random) -> Scene {
    let n = 4 + r.below(40);
    let corner = |r: &mut Random| r.below(n) as u32;
    let triangles: Vec<[u32; 3]> = (0..r.below(40)).map(|_| [corner(r), corner(r), corner(r)]).collect();
    let mut edges = unique_edges(&triangles);
    edges.extend((0..r.below(10)).map(|_| [corner(r), corner(r)]));
    let vertices = (0..n as u32).filter(|_| r.chance(0.9)).collect();
    let surface = Surface { vertices, edges, triangles };
    let zero = vec![0.0; n];
    let mut scene = Scene {
        surface,
        x: vec![Vec3::ZERO; n],
        boxes: vec![Aabb::EMPTY; n],
        reach: zero,
        active: vec![true; n],
        offset: 0.0,
    };
    let scale = r.log_between(1e-3, 1e3);
    scene.scatter(r, scale);
    scene
}

/// A wavy stack of sheets, large enough for many leaves and tasks.
fn stack(cells: usize, sheets: usize, seed: u64) -> Scene {
    let mut r = Random::new(seed);
    let h = 1.0 / cells as f64;
    let (mut x, mut triangles) = (Vec::new(), Vec::new());
    for sheet in 0..sheets {
        let first = x.len() as u32;
        for j in 0..=cells {
            for i in 0..=cells {
                let (u, v) = (i as f64 * h, j as f64 * h);
                let z = 0.05 * (20.0 * u).sin() + 0.3 * h * sheet as f64;
                x.push(Vec3::new(u, v, z) + 0.1 * h * r.in_cube(1.0));
            }
        }
        let row = cells as u32 + 1;
        for j in 0..cells as u32 {
            for i in 0..cells as u32 {
                let k = first + j * row + i;
                triangles.push([k, k + 1, k + row + 1]);
                triangles.push([k, k + row + 1, k + row]);
            }
        }
    }
    let n = x.len();
    let surface = Surface { vertices: (0..n as u32).collect(), edges: unique_edges(&triangles), triangles };
    let boxes = x.iter().map(|&p| Aabb::point(p).inflated(0.1 * h)).collect();
    Scene { surface, x, boxes, reach: vec![0.1 * h; n], active: vec![true; n], offset: 0.05 * h }
}

#[test]
fn trees_find_what_brute_force_finds_in_random_soups() {
    let (mut pairs, mut cases) = (0, 0);
    for seed in 0..4000 {
        let mut r = Random::new(seed);
        let mut scene = soup(&mut r);
        let mut broad_phase = BroadPhase::new(&scene.surface, scene.x.len());
        // The second and third detection refit or rebuild the trees of the first.
        for _ in 0..3 {
            let (found, expected) = (scene.detect_with(&mut broad_phase), scene.oracle());
            assert_eq!(found, expected, "seed {seed}");
            pairs += found.0.len() + found.1.len();
            cases += 1;
            let scale = r.log_between(1e-3, 1e3);
            scene.scatter(&mut r, scale);
        }
    }
    assert!(pairs > 20 * cases, "{pairs} pairs in {cases} cases test little");
}

#[test]
fn trees_find_what_brute_force_finds_in_a_stack_of_sheets() {
    let scene = stack(12, 4, 1);
    let (found, expected) = (scene.detect(), scene.oracle());
    assert!(found.0.len() > 100 && found.1.len() > 100);
    assert_eq!(found, expected);
}

#[test]
fn the_lists_are_the_same_on_any_number_of_threads() {
    let scene = stack(60, 6, 2);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| scene.detect())
    };
    let one = on(1);
    for threads in [2, 3, 7] {
        assert!(one == on(threads), "{threads} threads give another list");
    }
}

#[test]
fn every_listed_pair_fulfils_the_criterion_and_has_a_unit_normal() {
    for seed in 0..300 {
        let scene = soup(&mut Random::new(seed));
        let (vt, ee) = scene.detect();
        let reach = |points: &[u32]| points.iter().map(|&p| scene.reach[p as usize]).fold(0.0, f64::max);
        let check = |pair: &Pair, a: &[u32], b: &[u32]| {
            assert!(!a.iter().any(|p| b.contains(p)), "seed {seed}: common point");
            assert!(a.iter().chain(b).any(|&p| scene.active[p as usize]), "seed {seed}: inactive");
            assert!(pair.gap <= reach(a) + reach(b) + scene.offset, "seed {seed}: too far");
            let expected = if pair.gap > 0.0 { 1.0 } else { 0.0 };
            assert!((pair.normal.length() - expected).abs() < 1e-14, "seed {seed}: {pair:?}");
        };
        for p in &vt {
            check(p, &[p.a], &scene.surface.triangles[p.b as usize]);
        }
        for p in &ee {
            assert!(p.a < p.b);
            check(p, &scene.surface.edges[p.a as usize], &scene.surface.edges[p.b as usize]);
        }
        assert!(vt.is_sorted_by_key(|p| (p.a, p.b)) && ee.is_sorted_by_key(|p| (p.a, p.b)));
    }
}

/// One vertex above one triangle, or two edges crossing above each other, with a gap of a few units in the last place.
#[test]
fn the_normal_is_on_the_right_side_at_gaps_of_one_rounding_error() {
    let detect = |x: Vec<Vec3>, surface: Surface| {
        let n = x.len();
        let scene = Scene {
            boxes: x.iter().map(|&p| Aabb::point(p).inflated(0.1)).collect(),
            surface,
            x,
            reach: vec![0.1; n],
            active: vec![true; n],
            offset: 0.0,
        };
        scene.detect()
    };
    for ulps in [-3i32, -2, -1, 1, 2, 3] {
        // Plane z = 0.7 exactly; the height differs from it by `ulps` units in the last place.
        let z = f64::from_bits((0.7f64.to_bits() as i64 + ulps as i64) as u64);
        let (up, gap) = ((ulps as f64).signum(), (z - 0.7).abs());
        let corner = |x: f64, y: f64| Vec3::new(x, y, 0.7);
        let points = vec![Vec3::new(0.31, 0.27, z), corner(0.0, 0.1), corner(1.3, 0.0), corner(0.2, 0.9)];
        let surface = Surface { vertices: vec![0], edges: vec![], triangles: vec![[1, 2, 3]] };
        let (vt, _) = detect(points, surface);
        assert!(vt[0].normal.z == up && (vt[0].gap - gap).abs() < 1e-15 * gap, "{vt:?} for {ulps}");
        let points =
            vec![Vec3::new(0.3, -0.5, z), Vec3::new(0.4, 0.9, z), corner(-0.7, 0.1), corner(1.1, 0.2)];
        let surface = Surface { vertices: vec![], edges: vec![[0, 1], [2, 3]], triangles: vec![] };
        let (_, ee) = detect(points, surface);
        assert!(ee[0].normal.z == up && (ee[0].gap - gap).abs() < 1e-15 * gap, "{ee:?} for {ulps}");
    }
}

#[test]
fn ropes_and_loose_points_need_no_triangles() {
    let x = vec![Vec3::ZERO, Vec3::X, Vec3::new(0.5, -1.0, 0.1), Vec3::new(0.5, 1.0, 0.1)];
    let surface = Surface { vertices: vec![0, 1, 2, 3], edges: vec![[0, 1], [2, 3]], triangles: vec![] };
    let mut scene = Scene {
        boxes: x.iter().map(|&p| Aabb::point(p).inflated(0.06)).collect(),
        surface,
        x,
        reach: vec![0.05; 4],
        active: vec![true; 4],
        offset: 0.01,
    };
    let (vt, ee) = scene.detect();
    assert!(vt.is_empty() && ee.len() == 1);
    assert!((ee[0].gap - 0.1).abs() < 1e-16 && ee[0].normal == -Vec3::Z);
    scene.active = vec![false; 4];
    assert!(scene.detect().1.is_empty());
    scene.surface = Surface::default();
    assert_eq!(scene.detect(), (vec![], vec![]));
}

#[test]
fn non_finite_points_neither_panic_nor_hide_other_pairs() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut scene = stack(12, 3, 3);
        let good = scene.detect();
        scene.x[5] = Vec3::new(bad, 0.0, 0.0);
        scene.boxes[5] = Aabb::point(scene.x[5]).inflated(0.1);
        let (vt, ee) = scene.detect();
        for p in good.0.iter().filter(|p| p.a != 5 && !scene.surface.triangles[p.b as usize].contains(&5)) {
            assert!(vt.contains(p), "{bad}: lost {p:?}");
        }
        let touches = |e: u32| scene.surface.edges[e as usize].contains(&5);
        for p in good.1.iter().filter(|p| !touches(p.a) && !touches(p.b)) {
            assert!(ee.contains(p), "{bad}: lost {p:?}");
        }
    }
}
