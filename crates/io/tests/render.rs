//! Pictures with known pixels: coverage against the projection in closed form, occlusion, shadow, determinism, files.

use littoral_geom::math::{Aabb, Vec3};
use littoral_io::render::*;

/// One red object without ground, seen from (0, −1, 0) along +y; a length at distance 1 is as many pixel heights.
const RED: Object = Object { name: "red", kind: Kind::Cloth, color: Some([255, 0, 0]) };
const BLUE: Object = Object { name: "blue", kind: Kind::Cloth, color: Some([0, 0, 255]) };

fn facing_camera() -> Camera {
    Camera { eye: Vec3::new(0.0, -1.0, 0.0), target: Vec3::ZERO, fov: 2.0 * 0.5f64.atan() }
}

fn small(width: u32, height: u32) -> PictureOptions {
    PictureOptions { width, height, grid_label: false, ..PictureOptions::default() }
}

/// A square of n × n quads with corner `o` and sides `a`, `b`.
fn square(n: u32, o: Vec3, a: Vec3, b: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let at = |k: u32| f64::from(k) / f64::from(n);
    let points = (0..=n).flat_map(|i| (0..=n).map(move |j| o + at(i) * a + at(j) * b)).collect();
    let quad = |i: u32, j: u32| {
        let v = i * (n + 1) + j;
        [[v, v + n + 1, v + n + 2], [v, v + n + 2, v + 1]]
    };
    (points, (0..n).flat_map(|i| (0..n).flat_map(move |j| quad(i, j))).collect())
}

fn is_red(c: [u8; 3]) -> bool {
    c[0] / 2 > c[2] && c[0] > 40
}

fn is_blue(c: [u8; 3]) -> bool {
    c[2] / 2 > c[0] && c[2] > 40
}

fn redness(p: &Picture) -> Vec<bool> {
    p.pixels.chunks_exact(3).map(|c| is_red([c[0], c[1], c[2]])).collect()
}

fn light(c: [u8; 3]) -> u32 {
    c.iter().map(|&c| u32::from(c)).sum()
}

#[test]
fn a_facing_square_covers_exactly_its_pixels() {
    // Half a unit wide at distance 1, 100 pixel heights: pixels 25 … 74 of the middle 100, whatever the mesh.
    for n in [1, 7, 40] {
        let (v, t) = square(n, Vec3::new(-0.25, 0.0, -0.25), 0.5 * Vec3::X, 0.5 * Vec3::Z);
        let scene = Scene {
            vertices: &v,
            triangles: &t,
            objects: &[RED],
            ground: Ground::Hidden,
            ..Scene::default()
        };
        let picture = render(&scene, &facing_camera(), &small(120, 100));
        for (k, red) in redness(&picture).into_iter().enumerate() {
            let (x, y) = (k % 120, k / 120);
            let inside = (35..85).contains(&x) && (25..75).contains(&y);
            assert_eq!(red, inside, "pixel ({x}, {y}) of the square of {n} × {n} quads");
        }
    }
}

#[test]
fn the_nearer_square_hides_the_farther_in_any_order() {
    let (mut v, t) = square(1, Vec3::new(-0.25, 0.0, -0.25), 0.5 * Vec3::X, 0.5 * Vec3::Z);
    let (far, _) = square(1, Vec3::new(-0.6, 0.5, -0.6), 1.2 * Vec3::X, 1.2 * Vec3::Z);
    v.extend(far);
    let behind: Vec<[u32; 3]> = t.iter().map(|t| t.map(|c| c + 4)).collect();
    let orders = [([t.clone(), behind.clone()].concat(), [0, 0, 1, 1]), ([behind, t].concat(), [1, 1, 0, 0])];
    for (triangles, object_of_triangle) in orders {
        let scene = Scene {
            vertices: &v,
            triangles: &triangles,
            object_of_triangle: &object_of_triangle,
            objects: &[RED, BLUE],
            ground: Ground::Hidden,
            ..Scene::default()
        };
        let picture = render(&scene, &facing_camera(), &small(100, 100));
        assert!(is_red(picture.pixel(50, 50).unwrap()), "the near one in the middle");
        // The far one reaches 0.6/1.5 = 0.4 heights from the middle: pixels 10 … 89.
        assert!(is_blue(picture.pixel(15, 50).unwrap()), "the far one beside it");
        assert!(!is_blue(picture.pixel(8, 50).unwrap()), "nothing beyond both");
    }
}

#[test]
fn a_triangle_through_the_eye_plane_covers_everything_below_the_horizon() {
    // A floor 0.3 below the eye, from far behind it to far in front: the horizon is the middle row.
    let v = [Vec3::new(0.0, -5e6, -0.3), Vec3::new(-5e6, 5e6, -0.3), Vec3::new(5e6, 5e6, -0.3)];
    let scene = Scene {
        vertices: &v,
        triangles: &[[0, 2, 1]],
        objects: &[RED],
        ground: Ground::Hidden,
        ..Scene::default()
    };
    let picture = render(&scene, &facing_camera(), &small(90, 60));
    for (k, red) in redness(&picture).into_iter().enumerate() {
        // 5e6 m away the floor is 0.3/5e6 heights below the horizon, far less than a sample.
        assert_eq!(red, k / 90 >= 30, "pixel ({}, {})", k % 90, k / 90);
    }
}

#[test]
fn a_triangle_behind_the_eye_is_not_seen() {
    let (v, t) = square(1, Vec3::new(-5.0, -3.0, -5.0), 10.0 * Vec3::X, 10.0 * Vec3::Z);
    let scene =
        Scene { vertices: &v, triangles: &t, objects: &[RED], ground: Ground::Hidden, ..Scene::default() };
    let picture = render(&scene, &facing_camera(), &small(60, 40));
    assert!(redness(&picture).into_iter().all(|red| !red));
}

#[test]
fn a_ball_covers_the_disk_of_its_tangent_cone() {
    let ball = Particles { centers: &[Vec3::ZERO], radius: 0.3, object: 0 };
    let scene = Scene { particles: &[ball], objects: &[RED], ground: Ground::Hidden, ..Scene::default() };
    let picture = render(&scene, &facing_camera(), &small(100, 100));
    // tan of the cone's half angle: r / √(d² − r²).
    let radius = 100.0 * 0.3 / (1.0f64 - 0.09).sqrt();
    for (k, red) in redness(&picture).into_iter().enumerate() {
        let distance = (k as f64 % 100.0 - 49.5).hypot((k / 100) as f64 - 49.5);
        // A pixel on the rim is red by the share of its samples: ± a pixel is left open.
        if (distance - radius).abs() > 1.0 {
            assert_eq!(red, distance < radius, "pixel ({}, {})", k % 100, k / 100);
        }
    }
}

#[test]
fn a_tube_covers_the_strip_of_its_diameter() {
    let v = [Vec3::new(-9.0, 0.0, 0.0), Vec3::new(9.0, 0.0, 0.0), Vec3::new(f64::NAN, 0.0, 0.0)];
    let tube = Lines { segments: &[[0, 1], [1, 2], [0, 7]], radius: 0.1, object: 0 };
    let scene =
        Scene { vertices: &v, lines: &[tube], objects: &[RED], ground: Ground::Hidden, ..Scene::default() };
    let picture = render(&scene, &facing_camera(), &small(60, 100));
    let half = 100.0 * 0.1 / (1.0f64 - 0.01).sqrt();
    for (k, red) in redness(&picture).into_iter().enumerate() {
        let distance = ((k / 60) as f64 - 49.5).abs();
        if (distance - half).abs() > 1.0 {
            assert_eq!(red, distance < half, "row {}", k / 60);
        }
    }
}

/// A plate one above the ground, the camera beside it and higher.
fn plate(height: f64) -> (Vec<Vec3>, Vec<[u32; 3]>, Camera) {
    let (v, t) = square(4, Vec3::new(-0.4, -0.4, height), 0.8 * Vec3::X, 0.8 * Vec3::Y);
    (v, t, Camera { eye: Vec3::new(0.0, -6.0, 3.0), target: Vec3::ZERO, fov: 0.6 })
}

/// Pixel of a ground point for the camera of `plate` in a picture of 160 × 100.
fn pixel_of(camera: &Camera, p: Vec3) -> (u32, u32) {
    let forward = (camera.target - camera.eye).normalize();
    let right = forward.cross(Vec3::Z).normalize();
    let d = p - camera.eye;
    let k = 50.0 / (0.5 * camera.fov).tan() / d.dot(forward);
    ((80.0 + k * d.dot(right)) as u32, (50.0 - k * d.dot(right.cross(forward))) as u32)
}

#[test]
fn the_ground_is_dark_where_the_plate_is_between_it_and_the_light_and_nowhere_else() {
    let (v, t, camera) = plate(0.7);
    let scene = Scene { vertices: &v, triangles: &t, ground: Ground::At(0.0), ..Scene::default() };
    let without = render(&Scene { triangles: &[], ..scene }, &camera, &small(160, 100));
    let with = render(&scene, &camera, &small(160, 100));
    // The light comes from the left and the front (0.78 up, 0.46 left, 0.42 front): the shadow lies behind, right.
    let shadow = 0.7 / 0.78 * Vec3::new(0.46, 0.42, 0.0);
    let (x, y) = pixel_of(&camera, shadow - Vec3::new(0.0, 0.2, 0.0));
    let at = |p: &Picture, x, y| light(p.pixel(x, y).unwrap());
    assert!(10 * at(&with, x, y) < 8 * at(&without, x, y), "{} {}", at(&with, x, y), at(&without, x, y));
    // On the other side and as far away: the sky there is little covered.
    let (x, y) = pixel_of(&camera, Vec3::new(-1.2, -1.0, 0.0));
    assert!(100 * at(&with, x, y) > 95 * at(&without, x, y), "{} {}", at(&with, x, y), at(&without, x, y));
}

#[test]
fn the_picture_is_the_same_on_any_number_of_threads() {
    let (mut v, mut t, camera) = plate(0.3);
    for (k, p) in v.iter_mut().enumerate() {
        p.z += 0.05 * (k as f64).sin();
    }
    let (w, u) = square(3, Vec3::new(-0.2, -0.2, 0.1), 0.5 * Vec3::X, Vec3::new(0.0, 0.3, 0.2));
    t.extend(u.iter().map(|t| t.map(|c| c + v.len() as u32)));
    v.extend(w);
    let balls = Particles { centers: &[Vec3::new(0.5, 0.5, 0.2)], radius: 0.1, object: 0 };
    let scene = Scene { vertices: &v, triangles: &t, particles: &[balls], ..Scene::default() };
    let options = PictureOptions { edges: true, ..small(160, 100) };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&scene, &camera, &options))
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(3));
}

#[test]
fn what_cannot_be_drawn_changes_nothing() {
    let (mut v, mut t, camera) = plate(0.3);
    let picture = |v: &[Vec3], t: &[[u32; 3]]| {
        render(&Scene { vertices: v, triangles: t, ..Scene::default() }, &camera, &small(80, 50))
    };
    let good = picture(&v, &t);
    let first = v.len() as u32;
    v.extend([Vec3::NAN, Vec3::new(f64::INFINITY, 0.0, 0.0), Vec3::splat(1e200), Vec3::splat(0.1)]);
    // Not finite, out of range, of no area.
    t.extend([[0, 1, first], [first + 1, 1, 2], [first + 2, 1, 2], [0, 1, u32::MAX], [3, 3, 4], [0, 1, 2]]);
    assert_eq!(good, picture(&v, &t));
}

#[test]
fn an_empty_scene_is_a_picture_of_bright_ground() {
    let scene = Scene::default();
    let picture = render(&scene, &Camera::auto(&scene, &[], 1.6), &small(160, 100));
    assert_eq!(picture.pixels.len(), 3 * 160 * 100);
    assert!(picture.pixels.iter().all(|&c| c > 150), "no object, no shadow");
    // The checker is there: neighbouring cells differ, but little.
    let (low, high) = picture.pixels.chunks_exact(3).fold((765, 0), |(low, high), c| {
        let l = light([c[0], c[1], c[2]]);
        (l.min(low), l.max(high))
    });
    assert!(high - low > 15 && high - low < 150, "{low} … {high}");
}

#[test]
fn senseless_cameras_and_sizes_still_give_a_picture() {
    let (v, t, good) = plate(0.3);
    let scene = Scene { vertices: &v, triangles: &t, up: Vec3::ZERO, ..Scene::default() };
    let cameras = [
        Camera { eye: Vec3::NAN, ..good },
        Camera { target: good.eye, ..good },
        Camera { fov: f64::NAN, ..good },
        Camera { eye: Vec3::new(0.0, 0.0, 5.0), ..good },
        Camera { eye: Vec3::new(0.0, 0.0, -5.0), ..good },
    ];
    for camera in cameras {
        let options = PictureOptions { supersample: 0, label: "é\n".repeat(50), ..small(0, 7) };
        let picture = render(&scene, &camera, &options);
        assert_eq!((picture.width, picture.height, picture.pixels.len()), (1, 7, 21));
        assert_eq!(render(&scene, &camera, &small(31, 17)).pixels.len(), 3 * 31 * 17);
    }
}

#[test]
fn the_back_of_a_cloth_is_paler_than_its_front() {
    let (v, t) = square(1, Vec3::new(-0.25, 0.0, -0.25), 0.5 * Vec3::X, 0.5 * Vec3::Z);
    let back: Vec<[u32; 3]> = t.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let middle = |t: &[[u32; 3]]| {
        let scene =
            Scene { vertices: &v, triangles: t, objects: &[RED], ground: Ground::Hidden, ..Scene::default() };
        render(&scene, &facing_camera(), &small(40, 40)).pixel(20, 20).unwrap()
    };
    // The front of the square faces −y, the camera.
    assert!(middle(&back)[2] > middle(&t)[2] + 40, "front {:?}, back {:?}", middle(&t), middle(&back));
}

#[test]
fn edges_are_darker_than_faces() {
    let (v, t) = square(2, Vec3::new(-0.4, 0.0, -0.4), 0.8 * Vec3::X, 0.8 * Vec3::Z);
    let scene =
        Scene { vertices: &v, triangles: &t, objects: &[RED], ground: Ground::Hidden, ..Scene::default() };
    let plain = render(&scene, &facing_camera(), &small(100, 100));
    let edges = render(&scene, &facing_camera(), &PictureOptions { edges: true, ..small(100, 100) });
    // The middle row of vertices lies between pixels 49 and 50.
    assert!(edges.pixel(50, 30).unwrap()[0] + 20 < plain.pixel(50, 30).unwrap()[0], "on an edge");
    assert_eq!(edges.pixel(62, 20).unwrap(), plain.pixel(62, 20).unwrap(), "inside a face");
}

/// Horizontal and vertical place of a point in the picture, ±1 at its borders.
fn place(camera: &Camera, up: Vec3, aspect: f64, p: Vec3) -> (f64, f64) {
    let forward = (camera.target - camera.eye).normalize();
    let right = forward.cross(up).normalize();
    let d = p - camera.eye;
    let k = 1.0 / ((0.5 * camera.fov).tan() * d.dot(forward));
    assert!(d.dot(forward) > 0.0, "in front of the eye");
    (k * d.dot(right) / aspect, k * d.dot(right.cross(forward)))
}

#[test]
fn the_automatic_camera_frames_the_boxes_of_all_frames_from_above_the_ground() {
    let random = |seed: u64| {
        let mut s = seed;
        move || {
            s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (s >> 33) as f64 / f64::from(1u32 << 31)
        }
    };
    for seed in 0..200 {
        let mut r = random(seed);
        // From plates and poles to cubes, a millimetre to a kilometre.
        let scale = 10f64.powf(6.0 * r() - 3.0);
        let size = scale * Vec3::new(0.02 + r(), 0.02 + r(), r());
        let min = scale * Vec3::new(4.0 * r() - 2.0, 4.0 * r() - 2.0, r());
        let aspect = 0.6 + 2.0 * r();
        let later = Aabb { min, max: min + size };
        let (v, t) = square(1, min, Vec3::new(size.x, 0.0, 0.0), Vec3::new(0.0, size.y, 0.0));
        let scene = Scene { vertices: &v, triangles: &t, ..Scene::default() };
        let camera = Camera::auto(&scene, &[later], aspect);
        assert!(camera.eye.z > ground_height(&scene), "seed {seed}: above the ground");
        assert!(camera.eye.z > camera.target.z, "seed {seed}: looks down");
        let mut largest: f64 = 0.0;
        for k in 0..8 {
            let pick = |bit: u32, low: f64, high: f64| if k & bit == 0 { low } else { high };
            let p = Vec3::new(
                pick(1, later.min.x, later.max.x),
                pick(2, later.min.y, later.max.y),
                pick(4, later.min.z, later.max.z),
            );
            let (x, y) = place(&camera, Vec3::Z, aspect, p);
            largest = largest.max(x.abs()).max(y.abs());
        }
        // 0.88 of the half size is the margin; the eye moves by rounding only.
        assert!(largest < 0.89 && largest > 0.6, "seed {seed}: corners reach {largest} of the half picture");
    }
}

#[test]
fn the_automatic_camera_walks_around_a_wall() {
    let (mut v, mut t) = square(1, Vec3::new(-0.5, -0.5, 0.2), Vec3::X, Vec3::Y);
    let alone = Scene { vertices: &v, triangles: &t, ..Scene::default() };
    let first = Camera::auto(&alone, &[], 1.6);
    // A wall halfway between the first choice and the sheet, across the line of sight.
    let d = (first.eye - first.target) * 0.5;
    let across = 0.8 * d.cross(Vec3::Z).normalize();
    let (w, u) = square(1, first.target + d - across - Vec3::Z, 2.0 * across, 2.0 * Vec3::Z);
    t.extend(u.iter().map(|t| t.map(|c| c + 4)));
    v.extend(w);
    let wall = Object { name: "wall", kind: Kind::Collider, color: None };
    let scene = Scene {
        vertices: &v,
        triangles: &t,
        object_of_triangle: &[0, 0, 1, 1],
        objects: &[RED, wall],
        ground: Ground::At(0.0),
        ..Scene::default()
    };
    let camera = Camera::auto(&scene, &[], 1.6);
    let turned = (camera.eye - camera.target).normalize().dot((first.eye - first.target).normalize());
    assert!(turned < 0.95, "cos of the turn {turned}");
    let seen = redness(&render(&scene, &camera, &small(160, 100))).into_iter().filter(|&red| red).count();
    assert!(seen > 1000, "{seen} red pixels");
}

#[test]
fn the_ground_lies_on_a_wide_collider_or_under_the_lowest_point() {
    let (mut v, mut t) = square(1, Vec3::new(-0.5, -0.5, 0.4), Vec3::X, Vec3::Y);
    let alone = Scene { vertices: &v, triangles: &t, ..Scene::default() };
    assert_eq!(ground_height(&alone), 0.0, "a sheet in the air hangs over z = 0");
    let low: Vec<Vec3> = v.iter().map(|p| *p - Vec3::Z).collect();
    assert_eq!(ground_height(&Scene { vertices: &low, ..alone }), -0.6, "under the lowest point");
    let (w, u) = square(1, Vec3::new(-50.0, -50.0, 0.125), 100.0 * Vec3::X, 100.0 * Vec3::Y);
    t.extend(u.iter().map(|t| t.map(|c| c + 4)));
    v.extend(w);
    let floor = Object { name: "floor", kind: Kind::Collider, color: None };
    let scene = Scene {
        vertices: &v,
        triangles: &t,
        object_of_triangle: &[0, 0, 1, 1],
        objects: &[RED, floor],
        ..Scene::default()
    };
    assert_eq!(ground_height(&scene), 0.125, "on the floor");
}

#[test]
fn the_label_changes_only_its_corner() {
    let scene = Scene::default();
    let camera = Camera::auto(&scene, &[], 1.6);
    let plain = render(&scene, &camera, &small(160, 100));
    let labelled = render(&scene, &camera, &PictureOptions { label: "t = 1".into(), ..small(160, 100) });
    let mut changed = 0;
    for y in 0..100 {
        for x in 0..160 {
            if plain.pixel(x, y) != labelled.pixel(x, y) {
                changed += 1;
                // Five characters of 6 × 7 dots from (6, 6) on.
                assert!((6..36).contains(&x) && (6..13).contains(&y), "({x}, {y})");
            }
        }
    }
    assert!(changed > 15, "{changed} dots of ink");
}

#[test]
fn a_contact_sheet_holds_every_picture_in_its_cell() {
    let colors = [[255, 0, 0], [0, 255, 0], [0, 0, 255]];
    let pictures = colors.map(|c| Picture::filled(10, 6, c));
    let sheet = contact_sheet(&pictures, 2);
    // Two columns, two rows, gaps of 4.
    assert_eq!((sheet.width, sheet.height), (4 + 2 * 14, 4 + 2 * 10));
    assert_eq!(sheet.pixel(4, 4), Some(colors[0]));
    assert_eq!(sheet.pixel(4 + 14 + 9, 4 + 5), Some(colors[1]));
    assert_eq!(sheet.pixel(4 + 9, 4 + 10 + 5), Some(colors[2]));
    assert_eq!(sheet.pixel(3, 3), Some([255; 3]));
    assert_eq!(sheet.pixel(4 + 14, 4 + 10), Some([255; 3]), "the fourth cell is empty");
    assert_eq!(contact_sheet(&[], 3).pixels.len() % 3, 0);
}

#[test]
fn a_png_holds_the_same_pixels_and_nothing_is_left_of_a_failure() {
    let folder = std::env::temp_dir().join(format!("littoral-picture-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (v, t, camera) = plate(0.3);
    let picture = render(&Scene { vertices: &v, triangles: &t, ..Scene::default() }, &camera, &small(37, 23));
    let path = folder.join("a.png");
    picture.write_png(&path).unwrap();
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.width, info.height), (37, 23));
    assert_eq!(bytes, picture.pixels);

    // A folder is in the way; pixels are missing: an error that names the file, and no part of it.
    std::fs::create_dir(folder.join("b.png")).unwrap();
    let error = picture.write_png(folder.join("b.png")).unwrap_err().to_string();
    assert!(error.contains("b.png"), "{error}");
    let broken = Picture { width: 5, height: 5, pixels: vec![0; 3] };
    assert!(matches!(broken.write_png(folder.join("c.png")), Err(PictureError::Pixels { bytes: 3, .. })));
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.png", "b.png"]);
    std::fs::remove_dir_all(&folder).unwrap();
}
