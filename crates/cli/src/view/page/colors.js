// Colours: those of the objects are the ones of the run's pictures.

/** Simulated objects, in order of their appearance [sRGB]. */
const OBJECTS = [
  [196, 78, 62], [52, 118, 150], [226, 167, 66], [92, 146, 96], [142, 94, 150], [228, 132, 92],
  [66, 156, 156], [188, 96, 128], [128, 132, 62], [88, 106, 178], [168, 122, 84], [122, 178, 142],
];
/** Colliders [sRGB]. */
const COLLIDER = [164, 166, 170];
/** Fluids at rest, in order of their appearance [sRGB]. */
const FLUIDS = [[38, 104, 176], [198, 142, 38], [60, 140, 110], [150, 84, 130], [120, 120, 128]];
/** The fastest particles: foam [sRGB]. */
export const FOAM = [236, 243, 248];
/** What the back of a sheet is mixed with, and how much of it [linear]. */
const LINING = [0.86, 0.82, 0.74];
const LINING_SHARE = 0.42;

/** Linear light of an sRGB colour. */
export function linear(color) {
  return color.map((byte) => {
    const s = byte / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
}

/** An sRGB colour for a style sheet. */
export const css = (color) => `rgb(${color.join(" ")})`;

/** One sRGB colour an object. */
export function colorsOf(objects) {
  let used = 0;
  let fluids = 0;
  return objects.map(({ kind }) => {
    if (kind === "collider") return COLLIDER;
    if (kind === "fluid") return FLUIDS[fluids++ % FLUIDS.length];
    return OBJECTS[used++ % OBJECTS.length];
  });
}

/** Front and back of an object in linear light. */
export function paintOf(kind, color) {
  const front = linear(color);
  const back = kind === "cloth"
    ? front.map((c, k) => c + LINING_SHARE * (LINING[k] - c))
    : front;
  return { front, back };
}

/** Linear colours of the surroundings by theme. */
export const THEMES = {
  light: { sky: linear([238, 241, 244]), grid: linear([86, 96, 108]), shadow: 0.22, line: linear([24, 28, 34]) },
  dark: { sky: linear([34, 38, 44]), grid: linear([150, 162, 176]), shadow: 0.45, line: linear([10, 12, 14]) },
};
