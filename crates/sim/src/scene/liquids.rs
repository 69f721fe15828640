//! Fluids of a scene: particles that are there from the start, and those that nozzles will release.

use super::build::Assembly;
use super::{Emitter, Liquid, SceneError};
use crate::fluid::{FluidMaterial, stiffness_for};
use crate::liquid::{Birth, FluidSystem};
use crate::model::ObjectKind;
use crate::settings::{FluidSettings, Method, SolverSettings, Splitting};
use littoral_geom::inside::Solid;
use littoral_geom::math::{Aabb, Mat3, Vec3};
use littoral_geom::mesh::open_edges;
use littoral_geom::sampling::{Nozzle, Overlaps, SamplingError, nozzle_layer};

/// Largest step of a scene with fluid [s], where the user names none: the published bound.
const LONGEST_STEP: f64 = 5e-3;

/// Particles start no nearer to a surface than this share of the spacing: the stand-off is a half, and what is nearer
/// than this is taken for an overlap.
const OVERLAP: f64 = 0.3;

/// Of two particles nearer than this share of the spacing one is left out: two fills overlap.
const TOGETHER: f64 = 0.5;

/// Head that a fluid is made for at least, in spacings: it must carry itself.
const LEAST_HEAD: f64 = 4.0;

/// Adds all liquids behind the other points.
pub(super) fn add(
    all: &mut Assembly,
    liquids: &[Liquid],
    settings: &FluidSettings,
    sinks: Vec<Aabb>,
    gravity: Vec3,
    solver: &SolverSettings,
) -> Result<(), SceneError> {
    let Some(any) = liquids.first() else { return Ok(()) };
    check_settings(settings, solver)?;
    let spacing = any.spacing;
    let first = all.x.len();
    let solids: Vec<Vec3> = all.x.clone();
    let mut system = FluidSystem {
        first,
        spacing,
        materials: Vec::new(),
        no_slip: Vec::new(),
        kinds: Vec::new(),
        births: Vec::new(),
        sinks,
        settings: settings.clone(),
        longest: solver.step.unwrap_or(LONGEST_STEP),
        gravity: gravity.length(),
        memory: 0,
        removed: vec![0; all.objects.len()],
    };
    for (kind, liquid) in liquids.iter().enumerate() {
        check(liquid, spacing)?;
        let material = material_of(liquid, liquids, &solids, all, settings, gravity);
        system.materials.push(material);
        system.no_slip.push(liquid.material.no_slip);
        // Those that wait at a nozzle are nowhere yet.
        let there: Vec<Vec3> = all.x[first..]
            .iter()
            .zip(&system.births)
            .filter(|(_, b)| b.velocity.is_none())
            .map(|(p, _)| *p)
            .collect();
        let kept = without_overlaps(all, first, &there, &liquid.particles, spacing);
        let removed = (liquid.particles.len() - kept.len()) as u32;
        let mut released = Vec::new();
        for (k, emitter) in liquid.emitters.iter().enumerate() {
            released
                .extend(release(emitter, spacing).map_err(|e| refuse(liquid, format!("emitter {k}: {e}")))?);
        }
        let (jets, births): (Vec<Vec3>, Vec<Birth>) = released.into_iter().unzip();
        let points: Vec<Vec3> = kept.iter().chain(&jets).copied().collect();
        if points.is_empty() {
            return Err(refuse(
                liquid,
                format!(
                    "has no particle: its fill holds none at a spacing of {spacing} m, or all overlap solids"
                ),
            ));
        }
        let start = all.add_object(&liquid.placement, ObjectKind::Fluid, &points, 0.0)? as usize;
        system.removed.push(removed);
        let center = kept.iter().sum::<Vec3>() / kept.len().max(1) as f64;
        for (k, p) in points.iter().enumerate() {
            all.mass[start + k] = material.density * spacing.powi(3);
            all.v[start + k] = match births.get(k.wrapping_sub(kept.len())) {
                Some(birth) => birth.velocity.unwrap_or(Vec3::ZERO),
                None => {
                    let arm = *p - center;
                    let turning = liquid.placement.spin.cross(arm);
                    liquid.placement.velocity + turning + liquid.gradient * arm
                }
            };
            system.kinds.push(kind as u32);
        }
        system.births.extend(kept.iter().map(|_| Birth { time: 0.0, velocity: None }));
        system.births.extend(births);
    }
    // Refuses what no kernel or material can be made of, so that a run can rely on it.
    system.fluid().map_err(|e| SceneError::Setting { key: "fluid", what: e.to_string() })?;
    all.fluid = Some(system);
    Ok(())
}

/// The particles that are not too near to a surface, not inside a solid, and not inside one of those that are `there`.
///
/// What is closed is a solid, without its cavities. A closed collider or hollow body is so for a fluid that lies on both
/// sides of it, and a container for one that lies wholly inside; what is open has no inside.
fn without_overlaps(
    all: &Assembly,
    solids: usize,
    there: &[Vec3],
    particles: &[Vec3],
    spacing: f64,
) -> Vec<Vec3> {
    let mut overlaps = Overlaps::new(particles);
    overlaps.refuse_near_surface(particles, &all.x[..solids], &all.triangles, OVERLAP * spacing);
    let is_solid = |kind| matches!(kind, ObjectKind::Soft | ObjectKind::Rigid | ObjectKind::Collider);
    for (k, object) in all.objects.iter().enumerate().filter(|(_, o)| is_solid(o.kind)) {
        let range = object.range();
        let own: Vec<[u32; 3]> =
            all.triangles.iter().filter(|t| range.contains(&(t[0] as usize))).copied().collect();
        if open_edges(&own) > 0 {
            continue;
        }
        let solid = Solid::new(&all.x[..solids], &own);
        let container = (object.kind == ObjectKind::Collider || all.hollow.contains(&(k as u32)))
            && solid.contains_each(&overlaps.retained(particles)).iter().all(|inside| *inside);
        if !container {
            overlaps.refuse_inside(particles, &solid);
        }
    }
    // Of two particles at one place the first stays, whichever fill or fluid they are of.
    let together: Vec<Vec3> = there.iter().chain(&overlaps.retained(particles)).copied().collect();
    let mut crowd = Overlaps::new(&together);
    let order: Vec<u32> =
        (0..together.len() as u32).map(|k| (k + 1).saturating_sub(there.len() as u32)).collect();
    crowd.refuse_near_other(&together, &order, TOGETHER * spacing);
    crowd.retained(&together).split_off(there.len())
}

/// Layers of a nozzle, one each time the jet has gone a spacing: places and births.
fn release(emitter: &Emitter, spacing: f64) -> Result<Vec<(Vec3, Birth)>, SamplingError> {
    let nozzle = Nozzle::Disc { radius: emitter.radius };
    let layer = nozzle_layer(emitter.center, emitter.direction, nozzle, spacing)?;
    let every = spacing / emitter.speed;
    let layers = ((emitter.stop - emitter.start) / every).ceil() as usize;
    let velocity = Some(emitter.speed * emitter.direction.normalize());
    let born = |k: usize| Birth { time: emitter.start + every * k as f64, velocity };
    Ok((0..layers).flat_map(|k| layer.iter().map(move |p| (*p, born(k)))).collect())
}

/// The material, with a stiffness for the head and the speed that the scene can give it.
fn material_of(
    liquid: &Liquid,
    liquids: &[Liquid],
    solids: &[Vec3],
    all: &Assembly,
    settings: &FluidSettings,
    gravity: Vec3,
) -> FluidMaterial {
    let up = -gravity.normalize_or_zero();
    let sources = || {
        let points = liquids.iter().flat_map(|l| l.particles.iter().copied());
        points.chain(liquids.iter().flat_map(|l| l.emitters.iter().map(|e| e.center)))
    };
    let highest = sources().map(|p| p.dot(up)).fold(f64::NEG_INFINITY, f64::max);
    let lowest = sources().chain(solids.iter().copied()).map(|p| p.dot(up)).fold(f64::INFINITY, f64::min);
    let depth = (highest - lowest).max(LEAST_HEAD * liquid.spacing);
    let jets = liquids.iter().flat_map(|l| l.emitters.iter().map(|e| e.speed));
    let starts = liquids.iter().map(|l| {
        let reach = l.particles.iter().map(|p| p.distance(l.particles[0])).fold(0.0, f64::max);
        let rate = l.placement.spin.length() + largest_rate(&l.gradient);
        l.placement.velocity.length() + rate * reach
    });
    let driven = all.prescribed.iter().map(|s| s.top_speed);
    let speed = jets.chain(starts).chain(driven).fold(0.0, f64::max);
    let m = &liquid.material;
    // Without gravity and motion the fluid needs some stiffness all the same: that of one metre per second.
    let speed = if gravity == Vec3::ZERO && speed == 0.0 { 1.0 } else { speed };
    let stiffness = m
        .stiffness
        .unwrap_or_else(|| stiffness_for(settings.volume_error, m.density, gravity.length(), depth, speed));
    let calming = settings.artificial_viscosity * liquid.spacing * (gravity.length() * liquid.spacing).sqrt();
    FluidMaterial { density: m.density, viscosity: m.viscosity + calming, stiffness }
}

/// A bound on how fast a gradient moves what is a metre away [1/s]: its Frobenius norm.
fn largest_rate(gradient: &Mat3) -> f64 {
    gradient.to_cols_array().iter().map(|g| g * g).sum::<f64>().sqrt()
}

fn refuse(liquid: &Liquid, what: String) -> SceneError {
    SceneError::Object { object: liquid.placement.name.clone(), what }
}

fn check(liquid: &Liquid, spacing: f64) -> Result<(), SceneError> {
    let positive = |what: &str, value: f64| {
        let ok = value > 0.0 && value.is_finite();
        if ok { Ok(()) } else { Err(refuse(liquid, format!("{what} must be positive, found {value}"))) }
    };
    positive("spacing [m]", liquid.spacing)?;
    positive("density [kg/m³]", liquid.material.density)?;
    if let Some(stiffness) = liquid.material.stiffness {
        positive("stiffness [Pa]", stiffness)?;
    }
    let nu = liquid.material.viscosity;
    if !(nu >= 0.0 && nu.is_finite()) {
        return Err(refuse(liquid, format!("viscosity [m²/s] must not be negative, found {nu}")));
    }
    if liquid.spacing != spacing {
        return Err(refuse(
            liquid,
            format!(
                "has a spacing of {} m, but all fluids of a scene share one: {spacing} m",
                liquid.spacing
            ),
        ));
    }
    if !liquid.gradient.is_finite() {
        return Err(refuse(liquid, "velocity_gradient must be finite".into()));
    }
    if !liquid.placement.pins.is_empty() {
        return Err(refuse(liquid, "has pins: particles of a fluid cannot be pinned".into()));
    }
    for (k, e) in liquid.emitters.iter().enumerate() {
        positive(&format!("radius [m] of emitter {k}"), e.radius)?;
        positive(&format!("speed [m/s] of emitter {k}"), e.speed)?;
        positive(&format!("length of the direction of emitter {k}"), e.direction.length())?;
        let times = e.start >= 0.0 && e.stop > e.start && e.stop.is_finite() && e.center.is_finite();
        if !times {
            return Err(refuse(
                liquid,
                format!(
                    "emitter {k} needs a finite centre and 0 ≤ start < stop, found {} and {}",
                    e.start, e.stop
                ),
            ));
        }
        // What it will release must fit.
        let layers = (e.stop - e.start) * e.speed / liquid.spacing;
        let disc = std::f64::consts::PI * (e.radius / liquid.spacing).powi(2);
        if layers * disc.max(1.0) > 5e7 {
            return Err(refuse(
                liquid,
                format!(
                    "emitter {k} would release {:.0} particles: raise the spacing or stop it sooner",
                    layers * disc
                ),
            ));
        }
    }
    Ok(())
}

fn check_settings(f: &FluidSettings, solver: &SolverSettings) -> Result<(), SceneError> {
    let wrong = |key: &'static str, what: String| Err(SceneError::Setting { key, what });
    if solver.method != Method::Newton && !matches!(f.splitting, Splitting::Proxy | Splitting::Baseline) {
        return wrong(
            "solver.splitting",
            format!("must be proxy or baseline with this method, found {:?}", f.splitting),
        );
    }
    if !(f.courant > 0.0 && f.courant.is_finite()) {
        return wrong("solver.courant", format!("must be positive, found {}", f.courant));
    }
    if !(f.volume_error > 0.0 && f.volume_error < 0.5) {
        return wrong("solver.volume_error", format!("must lie between 0 and 0.5, found {}", f.volume_error));
    }
    if !(f.artificial_viscosity >= 0.0 && f.artificial_viscosity.is_finite()) {
        return wrong(
            "solver.artificial_viscosity",
            format!("must not be negative, found {}", f.artificial_viscosity),
        );
    }
    if !(f.tolerance > 0.0 && f.tolerance.is_finite()) || f.max_iterations == 0 {
        return wrong("solver.fluid_tolerance", format!("must be positive, found {}", f.tolerance));
    }
    Ok(())
}
