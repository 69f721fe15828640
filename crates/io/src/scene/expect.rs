//! What a scene says must be true of its motion.

use super::check::{copy_names, objects};
use super::frame::Frame;
use super::spec::{MeasureName, Scene};
use littoral_geom::math::{Aabb, Vec3};
use littoral_sim::measure::{Axis, Measure, measure_within};
use littoral_sim::model::ObjectKind;
use littoral_sim::report::{FluidReport, StepReport};
use littoral_sim::simulation::Simulation;
use std::fmt;

/// What a run has seen of its fluids that no state tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// What the last step did.
    pub last: FluidReport,
    /// Force on each object in the last step [N]; empty before the first.
    pub forces: Vec<Vec3>,
    /// Force of contacts on each object at the end of the last step [N]; empty before the first.
    pub contact_forces: Vec<Vec3>,
    /// Leaked particles so far.
    pub leaked: u64,
    /// Times that rods passed through something so far.
    pub rods_passed: u64,
}

impl Seen {
    /// Adds a step.
    pub fn step(&mut self, report: &StepReport) {
        self.last = report.fluid.unwrap_or_default();
        self.leaked += u64::from(self.last.leaked);
        self.rods_passed += report.rods.map_or(0, |r| u64::from(r.passed));
        self.forces.clone_from(&report.fluid_forces);
        self.contact_forces.clone_from(&report.contact_forces);
    }
}

/// Something that must be true of one object at one time. Numbers are in the units and axes of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Name of the object.
    pub object: String,
    /// What is measured.
    pub measure: MeasureName,
    /// The measure must not be below this.
    pub at_least: Option<f64>,
    /// The measure must not be above this.
    pub at_most: Option<f64>,
    /// When [s]; `None` at the end.
    pub time: Option<f64>,
    /// The vertices in this box alone [m]; `None` for all.
    pub within: Option<Aabb>,
    frame: Frame,
}

impl Expectation {
    /// The measure in the state of the simulation, and in what was `seen` on the way there; NaN when the object is not
    /// there or has no such measure.
    pub fn value(&self, sim: &Simulation, seen: &Seen) -> f64 {
        let Some(object) = sim.objects().iter().find(|o| o.name == self.object) else { return f64::NAN };
        let half = 0.5 * sim.spacing().unwrap_or(f64::NAN) / self.frame.length(1.0);
        let wet = |x: f64| if object.kind == ObjectKind::Fluid { x } else { f64::NAN };
        let measure = |what| measure_within(sim, object, what, self.within);
        let length = |what| measure(what) / self.frame.length(1.0);
        // An axis of the file that points against ours swaps smallest and largest.
        let coordinate = |axis: usize, positive: fn(Axis) -> Measure, negative: fn(Axis) -> Measure| {
            let (axis, sign) = self.frame.axis(axis);
            let axis = [Axis::X, Axis::Y, Axis::Z][axis];
            sign * length(if sign > 0.0 { positive(axis) } else { negative(axis) })
        };
        let force = |axis: usize| {
            let (axis, sign) = self.frame.axis(axis);
            let index = sim.objects().iter().position(|o| o.name == self.object);
            let force = index.and_then(|i| seen.forces.get(i)).copied().unwrap_or(Vec3::ZERO);
            sign * force[axis]
        };
        let contact_force = || {
            let index = sim.objects().iter().position(|o| o.name == self.object);
            // Before the first step nothing pushes; a method that does not tell its forces has none to measure.
            let untold = if sim.state().step == 0 { Vec3::ZERO } else { Vec3::NAN };
            index.and_then(|i| seen.contact_forces.get(i)).copied().unwrap_or(untold)
        };
        let contact_force_along = |axis: usize| {
            let (axis, sign) = self.frame.axis(axis);
            sign * contact_force()[axis]
        };
        match self.measure {
            MeasureName::MinX => coordinate(0, Measure::Min, Measure::Max),
            MeasureName::MinY => coordinate(1, Measure::Min, Measure::Max),
            MeasureName::MinZ => coordinate(2, Measure::Min, Measure::Max),
            MeasureName::MaxX => coordinate(0, Measure::Max, Measure::Min),
            MeasureName::MaxY => coordinate(1, Measure::Max, Measure::Min),
            MeasureName::MaxZ => coordinate(2, Measure::Max, Measure::Min),
            MeasureName::CenterX => coordinate(0, Measure::Center, Measure::Center),
            MeasureName::CenterY => coordinate(1, Measure::Center, Measure::Center),
            MeasureName::CenterZ => coordinate(2, Measure::Center, Measure::Center),
            MeasureName::DeviationX => coordinate(0, Measure::Deviation, Measure::Deviation).abs(),
            MeasureName::DeviationY => coordinate(1, Measure::Deviation, Measure::Deviation).abs(),
            MeasureName::DeviationZ => coordinate(2, Measure::Deviation, Measure::Deviation).abs(),
            MeasureName::MaxSpeed => measure(Measure::MaxSpeed),
            MeasureName::MeanSpeed => measure(Measure::MeanSpeed),
            MeasureName::VolumeRatio => measure(Measure::VolumeRatio),
            MeasureName::AreaRatio => measure(Measure::AreaRatio),
            MeasureName::StretchMax => measure(Measure::StretchMax),
            MeasureName::Pressure => measure(Measure::Pressure),
            MeasureName::JointGap => length(Measure::JointGap),
            MeasureName::LagMax => length(Measure::LagMax),
            MeasureName::AngleDeg => measure(Measure::Angle).to_degrees(),
            MeasureName::KineticEnergy => measure(Measure::KineticEnergy),
            MeasureName::FrontX => wet(coordinate(0, Measure::Max, Measure::Min) + half),
            MeasureName::FrontY => wet(coordinate(1, Measure::Max, Measure::Min) + half),
            MeasureName::FrontZ => wet(coordinate(2, Measure::Max, Measure::Min) + half),
            MeasureName::Level => length(Measure::Level),
            MeasureName::Volume => measure(Measure::Volume) / self.frame.length(1.0).powi(3),
            MeasureName::Leaked => wet(seen.leaked as f64),
            MeasureName::CompressionMean => wet(seen.last.compression_mean),
            MeasureName::CompressionMax => wet(seen.last.compression_max),
            MeasureName::FluidForceX => force(0),
            MeasureName::FluidForceY => force(1),
            MeasureName::FluidForceZ => force(2),
            MeasureName::ContactForce => contact_force().length(),
            MeasureName::ContactForceX => contact_force_along(0),
            MeasureName::ContactForceY => contact_force_along(1),
            MeasureName::ContactForceZ => contact_force_along(2),
            MeasureName::VolumeError => wet(seen.last.volume_error),
            MeasureName::Length => length(Measure::Length),
            MeasureName::Sag => length(Measure::Sag),
            MeasureName::Tension => measure(Measure::Tension),
            MeasureName::RodsPassed if object.kind == ObjectKind::Rod => seen.rods_passed as f64,
            MeasureName::RodsPassed => f64::NAN,
        }
    }

    /// The frame at which it must be true: the nearest to its time, of `frames` frames at `fps` frames a second.
    pub fn frame(&self, fps: f64, frames: u32) -> u32 {
        self.time.map_or(frames, |time| ((time * fps).round() as u32).min(frames))
    }

    /// True when a value is within the bounds; never for NaN.
    pub fn holds(&self, value: f64) -> bool {
        !value.is_nan() && self.at_least.is_none_or(|b| value >= b) && self.at_most.is_none_or(|b| value <= b)
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of \"{}\"", self.measure.key(), self.object)?;
        if self.within.is_some() {
            f.write_str(" within its box")?;
        }
        match (self.at_least, self.at_most) {
            (Some(a), Some(b)) => write!(f, " from {a} to {b}")?,
            (Some(a), None) => write!(f, " at least {a}")?,
            (None, Some(b)) => write!(f, " at most {b}")?,
            (None, None) => {}
        }
        match self.time {
            Some(time) => write!(f, " at {time} s"),
            None => write!(f, " at the end"),
        }
    }
}

impl MeasureName {
    /// How a scene file writes it.
    pub fn key(self) -> &'static str {
        match self {
            MeasureName::MinX => "min_x",
            MeasureName::MinY => "min_y",
            MeasureName::MinZ => "min_z",
            MeasureName::MaxX => "max_x",
            MeasureName::MaxY => "max_y",
            MeasureName::MaxZ => "max_z",
            MeasureName::CenterX => "center_x",
            MeasureName::CenterY => "center_y",
            MeasureName::CenterZ => "center_z",
            MeasureName::DeviationX => "deviation_x",
            MeasureName::DeviationY => "deviation_y",
            MeasureName::DeviationZ => "deviation_z",
            MeasureName::MaxSpeed => "max_speed",
            MeasureName::MeanSpeed => "mean_speed",
            MeasureName::VolumeRatio => "volume_ratio",
            MeasureName::AreaRatio => "area_ratio",
            MeasureName::StretchMax => "stretch_max",
            MeasureName::Pressure => "pressure",
            MeasureName::JointGap => "joint_gap",
            MeasureName::LagMax => "lag_max",
            MeasureName::AngleDeg => "angle_deg",
            MeasureName::KineticEnergy => "kinetic_energy",
            MeasureName::FrontX => "front_x",
            MeasureName::FrontY => "front_y",
            MeasureName::FrontZ => "front_z",
            MeasureName::Level => "level",
            MeasureName::Volume => "volume",
            MeasureName::Leaked => "leaked",
            MeasureName::CompressionMean => "compression_mean",
            MeasureName::CompressionMax => "compression_max",
            MeasureName::FluidForceX => "fluid_force_x",
            MeasureName::FluidForceY => "fluid_force_y",
            MeasureName::FluidForceZ => "fluid_force_z",
            MeasureName::ContactForce => "contact_force",
            MeasureName::ContactForceX => "contact_force_x",
            MeasureName::ContactForceY => "contact_force_y",
            MeasureName::ContactForceZ => "contact_force_z",
            MeasureName::VolumeError => "volume_error",
            MeasureName::Length => "length",
            MeasureName::Sag => "sag",
            MeasureName::Tension => "tension",
            MeasureName::RodsPassed => "rods_passed",
        }
    }
}

/// The expectations of a scene, one for each object that is named.
pub(crate) fn expectations(scene: &Scene, frame: Frame) -> Vec<Expectation> {
    let mut out = Vec::new();
    for e in &scene.expect {
        let named = objects(scene).into_iter().find(|(_, name, _)| *name == e.object);
        let names = match named {
            Some((_, name, copies)) => copy_names(&name, copies),
            None => vec![e.object.clone()],
        };
        out.extend(names.into_iter().map(|object| Expectation {
            object,
            measure: e.measure,
            at_least: e.at_least,
            at_most: e.at_most,
            time: e.time,
            within: e.within.map(|b| frame.aabb(b)),
            frame,
        }));
    }
    out
}
