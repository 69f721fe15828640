//! `littoral render`: a picture of a frame, or of every K-th frame side by side.

use crate::answer;
use crate::args::RenderArgs;
use crate::balls::{balls, fastest, shades};
use crate::failure::Failure;
use crate::shown::{Drawn, containers, moving_box, objects_of, segments};
use littoral_geom::math::{Aabb, Vec3};
use littoral_io::render::{
    Camera, Ground, Lines, Particles, Picture, PictureOptions, Scene, contact_sheet, ground_height,
    render as draw,
};
use littoral_io::report::Report;
use littoral_io::run_folder::RunFolder;

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
        .map(|(frame, particles)| Scene { particles, lines: &lines, ..all.scene(frame, &objects) })
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

/// True when the front of a triangle faces the eye.
fn faces(t: [u32; 3], x: &[Vec3], eye: Vec3) -> bool {
    let corners = t.map(|v| x.get(v as usize).copied().unwrap_or(Vec3::NAN));
    (corners[1] - corners[0]).cross(corners[2] - corners[0]).dot(eye - corners[0]) > 0.0
}
