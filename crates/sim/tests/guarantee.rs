//! The guarantee: whatever is proposed, accepted paths pass through nothing [Chen 2026, §4].

#[path = "guarantee/oracle.rs"]
mod oracle;
#[path = "guarantee/play.rs"]
mod play;
#[path = "guarantee/scenes.rs"]
mod scenes;

#[path = "guarantee/cloth.rs"]
mod cloth;
#[path = "guarantee/islands.rs"]
mod islands;
#[path = "guarantee/listing.rs"]
mod listing;
#[path = "guarantee/named.rs"]
mod named;
#[path = "guarantee/property.rs"]
mod property;
#[path = "guarantee/scale.rs"]
mod scale;
#[path = "guarantee/seal.rs"]
mod seal;
#[path = "guarantee/soup.rs"]
mod soup;
