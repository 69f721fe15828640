//! Colours: which object gets which, and between sRGB and linear light.

use super::stage::Paint;
use super::{Kind, Object};

/// Colours of simulated objects, in order of their appearance: neighbours differ in hue and lightness.
const COLORS: [[u8; 3]; 12] = [
    [196, 78, 62],
    [52, 118, 150],
    [226, 167, 66],
    [92, 146, 96],
    [142, 94, 150],
    [228, 132, 92],
    [66, 156, 156],
    [188, 96, 128],
    [128, 132, 62],
    [88, 106, 178],
    [168, 122, 84],
    [122, 178, 142],
];
/// Colour of colliders.
const COLLIDER: [u8; 3] = [164, 166, 170];

/// Linear light of an sRGB byte.
pub(super) fn linear(byte: u8) -> f32 {
    let s = f32::from(byte) / 255.0;
    if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
}

/// sRGB byte of linear light, clamped.
pub(super) fn byte(light: f32) -> u8 {
    let l = light.clamp(0.0, 1.0);
    let s = if l <= 0.003_130_8 { 12.92 * l } else { 1.055 * l.powf(1.0 / 2.4) - 0.055 };
    (255.0 * s + 0.5) as u8
}

/// Linear colour of an sRGB triple.
pub(super) fn color(srgb: [u8; 3]) -> [f32; 3] {
    srgb.map(linear)
}

/// (1 − t) a + t b.
#[inline]
pub(super) fn mix(a: [f32; 3], b: [f32; 3], t: f32) -> [f32; 3] {
    [0, 1, 2].map(|k| a[k] + t * (b[k] - a[k]))
}

/// One paint per object, at least `count`.
pub(super) fn paints(objects: &[Object], count: usize) -> Vec<Paint> {
    let unnamed = Object { name: "", kind: Kind::Cloth, color: None };
    let mut used = 0;
    (0..count)
        .map(|o| {
            let object = objects.get(o).unwrap_or(&unnamed);
            let front = color(object.color.unwrap_or_else(|| match object.kind {
                Kind::Collider => COLLIDER,
                Kind::Cloth | Kind::Soft | Kind::Rope | Kind::Fluid => {
                    used += 1;
                    COLORS[(used - 1) % COLORS.len()]
                }
            }));
            let (back, gloss) = match object.kind {
                Kind::Cloth => (mix(front, [0.86, 0.82, 0.74], 0.42), 0.0),
                Kind::Soft | Kind::Fluid => (front, 0.25),
                Kind::Rope => (front, 0.05),
                Kind::Collider => (front, 0.06),
            };
            Paint { front, back, gloss }
        })
        .collect()
}
