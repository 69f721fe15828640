//! Every file of the shared folder is read, or refused by one clear error. Counts and volumes were established by
//! other programs (meshio, trimesh). Without the folder the test says so and passes.

use std::path::{Path, PathBuf};

use littoral_io::mesh::{FindingKind, IntakeOptions, IntakeReport, MeshError, Severity, read_mesh};

/// File, vertices, triangles, tets, bodies, closed, volume [m³].
type Row = (&'static str, usize, usize, usize, usize, bool, Option<f64>);

const FILES: &[Row] = &[
    ("codim-ipc/glass.vtk", 5708, 0, 18182, 1, false, Some(1.553774225114329e-5)),
    ("codim-ipc/mat20x30.obj", 1200, 2204, 0, 2, false, None),
    ("ipc-toolkit-tests-data/thick-cloth_t0.ply", 233, 404, 0, 2, false, None),
    ("ipc-toolkit-tests-data/thick-cloth_t1.ply", 233, 404, 0, 2, false, None),
    ("ipc-toolkit-tests-data/two-cubes-close.ply", 244, 480, 0, 2, true, Some(1.919662459817161)),
    ("ipc-toolkit-tests-data/two-cubes-far.ply", 244, 480, 0, 2, true, Some(1.94736842105263)),
    ("ipc-toolkit-tests-data/two-cubes-intersecting.ply", 244, 480, 0, 2, true, Some(1.919662459817161)),
    ("polyfem-data/bar-186.msh", 86, 0, 186, 1, false, Some(5.0)),
    ("polyfem-data/bowl.obj", 1321, 2560, 0, 1, false, None),
    ("polyfem-data/coneBox.obj", 1292, 2400, 0, 1, false, None),
    ("polyfem-data/cube.msh", 8, 0, 6, 1, false, Some(1.0)),
    ("polyfem-data/erleben-crack.obj", 20, 36, 0, 1, true, Some(7.0)),
    ("polyfem-data/erleben-hole.obj", 41, 78, 0, 1, true, Some(3.8333333333333335)),
    ("polyfem-data/erleben-internal-edges.obj", 14, 24, 0, 1, true, Some(4.0)),
    ("polyfem-data/erleben-spike.obj", 5, 6, 0, 1, true, Some(1.0)),
    ("polyfem-data/funnel.obj", 288, 552, 0, 1, false, None),
    ("polyfem-data/link.msh", 233, 0, 673, 1, false, Some(0.10204334647245633)),
    ("polyfem-data/mat20x20.msh", 800, 0, 2166, 1, false, Some(0.013)),
    ("polyfem-data/rod.msh", 630, 0, 1722, 1, false, Some(0.001199999876717654)),
    ("polyfem-data/sphere1K.msh", 1760, 0, 6851, 1, false, Some(0.5184769746175648)),
    ("polyfem-data/tet-corner.msh", 4, 0, 1, 1, false, Some(1.0 / 6.0)),
    ("polyfem-data/torus.msh", 200, 0, 491, 1, false, Some(0.07265444757418155)),
    ("trimesh-models/20mm-xyz-cube.stl", 132, 260, 0, 1, true, Some(7938.6818763348165)),
    ("trimesh-models/joined_tetrahedra.obj", 5, 7, 0, 1, false, None),
    ("trimesh-models/multibody.stl", 20, 32, 0, 2, true, Some(0.0014714286006112436 + 0.005951791945561633)),
    ("trimesh-models/nancolor.obj", 8, 12, 0, 1, true, Some(1.0)),
    ("trimesh-models/not_convex.obj", 44, 96, 0, 1, false, None),
    ("trimesh-models/notenoughindices.obj", 3, 1, 0, 1, false, None),
    ("trimesh-models/soup.stl", 300, 100, 0, 100, false, None),
];

fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Beside the checkout, or in it.
    ["../../../shared/data", "../../shared/data", "../../../../shared/data"]
        .iter()
        .map(|d| root.join(d))
        .find(|d| d.is_dir())
        .or_else(|| {
            eprintln!("skipped: no folder shared/data beside the checkout");
            None
        })
}

fn read(folder: &Path, name: &str) -> IntakeReport {
    read_mesh(&folder.join(name), &IntakeOptions::default()).unwrap_or_else(|e| panic!("{e}")).1
}

#[test]
fn shared_files_have_the_counts_and_volumes_that_other_programs_find() {
    let Some(folder) = folder() else { return };
    for &(name, vertices, triangles, tets, bodies, closed, volume) in FILES {
        let r = read(&folder, name);
        let found = (r.vertices, r.triangles, r.tets, r.bodies, r.is_closed());
        assert_eq!(found, (vertices, triangles, tets, bodies, closed), "{name}");
        match (r.volume, volume) {
            // Both sides sum thousands of terms in another order.
            (Some(found), Some(expected)) => {
                assert!(
                    (found - expected).abs() < 1e-9 * expected,
                    "{name}: {found} m³, expected {expected}"
                );
            }
            (found, expected) => assert_eq!(found, expected, "{name}"),
        }
    }
}

#[test]
fn shared_files_have_the_repairs_and_warnings_they_are_known_for() {
    use FindingKind::*;
    let Some(folder) = folder() else { return };
    let known: &[(&str, &[(FindingKind, u64)])] = &[
        ("codim-ipc/glass.vtk", &[]),
        ("ipc-toolkit-tests-data/two-cubes-far.ply", &[(InsideOut, 2), (LooseVertices, 18)]),
        ("polyfem-data/sphere1K.msh", &[]),
        ("trimesh-models/20mm-xyz-cube.stl", &[(Size, 1)]),
        ("trimesh-models/joined_tetrahedra.obj", &[(DuplicateTriangles, 1), (NonManifoldEdges, 3)]),
        ("trimesh-models/multibody.stl", &[(FlippedTriangles, 6), (InsideOut, 2)]),
        ("trimesh-models/nancolor.obj", &[]),
        ("trimesh-models/not_convex.obj", &[(WeldedVertices, 244), (NonManifoldEdges, 12)]),
        ("trimesh-models/notenoughindices.obj", &[(ShortFaces, 1), (Size, 1)]),
        ("trimesh-models/soup.stl", &[]),
    ];
    for &(name, expected) in known {
        let report = read(&folder, name);
        let mut found: Vec<(FindingKind, u64)> = (report.findings.iter())
            .filter(|f| f.kind.severity() != Severity::Note)
            .map(|f| (f.kind, f.count))
            .collect();
        found.sort();
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn every_other_shared_mesh_file_is_refused_by_name_and_reason() {
    let Some(folder) = folder() else { return };
    let mut refused = Vec::new();
    let directories = std::fs::read_dir(&folder).expect("the folder can be listed").flatten();
    for entry in directories.filter_map(|d| std::fs::read_dir(d.path()).ok()).flatten().flatten() {
        if let Err(error) = read_mesh(&entry.path(), &IntakeOptions::default()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            assert!(error.to_string().contains(&name), "{error}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            refused.push((name, error));
        }
    }
    let (tables, meshes): (Vec<_>, Vec<_>) =
        refused.into_iter().partition(|(name, _)| name.ends_with(".csv"));
    assert!(tables.iter().all(|(_, e)| matches!(e, MeshError::UnknownFormat { .. })));
    assert_eq!(meshes.len(), 1, "{meshes:?}");
    assert_eq!(meshes[0].0, "points_emptyface.ply");
    assert!(matches!(meshes[0].1, MeshError::Empty { .. }), "{}", meshes[0].1);
}
