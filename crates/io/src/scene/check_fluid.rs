//! What the types and ranges of a scene cannot say about fluids.

use super::check::{Check, Checked};
use super::materials::{fluid_preset, fluid_presets};
use super::spec::Scene;
use super::spec_fluid::{Emitter, Fill};

/// Largest number of particles of a scene: a slip of a digit is refused before it fills the memory.
pub(super) const PARTICLES_MAX: f64 = 1e7;

impl Check<'_> {
    /// Checks the fluids and sinks of a scene.
    pub(super) fn fluids(&self, scene: &Scene) -> Checked {
        for (i, o) in scene.fluid.iter().enumerate() {
            let path = format!("fluid.{i}");
            let preset = o.material.preset();
            self.preset(&path, preset, fluid_preset(preset).is_some(), fluid_presets())?;
            for (end, fill) in o.fill.iter().flat_map(|f| f.all()) {
                self.fill(&format!("{path}.{end}"), fill)?;
            }
            if o.fill.as_ref().is_some_and(|f| f.all().is_empty()) && o.emitter.is_empty() {
                let message = "this fluid fills nothing and has no emitter";
                return self.fail(&format!("{path}.fill"), message, None);
            }
            for (k, emitter) in o.emitter.iter().enumerate() {
                self.emitter(&format!("{path}.emitter.{k}"), emitter)?;
            }
        }
        for (i, sink) in scene.sink.iter().enumerate() {
            self.corners(&format!("sink.{i}.box"), sink.corners)?;
        }
        self.one_spacing(scene)
    }

    /// Particles of different size do not share a kernel.
    fn one_spacing(&self, scene: &Scene) -> Checked {
        let mut given = scene.fluid.iter().enumerate().filter_map(|(i, o)| Some((i, o.spacing?)));
        let Some((first, spacing)) = given.next() else { return Ok(()) };
        match given.find(|&(_, other)| other != spacing) {
            None => Ok(()),
            Some((i, other)) => {
                let message = format!(
                    "all fluids of a scene have one spacing: found {other}, but fluid.{first} has {spacing}"
                );
                let help = "leave it out: it is taken from the first fluid that names one";
                self.fail(&format!("fluid.{i}.spacing"), &message, Some(help))
            }
        }
    }

    fn fill(&self, path: &str, fill: &Fill) -> Checked {
        match (&fill.corners, &fill.inside) {
            (Some(corners), None) => self.corners(&format!("{path}.box"), *corners),
            (None, Some(mesh)) => {
                self.mesh(&format!("{path}.inside"), mesh)?;
                self.rotation(&format!("{path}.rotation"), &fill.rotation)
            }
            (None, None) | (Some(_), Some(_)) => {
                self.fail(path, "expected exactly one of box and inside", None)
            }
        }
    }

    fn corners(&self, path: &str, [low, high]: [[f64; 3]; 2]) -> Checked {
        match (0..3).find(|&a| low[a] >= high[a]) {
            None => Ok(()),
            Some(a) => {
                let axis = ["x", "y", "z"][a];
                let message = format!(
                    "expected the lowest corner, then the highest; along {axis} found {} and {}",
                    low[a], high[a]
                );
                self.fail(path, &message, None)
            }
        }
    }

    fn emitter(&self, path: &str, emitter: &Emitter) -> Checked {
        if let Some(direction) = &emitter.direction {
            self.direction(&format!("{path}.direction"), direction)?;
        }
        if emitter.speed.is_some() && emitter.rate.is_some() {
            return self.fail(path, "expected one of speed and rate, found both", None);
        }
        match emitter.stop {
            Some(stop) if stop <= emitter.start => {
                let message = format!("stop must be above start, {}, found {stop}", emitter.start);
                self.fail(&format!("{path}.stop"), &message, None)
            }
            Some(_) | None => Ok(()),
        }
    }
}
