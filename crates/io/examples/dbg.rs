use littoral_io::scene::*;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let f = SceneFile::load(Source::Argument(&a[0]), &a[2..]).map_err(|e| e.to_string()).unwrap();
    let (mut sim, _) = f.build().map_err(|e| e.to_string()).unwrap();
    let (_, h) = f.steps_per_frame();
    for k in 0..a[1].parse().unwrap() {
        let r = sim.step(h);
        let j = sim.judge();
        if !j.crossings.is_empty() {
            println!("step {k} crossings {} gap {:?}", j.crossings.len(), r.min_gap);
            let e = sim.edges()[j.crossings[0][0] as usize];
            let t = sim.triangles()[j.crossings[0][1] as usize];
            println!("edge {:?} tri {:?} ", e, t);
            break;
        }
    }
}
