//! What closed cloths hold: checks, and a chamber for each closed surface.

use super::SceneError;
use super::build::Assembly;
use crate::chamber::{Chamber, Content, Filling};
use crate::settings::SolverSettings;
use littoral_geom::mesh::{connected_components, open_edges};

/// The chambers of all objects that hold something: each connected part of a cloth is one.
pub(super) fn chambers(all: &Assembly, solver: &SolverSettings) -> Result<Vec<Chamber>, SceneError> {
    let mut chambers = Vec::new();
    for &(object, filling) in &all.fillings {
        let o = &all.objects[object as usize];
        let refuse = |what: String| Err(SceneError::Object { object: o.name.clone(), what });
        if let Err(what) = check(&filling) {
            return refuse(what);
        }
        if solver.coarse {
            return refuse("pressure is not available with coarse = true".into());
        }
        if all.fluid.is_some() {
            return refuse("pressure is not available in a scene with fluid".into());
        }
        let range = o.range();
        let inside = |t: &&[u32; 3]| range.contains(&(t[0] as usize));
        let triangles: Vec<[u32; 3]> = all.triangles.iter().filter(inside).copied().collect();
        let open = open_edges(&triangles);
        if open > 0 {
            return refuse(format!("pressure needs a closed surface: {open} of its edges are open"));
        }
        let label = connected_components(all.x.len(), &triangles, &[]);
        let mut parts: Vec<u32> = triangles.iter().map(|t| label[t[0] as usize]).collect();
        parts.sort_unstable();
        parts.dedup();
        for part in parts {
            let of_part = |t: &&[u32; 3]| label[t[0] as usize] == part;
            let triangles = triangles.iter().filter(of_part).copied().collect();
            match Chamber::new(object, triangles, &all.x, filling) {
                Some(chamber) => chambers.push(chamber),
                None => return refuse("pressure needs a surface that encloses a volume".into()),
            }
        }
    }
    Ok(chambers)
}

fn check(filling: &Filling) -> Result<(), String> {
    let wrong = |what: &str, found: f64| Err(format!("pressure: {what}, found {found}"));
    if !(filling.over >= 0.0 && filling.over.is_finite()) {
        return wrong("over [s] must not be negative", filling.over);
    }
    match filling.content {
        Content::Constant { pressure } if !pressure.is_finite() => {
            wrong("constant [Pa] must be finite", pressure)
        }
        Content::Gas { ambient, .. } if !(ambient > 0.0 && ambient.is_finite()) => {
            wrong("ambient [Pa] must be positive", ambient)
        }
        Content::Gas { pressure, ambient } if !(pressure > -ambient && pressure.is_finite()) => {
            wrong("gas [Pa] is over the ambient pressure, and must be above minus that", pressure)
        }
        Content::Volume { ratio } if !(ratio > 0.0 && ratio.is_finite()) => {
            wrong("volume [–] must be positive", ratio)
        }
        Content::Constant { .. } | Content::Gas { .. } | Content::Volume { .. } => Ok(()),
    }
}
