//! The command line: what may be typed, and the help that says so.

use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Penetration-free simulation of cloth, soft and rigid bodies, ropes and water, certified by an exact referee.
#[derive(Debug, Parser)]
#[command(name = "littoral", version, after_help = STATUS, max_term_width = 100)]
pub struct Args {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const STATUS: &str = "Exit status: 0 done and the guarantee held · 1 done and held, but the scene expected another end · \
2 the input is wrong · 3 the guarantee did not hold · 4 reading or writing failed · 130 interrupted (resumable)";

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate the built-in demonstration, in about a minute
    Demo(DemoArgs),
    /// Simulate a scene file, a scene that comes with littoral, or a mesh of your own
    Run(Box<RunArgs>),
    /// Say what is in a mesh or scene, what would be repaired and what intersects; simulates nothing
    Check(CheckArgs),
    /// List the scenes that come with littoral
    Scenes,
    /// Copy a scene that comes with littoral to a file, to edit it
    New(NewArgs),
    /// Say what a run did, from its report
    Info(InfoArgs),
    /// Look at a run in the browser, while it goes on or after
    View(ViewArgs),
    /// Draw a picture of a frame
    Render(RenderArgs),
    /// Write the frames of a run as files for other programs
    Export(ExportArgs),
    /// Print the JSON Schema of scene files
    Schema,
    /// Measure and print a table: how methods compare
    Bench(BenchArgs),
}

/// Arguments of `bench`.
#[derive(Debug, Group)]
pub struct BenchArgs {
    /// The table
    pub name: BenchName,
    /// Write the table as JSON to a file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Scene that is run [default: the one, or all, that the table is for]
    #[arg(long, value_name = "SCENE")]
    pub scene: Option<String>,
    /// Run this many frames of it [default: as many as the table is for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=999_999))]
    pub frames: Option<u64>,
    /// Print nothing but the tables
    #[arg(long, short)]
    pub quiet: bool,
    /// Displacements that `truncation` tries in each row [default: 20; the paper: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub trials: Option<u32>,
    /// Threads to use
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Change a key of the scene, as fluid.0.spacing=0.005; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchName {
    /// Ways to couple a fluid and solids, and the solvers of their linear systems
    Splitting,
    /// How much motion each truncation leaves in soups of triangles
    Truncation,
    /// How fast the sweeps of a step converge under each truncation
    Convergence,
    /// Expected and found in every scene that validates; takes some minutes
    Validate,
}

/// How a run is carried out; shared by `run` and `demo`.
#[derive(Clone, Debug, Default, Group)]
pub struct RunOptions {
    /// Folder of the run: absent or empty [default: runs/SCENE-001, or the next free number]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Stop after this many frames [default: the scene's duration]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=999_999))]
    pub frames: Option<u64>,
    /// Threads to use; the result is the same on any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Continue the run in --out where it stopped
    #[arg(long)]
    pub resume: bool,
    /// Judge every committed step, not only every frame; refuse input that crosses itself
    #[arg(long)]
    pub strict: bool,
    /// Print nothing but errors and the run's folder
    #[arg(long, short)]
    pub quiet: bool,
    /// Change a key of the scene, as solver.iterations=5 or cloth.0.material="silk"; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

/// Arguments of `demo`.
#[derive(Debug, Group)]
pub struct DemoArgs {
    /// How to run it.
    #[command(flatten)]
    pub options: RunOptions,
}

/// Arguments of `run`.
#[derive(Debug, Group)]
pub struct RunArgs {
    /// A scene file (.toml, .json), the name of a scene that comes with littoral, or a mesh (.obj, .ply, .stl, .msh, .vtk);
    /// with --resume and --out it may be left out
    #[arg(value_name = "SCENE|MESH", required_unless_present_all = ["resume", "out"])]
    pub scene: Option<String>,
    /// What a mesh is made of [default: soft if it is closed or has tets, else cloth]
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<MeshKind>,
    /// Height of a mesh's lowest point above the ground, in its units [default: half its height]
    #[arg(long, value_name = "HEIGHT", allow_negative_numbers = true)]
    pub drop: Option<f64>,
    /// How to run it.
    #[command(flatten)]
    pub options: RunOptions,
}

/// What a mesh without a scene is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MeshKind {
    /// Its triangles are a thin sheet
    Cloth,
    /// Its inside is elastic
    Soft,
    /// It keeps its shape
    Rigid,
}

/// Arguments of `check`.
#[derive(Debug, Group)]
pub struct CheckArgs {
    /// Meshes and scenes
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
}

/// Arguments of `new`.
#[derive(Debug, Group)]
pub struct NewArgs {
    /// Name of a scene that comes with littoral; `littoral scenes` lists them
    pub name: String,
    /// File to write; an existing one is left alone [default: NAME.toml]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `info`.
#[derive(Debug, Group)]
pub struct InfoArgs {
    /// Folder of a run
    pub dir: PathBuf,
}

/// Arguments of `view`.
#[derive(Debug, Group)]
pub struct ViewArgs {
    /// Folder of a run
    pub dir: PathBuf,
    /// Port of this machine to serve the page at; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Print the address only, and leave the browser alone
    #[arg(long)]
    pub no_open: bool,
}

/// Arguments of `export`.
#[derive(Debug, Group)]
pub struct ExportArgs {
    /// Folder of a run
    pub dir: PathBuf,
    /// What to write
    #[arg(long, value_name = "FORMAT")]
    pub to: ExportFormat,
    /// Folder to write into; files of the same name are replaced [default: DIR/export]
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Every K-th frame only
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
}

/// What `export` writes, a file a frame; metres, z up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Surfaces, and particles as points, as Wavefront OBJ
    Obj,
    /// Surfaces, and particles as vertices of no face, as binary PLY with velocities
    Ply,
    /// Surfaces, tetrahedra and particles, as legacy VTK with velocities
    Vtk,
    /// The surface of each fluid as a closed mesh in PLY
    Surface,
    /// The surface of each fluid as a closed mesh in OBJ
    SurfaceObj,
}

/// Arguments of `render`.
#[derive(Debug, Group)]
pub struct RenderArgs {
    /// Folder of a run
    pub dir: PathBuf,
    /// Number of the frame, or the first one with --every [default: the last; 0 with --every]
    #[arg(long, value_name = "N")]
    pub frame: Option<u64>,
    /// Picture to write
    #[arg(short, long, value_name = "FILE.png")]
    pub output: PathBuf,
    /// Draw every K-th frame from there on, side by side
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub every: Option<u64>,
}
