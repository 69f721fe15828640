//! Fillings of whole bodies: volume, quality, manifold boundary, and clear refusals.

use super::*;
use crate::shapes;
use std::path::Path;

/// Fills and checks what holds for every filling; answers the tets' quality.
fn check(name: &str, surface: &TriMesh, spacing: f64, volume: f64, tolerance: f64) -> TetQuality {
    let mesh = tet_fill(surface, spacing).unwrap_or_else(|e| panic!("{name}: {e}"));
    let q = tet_quality(&mesh);
    assert!(q.min_volume > 0.0, "{name}: {q:?}");
    assert!(q.min_dihedral.to_degrees() > 10.0 && q.max_dihedral.to_degrees() < 165.0, "{name}: {q:?}");
    assert!((q.volume / volume - 1.0).abs() < tolerance, "{name}: volume {} for {volume}", q.volume);
    assert!(repair::pinched_vertices(&mesh).is_empty(), "{name}");
    assert_eq!(open_edges(&boundary_triangles(&mesh.tets)), 0, "{name}");
    let mut used = vec![false; mesh.vertices.len()];
    mesh.tets.iter().flatten().for_each(|&v| used[v as usize] = true);
    assert!(used.iter().all(|&u| u), "{name}: a vertex without tets");
    q
}

#[test]
fn shapes_are_filled_with_good_tets_of_their_volume() {
    let fill = |name: &str, mesh: TriMesh, spacing: f64, tolerance: f64| {
        check(name, &mesh, spacing, mesh.enclosed_volume(), tolerance)
    };
    fill("sphere", shapes::sphere(0.5, 4), 0.1, 0.02);
    fill("fine sphere", shapes::sphere(0.5, 4), 0.05, 0.01);
    fill("ellipsoid", shapes::ellipsoid([1.0, 0.4, 0.6], 4), 0.1, 0.02);
    fill("torus", shapes::torus(1.0, 0.3, 64, 32), 0.1, 0.02);
    fill("gear", shapes::gear(0.4, 0.3, 12, 0.2, 1), 0.03, 0.05);
    fill("cuboid off the lattice", shapes::cuboid([1.03, 0.77, 0.58], [1, 1, 1]), 0.1, 0.05);
    fill("prism", shapes::prism(3, 0.5, 0.4), 0.08, 0.05);
    fill("thick bowl", shapes::bowl(0.4, 0.1, 48), 0.05, 0.05);
}

#[test]
fn a_box_of_whole_spacings_is_filled_exactly() {
    let q = check("cuboid", &shapes::cuboid([1.0, 0.7, 0.5], [10, 7, 5]), 0.1, 0.35, 1e-9);
    assert!((q.min_dihedral.to_degrees() - 45.0).abs() < 1e-6);
}

#[test]
fn half_the_spacing_quarters_the_error_of_the_volume() {
    let ball = shapes::sphere(0.5, 4);
    let error =
        |spacing: f64| (tet_fill(&ball, spacing).unwrap().volume() / ball.enclosed_volume() - 1.0).abs();
    let errors = [0.2, 0.1, 0.05].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.5..2.6).contains(&order), "{errors:?}");
    }
}

#[test]
fn filled_shapes_have_their_closed_form_volume() {
    use std::f64::consts::PI;
    let relative = |mesh: Result<TetMesh, FillError>, volume: f64| mesh.unwrap().volume() / volume - 1.0;
    assert!(relative(shapes::tet_sphere(0.3, 0.05), 4.0 / 3.0 * PI * 0.027).abs() < 0.03);
    assert!(relative(shapes::tet_cylinder(0.2, 0.5, 0.05), PI * 0.02).abs() < 0.03);
    assert!(relative(shapes::tet_torus(0.3, 0.1, 0.03), 2.0 * PI * PI * 0.003).abs() < 0.03);
}

#[test]
fn the_boundary_follows_the_surface() {
    let ball = shapes::sphere(0.5, 4);
    let mesh = tet_fill(&ball, 0.1).unwrap();
    for v in boundary_triangles(&mesh.tets).into_iter().flatten() {
        // On the polyhedron up to the accuracy of the cuts, which is within 0.3 % of the ball.
        assert!((mesh.vertices[v as usize].length() - 0.5).abs() < 1.5e-3);
    }
}

#[test]
fn overlapping_bodies_are_united_and_separate_ones_stay_apart() {
    let moved = |mesh: &TriMesh, by: Vec3| mesh.vertices.iter().map(move |&p| p + by).collect::<Vec<_>>();
    let cube = shapes::cuboid([1.0; 3], [3; 3]);
    let pair = |by: f64| {
        let mut both = cube.clone();
        let n = both.vertices.len() as u32;
        both.vertices.extend(moved(&cube, Vec3::X * by));
        both.triangles.extend(cube.triangles.iter().map(|t| t.map(|v| v + n)));
        both
    };
    check("overlapping cubes", &pair(0.5), 0.125, 1.5, 0.01);
    check("separate cubes", &pair(1.5), 0.125, 2.0, 0.01);
}

#[test]
fn an_inside_out_surface_is_filled_all_the_same() {
    let ball = shapes::sphere(0.5, 3);
    let mut turned = ball.clone();
    turned.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    check("inside out", &turned, 0.1, ball.enclosed_volume(), 0.02);
}

#[test]
fn a_small_hole_is_bridged() {
    let ball = shapes::sphere(0.5, 3);
    let mut torn = ball.clone();
    torn.triangles.truncate(ball.triangles.len() - 6);
    check("torn sphere", &torn, 0.1, ball.enclosed_volume(), 0.03);
}

#[test]
fn open_surfaces_are_refused_with_the_number_of_open_edges() {
    let open = |mesh: TriMesh| match tet_fill(&mesh, 0.05) {
        Err(FillError::Open { open_edges, .. }) => open_edges,
        other => panic!("{other:?}"),
    };
    assert_eq!(open(shapes::grid([1.0, 1.0], [10, 10])), 40);
    assert_eq!(open(shapes::bowl(0.5, 0.0, 32)), 32);
    assert_eq!(open(shapes::tube(0.3, 0.5, 24, 4)), 48);
    assert_eq!(open(TriMesh::default()), 0);
    // Half of the triangles turned over.
    let mut mixed = shapes::sphere(0.5, 3);
    mixed.triangles.iter_mut().step_by(2).for_each(|t| t.swap(0, 1));
    assert!(open(mixed) > 100);
}

#[test]
fn a_too_coarse_spacing_is_refused_and_its_suggestion_works() {
    for (name, mesh, spacing) in [
        ("plate", shapes::cuboid([1.0, 1.0, 0.01], [8, 8, 1]), 0.1),
        ("bowl", shapes::bowl(0.4, 0.03, 48), 0.2),
        ("ball", shapes::sphere(0.01, 2), 1.0),
        ("ball beside a wire", two_parts(), 0.2),
    ] {
        let mut spacing = spacing;
        let mut refusals = 0;
        while let Err(e) = tet_fill(&mesh, spacing) {
            let FillError::TooCoarse { suggestion, .. } = e else { panic!("{name}: {e}") };
            assert!(suggestion <= 0.5 * spacing);
            spacing = suggestion;
            refusals += 1;
        }
        assert!((1..=3).contains(&refusals), "{name}: {refusals}");
    }
}

/// Vertices − edges + triangles of the boundary: 2 for a body without holes.
fn euler_characteristic(mesh: &TetMesh) -> i64 {
    let skin = boundary_triangles(&mesh.tets);
    let mut vertices: Vec<u32> = skin.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices.len() as i64 - skin.len() as i64 / 2
}

#[test]
fn plates_of_half_a_spacing_are_refused_and_of_one_and_a_half_filled_whole() {
    for (layers, thick) in [(0.5, false), (1.5, true)] {
        for k in 1..=8 {
            let mut plate = shapes::cuboid([1.0, 1.0, 0.1 * layers], [4, 4, 1]);
            let k = k as f64;
            let axis = Vec3::new(k.sin(), (2.0 * k).cos(), (0.7 * k).sin()).normalize();
            let turn = crate::math::Quat::from_axis_angle(axis, 0.37 * k);
            plate.vertices.iter_mut().for_each(|p| *p = turn * *p);
            let whole = tet_fill(&plate, 0.1).map(|mesh| euler_characteristic(&mesh) == 2);
            assert_eq!(whole.unwrap_or(false), thick, "{layers} layers, turn {k}");
        }
    }
}

/// A ball and a thin bar apart from it, which a coarse lattice does not see.
fn two_parts() -> TriMesh {
    let mut mesh = shapes::sphere(0.5, 3);
    let bar = shapes::cuboid([3.0, 0.06, 0.06], [20, 1, 1]);
    let n = mesh.vertices.len() as u32;
    mesh.vertices.extend(bar.vertices.iter().map(|&p| p + Vec3::Z));
    mesh.triangles.extend(bar.triangles.iter().map(|t| t.map(|v| v + n)));
    mesh
}

#[test]
fn a_too_fine_spacing_is_refused_before_any_work() {
    let start = std::time::Instant::now();
    let Err(FillError::TooFine { suggestion, tets, .. }) = tet_fill(&shapes::sphere(1.0, 3), 1e-4) else {
        panic!("expected a refusal")
    };
    assert!(tets > 5e6 && suggestion > 1e-3);
    assert!(start.elapsed().as_secs_f64() < 1.0);
}

#[test]
fn bad_input_is_refused() {
    let ball = shapes::sphere(0.5, 1);
    for spacing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(tet_fill(&ball, spacing), Err(FillError::Spacing { .. })));
    }
    let mut broken = ball.clone();
    broken.vertices[3] = Vec3::NAN;
    assert!(matches!(tet_fill(&broken, 0.1), Err(FillError::Corner { .. })));
    broken = ball.clone();
    broken.triangles[7][1] = 9999;
    assert_eq!(tet_fill(&broken, 0.1), Err(FillError::Corner { triangle: 7 }));
}

#[test]
fn one_thread_and_many_give_the_same_bits() {
    let ball = shapes::sphere(0.5, 3);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| tet_fill(&ball, 0.08).unwrap())
    };
    assert_eq!(with(1), with(5));
}

/// Positions and triangles of an OBJ file, polygons as fans.
fn read_obj(path: &Path) -> Option<TriMesh> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut mesh = TriMesh::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let c: Vec<f64> = words.filter_map(|w| w.parse().ok()).collect();
                mesh.vertices.push(Vec3::from_slice(&c));
            }
            Some("f") => {
                let f: Vec<u32> = words.filter_map(|w| w.split('/').next()?.parse::<u32>().ok()).collect();
                mesh.triangles.extend((2..f.len()).map(|i| [f[0] - 1, f[i - 1] - 1, f[i] - 1]));
            }
            _ => {}
        }
    }
    Some(mesh)
}

/// The folder of public meshes beside the checkout, or nothing.
fn public_mesh(file: &str) -> Option<TriMesh> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mesh = ["shared", "../shared", "../../shared"]
        .iter()
        .find_map(|shared| read_obj(&checkout.join(shared).join("data/polyfem-data").join(file)));
    if mesh.is_none() {
        eprintln!("skipped: {file} is absent");
    }
    mesh
}

#[test]
fn closed_meshes_of_other_projects_are_filled() {
    for (file, spacing, tolerance) in [
        ("erleben-hole.obj", 0.1, 0.02),
        ("erleben-crack.obj", 0.15, 0.02),
        ("erleben-spike.obj", 0.08, 0.02),
        ("erleben-internal-edges.obj", 0.1, 1e-6),
    ] {
        if let Some(mesh) = public_mesh(file) {
            check(file, &mesh, spacing, mesh.enclosed_volume(), tolerance);
        }
    }
}

#[test]
fn open_meshes_of_other_projects_are_refused() {
    for (file, rim) in [("bowl.obj", 80), ("funnel.obj", 24)] {
        if let Some(mesh) = public_mesh(file) {
            let spacing = 0.05 * crate::math::Aabb::of(mesh.vertices.iter().copied()).extent().max_element();
            let refusal = tet_fill(&mesh, spacing);
            let as_expected =
                matches!(&refusal, Err(FillError::Open { open_edges, .. }) if *open_edges == rim);
            assert!(as_expected, "{file}: {refusal:?}");
        }
    }
}
