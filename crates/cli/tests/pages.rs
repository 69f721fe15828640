//! The pages are true: what they link to exists, what they tell people to type works, their scenes load, their reference is
//! that of the schema.

mod common;

use common::Scratch;
use littoral_io::scene::{SceneFile, Source, schema};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The pages at the root, as written for people.
const ROOT_PAGES: [&str; 5] =
    ["README.md", "ARCHITECTURE.md", "CONVENTIONS.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// The page with the reference of scene files.
const SCENE_PAGE: &str = "docs/scene-file.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap_or_else(|e| panic!("{page}: {e}"))
}

/// Files with this extension in a folder and in those in it, sorted.
fn files(folder: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, extension, out);
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
}

/// Every page: name relative to the root, and text.
fn pages() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    files(&root().join("docs"), "md", &mut paths);
    let inner = paths.iter().map(|p| p.strip_prefix(root()).unwrap().display().to_string());
    ROOT_PAGES.iter().map(|p| p.to_string()).chain(inner).map(|p| (p.clone(), read(&p))).collect()
}

/// The fenced blocks of a page in one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let cut = |part: &str| part.split("\n```").next().unwrap_or_default().to_owned();
    text.split(&fence).skip(1).map(cut).collect()
}

/// Targets of the links `](target)` of a page that lead to a file.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|t| !t.contains("://") && !t.starts_with('#')).collect()
}

/// Paths of the repository that a page names in its text: words that begin with one of its folders.
fn named_paths(text: &str) -> Vec<&str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let words = text.split(|c| !is_path(c)).map(|w| w.trim_end_matches(['.', '-']));
    words.filter(|w| ["crates/", "scenes/", "docs/", ".ci/"].iter().any(|f| w.starts_with(f))).collect()
}

#[test]
fn every_link_and_path_of_the_pages_exists() {
    let mut seen = 0;
    for (page, text) in pages() {
        let folder = root().join(&page).parent().unwrap().to_path_buf();
        for link in links(&text) {
            let file = link.split('#').next().unwrap();
            assert!(folder.join(file).exists(), "{page} links to {link}, which does not exist");
            seen += 1;
        }
        for path in named_paths(&text) {
            let found = root().join(path).exists() || folder.join(path).exists();
            assert!(found, "{page} names {path}, which does not exist");
            seen += 1;
        }
    }
    let mut sources = Vec::new();
    files(&root().join("crates"), "rs", &mut sources);
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        for path in named_paths(&text).into_iter().filter(|p| p.starts_with("docs/") && p.ends_with(".md")) {
            assert!(root().join(path).exists(), "{} names {path}, which does not exist", source.display());
        }
    }
    assert!(seen > 100, "the test found only {seen} links and paths: it looks in the wrong place");
}

#[test]
fn no_page_names_a_place_on_somebodys_machine() {
    for (page, text) in pages() {
        for (k, line) in text.lines().enumerate() {
            for place in ["/home/", "/root/", "/Users/", "/tmp/", "/work/", "/mnt/", ":\\"] {
                assert!(!line.contains(place), "{page}:{} names {place}: {line}", k + 1);
            }
        }
    }
}

#[test]
fn what_the_pages_tell_people_to_type_is_there() {
    let ci = read(".ci/run");
    let scratch = Scratch::new("pages");
    let mut help: BTreeMap<String, String> = BTreeMap::new();
    for (page, text) in pages() {
        for line in blocks(&text, "sh").iter().flat_map(|b| b.lines()).filter(|l| !l.trim().is_empty()) {
            let typed = line.strip_prefix("cargo run --release -- ").or(line.strip_prefix("littoral "));
            let Some(typed) = typed else {
                let known =
                    ci.contains(line) || line.contains("install --path") || line.contains("--test pages");
                assert!(known, "{page} says `{line}`, which .ci/run does not run");
                continue;
            };
            let words: Vec<&str> = typed.split_whitespace().collect();
            let said = help.entry(words[0].to_owned()).or_insert_with(|| {
                let out = scratch.command(&[words[0], "--help"]).output().unwrap();
                assert!(out.status.success(), "{page} says `{line}`, but there is no such command");
                String::from_utf8(out.stdout).unwrap()
            });
            for flag in words.iter().filter(|w| w.starts_with('-')) {
                assert!(said.contains(flag), "{page} says `{line}`, but {} has no {flag}", words[0]);
            }
        }
    }
    assert!(help.len() > 5, "the test found only the commands {:?}", help.keys());
}

#[test]
fn scenes_in_the_pages_load_and_start_apart() {
    let mut seen = 0;
    for (page, text) in pages() {
        for block in blocks(&text, "toml") {
            let source = Source::Text { label: &page, text: &block, base: Path::new("") };
            let scene = SceneFile::load(source, &[]).unwrap_or_else(|e| panic!("{e}"));
            seen += 1;
            if block.contains("file =") {
                continue; // a mesh of the reader's
            }
            let (sim, _) = scene.build().unwrap_or_else(|e| panic!("{page}: {e}"));
            let crossings = sim.judge().crossings.len();
            assert_eq!(crossings, 0, "{page}: this scene crosses itself at the start:\n{block}");
        }
    }
    assert!(seen > 5, "the test found only {seen} scenes");
}

#[test]
fn every_preset_is_in_the_reference() {
    let page = read(SCENE_PAGE);
    for kind in ["cloth", "soft", "fluid"] {
        let text = format!("[[{kind}]]\nmaterial = \"no such material\"\n");
        let source = Source::Text { label: "presets", text: &text, base: Path::new("") };
        let said = SceneFile::load(source, &[]).unwrap_err().to_string();
        let known = said.split("known: ").nth(1).and_then(|k| k.lines().next()).unwrap();
        for name in known.split(", ") {
            assert!(page.contains(&format!("`{name}`")), "{SCENE_PAGE} lacks the {kind} preset {name}");
        }
    }
}

#[test]
fn the_order_of_layers_is_the_one_that_is_tested() {
    let test = read("crates/sim/tests/layers.rs");
    let list = test.split("LAYERS: &[&[&str]] = &[").nth(1).and_then(|t| t.split("];\n").next()).unwrap();
    let line = |l: &str| l.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ");
    let order: Vec<String> = list.lines().filter(|l| l.contains('"')).map(line).collect();
    let order = order.join(" → ");
    assert!(read("ARCHITECTURE.md").contains(&order), "ARCHITECTURE.md lacks the order of layers: {order}");
}

/// The citations `[Name Year, place; Name Year]` of a source text, without their places.
fn citations(text: &str) -> Vec<String> {
    let joined = text.replace("\n//! ", " ").replace("\n/// ", " ").replace("\n    /// ", " ");
    let is_key = |key: &str| {
        let (name, year) = key.rsplit_once(' ').unwrap_or_default();
        name.starts_with(|c: char| c.is_uppercase())
            && name.chars().all(|c| c.is_alphabetic() || c == ' ' || c == '&' || c == '-')
            && year.len() == 4
            && year.chars().all(|c| c.is_ascii_digit())
    };
    let inside = joined.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    let keys = inside.flat_map(|i| i.split(';')).map(|c| c.split(',').next().unwrap().trim());
    keys.filter(|k| is_key(k)).map(str::to_owned).collect()
}

#[test]
fn every_citation_is_in_the_references_and_every_reference_is_cited() {
    let page = read("docs/references.md");
    let keys: BTreeSet<String> = (page.lines())
        .filter_map(|l| l.strip_prefix("| ")?.split(" | ").next().map(str::to_owned))
        .filter(|k| k.ends_with(|c: char| c.is_ascii_digit()))
        .collect();
    let mut sources = Vec::new();
    files(&root().join("crates"), "rs", &mut sources);
    files(&root().join("docs/derivations"), "md", &mut sources);
    let mut cited = BTreeSet::new();
    for source in sources {
        for key in citations(&fs::read_to_string(&source).unwrap()) {
            assert!(keys.contains(&key), "{} cites [{key}]: docs/references.md lacks it", source.display());
            cited.insert(key);
        }
    }
    let idle: Vec<&String> = keys.difference(&cited).collect();
    assert!(idle.is_empty(), "docs/references.md lists what nobody cites: {idle:?}");
}

#[test]
fn the_reference_of_scene_files_is_that_of_the_schema() {
    let page = read(SCENE_PAGE);
    let (begin, end) = ("<!-- generated -->\n", "<!-- end -->");
    let (before, rest) = page.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let fresh = format!("{before}{begin}{}{end}{after}", reference(&schema()));
    if std::env::var_os("LITTORAL_BLESS").is_some() {
        fs::write(root().join(SCENE_PAGE), fresh).unwrap();
    } else {
        let help = "write it anew: LITTORAL_BLESS=1 cargo test -p littoral --test pages";
        assert!(page == fresh, "{SCENE_PAGE} is not what the schema says; {help}");
    }
}

/// Tables in the order of the reference, with their titles; the rest of the schema follows by name.
const SECTIONS: &[(&str, &str)] = &[
    ("Solver", "solver"),
    ("Contact", "contact"),
    ("Cloth", "cloth"),
    ("Soft", "soft"),
    ("Collider", "collider"),
    ("Fluid", "fluid"),
    ("Sink", "sink"),
    ("Expect", "expect"),
    ("ClothValues", "material of cloth"),
    ("SoftValues", "material of soft"),
    ("FluidValues", "material of fluid"),
    ("Fill", "fill"),
    ("Emitter", "emitter"),
    ("Pin", "pin"),
    ("Motion", "motion"),
    ("Keyframe", "keyframe"),
    ("Twist", "twist"),
    ("Sequence", "sequence"),
    ("Rotation", "rotation"),
    ("Copies", "copies"),
    ("Mesh", "mesh"),
    ("Cuboid", "box"),
    ("GapSplit", "gap split"),
    ("MeasureName", "measure"),
    ("MembraneName", "model of cloth"),
    ("SolidName", "model of soft"),
];

fn title(name: &str) -> String {
    SECTIONS.iter().find(|(n, _)| *n == name).map_or_else(|| name.to_lowercase(), |(_, t)| (*t).to_owned())
}

fn description(node: &Value) -> String {
    node["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

/// The constants of an enumeration, with what they mean.
fn constants(node: &Value) -> Option<Vec<(String, String)>> {
    let each = |o: &Value| Some((o["const"].as_str()?.to_owned(), description(o)));
    node["oneOf"].as_array()?.iter().map(each).collect()
}

/// The reference: a table per table of the schema.
fn reference(schema: &Value) -> String {
    let mut out = "\n### scene\n\n".to_owned();
    keys(schema, schema, &mut out);
    let all = schema["$defs"].as_object().unwrap();
    let first = SECTIONS.iter().map(|(name, _)| *name);
    let rest = all.keys().map(String::as_str).filter(|n| SECTIONS.iter().all(|(s, _)| s != n));
    for name in first.chain(rest) {
        let node = &all[name];
        if node["properties"].is_object() {
            write!(out, "### {}\n\n{}\n\n", title(name), description(node)).unwrap();
            keys(schema, node, &mut out);
        } else if let Some(values) = constants(node).filter(|v| v.len() > 1) {
            write!(out, "### {}\n\n{}\n\n| value | meaning |\n|---|---|\n", title(name), description(node))
                .unwrap();
            values.iter().for_each(|(value, meaning)| writeln!(out, "| `{value}` | {meaning} |").unwrap());
            out.push('\n');
        } else if let Some(choices) = node["oneOf"].as_array().filter(|c| c[0]["properties"].is_object()) {
            write!(
                out,
                "### {}\n\n{}\n\n| key | meaning | value |\n|---|---|---|\n",
                title(name),
                description(node)
            )
            .unwrap();
            for choice in choices {
                let (key, value) = choice["properties"].as_object().unwrap().iter().next().unwrap();
                writeln!(out, "| `{key}` | {} | {} |", description(choice), values(schema, value)).unwrap();
            }
            out.push('\n');
        }
    }
    out
}

/// The keys of one table.
fn keys(schema: &Value, node: &Value, out: &mut String) {
    out.push_str("| key | meaning | value | default |\n|---|---|---|---|\n");
    for (key, value) in node["properties"].as_object().unwrap() {
        let default = match &value["default"] {
            Value::Null => String::new(),
            Value::String(text) if text.is_empty() => String::new(),
            Value::Object(_) if value["$ref"] != "#/$defs/Mesh" => String::new(),
            other => format!("`{}`", as_toml(other)),
        };
        writeln!(out, "| `{key}` | {} | {} | {default} |", description(value), values(schema, value))
            .unwrap();
    }
    out.push('\n');
}

/// A value as a scene file would have it.
fn as_toml(value: &Value) -> String {
    let list = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Object(map) => {
            let given = map.iter().filter(|(_, v)| !v.is_null());
            format!("{{ {} }}", list(given.map(|(k, v)| format!("{k} = {}", as_toml(v))).collect()))
        }
        Value::Array(items) => format!("[{}]", list(items.iter().map(as_toml).collect())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// What a value may be, in words.
fn values(schema: &Value, node: &Value) -> String {
    if let Some(target) = node["$ref"].as_str() {
        let name = target.trim_start_matches("#/$defs/");
        let node = &schema["$defs"][name];
        return match constants(node) {
            Some(all) if all.len() == 1 => format!("`\"{}\"`", all[0].0),
            _ if node["anyOf"].is_array() => values(schema, node),
            _ => format!("[{0}](#{1})", title(name), title(name).replace(' ', "-")),
        };
    }
    if let Some(choices) = node["anyOf"].as_array() {
        let real = choices.iter().filter(|c| c["type"] != "null");
        return real.map(|c| values(schema, c)).collect::<Vec<_>>().join(" or ");
    }
    let kind = match &node["type"] {
        Value::Array(kinds) => kinds.iter().find(|k| *k != "null").and_then(Value::as_str),
        kind => kind.as_str(),
    };
    match kind {
        Some("array") => {
            let inner = values(schema, &node["items"]);
            match node["minItems"].as_u64().filter(|n| node["maxItems"].as_u64() == Some(*n)) {
                Some(n) => format!("{n} × ({inner})").replace("(number)", "number"),
                None => format!("list of {inner}"),
            }
        }
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "text".to_owned(),
        Some(kind) => {
            let bound =
                |key: &str, sign: &str| node.get(key).map(|b| format!(" {sign} {b}")).unwrap_or_default();
            let low = bound("minimum", "≥") + &bound("exclusiveMinimum", ">");
            let high = bound("maximum", "≤") + &bound("exclusiveMaximum", "<");
            let comma = if low.is_empty() || high.is_empty() { "" } else { "," };
            format!("{kind}{low}{comma}{high}")
        }
        None => String::new(),
    }
}
