//! A shaded picture of one frame, without window or GPU: a scene of triangles, lines and particles, a camera, and out
//! comes an 8-bit image.
//!
//! Every sample of the image finds the nearest surface by exact affine edge functions (`raster`), and is lit by one key
//! light with a soft shadow map and by the visible part of a sky (`light`). It is not a renderer of materials:
//! no textures, transparency, reflections or refraction.
//!
//! The same bits come out on any number of threads: rows are independent and nothing is summed across them.

mod camera;
mod font;
mod light;
mod palette;
mod picture;
mod raster;
mod shade;
mod stage;

pub use camera::Camera;
pub use picture::{Picture, PictureError, contact_sheet};

use littoral_geom::math::Vec3;
use rayon::prelude::*;

/// What an object is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sheet: its back is paler than its front.
    Cloth,
    /// A closed soft body.
    Soft,
    /// Something that is not simulated: grey, and not framed by the camera when large.
    Collider,
    /// Lines with a radius.
    Rope,
    /// Particles.
    Fluid,
}

/// Name and look of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object<'a> {
    /// Name, for messages and legends.
    pub name: &'a str,
    /// What it is drawn as.
    pub kind: Kind,
    /// sRGB colour; `None` takes the next one of the palette (grey for colliders).
    pub color: Option<[u8; 3]>,
}

/// Segments drawn as round-ended tubes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines<'a> {
    /// End indices (s, 2) into the scene's vertices.
    pub segments: &'a [[u32; 2]],
    /// Radius [m], > 0.
    pub radius: f64,
    /// Index of its object.
    pub object: u32,
}

/// Points drawn as balls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particles<'a> {
    /// Centres (n) [m].
    pub centers: &'a [Vec3],
    /// Radius [m], > 0.
    pub radius: f64,
    /// Index of their object.
    pub object: u32,
}

/// The plane that catches the shadows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Ground {
    /// At the top of a wide flat collider if there is one below everything else, at the lowest point otherwise.
    #[default]
    Auto,
    /// At this height along `up` [m].
    At(f64),
    /// None.
    Hidden,
}

/// What is drawn. Triangles and segments with an index out of range or a vertex that is not finite are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scene<'a> {
    /// Points (n) [m].
    pub vertices: &'a [Vec3],
    /// Corner indices (t, 3) into `vertices`.
    pub triangles: &'a [[u32; 3]],
    /// Object of each triangle (t); triangles past its end belong to object 0.
    pub object_of_triangle: &'a [u32],
    /// Objects; an index past the end is drawn as a cloth.
    pub objects: &'a [Object<'a>],
    /// Ropes.
    pub lines: &'a [Lines<'a>],
    /// Fluids.
    pub particles: &'a [Particles<'a>],
    /// Ground plane.
    pub ground: Ground,
    /// Direction against gravity; any length but zero. Default: +z.
    pub up: Vec3,
}

impl Default for Scene<'_> {
    /// Nothing above a ground at height 0, z up.
    fn default() -> Self {
        Scene {
            vertices: &[],
            triangles: &[],
            object_of_triangle: &[],
            objects: &[],
            lines: &[],
            particles: &[],
            ground: Ground::Auto,
            up: Vec3::Z,
        }
    }
}

/// Size and extras of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOptions {
    /// Width [pixels], clamped to 1 … 8192. Default: 1280.
    pub width: u32,
    /// Height [pixels], clamped to 1 … 8192. Default: 720.
    pub height: u32,
    /// Samples per pixel side, clamped to 1 … 4. Default: 2, four samples per pixel.
    pub supersample: u32,
    /// Draw the triangle edges as thin darker lines. Default: false.
    pub edges: bool,
    /// Text in the upper left corner, printable ASCII. Default: empty.
    pub label: String,
    /// Print the spacing of the ground grid in the lower right corner. Default: true.
    pub grid_label: bool,
}

impl Default for PictureOptions {
    fn default() -> Self {
        PictureOptions {
            width: 1280,
            height: 720,
            supersample: 2,
            edges: false,
            label: String::new(),
            grid_label: true,
        }
    }
}

/// Rows of pixels that one task draws: few enough to balance the load, enough to visit a triangle seldom.
const BAND: usize = 8;

/// Draws the scene as the camera sees it.
pub fn render(scene: &Scene, camera: &Camera, options: &PictureOptions) -> Picture {
    let width = options.width.clamp(1, 8192) as usize;
    let height = options.height.clamp(1, 8192) as usize;
    let ss = options.supersample.clamp(1, 4) as usize;

    // 1. What is where, and what each sample of the picture may see of it.
    let stage = stage::Stage::new(scene);
    let view = camera.view(width * ss, height * ss, stage.up, stage.radius);
    let footprints: Vec<Option<raster::Footprint>> =
        stage.faces.par_iter().with_min_len(1024).map(|f| view.triangle(f.corners)).collect();
    let bounds: Vec<Option<raster::Bounds>> =
        stage.beads.par_iter().with_min_len(1024).map(|b| view.bead(b)).collect();
    let bands = raster::bin(&footprints, &bounds, height.div_ceil(BAND), BAND * ss);

    // 2. What each light sees.
    let lights = light::Lights::new(&stage, &view);

    // 3. Per band of rows: nearest surface, light, average of the samples.
    let shading = shade::Shading::new(&stage, &lights, &view, &footprints, ss, options.edges);
    let mut pixels = vec![0u8; 3 * width * height];
    pixels.par_chunks_mut(3 * width * BAND).enumerate().for_each(|(k, rows)| {
        let mut layer = raster::Layer::new(width * ss, BAND * ss, k * BAND * ss);
        for &id in &bands[k] {
            match footprints.get(id as usize) {
                Some(Some(f)) => layer.draw_triangle(f, id),
                Some(None) => {}
                None => {
                    let b = id as usize - footprints.len();
                    if let Some(bounds) = &bounds[b] {
                        layer.draw_bead(&view, &stage.beads[b], bounds, id);
                    }
                }
            }
        }
        shading.resolve(&layer, k * BAND, rows);
    });

    // 4. Text.
    let mut picture = Picture { width: width as u32, height: height as u32, pixels };
    let scale = (height / 360).max(1);
    font::draw(&mut picture, &options.label, 6 * scale, 6 * scale, scale);
    if options.grid_label && stage.ground.is_some() {
        let text = format!("grid {}", shading.grid_spacing());
        let (w, h) = font::size(&text, scale);
        font::draw(
            &mut picture,
            &text,
            width.saturating_sub(w + 6 * scale),
            height.saturating_sub(h + 6 * scale),
            scale,
        );
    }
    picture
}

/// The height at which `Ground::Auto` puts the ground of this scene along `up` [m]. Fix it with `Ground::At` over the
/// frames of a run, so that it does not move.
pub fn ground_height(scene: &Scene) -> f64 {
    stage::Stage::new(&Scene { ground: Ground::Auto, ..*scene }).ground.unwrap_or(0.0)
}
