//! Numbers about an object in motion that a scene can expect: heights, centres, speeds, stretch, volume. Particles that
//! are not part of their fluid count nowhere.
//!
//! Read from a simulation's public state; nothing here takes part in a step.

mod fluid;
mod rod;

pub use rod::segments_in_fluid;

use crate::model::{Object, ObjectKind};
use crate::simulation::Simulation;
use littoral_geom::math::{Aabb, Quat, Vec3};
use littoral_geom::mesh::{enclosed_volume, tet_volume, triangle_area, unique_edges};

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// x.
    X,
    /// y.
    Y,
    /// z.
    Z,
}

impl Axis {
    /// The component of a vector along it.
    #[inline]
    pub fn of(self, v: Vec3) -> f64 {
        match self {
            Axis::X => v.x,
            Axis::Y => v.y,
            Axis::Z => v.z,
        }
    }
}

/// What is measured of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Smallest coordinate of a vertex [m].
    Min(Axis),
    /// Largest coordinate of a vertex [m].
    Max(Axis),
    /// Coordinate of the centre [m]: of the volume of a soft body, of the area of a surface, of the mass of a rigid body.
    Center(Axis),
    /// Standard deviation of a coordinate of the vertices [m]: of a uniform ellipse, half its semi-axis; of a uniform rod,
    /// its length over √12.
    Deviation(Axis),
    /// Largest speed of a vertex [m/s].
    MaxSpeed,
    /// Mean speed of the vertices [m/s].
    MeanSpeed,
    /// Volume over rest volume of a soft body [–]; inverted tets count negative. NaN for a surface.
    VolumeRatio,
    /// Area over rest area of the surface [–].
    AreaRatio,
    /// Largest length over rest length of an edge of the surface [–].
    StretchMax,
    /// Volume [m³]: of a fluid its particles times dx³, of a soft body its tets, of a closed surface what it encloses,
    /// negative if it is inside out. NaN for an open surface.
    Volume,
    /// Height z of the free surface of a fluid [m]: the median over upright lines, each followed from its lowest particle
    /// up to where the smoothed filling falls below a half. NaN for anything else, and where nothing is filled.
    Level,
    /// Pressure of what a closed cloth holds over that outside [Pa]; NaN where it holds nothing.
    Pressure,
    /// Length of a rod along its segments [m]. NaN for anything else.
    Length,
    /// How far the lowest point of a rod hangs below the lower of its first and last ones [m]. NaN for anything else.
    Sag,
    /// Largest tension EA (l/l̄ − 1) in a segment of a rod [N], negative where all are pressed. NaN for anything else.
    Tension,
    /// Largest distance [m] by which the joints of a rigid body miss what they hold; NaN without any.
    JointGap,
    /// Largest distance so far of a prescribed vertex from where it should be [m].
    LagMax,
    /// Angle by which a rigid body is turned from its start [rad], in [0, π]. NaN for anything else.
    Angle,
    /// Kinetic energy [J]; of a soft thing ½ Σ m v². NaN for a collider.
    KineticEnergy,
}

/// Measures an object of the simulation. An object without vertices has NaN.
pub fn measure(sim: &Simulation, object: &Object, what: Measure) -> f64 {
    measure_within(sim, object, what, None)
}

/// As [`measure`], of the vertices inside a box [m] alone. Measures of elements (centre, areas, volumes, stretch) and lags
/// know no box: NaN.
pub fn measure_within(sim: &Simulation, object: &Object, what: Measure, within: Option<Aabb>) -> f64 {
    let of_points = matches!(
        what,
        Measure::Min(_) | Measure::Max(_) | Measure::Deviation(_) | Measure::MaxSpeed | Measure::MeanSpeed
    );
    if within.is_some() && !of_points {
        return f64::NAN;
    }
    let is_inside = |p: Vec3| within.is_none_or(|b| b.min.cmple(p).all() && p.cmple(b.max).all());
    let (x, v) = (&sim.state().x, &sim.state().v);
    let points: Vec<usize> = object.range().filter(|&p| sim.is_present(p) && is_inside(x[p])).collect();
    if points.is_empty() {
        // An empty fluid has no place, but it has a volume.
        return if matches!(what, Measure::Volume) { 0.0 } else { f64::NAN };
    }
    let x = points.iter().map(|&p| x[p]);
    let speeds = points.iter().map(|&p| v[p].length());
    match what {
        Measure::Min(axis) => x.map(|p| axis.of(p)).fold(f64::INFINITY, f64::min),
        Measure::Max(axis) => x.map(|p| axis.of(p)).fold(f64::NEG_INFINITY, f64::max),
        Measure::Center(axis) => axis.of(center(sim, object)),
        Measure::Deviation(axis) => {
            let count = points.len() as f64;
            let mean = x.clone().sum::<Vec3>() / count;
            (x.map(|p| axis.of(p - mean).powi(2)).sum::<f64>() / count).sqrt()
        }
        Measure::MaxSpeed => speeds.fold(0.0, f64::max),
        Measure::MeanSpeed => speeds.sum::<f64>() / points.len() as f64,
        Measure::VolumeRatio => volume(sim, object, &sim.state().x) / volume(sim, object, sim.x_rest()),
        Measure::AreaRatio => area(sim, object, &sim.state().x) / area(sim, object, sim.x_rest()),
        Measure::StretchMax => stretch_max(sim, object),
        Measure::Volume => match object.kind {
            ObjectKind::Fluid => points.len() as f64 * sim.spacing().map_or(f64::NAN, |dx| dx.powi(3)),
            ObjectKind::Soft => volume(sim, object, &sim.state().x),
            ObjectKind::Rod => f64::NAN,
            ObjectKind::Cloth | ObjectKind::Rigid | ObjectKind::Collider => enclosed(sim, object),
        },
        Measure::Level => match (object.kind, sim.spacing()) {
            (ObjectKind::Fluid, Some(dx)) => fluid::level(&x.collect::<Vec<_>>(), dx),
            _ => f64::NAN,
        },
        Measure::Pressure => {
            let index = sim.objects().iter().position(|o| o.name == object.name);
            index.and_then(|i| sim.pressure(i)).unwrap_or(f64::NAN)
        }
        Measure::Length | Measure::Sag | Measure::Tension => rod::measure(sim, object, what),
        Measure::Angle => sim.body(object).map_or(f64::NAN, |(_, s)| turned(s.pose.rotation)),
        Measure::KineticEnergy => match object.kind {
            ObjectKind::Rigid => sim.body(object).map_or(f64::NAN, |(body, state)| body.kinetic(&state)),
            ObjectKind::Collider => f64::NAN,
            ObjectKind::Cloth | ObjectKind::Soft | ObjectKind::Rod | ObjectKind::Fluid => {
                points.iter().map(|&p| 0.5 * sim.mass()[p] * sim.state().v[p].length_squared()).sum()
            }
        },
        Measure::JointGap => sim.joint_gap(object).unwrap_or(f64::NAN),
        Measure::LagMax => {
            let index = sim.objects().iter().position(|o| o.name == object.name);
            index.and_then(|i| sim.state().lag_max.get(i)).copied().unwrap_or(0.0)
        }
    }
}

/// Angle of a rotation [rad], in [0, π].
fn turned(rotation: Quat) -> f64 {
    2.0 * rotation.xyz().length().atan2(rotation.w.abs())
}

/// Elements of an object: all of their corners are its points, so the first tells.
fn elements<const N: usize>(all: &[[u32; N]], object: &Object) -> impl Iterator<Item = [u32; N]> {
    let range = object.range();
    all.iter().filter(move |e| range.contains(&(e[0] as usize))).copied()
}

fn at<const N: usize>(x: &[Vec3], element: [u32; N]) -> [Vec3; N] {
    element.map(|c| x[c as usize])
}

fn area(sim: &Simulation, object: &Object, x: &[Vec3]) -> f64 {
    elements(sim.triangles(), object).map(|t| triangle_area(at(x, t))).sum()
}

fn volume(sim: &Simulation, object: &Object, x: &[Vec3]) -> f64 {
    elements(sim.tets(), object).map(|t| tet_volume(at(x, t))).sum()
}

/// Volume inside a closed surface, NaN for an open one.
fn enclosed(sim: &Simulation, object: &Object) -> f64 {
    let triangles: Vec<[u32; 3]> = elements(sim.triangles(), object).collect();
    // Each of three edges of each triangle is shared by two, where there is no rim.
    match 2 * unique_edges(&triangles).len() == 3 * triangles.len() {
        true => enclosed_volume(&sim.state().x, &triangles),
        false => f64::NAN,
    }
}

/// Σ w c / Σ w over the elements, with volumes or areas w and centroids c.
fn center(sim: &Simulation, object: &Object) -> Vec3 {
    let x = &sim.state().x;
    let (mut sum, mut weight) = (Vec3::ZERO, 0.0);
    let mut add = |w: f64, c: Vec3| {
        sum += w * c;
        weight += w;
    };
    match object.kind {
        ObjectKind::Soft => elements(sim.tets(), object).for_each(|t| {
            let corners = at(x, t);
            add(tet_volume(corners), corners.iter().sum::<Vec3>() / 4.0);
        }),
        ObjectKind::Rigid => return sim.body(object).map_or(Vec3::NAN, |(_, state)| state.pose.center),
        ObjectKind::Cloth | ObjectKind::Collider => elements(sim.triangles(), object).for_each(|t| {
            let corners = at(x, t);
            add(triangle_area(corners), corners.iter().sum::<Vec3>() / 3.0);
        }),
        ObjectKind::Rod => elements(sim.edges(), object).for_each(|e| {
            let [a, b] = at(x, e);
            add(a.distance(b), 0.5 * (a + b));
        }),
        ObjectKind::Fluid => object.range().filter(|&v| sim.is_present(v)).for_each(|v| add(1.0, x[v])),
    }
    sum / weight
}

fn stretch_max(sim: &Simulation, object: &Object) -> f64 {
    let triangles: Vec<[u32; 3]> = elements(sim.triangles(), object).collect();
    let length = |x: &[Vec3], e: [u32; 2]| {
        let [a, b] = at(x, e);
        a.distance(b)
    };
    let edges = match object.kind {
        ObjectKind::Rod => elements(sim.edges(), object).collect(),
        _ => unique_edges(&triangles),
    };
    (edges.into_iter()).map(|e| length(&sim.state().x, e) / length(sim.x_rest(), e)).fold(0.0, f64::max)
}
