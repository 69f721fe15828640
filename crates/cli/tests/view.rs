//! `littoral view`: what its server answers, what it refuses, and how it ends.

#![cfg(unix)]

mod common;

use common::{Outcome, Scratch};
use littoral_io::run_folder::RunFolder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A viewer of the run in `out`, and the port that it says it serves at.
struct Viewer {
    child: Child,
    port: u16,
}

impl Viewer {
    fn start(scratch: &Scratch) -> Viewer {
        let mut command = scratch.command(&["view", "out", "--no-open", "--port", "0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("http://127.0.0.1:").and_then(|l| l.strip_suffix('/'));
        let port = port.and_then(|p| p.parse().ok()).unwrap_or_else(|| panic!("no address in {line:?}"));
        Viewer { child, port }
    }

    /// Sends bytes, and reads status, head and body of the answer.
    fn send(&self, request: &str) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("an answer has a head");
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head, answer[end + 4..].to_vec())
    }

    fn get(&self, path: &str) -> (u16, String, Vec<u8>) {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", self.port))
    }

    /// The body of what is there.
    #[track_caller]
    fn body(&self, path: &str) -> Vec<u8> {
        let (status, head, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&body));
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{path}: {head}");
        body
    }

    fn end(self, signal: &str) -> Outcome {
        assert!(
            Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success()
        );
        Outcome::of(&["view"], self.child.wait_with_output().unwrap())
    }
}

fn a_run(name: &str) -> Scratch {
    let scratch = Scratch::with_scene(name);
    scratch.run(&["run", "small.toml", "--out", "out", "--frames", "3", "--quiet"]).expect(0);
    scratch
}

fn numbers<const N: usize, T>(bytes: &[u8], from: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().copied().map(from).collect()
}

#[test]
fn a_served_frame_is_that_of_the_folder_in_single_precision() {
    let scratch = a_run("view-frame");
    let viewer = Viewer::start(&scratch);
    let folder = RunFolder::open(&scratch.path().join("out")).unwrap();
    for k in 0..=3 {
        let frame = folder.read_frame(k).unwrap();
        let body = viewer.body(&format!("/frame/{k}.bin"));
        assert_eq!(f64::from_le_bytes(body[..8].try_into().unwrap()), frame.time);
        assert_eq!(numbers(&body[8..16], u32::from_le_bytes), [frame.x.len() as u32, 0]);
        let x: Vec<f32> = frame.x.iter().flat_map(|x| x.to_array()).map(|c| c as f32).collect();
        assert_eq!(numbers(&body[16..], f32::from_le_bytes), x, "frame {k}");
    }
    let topology = folder.read_topology().unwrap();
    let body = viewer.body("/topology.bin");
    let indices = &body[4 + u32::from_le_bytes(body[..4].try_into().unwrap()) as usize..];
    let served = numbers(&indices[..12 * topology.triangles.len()], u32::from_le_bytes);
    assert_eq!(served, topology.triangles.as_flattened());
    viewer.end("-INT").expect(0);
}

#[test]
fn the_page_and_the_report_are_served_while_frames_come() {
    let scratch = a_run("view-page");
    let viewer = Viewer::start(&scratch);
    let state = || -> serde_json::Value { serde_json::from_slice(&viewer.body("/run.json")).unwrap() };
    let report = common::report(&scratch.path().join("out"));
    assert_eq!((&state()["report"], &state()["name"]), (&report, &"out".into()));
    assert_eq!(state()["frames"], serde_json::json!([[0, 3]]));
    // A frame that is being written is not there yet.
    scratch.write("out/frames/frame_000004.npz.1.part", "half");
    assert_eq!(state()["frames"], serde_json::json!([[0, 3]]));
    scratch.run(&["run", "--out", "out", "--resume", "--frames", "5", "--quiet"]).expect(0);
    assert_eq!(state()["frames"], serde_json::json!([[0, 5]]));

    let page = String::from_utf8(viewer.body("/")).unwrap();
    for file in page.split('"').filter(|q| q.ends_with(".js") || q.ends_with(".css")) {
        viewer.body(&format!("/{file}"));
    }
    let (_, head, _) = viewer.get("/");
    assert!(head.contains("Content-Security-Policy: default-src 'none'"), "{head}");
    viewer.end("-TERM").expect(0);
}

#[test]
fn other_paths_hosts_and_methods_are_refused() {
    let scratch = a_run("view-refused");
    let viewer = Viewer::start(&scratch);
    let paths =
        ["/report.json", "/frame/4.bin", "/frame/00.bin", "/../small.toml", "/frame/../../small.toml", "//"];
    for path in paths {
        assert_eq!(viewer.get(path).0, 404, "{path}");
    }
    let (status, _, body) = viewer.get("/frame/9.bin");
    assert_eq!(status, 404);
    assert!(String::from_utf8(body).unwrap().contains("frames 0 to 3"));
    for host in ["Host: example.com", "Host: localhost.example.com", "Accept: */*"] {
        for path in ["/", "/run.json", "/frame/0.bin"] {
            assert_eq!(viewer.send(&format!("GET {path} HTTP/1.1\r\n{host}\r\n\r\n")).0, 403, "{host}");
        }
    }
    for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"] {
        assert_eq!(viewer.send(&format!("{method} / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).0, 405);
    }
    scratch.write("out/frames/frame_000002.npz", "not an archive");
    let (status, _, body) = viewer.get("/frame/2.bin");
    assert_eq!(status, 500);
    assert!(String::from_utf8(body).unwrap().contains("frame_000002.npz"));
    viewer.body("/topology.bin");
    viewer.end("-INT").expect(0);
}

#[test]
fn connections_that_say_nothing_keep_nobody_out() {
    let scratch = a_run("view-silent");
    let viewer = Viewer::start(&scratch);
    let silent: Vec<TcpStream> =
        (0..8).map(|_| TcpStream::connect(("127.0.0.1", viewer.port)).unwrap()).collect();
    viewer.body("/run.json");
    drop(silent);
    let said = viewer.end("-INT").expect(0);
    assert!(said.stderr.contains("Ctrl-C") && !said.stderr.contains("error"), "{said:#?}");
}

#[test]
fn what_cannot_be_shown_is_an_error_with_the_status_of_its_kind() {
    let scratch = a_run("view-wrong");
    scratch.run(&["view", "nowhere", "--no-open"]).refused(2, "no such folder");
    scratch.run(&["view", ".", "--no-open"]).refused(2, "not the folder of a run");
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    scratch.run(&["view", "out", "--no-open", "--port", &port]).refused(4, "choose another --port");
    scratch.write("out/topology.npz", "not an archive");
    scratch.run(&["view", "out", "--no-open"]).refused(4, "topology.npz");
}

#[test]
fn without_a_display_it_says_how_to_look() {
    let scratch = a_run("view-no-display");
    let mut command = scratch.command(&["view", "out"]);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env("PATH", "");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !said.contains("ssh -L") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "it ended, and said {said:?}");
    }
    let mut kill = Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
