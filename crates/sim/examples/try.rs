use littoral_geom::math::Vec3;
use littoral_geom::shapes;
use littoral_sim::motion::Motion;
use littoral_sim::scene::*;
use littoral_sim::settings::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let cells: u32 = args.get(1).map_or(30, |s| s.parse().unwrap());
    let mut b = SceneBuilder::new(SolverSettings::default(), ContactSettings::default());
    let mut m = shapes::grid([1.0, 1.0], [cells, cells]);
    for v in &mut m.vertices {
        v.z = 0.55;
    }
    b.add_cloth(Placement { name: "sheet".into(), ..Default::default() }, m, ClothMaterial::default());
    let mut s = shapes::sphere(0.2, 3);
    for v in &mut s.vertices {
        v.z += 0.3;
    }
    b.add_collider(Placement { name: "ball".into(), ..Default::default() }, s, Motion::Static);
    let g = shapes::plane([4.0, 4.0]);
    b.add_collider(Placement { name: "ground".into(), ..Default::default() }, g, Motion::Static);
    let mut sim = b.build().unwrap();
    let t = std::time::Instant::now();
    for k in 0..480 {
        let r = sim.step(1.0 / 240.0);
        if k % 20 == 0 || k < 3 {
            let z: Vec<f64> =
                sim.state().x[..sim.objects()[0].count as usize].iter().map(|p: &Vec3| p.z).collect();
            println!(
                "{:.3} z {:.4}..{:.4} det {} cand {} cont {} gap {:?} kept {:.3} res {:.2e} E {:.3e}/{:.3e} tr {} ph {:.1}/{:.1}/{:.1}/{:.1}ms {:.1}s",
                r.time,
                z.iter().cloned().fold(9., f64::min),
                z.iter().cloned().fold(-9., f64::max),
                r.detections,
                r.candidates,
                r.contacts,
                r.min_gap,
                r.kept_motion,
                r.residual,
                r.energies.kinetic,
                r.energies.elastic,
                r.truncated,
                r.phases.detect * 1e3,
                r.phases.forces * 1e3,
                r.phases.truncate * 1e3,
                r.phases.solve * 1e3,
                t.elapsed().as_secs_f64()
            );
        }
    }
}
