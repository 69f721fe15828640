//! Names the crossings of an input, so that a person finds them.

use crate::answer::count;
use littoral_geom::mesh::unique_edges;
use littoral_sim::report::Verdict;
use littoral_sim::simulation::Simulation;
use std::collections::BTreeMap;

/// Crossings named one by one; the rest is counted.
const NAMED: usize = 8;

/// What crosses what in the current state: a total, the pairs of objects, and the first crossings with their places.
/// Vertices and triangles are named by their index within their object's points and within the scene's triangles.
pub fn describe(sim: &Simulation, verdict: &Verdict) -> String {
    let edges = unique_edges(sim.triangles());
    let object_of = |point: u32| sim.objects().iter().find(|o| o.range().contains(&(point as usize)));
    let name_of = |point: u32| object_of(point).map_or("?", |o| o.name.as_str());
    let local = |point: u32| point - object_of(point).map_or(0, |o| o.first);
    let mut pairs: BTreeMap<[&str; 2], usize> = BTreeMap::new();
    let mut named = Vec::new();
    for [e, t] in &verdict.crossings {
        let (Some(edge), Some(triangle)) = (edges.get(*e as usize), sim.triangles().get(*t as usize)) else {
            continue;
        };
        let mut key = [name_of(edge[0]), name_of(triangle[0])];
        key.sort_unstable();
        *pairs.entry(key).or_default() += 1;
        if named.len() < NAMED {
            let at = 0.5 * (sim.state().x[edge[0] as usize] + sim.state().x[edge[1] as usize]);
            named.push(format!(
                "  edge {}-{} of \"{}\" and triangle {t} of \"{}\", near ({:.4}, {:.4}, {:.4}) m",
                local(edge[0]),
                local(edge[1]),
                name_of(edge[0]),
                name_of(triangle[0]),
                at.x,
                at.y,
                at.z
            ));
        }
    }
    let pairs: Vec<String> =
        (pairs.iter())
            .map(|([a, b], n)| {
                if a == b { format!("\"{a}\" with itself {n}") } else { format!("\"{a}\" with \"{b}\" {n}") }
            })
            .collect();
    let total = verdict.crossings.len();
    let more =
        if total > named.len() { format!("\n  and {} more", total - named.len()) } else { String::new() };
    format!("{} ({})\n{}{more}", count(total, "crossing"), pairs.join(", "), named.join("\n"))
}
