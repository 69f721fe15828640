//! `littoral render`: a picture of a frame, or of every K-th frame side by side.

use crate::answer;
use crate::args::RenderArgs;
use crate::balls::{balls, fastest, shades};
use crate::failure::Failure;
use littoral_geom::math::{Aabb, Vec3};
use littoral_io::render::{
    Camera, Ground, Kind, Lines, Object, Particles, Picture, PictureOptions, Scene, contact_sheet,
    ground_height, render as draw,
};
use littoral_io::report::Report;
use littoral_io::run_folder::{Frame, ObjectRange, RunFolder, Topology};

/// Size of a picture alone, and of each of several [pixels].
const ALONE: (u32, u32) = (1280, 720);
const BESIDE_OTHERS: (u32, u32) = (640, 360);
/// Pictures side by side: more would be too small to see on a screen.
const MOST: usize = 100;

/// Draws what the arguments name.
pub fn render(args: &RenderArgs) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.dir)?;
    let topology = folder.read_topology()?;
    let wanted = wanted_frames(&folder, args)?;
    let frames = wanted.iter().map(|k| folder.read_frame(*k)).collect::<Result<Vec<_>, _>>()?;
    let title = Report::read(&folder.report_path())?.scene;

    // One camera and one ground for all, so that only the scene moves.
    let mut objects = objects_of(&topology);
    let first_shade = objects.len() as u32;
    objects.extend(shades(&topology));
    let all = Drawn::all(&topology);
    let containers = containers(&topology);
    let fastest = fastest(&topology, &frames);
    let wet: Vec<Vec<Vec<Vec3>>> = frames.iter().map(|frame| balls(&topology, frame, fastest)).collect();
    // As far as a particle stays from a wall: larger balls would show through it.
    let radius = 0.4 * topology.spacing.unwrap_or(0.0);
    let sets: Vec<Vec<Particles>> = (wet.iter())
        .map(|shades| {
            let of_shade = |(k, centers)| Particles { centers, radius, object: first_shade + k };
            (0u32..).zip(shades.iter().map(Vec::as_slice)).map(of_shade).collect()
        })
        .collect();
    let ropes = segments(&topology);
    let lines: Vec<Lines> = (ropes.iter())
        .map(|(object, radius, segments)| Lines { segments, radius: *radius, object: *object })
        .collect();
    let scenes: Vec<Scene> = (frames.iter().zip(&sets))
        .map(|(frame, particles)| Scene { particles, lines: &lines, ..scene_of(frame, &all, &objects) })
        .collect();
    let ground = scenes.iter().map(ground_height).fold(f64::INFINITY, f64::min);
    let boxes: Vec<Aabb> = frames.iter().map(|frame| moving_box(frame, &topology)).collect();
    let (width, height) = if frames.len() > 1 { BESIDE_OTHERS } else { ALONE };
    let Some(first) = scenes.first() else { return Err(folder.no_frame(args.frame.unwrap_or(0)).into()) };
    // What holds a fluid would hide it from every side: it is looked into.
    let outside = all.without(|_, object| containers[object as usize]);
    let camera = Camera::auto(&outside.of(first), &boxes, f64::from(width) / f64::from(height));

    let pictures: Vec<Picture> = (scenes.iter().zip(&wanted).zip(&frames))
        .map(|((scene, k), frame)| {
            let seen = all.without(|t, object| containers[object as usize] && faces(t, &frame.x, camera.eye));
            let label =
                format!("{} - frame {k}, {:.3} s", title.replace(|c: char| !c.is_ascii(), "?"), frame.time);
            let options = PictureOptions { width, height, label, ..PictureOptions::default() };
            draw(&Scene { ground: Ground::At(ground), ..seen.of(scene) }, &camera, &options)
        })
        .collect();
    let columns = (pictures.len() as f64).sqrt().ceil() as usize;
    let sheet = match <[Picture; 1]>::try_from(pictures) {
        Ok([alone]) => alone,
        Err(pictures) => contact_sheet(&pictures, columns),
    };
    sheet.write_png(&args.output).map_err(|e| Failure::Io(e.to_string()))?;
    answer::print(&args.output.display().to_string())
}

/// The frames that are asked for; they exist.
fn wanted_frames(folder: &RunFolder, args: &RenderArgs) -> Result<Vec<u64>, Failure> {
    let there = folder.frames();
    let default = if args.every.is_some() { there.first() } else { there.last() };
    let first = args.frame.or(default.copied()).unwrap_or(0);
    if !there.contains(&first) {
        return Err(folder.no_frame(first).into());
    }
    let Some(every) = args.every else { return Ok(vec![first]) };
    let wanted: Vec<u64> =
        there.into_iter().filter(|k| *k >= first && (*k - first).is_multiple_of(every)).collect();
    match wanted.len() {
        0..=MOST => Ok(wanted),
        n => Err(Failure::Input(format!(
            "--every {every} gives {n} pictures, at most {MOST} fit on one sheet"
        ))),
    }
}

fn objects_of(topology: &Topology) -> Vec<Object<'_>> {
    let kind = |name: &str| match name {
        "soft" | "rigid" => Kind::Soft,
        "collider" => Kind::Collider,
        "rod" => Kind::Rope,
        "fluid" => Kind::Fluid,
        _ => Kind::Cloth,
    };
    topology.objects.iter().map(|o| Object { name: &o.name, kind: kind(&o.kind), color: None }).collect()
}

/// Segments of each rod, with its number and radius [m].
fn segments(topology: &Topology) -> Vec<(u32, f64, Vec<[u32; 2]>)> {
    let rods = (0u32..).zip(&topology.objects).filter(|(_, o)| o.kind == "rod");
    rods.map(|(k, o)| {
        let own = topology.edges.iter().filter(|e| (o.first..o.first + o.count).contains(&e[0]));
        // A run without radii is drawn thin.
        (k, topology.offsets.get(k as usize).copied().unwrap_or(1e-3), own.copied().collect())
    })
    .collect()
}

/// Triangles, and the object of each.
struct Drawn {
    triangles: Vec<[u32; 3]>,
    owners: Vec<u32>,
}

impl Drawn {
    /// All of a run.
    fn all(topology: &Topology) -> Drawn {
        // Objects are contiguous ranges of points in order.
        let owner = |point: u32| topology.objects.partition_point(|o| o.first <= point).saturating_sub(1);
        let owners = topology.triangles.iter().map(|t| owner(t[0]) as u32).collect();
        Drawn { triangles: topology.triangles.clone(), owners }
    }

    /// Those that are not to be left out.
    fn without(&self, left_out: impl Fn([u32; 3], u32) -> bool) -> Drawn {
        let kept = self.triangles.iter().zip(&self.owners).filter(|(t, o)| !left_out(**t, **o));
        let (triangles, owners) = kept.map(|(t, o)| (*t, *o)).unzip();
        Drawn { triangles, owners }
    }

    /// The scene with these triangles.
    fn of<'a>(&'a self, scene: &Scene<'a>) -> Scene<'a> {
        Scene { triangles: &self.triangles, object_of_triangle: &self.owners, ..*scene }
    }
}

/// Which objects are colliders whose box holds most of the particles at the start.
fn containers(topology: &Topology) -> Vec<bool> {
    let particles = || topology.particles.iter().filter_map(|p| topology.x0.get(*p as usize));
    let count = particles().count();
    let holds = |o: &ObjectRange| {
        let points = topology.x0.get(o.first as usize..(o.first + o.count) as usize).unwrap_or(&[]);
        let b = Aabb::of(points.iter().copied());
        2 * particles().filter(|p| p.cmpge(b.min).all() && p.cmple(b.max).all()).count() > count
    };
    topology.objects.iter().map(|o| count > 0 && o.kind == "collider" && holds(o)).collect()
}

/// True when the front of a triangle faces the eye.
fn faces(t: [u32; 3], x: &[Vec3], eye: Vec3) -> bool {
    let corners = t.map(|v| x.get(v as usize).copied().unwrap_or(Vec3::NAN));
    (corners[1] - corners[0]).cross(corners[2] - corners[0]).dot(eye - corners[0]) > 0.0
}

fn scene_of<'a>(frame: &'a Frame, drawn: &'a Drawn, objects: &'a [Object]) -> Scene<'a> {
    Scene {
        vertices: &frame.x,
        triangles: &drawn.triangles,
        object_of_triangle: &drawn.owners,
        objects,
        up: Vec3::Z,
        ..Scene::default()
    }
}

/// Share of a fluid's particles that may be outside of the picture on each side: spray is no reason to step back.
const SPRAY: f64 = 0.01;

/// The box of all that is not a collider.
fn moving_box(frame: &Frame, topology: &Topology) -> Aabb {
    let first = topology.particles.first().copied().unwrap_or(u32::MAX);
    // Particles that wait or are gone may be anywhere.
    let is_there = |p: &u32| *p < first || frame.is_present((p - first) as usize);
    let mut whole = Aabb::EMPTY;
    for object in topology.objects.iter().filter(|o| o.kind != "collider") {
        let points = (object.first..object.first + object.count).filter(is_there);
        let x = points.filter_map(|p| frame.x.get(p as usize)).copied().filter(|p| p.is_finite());
        whole = whole.union(match object.kind.as_str() {
            "fluid" => without_spray(x.collect()),
            _ => Aabb::of(x),
        });
    }
    whole
}

/// The box that leaves out a share of [`SPRAY`] of the points beyond each of its sides.
fn without_spray(x: Vec<Vec3>) -> Aabb {
    let cut = (SPRAY * x.len() as f64) as usize;
    let mut b = Aabb::of(x.iter().copied());
    for axis in 0..3 {
        let mut along: Vec<f64> = x.iter().map(|p| p[axis]).collect();
        along.sort_by(f64::total_cmp);
        if let (Some(low), Some(high)) = (along.get(cut), along.get(x.len().wrapping_sub(1 + cut))) {
            (b.min[axis], b.max[axis]) = (*low, *high);
        }
    }
    b
}
