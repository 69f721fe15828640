//! `littoral export`: the frames of a run as files for other programs.

use crate::answer::{self, count};
use crate::args::{ExportArgs, ExportFormat};
use crate::failure::Failure;
use littoral_geom::math::Vec3;
use littoral_io::export::{FrameMesh, MeshFormat};
use littoral_io::run_folder::{Frame, ObjectRange, RunFolder, Topology, file_name_of};
use littoral_io::whole_file::write_whole;
use std::path::Path;

/// Folder inside that of the run, where none is given.
const DEFAULT_FOLDER: &str = "export";

/// Writes the frames that are asked for.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.dir)?;
    let topology = folder.read_topology()?;
    let out = args.out.clone().unwrap_or_else(|| folder.root().join(DEFAULT_FOLDER));
    let frames: Vec<u64> = folder.frames().into_iter().filter(|k| k.is_multiple_of(args.every)).collect();
    if frames.is_empty() {
        return Err(folder.no_frame(0).into());
    }
    let fluids: Vec<&ObjectRange> = topology.objects.iter().filter(|o| o.kind == "fluid").collect();
    std::fs::create_dir_all(&out)
        .map_err(|e| Failure::Io(format!("cannot create {}: {e}", out.display())))?;
    let mut files = 0;
    for k in frames {
        let frame = folder.read_frame(k)?;
        files += match args.to {
            ExportFormat::Obj => whole(&out, k, &topology, &frame, MeshFormat::Obj)?,
            ExportFormat::Ply => whole(&out, k, &topology, &frame, MeshFormat::Ply)?,
            ExportFormat::Vtk => whole(&out, k, &topology, &frame, MeshFormat::Vtk)?,
            ExportFormat::Surface => surfaces(&out, k, &topology, &fluids, &frame, MeshFormat::Ply)?,
            ExportFormat::SurfaceObj => surfaces(&out, k, &topology, &fluids, &frame, MeshFormat::Obj)?,
        };
    }
    answer::print(&format!("{}: {}", out.display(), count(files, "file")))
}

/// One file with everything.
fn whole(
    out: &Path,
    k: u64,
    topology: &Topology,
    frame: &Frame,
    format: MeshFormat,
) -> Result<usize, Failure> {
    let path = out.join(format!("frame_{k:06}.{}", format.extension()));
    write_whole(&path, &FrameMesh::of(topology, frame).to_bytes(format))?;
    Ok(1)
}

/// One file a fluid with its surface.
fn surfaces(
    out: &Path,
    k: u64,
    topology: &Topology,
    fluids: &[&ObjectRange],
    frame: &Frame,
    format: MeshFormat,
) -> Result<usize, Failure> {
    let Some(spacing) = topology.spacing.filter(|_| !fluids.is_empty()) else {
        return Err(Failure::Input("this run has no fluid that could have a surface".into()));
    };
    let first = topology.particles.first().copied().unwrap_or(0);
    for fluid in fluids {
        let range = fluid.first..fluid.first + fluid.count;
        let there = range.filter(|p| frame.is_present((p - first) as usize));
        let x: Vec<Vec3> = there.filter_map(|p| frame.x.get(p as usize).copied()).collect();
        let path = out.join(format!("{}_{k:06}.{}", file_name_of(&fluid.name), format.extension()));
        write_whole(&path, &surface_of(&x, spacing, &fluid.name)?.to_bytes(format))?;
    }
    Ok(fluids.len())
}

#[cfg(feature = "surface")]
fn surface_of(x: &[Vec3], spacing: f64, name: &str) -> Result<FrameMesh, Failure> {
    let mesh = littoral_io::surface::surface(x, spacing).map_err(|e| Failure::Input(e.to_string()))?;
    let n = mesh.vertices.len();
    Ok(FrameMesh {
        v: vec![Vec3::ZERO; n],
        objects: vec![0; n],
        names: vec![name.to_owned()],
        x: mesh.vertices,
        triangles: mesh.triangles,
        ..FrameMesh::default()
    })
}

#[cfg(not(feature = "surface"))]
fn surface_of(_: &[Vec3], _: f64, _: &str) -> Result<FrameMesh, Failure> {
    Err(Failure::Input("this program was built without surfaces; build it with --features surface".into()))
}
