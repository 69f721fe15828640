//! The scenes that come with the program: every `.toml` file of the folder `scenes`, read when it is built.

include!(concat!(env!("OUT_DIR"), "/shipped_scenes.rs"));

/// Name and text of every scene that ships, sorted by name; those for validation are named `validation/…`.
pub fn shipped() -> &'static [(&'static str, &'static str)] {
    SHIPPED
}

/// The text of a scene that ships.
pub fn shipped_text(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// What a scene says about itself: its first line, a comment.
pub fn description(text: &str) -> &str {
    text.lines().next().and_then(|line| line.strip_prefix('#')).map_or("", str::trim)
}
