//! `littoral check`: what is in meshes and scenes, and what is wrong with them; simulates nothing.

use crate::answer::{self, count, length};
use crate::args::CheckArgs;
use crate::crossings::{self, Named};
use crate::failure::Failure;
use crate::mesh_scene::is_mesh;
use crate::source::load_named;
use littoral_geom::math::Aabb;
use littoral_geom::mesh::unique_edges;
use littoral_geom::referee::Referee;
use littoral_io::mesh::{IntakeOptions, read_mesh};
use littoral_io::run_folder::kind_name;
use littoral_sim::model::ObjectKind;
use littoral_sim::simulation::Simulation;
use std::path::Path;

/// Checks every file; the last failure decides the exit status, the others are printed as they come.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    let mut failed = Ok(());
    for name in &args.files {
        match if is_mesh(name) { check_mesh(name) } else { check_scene(name) } {
            Ok(text) => answer::print(&text)?,
            Err(failure) => {
                if let Err(earlier) = std::mem::replace(&mut failed, Err(failure)) {
                    earlier.print();
                }
            }
        }
    }
    failed
}

fn check_mesh(name: &str) -> Result<String, Failure> {
    let (mesh, report) = read_mesh(Path::new(name), &IntakeOptions::default())?;
    let mut lines = report.lines();
    let surface = mesh.surface();
    let edges = unique_edges(&surface.triangles);
    let active = vec![true; surface.vertices.len()];
    let referee = Referee::new(&edges, &surface.triangles, &[], &active);
    let (crossings, _) = referee.crossings(&surface.vertices);
    if crossings.is_empty() {
        lines.push("  crosses itself nowhere".into());
    } else {
        let whole = [Named { name, first: 0 }];
        let text =
            crossings::describe_surface(&whole, (&edges, &surface.triangles), &surface.vertices, &crossings);
        lines.push(format!("  warning: crosses itself: {}", text.replace('\n', "\n  ")));
    }
    Ok(lines.join("\n"))
}

fn check_scene(name: &str) -> Result<String, Failure> {
    let scene = load_named(name, &[])?;
    let mut lines = vec![format!(
        "{name}: {}: {}, {} of {:.3} ms each{}",
        scene.title,
        count(scene.frames as usize, "frame"),
        count(scene.pace.steps_per_frame as usize, "step"),
        1e3 * scene.pace.step_size,
        scene.sim.spacing().map_or("", |_| " or more of less"),
    )];
    lines.extend(objects(&scene.sim));
    lines.extend(scene.expectations.iter().map(|e| format!("  expects {e}")));
    lines.extend(scene.warnings.iter().map(|w| format!("  warning: {}", w.text.replace('\n', "\n  "))));
    let verdict = scene.sim.judge();
    let crossing = verdict.all_crossings();
    if crossing.is_empty() {
        lines.push("  nothing crosses at the start".into());
    } else {
        let text = crossings::describe(&scene.sim, &crossing);
        lines.push(format!("  warning: at the start there are {}", text.replace('\n', "\n  ")));
    }
    Ok(lines.join("\n"))
}

/// A line an object: its kind, name, sizes and place.
fn objects(sim: &Simulation) -> Vec<String> {
    let line = |o: &littoral_sim::model::Object| {
        let inside = |p: u32| o.range().contains(&(p as usize));
        let triangles = sim.triangles().iter().filter(|t| inside(t[0])).count();
        let tets = sim.tets().iter().filter(|t| inside(t[0])).count();
        let sizes = match (o.kind, sim.spacing()) {
            (ObjectKind::Fluid, Some(spacing)) => {
                let waiting = o.range().filter(|&p| !sim.is_present(p)).count();
                let mut sizes =
                    vec![format!("{} {} apart", count(o.count as usize, "particle"), length(spacing))];
                sizes.extend((waiting > 0).then(|| format!("{waiting} of them to be released")));
                sizes
            }
            _ => {
                let segments = sim.rod_segments().iter().filter(|e| inside(e[0])).count();
                let mut sizes = vec![count(o.count as usize, "point")];
                sizes.push(match segments {
                    0 => count(triangles, "triangle"),
                    n => count(n, "segment"),
                });
                sizes.extend((tets > 0).then(|| count(tets, "tet")));
                sizes
            }
        };
        let bounds = Aabb::of(sim.state().x[o.range()].iter().copied());
        let corner = |p: littoral_geom::math::Vec3| format!("({:.4}, {:.4}, {:.4})", p.x, p.y, p.z);
        format!(
            "  {} \"{}\": {}, from {} to {} m",
            kind_name(o.kind),
            o.name,
            sizes.join(", "),
            corner(bounds.min),
            corner(bounds.max)
        )
    };
    sim.objects().iter().map(line).collect()
}
