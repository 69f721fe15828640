//! What of a run is drawn, and how it is framed: what pictures and the viewer share.

use littoral_geom::math::{Aabb, Vec3};
use littoral_io::render::{Kind, Object, Scene};
use littoral_io::run_folder::{Frame, ObjectRange, Topology};

/// The objects of a run, each with the kind it is drawn as.
pub fn objects_of(topology: &Topology) -> Vec<Object<'_>> {
    let kind = |name: &str| match name {
        "soft" | "rigid" => Kind::Soft,
        "collider" => Kind::Collider,
        "rod" => Kind::Rope,
        "fluid" => Kind::Fluid,
        _ => Kind::Cloth,
    };
    topology.objects.iter().map(|o| Object { name: &o.name, kind: kind(&o.kind), color: None }).collect()
}

/// Segments of each rod, with its number and radius [m].
pub fn segments(topology: &Topology) -> Vec<(u32, f64, Vec<[u32; 2]>)> {
    let rods = (0u32..).zip(&topology.objects).filter(|(_, o)| o.kind == "rod");
    rods.map(|(k, o)| {
        let own = topology.edges.iter().filter(|e| (o.first..o.first + o.count).contains(&e[0]));
        // A run without radii is drawn thin.
        (k, topology.offsets.get(k as usize).copied().unwrap_or(1e-3), own.copied().collect())
    })
    .collect()
}

/// Triangles, and the object of each.
pub struct Drawn {
    triangles: Vec<[u32; 3]>,
    owners: Vec<u32>,
}

impl Drawn {
    /// All of a run.
    pub fn all(topology: &Topology) -> Drawn {
        // Objects are contiguous ranges of points in order.
        let owner = |point: u32| topology.objects.partition_point(|o| o.first <= point).saturating_sub(1);
        let owners = topology.triangles.iter().map(|t| owner(t[0]) as u32).collect();
        Drawn { triangles: topology.triangles.clone(), owners }
    }

    /// Those that are not to be left out.
    pub fn without(&self, left_out: impl Fn([u32; 3], u32) -> bool) -> Drawn {
        let kept = self.triangles.iter().zip(&self.owners).filter(|(t, o)| !left_out(**t, **o));
        let (triangles, owners) = kept.map(|(t, o)| (*t, *o)).unzip();
        Drawn { triangles, owners }
    }

    /// The scene with these triangles.
    pub fn of<'a>(&'a self, scene: &Scene<'a>) -> Scene<'a> {
        Scene { triangles: &self.triangles, object_of_triangle: &self.owners, ..*scene }
    }

    /// The scene of a frame with these triangles; without lines and particles.
    pub fn scene<'a>(&'a self, frame: &'a Frame, objects: &'a [Object]) -> Scene<'a> {
        let scene = Scene { vertices: &frame.x, objects, up: Vec3::Z, ..Scene::default() };
        self.of(&scene)
    }
}

/// Which objects are colliders whose box holds most of the particles at the start.
pub fn containers(topology: &Topology) -> Vec<bool> {
    let particles = || topology.particles.iter().filter_map(|p| topology.x0.get(*p as usize));
    let count = particles().count();
    let holds = |o: &ObjectRange| {
        let points = topology.x0.get(o.first as usize..(o.first + o.count) as usize).unwrap_or(&[]);
        let b = Aabb::of(points.iter().copied());
        2 * particles().filter(|p| p.cmpge(b.min).all() && p.cmple(b.max).all()).count() > count
    };
    topology.objects.iter().map(|o| count > 0 && o.kind == "collider" && holds(o)).collect()
}

/// Share of a fluid's particles that may be outside of the picture on each side: spray is no reason to step back.
const SPRAY: f64 = 0.01;

/// The box of all that is not a collider.
pub fn moving_box(frame: &Frame, topology: &Topology) -> Aabb {
    let first = topology.particles.first().copied().unwrap_or(u32::MAX);
    // Particles that wait or are gone may be anywhere.
    let is_there = |p: &u32| *p < first || frame.is_present((p - first) as usize);
    let mut whole = Aabb::EMPTY;
    for object in topology.objects.iter().filter(|o| o.kind != "collider") {
        let points = (object.first..object.first + object.count).filter(is_there);
        let x = points.filter_map(|p| frame.x.get(p as usize)).copied().filter(|p| p.is_finite());
        whole = whole.union(match object.kind.as_str() {
            "fluid" => without_spray(x.collect()),
            _ => Aabb::of(x),
        });
    }
    whole
}

/// The box that leaves out a share of [`SPRAY`] of the points beyond each of its sides.
fn without_spray(x: Vec<Vec3>) -> Aabb {
    let cut = (SPRAY * x.len() as f64) as usize;
    let mut b = Aabb::of(x.iter().copied());
    for axis in 0..3 {
        let mut along: Vec<f64> = x.iter().map(|p| p[axis]).collect();
        along.sort_by(f64::total_cmp);
        if let (Some(low), Some(high)) = (along.get(cut), along.get(x.len().wrapping_sub(1 + cut))) {
            (b.min[axis], b.max[axis]) = (*low, *high);
        }
    }
    b
}
