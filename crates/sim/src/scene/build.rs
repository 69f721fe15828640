//! From the builder's lists to a `Simulation`: checks, elements, masses, colours, adjacency.

use super::coupled::{Couplings, coupled};
use super::rods::RodRest;
use super::{ClothMaterial, MembraneModel, Placement, SceneBuilder, SceneError, SoftMaterial, SolidModel};
use super::{attach, content, joints, liquids, rigids};
use crate::body::{BODY_COLOR, BODY_MEMORY, Bodies, BodyState, NO_BODY, RigidBody};
use crate::chamber::{Chamber, Filling};
use crate::contact::{ContactModel, ContactPoints, ParticleContact};
use crate::elastic::{Elastic, ElasticTerms};
use crate::joint::{Joint, Joints};
use crate::kinematic::{MEMORY, PrescribedSet};
use crate::liquid::{FluidSystem, PARTICLE_COLOR};
use crate::model::{Object, ObjectKind, Snapshot};
use crate::motion::Motion;
use crate::pairing::{PairRule, Pairing};
use crate::plastic::{Crease, Ductile, Plastic};
use crate::potential::{
    Collapse, Drag, FixedCorotatedTet, Hinge, MembraneParameters, NeoHookeanMembrane, RodParameters,
    StVenantMembrane, StableNeoHookeanTet, StrainLimit,
};
use crate::rod::{Chain, ROD_COLOR};
use crate::safe::Geometry;
use crate::settings::{Method, SolverSettings, Splitting, Truncation};
use crate::simulation::Simulation;
use crate::solver::joints::JOINT_MEMORY;
use crate::system::System;
use crate::truncation::NO_GROUP;
use littoral_geom::math::Vec3;
use littoral_geom::mesh::{
    Csr, TetMesh, TriMesh, boundary_triangles, color_points, connected_components, hinges, tet_volume,
    triangle_area, unique_edges,
};
use littoral_geom::pairs::Surface;

/// The point arrays while objects are added.
#[derive(Default)]
pub(super) struct Assembly {
    pub(super) objects: Vec<Object>,
    pub(super) x: Vec<Vec3>,
    pub(super) v: Vec<Vec3>,
    pub(super) mass: Vec<f64>,
    pub(super) object_of: Vec<u32>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) tets: Vec<[u32; 4]>,
    pub(super) terms: ElasticTerms,
    pub(super) prescribed: Vec<PrescribedSet>,
    pub(super) bodies: Vec<(RigidBody, BodyState)>,
    pub(super) joints: Vec<Joint>,
    pub(super) fluid: Option<FluidSystem>,
    pub(super) pairing: Pairing,
    pub(super) plastic: Plastic,
    /// Objects that hold something.
    pub(super) fillings: Vec<(u32, Filling)>,
    /// Points that are tied, and how far apart [m].
    pub(super) tied: Vec<([u32; 2], f64)>,
    /// Segments of rods, and their chains with what their joints are made of.
    pub(super) segments: Vec<[u32; 2]>,
    pub(super) chains: Vec<Chain>,
    pub(super) rod_parameters: Vec<(RodParameters, RodRest)>,
    /// What a contact must not be much softer than, beyond what elastic elements say (n) [N/m].
    pub(super) firmness: Vec<f64>,
    /// Objects that are shells around nothing.
    pub(super) hollow: Vec<u32>,
    /// Contact offset of each object [m]; none where it is half the scene's radius.
    pub(super) offsets: Vec<Option<f64>>,
}

/// Step size where none is set [s].
const DEFAULT_STEP: f64 = 1.0 / 240.0;

pub(super) fn build(scene: SceneBuilder) -> Result<Simulation, SceneError> {
    check_settings(&scene)?;
    let mut all = Assembly::default();
    let friction = scene.contact.friction;
    for (placement, mesh, material) in &scene.cloths {
        let first = all.add_object(placement, ObjectKind::Cloth, &mesh.vertices, friction)?;
        all.add_cloth(placement, first, mesh, material)?;
        all.fillings.extend(placement.filling.map(|f| (all.objects.len() as u32 - 1, f)));
        all.finish_object(placement, first)?;
    }
    for (placement, mesh, material) in &scene.softs {
        let first = all.add_object(placement, ObjectKind::Soft, &mesh.vertices, friction)?;
        all.add_soft(placement, first, mesh, material)?;
        all.finish_object(placement, first)?;
    }
    for (placement, mesh, material) in &scene.rods {
        let placement = Placement { offset: placement.offset.or(Some(material.radius)), ..placement.clone() };
        let first = all.add_object(&placement, ObjectKind::Rod, &mesh.vertices, friction)?;
        all.add_rod(&placement, first, mesh, material)?;
        all.finish_object(&placement, first)?;
    }
    let free_fall = scene.gravity * scene.solver.step.unwrap_or(DEFAULT_STEP);
    rigids::add(&mut all, &scene.rigids, friction, free_fall)?;
    for (placement, mesh, motion) in scene.colliders {
        let first = all.add_object(&placement, ObjectKind::Collider, &mesh.vertices, friction)?;
        all.add_collider(&placement, first, &mesh, motion)?;
    }
    let step = scene.solver.step.unwrap_or(1.0 / 240.0);
    joints::add(&mut all, &scene.joints)?;
    all.tied = attach::add(&mut all, &scene.attachments, scene.contact.radius, step)?;
    liquids::add(&mut all, &scene.liquids, &scene.fluid, scene.sinks, scene.gravity, &scene.solver)?;
    if all.x.is_empty() {
        return Err(SceneError::Setting {
            key: "scene",
            what: "holds no object: add a [[cloth]], [[soft]], [[rod]], [[rigid]], [[collider]] or [[fluid]]"
                .into(),
        });
    }
    if all.x.len() >= (1 << 30) {
        return Err(SceneError::Setting { key: "scene", what: "holds more than 2^30 points".into() });
    }
    all.pairing = all.pairing(&scene.pairs)?;
    if !(scene.rigids.is_empty() && scene.rods.is_empty()) {
        check_rigid_settings(
            &scene.solver,
            !scene.rigids.is_empty(),
            (!scene.liquids.is_empty()).then_some(scene.fluid.splitting),
        )?;
    }
    let chambers = content::chambers(&all, &scene.solver)?;
    Ok(all.into_simulation(&scene.solver, &scene.contact, scene.gravity, chambers))
}

/// What rigid bodies and rods cannot be combined with.
fn check_rigid_settings(
    solver: &SolverSettings,
    bodies: bool,
    splitting: Option<Splitting>,
) -> Result<(), SceneError> {
    let wrong = |key: &'static str, what: &str| Err(SceneError::Setting { key, what: what.into() });
    if bodies && solver.truncation == Truncation::Ccd && solver.method == Method::Vbd {
        return wrong(
            "solver.truncation",
            "\"ccd\" lets rigid bodies go with method \"newton\" only: use \"planar\"",
        );
    }
    if solver.method == Method::Newton
        && !matches!(splitting, None | Some(Splitting::Proxy | Splitting::Baseline))
    {
        return wrong(
            "solver.splitting",
            "\"proxy-three-phase\" and \"joint\" do not move rigid bodies and rods: use \"proxy\" or \"baseline\"",
        );
    }
    Ok(())
}

fn check_settings(scene: &SceneBuilder) -> Result<(), SceneError> {
    let wrong = |key: &'static str, what: String| Err(SceneError::Setting { key, what });
    let (s, c) = (&scene.solver, &scene.contact);
    if s.step.is_some_and(|h| !(h > 0.0 && h.is_finite())) {
        return wrong("solver.step", format!("must be a positive time in seconds, found {:?}", s.step));
    }
    if s.iterations == 0 || s.detect_every == 0 {
        return wrong("solver.iterations", "iterations and detect_every must be at least 1".into());
    }
    if s.budget.is_some_and(|b| !(b > 0.0 && b.is_finite())) {
        return wrong("solver.budget_ms", format!("must be a positive time, found {:?}", s.budget));
    }
    if s.budget.is_some() && s.method == Method::Newton {
        return wrong("solver.budget_ms", "is of method \"vbd\": Newton runs to its tolerance".into());
    }
    if !(s.relaxation > 0.0 && s.relaxation < 1.0) {
        return wrong("solver.relaxation", format!("must lie between 0 and 1, found {}", s.relaxation));
    }
    if !(0.0..1.0).contains(&s.chebyshev) {
        return wrong("solver.chebyshev", format!("must lie in [0, 1), found {}", s.chebyshev));
    }
    if !(c.radius > 0.0 && c.radius.is_finite()) {
        return wrong("contact.radius", format!("must be a positive length, found {}", c.radius));
    }
    if !(c.friction >= 0.0 && c.friction.is_finite()) {
        return wrong("contact.friction", format!("must not be negative, found {}", c.friction));
    }
    if !(c.friction_speed > 0.0 && c.friction_speed.is_finite()) {
        return wrong(
            "contact.friction_speed",
            format!("must be a positive speed, found {}", c.friction_speed),
        );
    }
    if c.stiffness.is_some_and(|k| !(k > 0.0 && k.is_finite())) {
        return wrong("contact.stiffness", format!("must be positive, found {:?}", c.stiffness));
    }
    if !scene.gravity.is_finite() {
        return wrong("gravity", format!("must be finite, found {}", scene.gravity));
    }
    Ok(())
}

impl Assembly {
    pub(super) fn add_object(
        &mut self,
        placement: &Placement,
        kind: ObjectKind,
        vertices: &[Vec3],
        friction: f64,
    ) -> Result<u32, SceneError> {
        let name = placement.name.clone();
        let refuse = |what: String| Err(SceneError::Object { object: name.clone(), what });
        if vertices.is_empty() {
            return refuse("has no vertices".into());
        }
        if let Some(k) = vertices.iter().position(|p| !p.is_finite()) {
            return refuse(format!("vertex {k} is not finite"));
        }
        let friction = placement.friction.unwrap_or(friction);
        if !(friction >= 0.0 && friction.is_finite()) {
            return refuse(format!("friction must not be negative, found {friction}"));
        }
        if !placement.velocity.is_finite() || !placement.spin.is_finite() {
            return refuse("velocity and spin must be finite".into());
        }
        if placement.offset.is_some_and(|o| !(o >= 0.0 && o.is_finite())) {
            return refuse(format!("offset must not be negative, found {:?}", placement.offset));
        }
        self.offsets.push(placement.offset);
        let first = self.x.len() as u32;
        self.objects.push(Object { name, kind, first, count: vertices.len() as u32, friction });
        self.x.extend(vertices);
        self.v.extend(vertices.iter().map(|_| Vec3::ZERO));
        self.mass.resize(self.x.len(), 0.0);
        self.firmness.resize(self.x.len(), 0.0);
        self.object_of.resize(self.x.len(), self.objects.len() as u32 - 1);
        Ok(first)
    }

    fn add_cloth(
        &mut self,
        placement: &Placement,
        first: u32,
        mesh: &TriMesh,
        material: &ClothMaterial,
    ) -> Result<(), SceneError> {
        let refuse = |what: String| SceneError::Object { object: placement.name.clone(), what };
        check_positive(placement, "density [kg/m²]", material.density)?;
        check_elastic(placement, material.young, material.poisson, material.damping)?;
        check_positive(placement, "thickness [m]", material.thickness)?;
        if mesh.triangles.is_empty() {
            return Err(refuse("has no triangles".into()));
        }
        check_indices(placement, mesh.triangles.iter().flatten(), mesh.vertices.len())?;
        let parameters = MembraneParameters {
            young: material.young,
            poisson: material.poisson,
            thickness: material.thickness,
            damping: material.damping,
        };
        let plate = material.bending.unwrap_or_else(|| {
            material.young * material.thickness.powi(3) / (12.0 * (1.0 - material.poisson * material.poisson))
        });
        for (k, t) in mesh.triangles.iter().enumerate() {
            let rest = t.map(|c| mesh.vertices[c as usize]);
            let points = t.map(|c| c + first);
            let failed = |e| refuse(format!("triangle {k}: {e}"));
            match material.model {
                MembraneModel::NeoHookean => {
                    let element = NeoHookeanMembrane::new(rest, &parameters).map_err(failed)?;
                    self.terms.membranes.push(points, element);
                }
                MembraneModel::StVenantKirchhoff => {
                    let element = StVenantMembrane::new(rest, &parameters).map_err(failed)?;
                    self.terms.venant.push(points, element);
                }
            }
            if let Some(limit) = material.strain_limit {
                let element = StrainLimit::new(rest, material.young, material.thickness, limit);
                self.terms.limits.push(points, element.map_err(failed)?);
            }
            if material.drag > 0.0 {
                self.terms.drags.push(points, Drag::new(material.drag).map_err(failed)?);
            }
            let share = material.density * triangle_area(rest) / 3.0;
            for p in points {
                self.mass[p as usize] += share;
            }
            self.triangles.push(points);
        }
        if plate > 0.0 {
            for q in hinges(&mesh.triangles) {
                let rest = q.map(|c| mesh.vertices[c as usize]);
                let hinge = Hinge::new(rest, plate, material.damping)
                    .map_err(|e| refuse(format!("edge {}–{}: {e}", q[0], q[1])))?;
                self.terms.hinges.push(q.map(|c| c + first), hinge);
                if let Some(curvature) = material.yield_curvature {
                    check_positive(placement, "yield_curvature [1/m]", curvature)?;
                    // A cylinder of curvature κ turns by κ times the distance of the two heights' middles.
                    let area = triangle_area([rest[0], rest[1], rest[2]])
                        + triangle_area([rest[0], rest[1], rest[3]]);
                    let yield_angle = curvature * area / rest[0].distance(rest[1]);
                    let hinge = self.terms.hinges.len() as u32 - 1;
                    self.plastic.creases.push(Crease { hinge, yield_angle });
                }
            }
        }
        Ok(())
    }

    fn add_soft(
        &mut self,
        placement: &Placement,
        first: u32,
        mesh: &TetMesh,
        material: &SoftMaterial,
    ) -> Result<(), SceneError> {
        let refuse = |what: String| SceneError::Object { object: placement.name.clone(), what };
        check_positive(placement, "density [kg/m³]", material.density)?;
        check_elastic(placement, material.young, material.poisson, material.damping)?;
        if mesh.tets.is_empty() {
            return Err(refuse("has no tets".into()));
        }
        check_indices(placement, mesh.tets.iter().flatten(), mesh.vertices.len())?;
        for (k, t) in mesh.tets.iter().enumerate() {
            let rest = t.map(|c| mesh.vertices[c as usize]);
            let points = t.map(|c| c + first);
            let failed = |e| refuse(format!("tet {k}: {e}"));
            let (young, poisson, damping) = (material.young, material.poisson, material.damping);
            match material.model {
                SolidModel::StableNeoHookean => {
                    let element = StableNeoHookeanTet::new(rest, young, poisson, damping).map_err(failed)?;
                    self.terms.tets.push(points, element);
                }
                SolidModel::FixedCorotated => {
                    let element = FixedCorotatedTet::new(rest, young, poisson, damping).map_err(failed)?;
                    self.terms.corotated.push(points, element);
                }
            }
            if let Some(stress) = material.yield_stress {
                check_positive(placement, "yield_stress [Pa]", stress)?;
                // |dev σ| = 2μ |dev ε| = √⅔ σ_y, 2μ = E/(1+ν).
                let yield_strain = (2.0_f64 / 3.0).sqrt() * stress * (1.0 + poisson) / young;
                let corotated = material.model == SolidModel::FixedCorotated;
                let (tet, shape) = if corotated {
                    (
                        self.terms.corotated.len() - 1,
                        self.terms.corotated.elements[self.terms.corotated.len() - 1].shape(),
                    )
                } else {
                    (self.terms.tets.len() - 1, self.terms.tets.elements[self.terms.tets.len() - 1].shape())
                };
                self.plastic.ductile.push(Ductile { corotated, tet: tet as u32, shape, yield_strain });
            }
            self.terms.collapses.push(points, Collapse::new(rest, young, poisson).map_err(failed)?);
            let share = material.density * tet_volume(rest) / 4.0;
            for p in points {
                self.mass[p as usize] += share;
            }
            self.tets.push(points);
        }
        self.triangles.extend(boundary_triangles(&mesh.tets).iter().map(|t| t.map(|c| c + first)));
        Ok(())
    }

    fn add_collider(
        &mut self,
        placement: &Placement,
        first: u32,
        mesh: &TriMesh,
        motion: Motion,
    ) -> Result<(), SceneError> {
        check_indices(placement, mesh.triangles.iter().flatten(), mesh.vertices.len())?;
        check_motion(placement, &motion, mesh.vertices.len())?;
        self.triangles.extend(mesh.triangles.iter().map(|t| t.map(|c| c + first)));
        if !motion.is_static() {
            self.prescribed.push(PrescribedSet {
                points: (first..first + mesh.vertices.len() as u32).collect(),
                x0: mesh.vertices.clone(),
                top_speed: motion.top_speed(&mesh.vertices),
                motion,
                release: f64::INFINITY,
                rigid: true,
                object: self.objects.len() as u32 - 1,
            });
        }
        Ok(())
    }

    /// Velocities, loose vertices and pins of a simulated object.
    fn finish_object(&mut self, placement: &Placement, first: u32) -> Result<(), SceneError> {
        let refuse = |what: String| SceneError::Object { object: placement.name.clone(), what };
        let range = first as usize..self.x.len();
        if let Some(k) = range.clone().find(|&v| self.mass[v] <= 0.0) {
            let k = k - first as usize;
            return Err(refuse(format!(
                "vertex {k} belongs to no element: drop loose vertices from the mesh"
            )));
        }
        let total: f64 = self.mass[range.clone()].iter().sum();
        let center = range.clone().map(|v| self.mass[v] * self.x[v]).sum::<Vec3>() / total;
        for v in range.clone() {
            self.v[v] = placement.velocity + placement.spin.cross(self.x[v] - center);
        }
        let mut pinned = vec![false; range.len()];
        for pin in &placement.pins {
            check_indices(placement, pin.vertices.iter(), range.len())?;
            check_motion(placement, &pin.motion, pin.vertices.len())?;
            for &k in &pin.vertices {
                if std::mem::replace(&mut pinned[k as usize], true) {
                    return Err(refuse(format!("vertex {k} is pinned twice: pins must not overlap")));
                }
                self.v[(first + k) as usize] = Vec3::ZERO;
            }
            let points: Vec<u32> = pin.vertices.iter().map(|k| k + first).collect();
            let x0: Vec<Vec3> = points.iter().map(|&v| self.x[v as usize]).collect();
            self.prescribed.push(PrescribedSet {
                top_speed: pin.motion.top_speed(&x0),
                x0,
                points,
                motion: pin.motion.clone(),
                release: pin.release.unwrap_or(f64::INFINITY),
                rigid: false,
                object: self.objects.len() as u32 - 1,
            });
        }
        Ok(())
    }

    /// The rules of a scene with its objects found by their names.
    fn pairing(&self, rules: &[PairRule]) -> Result<Pairing, SceneError> {
        let mut found = Vec::new();
        for rule in rules {
            let [a, b] = &rule.objects;
            let refuse = |what: &str| {
                let objects = format!("\"{a}\" and \"{b}\"");
                Err(SceneError::Pair { objects, what: what.into() })
            };
            let [i, j] = [a, b].map(|name| self.objects.iter().position(|o| o.name == *name));
            let (Some(i), Some(j)) = (i, j) else { return refuse("there is no object of this name") };
            let kinds = [i, j].map(|k| self.objects[k].kind);
            if kinds.contains(&ObjectKind::Fluid) {
                return refuse("fluids meet everything: leave the rule out");
            }
            if kinds == [ObjectKind::Collider; 2] {
                return refuse("colliders never meet each other: leave the rule out");
            }
            if rule.friction.is_some_and(|mu| !(mu >= 0.0 && mu.is_finite())) {
                return refuse("friction must not be negative");
            }
            found.push(([i as u32, j as u32], rule));
        }
        let mut pairs: Vec<[u32; 2]> = found.iter().map(|([a, b], _)| [*a.min(b), *a.max(b)]).collect();
        pairs.sort_unstable();
        if let Some(twice) = pairs.windows(2).find(|w| w[0] == w[1]) {
            let [a, b] = twice[0].map(|k| self.objects[k as usize].name.as_str());
            let objects = format!("\"{a}\" and \"{b}\"");
            return Err(SceneError::Pair { objects, what: "has two rules: join them in one".into() });
        }
        Ok(Pairing::new(&self.object_of, &found))
    }

    fn into_simulation(
        mut self,
        solver: &crate::settings::SolverSettings,
        contact: &crate::settings::ContactSettings,
        gravity: Vec3,
        chambers: Vec<Chamber>,
    ) -> Simulation {
        let n = self.x.len();
        let active: Vec<bool> =
            self.object_of.iter().map(|&o| self.objects[o as usize].kind != ObjectKind::Collider).collect();
        let (list, starts): (Vec<RigidBody>, Vec<BodyState>) = self.bodies.iter().cloned().unzip();
        let mut bodies = Bodies::new(list, n);
        let mut geometry = self.geometry(active, &bodies);
        let offset_of = |o: &Option<f64>| o.unwrap_or(0.5 * contact.radius);
        let offsets: Vec<f64> = match self.offsets.iter().any(Option::is_some) {
            true => self.offsets.iter().map(offset_of).collect(),
            false => Vec::new(),
        };
        if !offsets.is_empty() {
            geometry.offset = self.object_of.iter().map(|&o| offsets[o as usize]).collect();
        }
        let prescribed = std::mem::take(&mut self.prescribed);
        let mut rods = self.rods(&prescribed);
        self.prescribed = prescribed;
        let mut elastic = Elastic::new(self.terms, n);
        let mut stencils = elastic.stencils();
        let first_particle = geometry.first_particle();
        let is_rod = |v: u32| self.objects[self.object_of[v as usize] as usize].kind == ObjectKind::Rod;
        let of_body = |v: u32| bodies.of_point[v as usize] != NO_BODY;
        let simulated = |v: u32| {
            geometry.active[v as usize] && (v as usize) < first_particle && !is_rod(v) && !of_body(v)
        };
        let mut colors: Vec<Vec<u32>> = color_points(n, stencils.iter().map(Vec::as_slice))
            .into_iter()
            .map(|c| c.into_iter().filter(|&v| simulated(v)).collect::<Vec<u32>>())
            .filter(|c| !c.is_empty())
            .collect();
        elastic.arrange(&colors);
        let mut color_of = vec![u32::MAX; n];
        color_of[first_particle..].fill(PARTICLE_COLOR);
        for body in &bodies.list {
            color_of[body.points()].fill(BODY_COLOR);
        }
        for (k, color) in colors.iter().enumerate() {
            for &v in color {
                color_of[v as usize] = k as u32;
            }
        }
        // Rods are solved after the colours, chain by chain.
        if let Some(rods) = &mut rods {
            rods.first_color = colors.len();
            for (g, points) in rods.groups.iter().enumerate().rev() {
                points.iter().for_each(|&v| color_of[v as usize] = ROD_COLOR - g as u32);
            }
            colors.extend(rods.groups.iter().cloned());
            stencils.extend(self.segments.iter().map(|s| s.to_vec()));
        }
        let mut ends: Vec<(u32, u32)> = stencils
            .iter()
            .flat_map(|s| {
                s.iter().flat_map(move |&a| s.iter().filter(move |&&b| a != b).map(move |&b| (a, b)))
            })
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let neighbours = Csr::from_pairs(n, ends.iter().copied());
        let mut groups = vec![NO_GROUP; n];
        for (k, set) in self.prescribed.iter().enumerate().filter(|(_, s)| s.rigid) {
            for &v in &set.points {
                groups[v as usize] = k as u32;
            }
        }
        let bonded = elastic.bonded(&geometry.component, &geometry.prescribed);
        let couplings = Couplings {
            neighbours: &ends,
            bodies: &bodies,
            joints: &self.joints,
            chambers: &chambers,
            prescribed: &self.prescribed,
        };
        geometry.coupled = coupled(&geometry.component, &couplings);
        let at_rest = |v: usize| {
            let h = elastic.block(v as u32, &self.x).1;
            (h.x_axis.x + h.y_axis.y + h.z_axis.z) / 3.0 + self.firmness[v]
        };
        let points = ContactPoints {
            object: self.object_of,
            driven: groups.iter().map(|&g| g != NO_GROUP).collect(),
            mass: (0..n)
                .map(|v| bodies.at(v).map_or(self.mass[v], |(b, r)| bodies.list[b].effective_mass(r)))
                .collect(),
            elastic: (0..n).map(at_rest).collect(),
            rest: self.x.clone(),
            offsets,
            rigid: if bodies.is_empty() { Vec::new() } else { (0..n as u32).map(of_body).collect() },
        };
        let friction = self.objects.iter().map(|o| o.friction).collect();
        let mut contact_model =
            ContactModel::new(&geometry, points, friction, contact.stiffness, contact.radius)
                .with_tied(self.tied);
        let mut memory = vec![0.0; MEMORY * self.prescribed.len()];
        for (set, numbers) in self.prescribed.iter().zip(memory.chunks_exact_mut(MEMORY)) {
            set.start().write(numbers);
        }
        bodies.memory = memory.len();
        memory.resize(memory.len() + BODY_MEMORY * bodies.list.len(), 0.0);
        for (b, start) in starts.iter().enumerate() {
            bodies.write(&mut memory, b, start);
        }
        let joints = Joints { list: self.joints, memory: memory.len() };
        memory.resize(memory.len() + JOINT_MEMORY * joints.list.len(), 0.0);
        let mut plastic = self.plastic;
        let mut fluid = self.fluid;
        if let Some(fluid) = &mut fluid {
            fluid.memory = memory.len();
            fluid.start(&mut memory);
            contact_model = contact_model.with_particles(ParticleContact {
                radius: fluid.stand_off(),
                stiffness: fluid.kinds.iter().map(|k| fluid.contact_stiffness(*k)).collect(),
            });
        }
        if let Some(rods) = &mut rods {
            rods.memory = memory.len();
            memory.extend(rods.start());
        }
        plastic.memory = memory.len();
        plastic.start(&elastic, &mut memory);
        let memory_length = memory.len();
        let state = Snapshot {
            time: 0.0,
            step: 0,
            x: self.x.clone(),
            v: self.v.clone(),
            // As if gravity had acted freely before the first step: the guess starts as free flight.
            v_before: self.v.iter().map(|v| *v - gravity * solver.step.unwrap_or(DEFAULT_STEP)).collect(),
            lag_max: vec![0.0; self.objects.len()],
            memory,
        };
        let system = System {
            objects: self.objects,
            geometry,
            elastic,
            contact: contact_model,
            mass: self.mass,
            colors,
            color_of,
            neighbours,
            prescribed: self.prescribed,
            groups,
            bodies,
            joints,
            fluid,
            chambers,
            plastic,
            bonded,
            rods,
            gravity,
            friction_speed: contact.friction_speed,
            memory: memory_length,
            x0: self.x,
        };
        Simulation::new(system, solver.clone(), state)
    }

    fn geometry(&self, active: Vec<bool>, bodies: &Bodies) -> Geometry {
        let n = self.x.len();
        let mut on_surface = vec![false; n];
        // Particles are points that collide with triangles.
        let free = self.fluid.as_ref().map_or(n, |f| f.first);
        on_surface[free..].fill(true);
        for &v in self.triangles.iter().flatten() {
            on_surface[v as usize] = true;
        }
        for &v in self.segments.iter().flatten() {
            on_surface[v as usize] = true;
        }
        let mut edges = unique_edges(&self.triangles);
        edges.extend(&self.segments);
        let surface = Surface {
            vertices: (0..n as u32).filter(|&v| on_surface[v as usize]).collect(),
            edges,
            triangles: self.triangles.clone(),
        };
        // A segment joins its ends like a triangle that has lost a corner.
        let mut joins = self.triangles.clone();
        joins.extend(self.segments.iter().map(|&[a, b]| [a, b, b]));
        // A collider or rigid body is one component, whatever its mesh: its points move as one.
        let mut label = connected_components(n, &joins, &self.tets);
        for o in self.objects.iter().filter(|o| matches!(o.kind, ObjectKind::Collider | ObjectKind::Rigid)) {
            label[o.range()].fill(o.first);
        }
        // All particles are one component, whatever their fluid: they have no frame of their own.
        let particles = self.fluid.as_ref().map_or(0, |f| f.kinds.len());
        let first = n - particles;
        label[first..].fill(first as u32);
        let mut number = vec![u32::MAX; n];
        let mut count = 0;
        let component: Vec<u32> = label
            .iter()
            .map(|&l| {
                let k = &mut number[l as usize];
                if *k == u32::MAX {
                    *k = count;
                    count += 1;
                }
                *k
            })
            .collect();
        let mut prescribed = vec![false; count as usize];
        let mut collider_triangles = vec![Vec::new(); count as usize];
        for (v, &c) in component.iter().enumerate() {
            prescribed[c as usize] |= !active[v] || v >= first;
        }
        for (t, corners) in self.triangles.iter().enumerate() {
            let c = component[corners[0] as usize] as usize;
            if prescribed[c] {
                collider_triangles[c].push(t as u32);
            }
        }
        Geometry {
            surface,
            entangled: Vec::new(),
            coupled: Vec::new(),
            tets: self.tets.clone(),
            component,
            prescribed,
            active,
            collider_triangles,
            rigid: if bodies.is_empty() { Vec::new() } else { bodies.of_point.clone() },
            particles,
            pairing: self.pairing.clone(),
            particle_radius: self.fluid.as_ref().map_or(0.0, FluidSystem::stand_off),
            lines: self.segments.len(),
            offset: Vec::new(),
        }
    }
}

pub(super) fn check_positive(placement: &Placement, what: &str, value: f64) -> Result<(), SceneError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(SceneError::Object {
        object: placement.name.clone(),
        what: format!("{what} must be positive, found {value}"),
    })
}

fn check_elastic(placement: &Placement, young: f64, poisson: f64, damping: f64) -> Result<(), SceneError> {
    check_positive(placement, "young [Pa]", young)?;
    let refuse = |what: String| Err(SceneError::Object { object: placement.name.clone(), what });
    if !(poisson > -1.0 && poisson < 0.5) {
        return refuse(format!(
            "poisson must lie between −1 and 0.5, found {poisson}: 0.49 is nearly incompressible"
        ));
    }
    if !(damping >= 0.0 && damping.is_finite()) {
        return refuse(format!("damping [s] must not be negative, found {damping}"));
    }
    Ok(())
}

pub(super) fn check_indices<'a>(
    placement: &Placement,
    mut indices: impl Iterator<Item = &'a u32>,
    count: usize,
) -> Result<(), SceneError> {
    match indices.find(|&&i| i as usize >= count) {
        None => Ok(()),
        Some(i) => Err(SceneError::Object {
            object: placement.name.clone(),
            what: format!("refers to vertex {i}, but has {count} vertices"),
        }),
    }
}

fn check_motion(placement: &Placement, motion: &Motion, count: usize) -> Result<(), SceneError> {
    let refuse = |what: String| Err(SceneError::Object { object: placement.name.clone(), what });
    let increasing = |t: &[f64]| t.iter().all(|t| t.is_finite()) && t.windows(2).all(|w| w[0] < w[1]);
    match motion {
        Motion::Static => Ok(()),
        Motion::Keyframes { keys, center } => {
            let times: Vec<f64> = keys.iter().map(|k| k.time).collect();
            if keys.is_empty() || !increasing(&times) {
                return refuse("keyframes need at least one entry, with increasing times".into());
            }
            let finite = keys.iter().all(|k| k.position.is_finite() && k.rotation.is_finite());
            if finite && center.is_finite() { Ok(()) } else { refuse("a keyframe is not finite".into()) }
        }
        Motion::Twist { center, spin, velocity, start, stop } => {
            if center.is_finite()
                && spin.is_finite()
                && velocity.is_finite()
                && start.is_finite()
                && stop >= start
            {
                Ok(())
            } else {
                refuse("a twist needs finite numbers and stop ≥ start".into())
            }
        }
        Motion::Sequence { times, positions } => {
            if times.is_empty() || times.len() != positions.len() || !increasing(times) {
                return refuse("a sequence needs as many increasing times as meshes, at least one".into());
            }
            if positions.iter().any(|p| p.len() != count) {
                return refuse(format!("every mesh of a sequence must have {count} vertices"));
            }
            if positions.iter().flatten().all(|p| p.is_finite()) {
                Ok(())
            } else {
                refuse("a mesh of the sequence holds a number that is not finite".into())
            }
        }
    }
}
