//! The near pairs found by the trees are those found by comparing everything with everything.

use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::unique_edges;
use littoral_geom::pairs::{BroadPhase, Pair, Query, Surface, detect_brute_force};
use littoral_geom::random::Random;
use littoral_geom::tube::Tube;

struct Scene {
    surface: Surface,
    x: Vec<Vec3>,
    boxes: Vec<Aabb>,
    tubes: Vec<Tube>,
    reach: Vec<f64>,
    active: Vec<bool>,
    rigid: Vec<u32>,
    offset: f64,
}

impl Scene {
    fn query(&self) -> Query<'_> {
        Query {
            x: &self.x,
            boxes: &self.boxes,
            tubes: &self.tubes,
            reach: &self.reach,
            offset: self.offset,
            active: &self.active,
            rigid: &self.rigid,
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
        let mut tubes = Vec::new();
        for i in 0..n {
            self.x[i] = (self.x[i] + shift) * scale;
            self.reach[i] = reach * r.log_between(1e-2, 1.0) * scale;
            // Boxes that look ahead in one direction, and may be smaller or larger than the reach.
            let way = self.reach[i] * r.direction();
            let room = r.between(0.0, 1.0) * self.reach[i];
            self.boxes[i] = Aabb::point(self.x[i]).including(self.x[i] + way).inflated(room);
            self.active[i] = r.chance(0.7);
            tubes.push(if r.chance(0.5) { Tube { way, room } } else { Tube::NONE });
        }
        self.tubes = if r.chance(0.5) { tubes } else { Vec::new() };
        self.offset = if r.chance(0.5) { 0.0 } else { reach * r.unit() * scale };
    }
}

/// Lowest and highest that the box and the ball of any of the points reach along `d`; of the box alone where there is no
/// `ball`.
fn interval(scene: &Scene, points: &[u32], d: Vec3, ball: bool) -> (f64, f64) {
    let mut all = (f64::INFINITY, f64::NEG_INFINITY);
    for &p in points {
        let (b, x) = (scene.boxes[p as usize], scene.x[p as usize]);
        let corners = (0..8).map(|k| {
            let pick = |axis: usize| if k >> axis & 1 == 0 { b.min[axis] } else { b.max[axis] };
            d.dot(Vec3::new(pick(0), pick(1), pick(2)))
        });
        let (mut low, mut high) =
            corners.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), c| (l.min(c), h.max(c)));
        if ball {
            let radius = d.length() * (scene.reach[p as usize] + 0.5 * scene.offset);
            (low, high) = (low.max(d.dot(x) - radius), high.min(d.dot(x) + radius));
        }
        all = (all.0.min(low), all.1.max(high));
    }
    all
}

fn apart(scene: &Scene, a: &[u32], b: &[u32], d: Vec3, ball: bool) -> bool {
    let ((a_low, a_high), (b_low, b_high)) = (interval(scene, a, d, ball), interval(scene, b, d, ball));
    a_high < b_low || b_high < a_low
}

fn apart_along_a_diagonal(scene: &Scene, a: &[u32], b: &[u32]) -> bool {
    littoral_geom::bvh::DIAGONALS.iter().any(|&d| apart(scene, a, b, d.into(), true))
}

/// Whether what the points of two primitives can reach, with tubes, is apart: the nearest point of the difference of
/// the two hulls is sought by going towards its farthest corner against it [Gilbert 1966].
fn hulls_apart(scene: &Scene, a: &[u32], b: &[u32]) -> bool {
    let origin = scene.x[a[0] as usize];
    let farthest = |points: &[u32], n: Vec3| {
        let reach = |&p: &u32| {
            let (x, b, i) = (scene.x[p as usize] - origin, scene.boxes[p as usize], p as usize);
            let in_box = Vec3::select(n.cmpgt(Vec3::ZERO), b.max, b.min) - origin;
            let Some(t) = scene.tubes.get(i).filter(|t| !t.is_none()) else { return in_box };
            let end = if n.dot(t.way) > 0.0 { t.way } else { Vec3::ZERO };
            let in_tube = x + end + Vec3::select(n.cmpgt(Vec3::ZERO), Vec3::ONE, -Vec3::ONE) * t.room;
            if n.dot(in_tube) < n.dot(in_box) { in_tube } else { in_box }
        };
        let further = |p: Vec3, q: Vec3| if n.dot(q) > n.dot(p) { q } else { p };
        points.iter().map(reach).reduce(further).unwrap()
    };
    let mut z = farthest(a, Vec3::X) - farthest(b, -Vec3::X);
    // Slow where the hulls are long and nearly parallel.
    for _ in 0..1_000_000 {
        let corner = farthest(a, -z) - farthest(b, z);
        if z.dot(corner) > 0.0 {
            return true;
        }
        let step = corner - z;
        let t = (-z.dot(step) / step.length_squared()).clamp(0.0, 1.0);
        if t.is_nan() {
            break;
        }
        z += t * step;
    }
    false
}

/// The primitives of a vertex–triangle or an edge–edge pair.
fn sides(scene: &Scene, is_edges: bool, a: u32, b: u32) -> (Vec<u32>, Vec<u32>) {
    let surface = &scene.surface;
    if is_edges {
        (surface.edges[a as usize].to_vec(), surface.edges[b as usize].to_vec())
    } else {
        (vec![a], surface.triangles[b as usize].to_vec())
    }
}

/// Trees find what brute force finds, but for pairs whose points stay apart along a diagonal, which it does not ask.
fn compare(scene: &Scene, found: &[Pair], expected: &[Pair], is_edges: bool, seed: u64) {
    let mut found = found.iter().peekable();
    for e in expected {
        if found.next_if(|f| *f == e).is_none() {
            let (a, b) = sides(scene, is_edges, e.a, e.b);
            assert!(apart_along_a_diagonal(scene, &a, &b), "seed {seed}: lost {e:?}");
        }
    }
    assert_eq!(found.next(), None, "seed {seed}: brute force does not find this");
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
        tubes: Vec::new(),
        reach: zero,
        active: vec![true; n],
        rigid: Vec::new(),
        offset: 0.0,
    };
    let scale = r.log_between(1e-3, 1e3);
    scene.scatter(r, scale);
    scene
}

/// Small soups side by side or through each other; most belong to rigid bodies, some of them to the same.
fn bodies(r: &mut Random) -> Scene {
    let mut scene = soup(r);
    let count = 1 + r.below(16);
    scene.surface = Surface::default();
    scene.rigid.clear();
    for _ in 0..count {
        let (first, size) = (scene.rigid.len() as u32, 3 + r.below(6));
        let body = if r.chance(0.3) { u32::MAX } else { r.below(count) as u32 };
        scene.rigid.resize(first as usize + size, body);
        let corner = |r: &mut Random| first + r.below(size) as u32;
        let triangles: Vec<[u32; 3]> = (0..12).map(|_| [corner(r), corner(r), corner(r)]).collect();
        scene.surface.edges.extend(unique_edges(&triangles));
        scene.surface.triangles.extend(triangles);
        scene.surface.vertices.extend(first..first + size as u32);
    }
    let n = scene.rigid.len();
    scene.x.resize(n, Vec3::ZERO);
    scene.boxes.resize(n, Aabb::EMPTY);
    scene.tubes.clear();
    scene.reach.resize(n, 0.0);
    scene.active.resize(n, true);
    scene.scatter(r, 1.0);
    if r.chance(0.5) {
        // Each piece in a place of its own.
        let places: Vec<Vec3> = (0..count).map(|_| r.in_cube(1.0)).collect();
        for p in 0..n {
            let place = scene.rigid.get(p).map_or(Vec3::ZERO, |b| places[(*b as usize).min(count - 1)]);
            let moved = 0.2 * (scene.x[p] - place);
            let shift = moved - scene.x[p] + place;
            scene.x[p] += shift;
            (scene.boxes[p].min, scene.boxes[p].max) =
                (scene.boxes[p].min + shift, scene.boxes[p].max + shift);
        }
    }
    scene
}

#[test]
fn trees_find_what_brute_force_finds_between_bodies_and_nothing_within() {
    let (mut pairs, mut within) = (0, 0);
    for seed in 0..600 {
        let mut r = Random::new(seed);
        let mut scene = bodies(&mut r);
        let mut broad_phase = BroadPhase::new(&scene.surface, scene.x.len());
        for _ in 0..2 {
            let (found, expected) = (scene.detect_with(&mut broad_phase), scene.oracle());
            compare(&scene, &found.0, &expected.0, false, seed);
            compare(&scene, &found.1, &expected.1, true, seed);
            pairs += found.0.len() + found.1.len();
            let rigid = std::mem::take(&mut scene.rigid);
            let all = scene.oracle();
            within += all.0.len() + all.1.len() - expected.0.len() - expected.1.len();
            // The same tree with other bodies.
            scene.rigid = rigid.iter().map(|b| if *b == 0 { u32::MAX } else { *b }).collect();
        }
    }
    assert!(pairs > 20_000 && within > 20_000, "{pairs} pairs between, {within} within");
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
    Scene {
        surface,
        x,
        boxes,
        tubes: Vec::new(),
        reach: vec![0.1 * h; n],
        active: vec![true; n],
        rigid: Vec::new(),
        offset: 0.05 * h,
    }
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
            compare(&scene, &found.0, &expected.0, false, seed);
            compare(&scene, &found.1, &expected.1, true, seed);
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
    compare(&scene, &found.0, &expected.0, false, 1);
    compare(&scene, &found.1, &expected.1, true, 1);
}

/// What brute force leaves out is too far away for its reach, or a plane divides the boxes, tried with all their corners.
#[test]
fn what_is_not_listed_has_a_plane_between() {
    use littoral_geom::distance::{closest_edge_edge, closest_point_triangle};
    let (mut kept, mut left, mut by_plane, mut by_tube) = (0, 0, 0, 0);
    for seed in 0..2000 {
        let scene = soup(&mut Random::new(seed));
        let (vt, ee) = scene.oracle();
        let reach = |points: &[u32]| points.iter().map(|&p| scene.reach[p as usize]).fold(0.0, f64::max);
        let x = |p: u32| scene.x[p as usize];
        let mut check = |is_edges: bool, a: u32, b: u32, list: &[Pair]| {
            let (p, q) = sides(&scene, is_edges, a, b);
            let simulated = p.iter().chain(&q).any(|&v| scene.active[v as usize]);
            if !simulated || p.iter().any(|v| q.contains(v)) {
                return;
            }
            if list.iter().any(|l| (l.a, l.b) == (a, b)) {
                kept += 1;
                return;
            }
            left += 1;
            let (from_b, gap_sq, across) = if is_edges {
                let c = closest_edge_edge(x(p[0]), x(p[1]), x(q[0]), x(q[1]));
                (c.point_a - c.point_b, c.distance_sq, (x(p[1]) - x(p[0])).cross(x(q[1]) - x(q[0])))
            } else {
                let c = closest_point_triangle(x(p[0]), [x(q[0]), x(q[1]), x(q[2])]);
                (x(p[0]) - c.point, c.distance_sq, (x(q[1]) - x(q[0])).cross(x(q[2]) - x(q[0])))
            };
            if gap_sq.sqrt() > (reach(&p) + reach(&q) + scene.offset) * (1.0 - 1e-9) {
                return;
            }
            by_plane += 1;
            let known = [Vec3::X, Vec3::Y, Vec3::Z, from_b.normalize_or_zero(), across.normalize_or_zero()];
            let divided = known.iter().any(|&d| apart(&scene, &p, &q, d, false));
            if !divided && !scene.tubes.is_empty() {
                by_tube += 1;
                assert!(hulls_apart(&scene, &p, &q), "seed {seed}: {p:?} and {q:?} may meet on their ways");
                return;
            }
            assert!(divided, "seed {seed}: {p:?} and {q:?}, edges: {is_edges}, may meet");
        };
        for &v in &scene.surface.vertices {
            (0..scene.surface.triangles.len()).for_each(|t| check(false, v, t as u32, &vt));
        }
        for b in 0..scene.surface.edges.len() {
            (0..b).for_each(|a| check(true, a as u32, b as u32, &ee));
        }
    }
    assert!(kept > 10_000 && by_plane > 10_000, "{kept} kept, {left} left out, {by_plane} by planes");
    assert!(by_tube > 1000, "{by_tube} by tubes");
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
            tubes: Vec::new(),
            surface,
            x,
            reach: vec![0.1; n],
            active: vec![true; n],
            rigid: Vec::new(),
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
        tubes: Vec::new(),
        surface,
        x,
        reach: vec![0.05; 4],
        active: vec![true; 4],
        rigid: Vec::new(),
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
