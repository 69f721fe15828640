//! Particles for pictures: balls whose colour tells their fluid, and paler the faster they are.

use littoral_geom::math::Vec3;
use littoral_io::render::{Kind, Object};
use littoral_io::run_folder::{Frame, Topology};

/// Colours of fluids at rest, in order of their appearance [sRGB].
const COLORS: [[u8; 3]; 5] =
    [[38, 104, 176], [198, 142, 38], [60, 140, 110], [150, 84, 130], [120, 120, 128]];
/// Colour of the fastest: that of foam [sRGB].
const FOAM: [u8; 3] = [236, 243, 248];
/// Shades between rest and the fastest.
const SHADES: usize = 8;
/// Share of the particles that may be faster than the fastest shade: a few that fly off should not take the colour of
/// all others.
const FASTEST: f64 = 0.98;

/// The speed that has the fastest shade in these frames [m/s].
pub fn fastest(topology: &Topology, frames: &[Frame]) -> f64 {
    let mut speeds: Vec<f64> = (frames.iter())
        .flat_map(|frame| there(topology, frame, 0, topology.particles.len()))
        .map(|(_, v)| v.length())
        .filter(|s| s.is_finite())
        .collect();
    speeds.sort_by(f64::total_cmp);
    speeds.get((FASTEST * speeds.len() as f64) as usize).copied().unwrap_or(0.0)
}

/// One object a shade of each fluid, to be listed behind the objects of the run.
pub fn shades(topology: &Topology) -> Vec<Object<'_>> {
    let fluids = topology.objects.iter().filter(|o| o.kind == "fluid");
    let mixed = |base: [u8; 3], k: usize| {
        let t = k as f64 / (SHADES - 1) as f64;
        [0, 1, 2].map(|c| (f64::from(base[c]) + t * (f64::from(FOAM[c]) - f64::from(base[c]))) as u8)
    };
    (fluids.enumerate())
        .flat_map(|(f, o)| (0..SHADES).map(move |k| (o, mixed(COLORS[f % COLORS.len()], k))))
        .map(|(o, color)| Object { name: &o.name, kind: Kind::Fluid, color: Some(color) })
        .collect()
}

/// Centres of the balls of each of [`shades`] in a frame [m].
pub fn balls(topology: &Topology, frame: &Frame, fastest: f64) -> Vec<Vec<Vec3>> {
    let first = topology.particles.first().copied().unwrap_or(0);
    let fluids = topology.objects.iter().filter(|o| o.kind == "fluid");
    fluids
        .flat_map(|o| {
            let mut sets = vec![Vec::new(); SHADES];
            for (x, v) in there(topology, frame, (o.first - first) as usize, o.count as usize) {
                let share = if fastest > 0.0 { v.length() / fastest } else { 0.0 };
                let shade = (share * SHADES as f64).clamp(0.0, (SHADES - 1) as f64);
                sets[shade as usize].push(x);
            }
            sets
        })
        .collect()
}

/// Positions and velocities of particles that are part of their fluid, `count` from `start` on.
fn there<'a>(
    topology: &'a Topology,
    frame: &'a Frame,
    start: usize,
    count: usize,
) -> impl Iterator<Item = (Vec3, Vec3)> + 'a {
    let of_range = topology.particles.iter().enumerate().skip(start).take(count);
    let present = of_range.filter(|(k, _)| frame.is_present(*k));
    present.filter_map(|(_, p)| Some((*frame.x.get(*p as usize)?, *frame.v.get(*p as usize)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use littoral_io::run_folder::ObjectRange;

    #[test]
    fn faster_particles_are_paler_and_those_that_are_not_there_are_not_drawn() {
        let object = ObjectRange { name: "water".into(), kind: "fluid".into(), first: 2, count: 3 };
        let topology = Topology { particles: vec![2, 3, 4], objects: vec![object], ..Topology::default() };
        let x: Vec<Vec3> = (0..5).map(|k| Vec3::X * f64::from(k)).collect();
        let v: Vec<Vec3> = (0..5).map(|k| Vec3::Z * f64::from(4 - k)).collect();
        let frame =
            Frame { time: 0.0, x, v, present: Some(vec![true, false, true]), contact_force: Vec::new() };
        let fastest = fastest(&topology, std::slice::from_ref(&frame));
        assert_eq!(fastest, 2.0);
        let sets = balls(&topology, &frame, fastest);
        assert_eq!(sets.len(), shades(&topology).len());
        assert_eq!(
            (sets[0].as_slice(), sets[SHADES - 1].as_slice()),
            (&[Vec3::X * 4.0][..], &[Vec3::X * 2.0][..])
        );
        let colors: Vec<[u8; 3]> = shades(&topology).iter().filter_map(|o| o.color).collect();
        assert!(colors.windows(2).all(|w| w[0][0] < w[1][0]) && colors[SHADES - 1] == FOAM);
    }
}
