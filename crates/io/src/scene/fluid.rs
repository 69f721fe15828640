//! From the fluids of a checked scene to particles: boxes and insides are filled on a lattice.

use super::build::{Build, Pose, SceneWarning};
use super::check_fluid::PARTICLES_MAX;
use super::error::SceneFileError;
use super::meshes::Note;
use super::spec::{Response, Splitting};
use super::spec_fluid::{Fill, Fluid};
use littoral_geom::inside::Solid;
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::{TriMesh, open_edges};
use littoral_geom::random::Random;
use littoral_geom::sampling::{Nozzle, SamplingError, default_stand_off, fill_box, fill_solid, nozzle_layer};
use littoral_sim::scene::{Emitter as SimEmitter, Liquid, SceneBuilder};
use littoral_sim::settings::{self, FluidSettings};
use std::collections::HashSet;

/// Particles that a fluid without a spacing is filled with.
const PARTICLES_AUTO: f64 = 1e4;
/// Particles across a nozzle of a fluid without a spacing that fills nothing.
const ACROSS_AUTO: f64 = 8.0;
/// Half the side of the box [length] that a fluid fills when the scene names nothing.
const HALF_SIDE: f64 = 0.1;

/// What a fluid fills, in metres.
enum Region {
    Box(Aabb),
    Inside(TriMesh),
}

impl Region {
    fn bounds(&self) -> Aabb {
        match self {
            Region::Box(b) => *b,
            Region::Inside(surface) => Aabb::of(surface.vertices.iter().copied()),
        }
    }

    /// Particles on a lattice, half a spacing from the border.
    fn sample(&self, spacing: f64) -> Result<Vec<Vec3>, SamplingError> {
        match self {
            // A box thinner than half a spacing has no room, where the lattice would give it a layer.
            Region::Box(b) if b.extent().min_element() < 0.5 * spacing => Ok(Vec::new()),
            Region::Box(b) => fill_box(*b, spacing),
            Region::Inside(surface) => {
                let solid = Solid::new(&surface.vertices, &surface.triangles);
                fill_solid(&solid, spacing, default_stand_off(spacing))
            }
        }
    }
}

impl Build<'_> {
    /// Parameters of the fluid phase.
    pub(super) fn fluid_settings(&self) -> FluidSettings {
        let s = &self.scene.solver;
        FluidSettings {
            splitting: match s.splitting {
                Splitting::Proxy => settings::Splitting::Proxy,
                Splitting::ProxyThreePhase => settings::Splitting::ProxyThreePhase,
                Splitting::Baseline => settings::Splitting::Baseline,
                Splitting::Joint => settings::Splitting::Joint,
            },
            courant: s.courant,
            volume_error: s.volume_error,
            response: match s.response {
                Response::Elastic => settings::SolidResponse::Elastic,
                Response::Inertia => settings::SolidResponse::Inertia,
            },
            artificial_viscosity: s.artificial_viscosity,
            ..FluidSettings::default()
        }
    }

    /// The boxes that swallow particles [m].
    pub(super) fn sinks(&self) -> Vec<Aabb> {
        self.scene.sink.iter().map(|s| self.frame.aabb(s.corners)).collect()
    }

    /// Adds the fluids.
    pub(super) fn add_fluids<'n>(
        &self,
        builder: &mut SceneBuilder,
        named: &mut impl Iterator<Item = &'n (String, Vec<String>)>,
        warnings: &mut Vec<SceneWarning>,
    ) -> Result<(), SceneFileError> {
        let mut parts = Vec::new();
        for (o, (path, names)) in self.scene.fluid.iter().zip(named) {
            parts.push((o, path, names, self.regions(o, path, names, warnings)?));
        }
        let Some(spacing) = self.spacing(parts.iter().flat_map(|(.., regions)| regions)) else {
            return Ok(());
        };
        let mut total = 0.0;
        for (o, path, names, regions) in parts {
            let emitters = self.emitters(o, path, spacing)?;
            total += estimate(&regions, &emitters, spacing);
            if total > PARTICLES_MAX {
                let message = format!(
                    "the fluids would have up to {total:.1e} particles {spacing} m apart; at most {PARTICLES_MAX:.0e} \
                     are made"
                );
                let at = format!("{path}.spacing");
                return Err(self.document.error_at(&at, &message, Some("use a larger spacing")));
            }
            let mut particles = Vec::new();
            let mut random = Random::new(u64::from(self.scene.seed));
            for region in &regions {
                let sampled = region.sample(spacing);
                let at = format!("{path}.fill");
                let mut sampled = sampled.map_err(|e| self.document.error_at(&at, &e.to_string(), None))?;
                if o.jitter > 0.0 {
                    shake(&mut sampled, spacing, o.jitter, &mut random);
                }
                particles.extend(sampled);
            }
            if particles.is_empty() && !regions.is_empty() {
                let message = format!("there is no room for a particle: particles are {spacing} m apart");
                let at = format!("{path}.fill");
                return Err(self.document.error_at(&at, &message, Some("use a smaller spacing")));
            }
            if particles.is_empty() && emitters.is_empty() {
                continue;
            }
            let (Some(material), Some(name)) = (o.material.resolve(o.no_slip), names.first()) else {
                continue;
            };
            let placement = self.placement(name, o.velocity, o.spin, None, None);
            let gradient = self.frame.gradient(o.velocity_gradient);
            builder.add_liquid(Liquid { placement, spacing, particles, gradient, emitters, material });
        }
        Ok(())
    }

    /// Says which objects a fluid does not treat as what they are: a run would look right and be wrong. Rods in a fluid are
    /// told when they come to be there.
    pub(super) fn note_what_fluids_miss(
        &self,
        names: &[(String, Vec<String>)],
        warnings: &mut Vec<SceneWarning>,
    ) {
        // Only the proxy's first phase knows the solids that its fluid meets.
        if self.scene.fluid.is_empty() || self.scene.solver.splitting != Splitting::Baseline {
            return;
        }
        let met = || names.iter().filter(|(path, _)| path.starts_with("rigid.")).flat_map(|(_, names)| names);
        if let Some(first) = met().next() {
            let text = format!(
                "\"{first}\": with splitting \"baseline\" fluids do not lift rigid bodies: what is lighter than water \
                 sinks in it"
            );
            let count = met().count() as u64;
            warnings.push(SceneWarning { code: "fluid-rigid", count, object: first.clone(), text });
        }
    }

    /// What a fluid fills.
    fn regions(
        &self,
        fluid: &Fluid,
        path: &str,
        names: &[String],
        warnings: &mut Vec<SceneWarning>,
    ) -> Result<Vec<Region>, SceneFileError> {
        let Some(fills) = &fluid.fill else {
            let corners = match self.frame.up {
                super::spec::Up::Z => {
                    [[-HALF_SIDE, -HALF_SIDE, 0.0], [HALF_SIDE, HALF_SIDE, 2.0 * HALF_SIDE]]
                }
                super::spec::Up::Y => {
                    [[-HALF_SIDE, 0.0, -HALF_SIDE], [HALF_SIDE, 2.0 * HALF_SIDE, HALF_SIDE]]
                }
            };
            let given =
                if fluid.emitter.is_empty() { vec![Region::Box(self.frame.aabb(corners))] } else { vec![] };
            return Ok(given);
        };
        let mut regions = Vec::new();
        for (end, fill) in fills.all() {
            regions.push(self.region(fill, &format!("{path}.{end}"), names, warnings)?);
        }
        Ok(regions)
    }

    fn region(
        &self,
        fill: &Fill,
        path: &str,
        names: &[String],
        warnings: &mut Vec<SceneWarning>,
    ) -> Result<Region, SceneFileError> {
        let Some(mesh) = &fill.inside else {
            return Ok(Region::Box(self.frame.aabb(fill.corners.unwrap_or_default())));
        };
        let places = self.places(fill.position, &fill.rotation, fill.scale, &None);
        let made = self.maker().surface(mesh, places.factors);
        let at = format!("{path}.inside.{}", mesh.key());
        let (mut surface, mut notes) = made.map_err(|m| self.document.error_at(&at, &m, None))?;
        let open = open_edges(&surface.triangles);
        if open > 0 {
            let text = format!(
                "{path}.inside is open at {open} edges: what lies more inside than outside is filled; look at the                  first frame, or give a closed surface"
            );
            notes.push(Note { code: "fill-open", count: open as u64, text });
        }
        self.note(path, names, &surface.vertices, notes, warnings);
        let pose: Option<&Pose> = places.poses.first();
        surface.vertices = pose.map(|p| p.apply(&surface.vertices)).unwrap_or_default();
        Ok(Region::Inside(surface))
    }

    /// The nozzles of a fluid, in metres, no longer than the scene.
    fn emitters(&self, fluid: &Fluid, path: &str, spacing: f64) -> Result<Vec<SimEmitter>, SceneFileError> {
        let end = self.scene.duration;
        let mut out = Vec::new();
        for (k, e) in fluid.emitter.iter().enumerate() {
            let center = self.frame.point(e.center);
            let direction = e.direction.map_or(-Vec3::Z, |d| self.frame.vector(d));
            let radius = self.frame.length(e.radius);
            let layer = nozzle_layer(center, direction, Nozzle::Disc { radius }, spacing);
            let at = format!("{path}.emitter.{k}");
            let layer = layer.map_err(|e| self.document.error_at(&at, &e.to_string(), None))?;
            // A layer of n particles a spacing thick is n dx² wide: what the particles carry is what was asked for.
            let speed = match e.rate {
                Some(rate) => rate / (layer.len() as f64 * spacing * spacing),
                None => e.speed.unwrap_or(1.0),
            };
            let stop = e.stop.map_or(end, |stop| stop.min(end));
            out.push(SimEmitter { center, direction, radius, speed, start: e.start, stop });
        }
        out.retain(|e| e.stop > e.start);
        Ok(out)
    }

    /// The spacing of all fluids [m]; `None` without fluids.
    fn spacing<'a>(&self, regions: impl Iterator<Item = &'a Region>) -> Option<f64> {
        if let Some(given) = self.scene.fluid.iter().find_map(|o| o.spacing) {
            return Some(self.frame.length(given));
        }
        let volume: f64 = regions.map(|r| r.bounds().extent().element_product()).sum();
        let widest = self.scene.fluid.iter().flat_map(|o| &o.emitter).fold(0.0, |r: f64, e| r.max(e.radius));
        let by_volume = (volume / PARTICLES_AUTO).cbrt();
        let by_width = 2.0 * self.frame.length(widest) / ACROSS_AUTO;
        let spacing = if volume > 0.0 { by_volume } else { by_width };
        (spacing > 0.0).then_some(spacing)
    }
}

/// At most about how many particles there will be.
fn estimate(regions: &[Region], emitters: &[SimEmitter], spacing: f64) -> f64 {
    let filled: f64 = regions.iter().map(|r| r.bounds().extent().element_product()).sum();
    let emitted = |e: &SimEmitter| std::f64::consts::PI * e.radius.powi(2) * e.speed * (e.stop - e.start);
    (filled + emitters.iter().map(emitted).sum::<f64>()) / spacing.powi(3)
}

/// Puts the particles of one lattice off their places by up to `share` of the spacing along each axis; along an axis on which
/// a particle has not both neighbours it stays, so that none leaves what it fills.
fn shake(particles: &mut [Vec3], spacing: f64, share: f64, random: &mut Random) {
    let Some(origin) = particles.first().copied() else { return };
    let cell = |p: Vec3| ((p - origin) / spacing).round().to_array().map(|c| c as i64);
    let filled: HashSet<[i64; 3]> = particles.iter().map(|p| cell(*p)).collect();
    for p in particles {
        let own = cell(*p);
        let inner = |axis: usize, side: i64| {
            let mut other = own;
            other[axis] += side;
            filled.contains(&other)
        };
        let mut off = share * spacing * random.in_cube(1.0);
        for axis in 0..3 {
            if !(inner(axis, -1) && inner(axis, 1)) {
                off[axis] = 0.0;
            }
        }
        *p += off;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shaken_stays_in_what_it_fills() {
        let (n, dx) = (5, 0.1);
        let at = |i: usize| dx * Vec3::new((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64);
        let lattice: Vec<Vec3> = (0..n * n * n).map(at).collect();
        let mut shaken = lattice.clone();
        shake(&mut shaken, dx, 0.4, &mut Random::new(1));
        let last = dx * (n - 1) as f64;
        for (p, q) in lattice.iter().zip(&shaken) {
            for axis in 0..3 {
                let outer = p[axis] < 0.5 * dx || p[axis] > last - 0.5 * dx;
                assert_eq!(p[axis] == q[axis], outer, "{p} went to {q}");
                assert!((p[axis] - q[axis]).abs() <= 0.4 * dx);
            }
        }
    }
}
