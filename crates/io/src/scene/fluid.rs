//! From the fluids of a checked scene to particles: boxes and insides are filled on a lattice.

use super::build::{Build, Pose, SceneWarning};
use super::check_fluid::PARTICLES_MAX;
use super::error::SceneFileError;
use super::spec::Splitting;
use super::spec_fluid::{Emitter, Fill, Fluid};
use littoral_geom::math::{Aabb, Vec3};
use littoral_geom::mesh::TriMesh;
use littoral_sim::scene::{Emitter as SimEmitter, Liquid, SceneBuilder};
use littoral_sim::settings::{self, FluidSettings};

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
            ..FluidSettings::default()
        }
    }

    /// The boxes that swallow particles [m].
    pub(super) fn sinks(&self) -> Vec<Aabb> {
        self.scene.sink.iter().map(|s| self.aabb(s.corners)).collect()
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
            parts.push((o, path, names, self.regions(o, path, names, warnings)?, self.emitters(o)));
        }
        let Some(spacing) = self.spacing(parts.iter().map(|(.., r, e)| (r.as_slice(), e.as_slice()))) else {
            return Ok(());
        };
        let mut total = 0.0;
        for (o, path, names, regions, emitters) in parts {
            total += estimate(&regions, &emitters, spacing);
            if total > PARTICLES_MAX {
                let message = format!(
                    "the fluids would have up to {total:.1e} particles {spacing} m apart; at most {PARTICLES_MAX:.0e} \
                     are made"
                );
                let at = format!("{path}.spacing");
                return Err(self.document.error_at(&at, &message, Some("use a larger spacing")));
            }
            let particles: Vec<Vec3> = regions.iter().flat_map(|r| sample(r, spacing)).collect();
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
            let placement = self.placement(name, o.velocity, o.spin, None);
            builder.add_liquid(Liquid { placement, spacing, particles, emitters, material });
        }
        Ok(())
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
            let given = if fluid.emitter.is_empty() { vec![Region::Box(self.aabb(corners))] } else { vec![] };
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
            return Ok(Region::Box(self.aabb(fill.corners.unwrap_or_default())));
        };
        let places = self.places(fill.position, &fill.rotation, fill.scale, &None);
        let made = self.maker().surface(mesh, places.factors);
        let at = format!("{path}.inside.{}", mesh.key());
        let (mut surface, notes) = made.map_err(|m| self.document.error_at(&at, &m, None))?;
        self.note(path, names, &surface.vertices, notes, warnings);
        let pose: Option<&Pose> = places.poses.first();
        surface.vertices = pose.map(|p| p.apply(&surface.vertices)).unwrap_or_default();
        Ok(Region::Inside(surface))
    }

    /// The nozzles of a fluid, in metres, no longer than the scene.
    fn emitters(&self, fluid: &Fluid) -> Vec<SimEmitter> {
        let end = self.scene.duration;
        let made = fluid.emitter.iter().map(|e: &Emitter| {
            let radius = self.frame.length(e.radius);
            let speed = match e.rate {
                Some(rate) => rate / (std::f64::consts::PI * radius * radius),
                None => e.speed.unwrap_or(1.0),
            };
            SimEmitter {
                center: self.frame.point(e.center),
                direction: e.direction.map_or(-Vec3::Z, |d| self.frame.vector(d)),
                radius,
                speed,
                start: e.start,
                stop: e.stop.map_or(end, |stop| stop.min(end)),
            }
        });
        made.filter(|e| e.stop > e.start).collect()
    }

    /// The spacing of all fluids [m]; `None` without fluids.
    fn spacing<'a>(&self, parts: impl Iterator<Item = (&'a [Region], &'a [SimEmitter])>) -> Option<f64> {
        if let Some(given) = self.scene.fluid.iter().find_map(|o| o.spacing) {
            return Some(self.frame.length(given));
        }
        let (mut volume, mut radius): (f64, f64) = (0.0, 0.0);
        for (regions, emitters) in parts {
            volume += regions.iter().map(|r| r.bounds().extent().element_product()).sum::<f64>();
            radius = emitters.iter().fold(radius, |most, e| most.max(e.radius));
        }
        let by_volume = (volume / PARTICLES_AUTO).cbrt();
        let spacing = if volume > 0.0 { by_volume } else { 2.0 * radius / ACROSS_AUTO };
        (spacing > 0.0).then_some(spacing)
    }

    fn aabb(&self, [a, b]: [[f64; 3]; 2]) -> Aabb {
        let (a, b) = (self.frame.point(a), self.frame.point(b));
        Aabb { min: a.min(b), max: a.max(b) }
    }
}

/// At most about how many particles there will be.
fn estimate(regions: &[Region], emitters: &[SimEmitter], spacing: f64) -> f64 {
    let filled: f64 = regions.iter().map(|r| r.bounds().extent().element_product()).sum();
    let emitted = |e: &SimEmitter| std::f64::consts::PI * e.radius.powi(2) * e.speed * (e.stop - e.start);
    (filled + emitters.iter().map(emitted).sum::<f64>()) / spacing.powi(3)
}

/// Particles half a spacing from the border and a spacing from each other.
fn sample(region: &Region, spacing: f64) -> Vec<Vec3> {
    let b = region.bounds();
    // A box of n spacings holds n particles, whatever the rounding.
    let n = (b.extent() / spacing + 1e-6).floor().to_array().map(|n| n as i64);
    let mut out = Vec::new();
    for k in 0..n[2] {
        for j in 0..n[1] {
            for i in 0..n[0] {
                out.push(b.min + (Vec3::new(i as f64, j as f64, k as f64) + 0.5) * spacing);
            }
        }
    }
    out
}
