//! The page, as it lies in the program: path, media type and text of each file.

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files of the page.
pub const FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/main.js", SCRIPT, include_str!("page/main.js")),
    ("/data.js", SCRIPT, include_str!("page/data.js")),
    ("/frames.js", SCRIPT, include_str!("page/frames.js")),
    ("/pick.js", SCRIPT, include_str!("page/pick.js")),
    ("/player.js", SCRIPT, include_str!("page/player.js")),
    ("/panel.js", SCRIPT, include_str!("page/panel.js")),
    ("/input.js", SCRIPT, include_str!("page/input.js")),
    ("/camera.js", SCRIPT, include_str!("page/camera.js")),
    ("/vector.js", SCRIPT, include_str!("page/vector.js")),
    ("/mesh.js", SCRIPT, include_str!("page/mesh.js")),
    ("/stage.js", SCRIPT, include_str!("page/stage.js")),
    ("/shaders.js", SCRIPT, include_str!("page/shaders.js")),
    ("/colors.js", SCRIPT, include_str!("page/colors.js")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_for_nothing_from_elsewhere() {
        for (path, _, text) in FILES {
            for foreign in ["http:", "https:", "ws:", "wss:", "\"//", "'//", "(//"] {
                assert!(!text.contains(foreign), "{path} holds {foreign}");
            }
        }
    }

    #[test]
    fn every_file_that_the_page_loads_is_there() {
        let is_there = |path: &str| FILES.iter().any(|(p, ..)| *p == path);
        for (path, _, text) in FILES {
            let quoted = text.split('"').skip(1).step_by(2);
            let loaded = quoted.filter(|q| q.ends_with(".js") || q.ends_with(".css"));
            for file in loaded {
                assert!(is_there(&format!("/{}", file.trim_start_matches("./"))), "{path} loads {file}");
            }
        }
    }
}
