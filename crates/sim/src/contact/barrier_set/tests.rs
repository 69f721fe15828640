//! A point over a surface: counted once where the surface is flat or convex, and without jumps anywhere.

use super::*;
use crate::contact::ContactPoints;
use crate::contact::barrier::value;
use crate::safe::{Detector, Prediction, SafePositions};
use littoral_geom::mesh::{TriMesh, unique_edges};
use littoral_geom::random::Random;
use littoral_geom::shapes;

const RADIUS: f64 = 0.2;

/// A surface of one object and one point of another.
struct Over {
    geometry: Geometry,
    contact: ContactModel,
    model: BarrierModel,
    detector: Detector,
    x: Vec<Vec3>,
}

impl Over {
    fn new(mesh: &TriMesh) -> Self {
        let n = mesh.vertices.len();
        let mut x = mesh.vertices.clone();
        x.push(Vec3::splat(50.0));
        let surface = littoral_geom::pairs::Surface {
            vertices: (0..=n as u32).collect(),
            edges: unique_edges(&mesh.triangles),
            triangles: mesh.triangles.clone(),
        };
        let mut component = vec![0; n];
        component.push(1);
        let geometry = Geometry {
            surface,
            component,
            prescribed: vec![true, true],
            // The surface is a collider: its own pairs are not listed.
            active: (0..=n).map(|v| v == n).collect(),
            collider_triangles: vec![Vec::new(); 2],
            ..Geometry::default()
        };
        let mut object = vec![0; n];
        object.push(1);
        let points = ContactPoints {
            object,
            driven: vec![false; n + 1],
            mass: vec![1.0; n + 1],
            elastic: vec![0.0; n + 1],
            rigid: Vec::new(),
            rest: x.clone(),
            offsets: Vec::new(),
        };
        let contact = ContactModel::new(&geometry, points, vec![0.0; 2], Some(5.0), RADIUS);
        let model = BarrierModel::new(&contact, &geometry, 1.0);
        Over { detector: Detector::new(&geometry), geometry, contact, model, x }
    }

    /// The barriers when the point is at `p`.
    fn touches(&mut self, p: Vec3) -> Vec<Touch> {
        *self.x.last_mut().unwrap() = p;
        let safe = SafePositions::trusted(self.x.clone());
        let still = vec![Vec3::ZERO; self.x.len()];
        let margin = vec![0.0; self.x.len()];
        let prediction = Prediction { wanted: &still, margin: &margin, contact_radius: RADIUS, present: &[] };
        let mut detection = Detection::unlimited(&safe);
        self.detector.detect(&self.geometry, &safe, &prediction, &mut detection);
        let mut barriers = Barriers::default();
        barriers.list(&self.model, &self.contact, &self.geometry, &detection);
        let mut touches = Vec::new();
        barriers.touches(&self.x, &mut touches);
        touches
    }

    fn energy(&mut self, p: Vec3) -> f64 {
        let touches = self.touches(p);
        touches.iter().map(|t| t.value(&self.x)).sum()
    }
}

/// The sheet has short edges, so that the point sees up to a hundred triangles, edges and corners at once.
#[test]
fn a_flat_sheet_counts_once_wherever_the_point_is() {
    let mut over = Over::new(&shapes::grid([1.0, 1.0], [20, 20]));
    let mut random = Random::new(3);
    for k in 0..200 {
        // Now and then exactly above an edge or a corner.
        let round = |v: f64| if k % 3 == 0 { (v * 20.0).round() / 20.0 } else { v };
        let p = Vec3::new(round(random.between(-0.3, 0.3)), round(random.between(-0.3, 0.3)), 0.0);
        let d = random.between(0.05, 0.19);
        let side = if k % 2 == 0 { 1.0 } else { -1.0 };
        let energy = over.energy(p + Vec3::new(0.0, 0.0, side * d));
        let expected = 5.0 * RADIUS * value(d, RADIUS);
        // Sums of some hundred terms up to ten times as large.
        assert!((energy - expected).abs() < 1e-11 * expected.max(1e-3), "{energy} against {expected} at {p}");
    }
}

#[test]
fn a_box_counts_once_at_its_faces_edges_and_corners() {
    let mut over = Over::new(&shapes::cuboid([1.0; 3], [3, 3, 3]));
    let mut random = Random::new(4);
    for _ in 0..300 {
        let on = Vec3::from_array([0; 3].map(|_| random.between(-0.7, 0.7)))
            .clamp(Vec3::splat(-0.5), Vec3::splat(0.5));
        if on.abs().max_element() < 0.5 {
            continue;
        }
        let out = Vec3::from_array([0, 1, 2].map(|i| if on[i].abs() == 0.5 { on[i].signum() } else { 0.0 }));
        let away = (out * Vec3::from_array([0; 3].map(|_| random.between(0.1, 1.0)))).normalize();
        let d = random.between(0.02, 0.19);
        let energy = over.energy(on + d * away);
        let expected = 5.0 * RADIUS * value(d, RADIUS);
        assert!(
            (energy - expected).abs() < 1e-10 * expected.max(1e-3),
            "{energy} against {expected} at {on}"
        );
    }
}

///  \   . → /     a point crosses a groove: near both sides, then the edge comes into reach
///   \     /
///    \   /
#[test]
fn the_energy_in_a_groove_has_no_jumps() {
    let vertices = vec![
        Vec3::new(0.0, -1.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
        Vec3::new(-1.0, 0.0, 1.0),
        Vec3::new(1.0, 0.0, 1.0),
    ];
    let mesh = TriMesh { vertices, triangles: vec![[0, 2, 1], [0, 1, 3]] };
    let mut over = Over::new(&mesh);
    let mut before = None;
    for k in 0..=2000 {
        let p = Vec3::new(0.1 * (f64::from(k) / 1000.0 - 1.0), 0.01, 0.12 + 2e-5 * f64::from(k));
        let energy = over.energy(p);
        if let Some(b) = before {
            let change: f64 = energy - b;
            // Steps of 1e-4 at forces up to some ten newtons.
            assert!(change.abs() < 5e-3, "jump of {change} at {p}");
        }
        before = Some(energy);
    }
}

///   a ──────        edges 0.1 apart: crossing in the middle they act, past the end they do not
///       │ b
#[test]
fn edges_act_where_they_cross_and_fade_towards_their_ends() {
    let barrier = Barrier { pair: Pair::EdgeEdge, strength: 1.0, range: 0.2, epsilon: 1e-3 };
    let edges = Edges { points: [0, 1, 2, 3], barrier, is_line: false };
    let energy = |along: f64| -> f64 {
        let x = [Vec3::ZERO, Vec3::X, Vec3::new(along, -0.5, 0.1), Vec3::new(along, 0.5, 0.1)];
        let mut touches = Vec::new();
        touch_edges(&edges, &x, &mut touches);
        touches.iter().map(|t| t.value(&x)).sum()
    };
    let full = value(0.1, 0.2);
    assert!((energy(0.5) - full).abs() < 1e-15 * full.max(1.0));
    assert_eq!(energy(-0.01), 0.0);
    let mut before = 0.0;
    for k in 0..=3000 {
        let now = energy(1e-4 * f64::from(k));
        // The slope nowhere exceeds that of the barrier at the gap.
        assert!(now >= -1e-15 && (now - before).abs() < 1e-4 * 2.0, "{before} to {now} at {k}");
        before = now;
    }
    assert!((before - full).abs() < 1e-12);
}

/// Two rods that end above each other, cross, or lie beside each other: one barrier of the distance, whatever is nearest.
#[test]
fn segments_of_rods_meet_with_their_ends_too() {
    let barrier = Barrier { pair: Pair::EdgeEdge, strength: 2.0, range: RADIUS, epsilon: 0.0 };
    let edges = Edges { points: [0, 1, 2, 3], barrier, is_line: true };
    let mut random = Random::new(9);
    let mut found = Vec::new();
    for _ in 0..1000 {
        let x: Vec<Vec3> = (0..4).map(|_| random.in_cube(0.4)).collect();
        found.clear();
        touch_edges(&edges, &x, &mut found);
        let d = closest_edge_edge(x[0], x[1], x[2], x[3]).distance_sq.sqrt();
        let energy: f64 = found.iter().map(|t| t.value(&x)).sum();
        let expected = 2.0 * value(d, RADIUS);
        assert!((energy - expected).abs() < 1e-9 * expected.max(1e-3), "{energy} against {expected}");
    }
}
