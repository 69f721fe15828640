//! No content of a file makes a reader panic, hang or allocate what the file cannot hold: small valid files of every
//! format and variant are mutated, cut and spliced many thousand times, from fixed seeds.

use std::path::Path;

use littoral_geom::math::Vec3;
use littoral_geom::mesh::tet_volume;
use littoral_io::mesh::{FORMATS, IntakeOptions, Mesh, Weld, read_mesh_bytes};

/// A small generator (PCG's multiplier), the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

fn mesh() -> Mesh {
    let corner = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
    let vertices = vec![
        corner(0.0, 0.0, 0.0),
        corner(1.0, 0.0, 0.0),
        corner(0.0, 1.0, 0.0),
        corner(0.0, 0.0, 1.0),
        corner(2.0, 0.5, 0.0),
        corner(2.0, 1.0, 0.0),
    ];
    Mesh {
        source_vertex: (0..6).collect(),
        vertices,
        triangles: vec![[1, 4, 5], [1, 5, 2]],
        tets: vec![[0, 1, 2, 3]],
        segments: vec![[3, 5]],
    }
}

/// Valid files beyond those the writers make.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let mut seeds: Vec<(&str, Vec<u8>)> = FORMATS.iter().map(|f| (f.extension, (f.write)(&mesh()))).collect();
    let texts: [(&str, &str); 6] = [
        (
            "obj",
            "o a\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv .2 .8 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1 4/1 5/1\nf -1 -2 \\\n -5\nl 1 2 3\n",
        ),
        (
            "ply",
            "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n\
             element face 1\nproperty list uchar int vertex_indices\nelement tristrips 1\n\
             property list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n5 0 1 2 -1 3\n",
        ),
        (
            "stl",
            "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n",
        ),
        (
            "msh",
            "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n\
             $Elements\n2 2 1 2\n2 1 3 1\n1 1 2 3 4\n3 1 4 1\n2 1 2 3 4\n$EndElements\n",
        ),
        (
            "vtk",
            "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1\n\
             CELLS 3 12\nOFFSETS vtktypeint64\n0 8 12\nCONNECTIVITY vtktypeint64\n0 1 2 3 4 5 6 7 0 1 2 5\nCELL_TYPES 2\n12\n10\n",
        ),
        (
            "vtk",
            "# vtk DataFile Version 2.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 5 float\n0 0 0 1 0 0 0 1 0 1 1 0 0 2 0\nLINES 1 3\n2 3 4\n\
             POLYGONS 1 5\n4 0 1 3 2\nTRIANGLE_STRIPS 1 4\n3 2 3 4\n",
        ),
    ];
    seeds.extend(texts.map(|(extension, text)| (extension, text.as_bytes().to_vec())));
    seeds.extend([("msh", binary_msh()), ("vtk", binary_vtk())]);
    seeds
}

fn binary_msh() -> Vec<u8> {
    let mut out = b"$MeshFormat\n2.2 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n4\n".to_vec();
    for i in 0..4 {
        out.extend((i + 1_i32).to_le_bytes());
        mesh().vertices[i as usize].to_array().iter().for_each(|c| out.extend(c.to_le_bytes()));
    }
    out.extend(b"\n$EndNodes\n$Elements\n2\n");
    [4, 1, 2, 1, 0, 1, 1, 2, 3, 4, 2, 1, 0, 7, 1, 2, 3]
        .iter()
        .for_each(|i: &i32| out.extend(i.to_le_bytes()));
    out.extend(b"\n$EndElements\n");
    out
}

fn binary_vtk() -> Vec<u8> {
    let mut out =
        b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n".to_vec();
    mesh().vertices[..4].iter().flat_map(|x| x.to_array()).for_each(|c| out.extend(c.to_be_bytes()));
    out.extend(b"\nCELLS 1 5\n");
    [4_i32, 0, 1, 2, 3].iter().for_each(|i| out.extend(i.to_be_bytes()));
    out.extend(b"\nCELL_TYPES 1\n\0\0\0\x0a\n");
    out
}

/// Words that hurt: limits of integers, counts, non-numbers, keywords.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "3",
    "4",
    "255",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e308",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "",
    "f",
    "v",
    "\\",
    "$Nodes",
    "$EndNodes",
    "POINTS",
    "end_header",
    "solid",
];

fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1).min(bytes.len().saturating_sub(1));
    match random.below(18) {
        0 => bytes.truncate(at),
        1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        2 if !bytes.is_empty() => bytes[at] = random.below(256) as u8,
        3 => bytes.insert(at, random.below(256) as u8),
        4 if !bytes.is_empty() => {
            let end = (at + 1 + random.below(8)).min(bytes.len());
            bytes.drain(at..end);
        }
        5 => {
            // Four bytes of a limit, where a binary count may stand.
            let limit = [0_u32, 1, 255, 0x7fff_ffff, 0x8000_0000, u32::MAX][random.below(6)];
            let end = (at + 4).min(bytes.len());
            bytes[at..end].copy_from_slice(&limit.to_le_bytes()[..end - at]);
        }
        6 => {
            // A word of the file replaced.
            let starts: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i].is_ascii_whitespace()).collect();
            let Some(&start) = starts.get(random.below(starts.len())) else { return };
            let length = bytes[start + 1..].iter().position(u8::is_ascii_whitespace);
            let end = length.map_or(bytes.len(), |l| start + 1 + l);
            bytes.splice(start + 1..end, WORDS[random.below(WORDS.len())].bytes());
        }
        7 => {
            let from = random.below(other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        8..15 => {
            // A digit, or the last byte of a number, replaced: often still a valid file.
            let digits: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i].is_ascii_digit()).collect();
            if let Some(&i) = digits.get(random.below(digits.len())) {
                bytes[i] = b'0' + random.below(10) as u8;
            }
        }
        _ => {
            let end = (at + random.below(40)).min(bytes.len());
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len() + 1).min(bytes.len());
            bytes.splice(to..to, copy);
        }
    }
}

/// What [`Mesh`] promises.
fn check(mesh: &Mesh, case: &str) {
    let n = mesh.vertices.len() as u32;
    assert!(mesh.vertices.iter().all(|x| x.is_finite()), "{case}");
    assert_eq!(mesh.source_vertex.len(), mesh.vertices.len(), "{case}");
    let mut used = vec![false; n as usize];
    let corners = (mesh.triangles.iter().flatten()).chain(mesh.tets.iter().flatten());
    corners.chain(mesh.segments.iter().flatten()).for_each(|&v| used[v as usize] = true);
    assert!(!used.is_empty() && used.iter().all(|&u| u), "{case}");
    assert!(mesh.tets.iter().all(|t| tet_volume(t.map(|v| mesh.vertices[v as usize])) > 0.0), "{case}");
    let differ = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    assert!(mesh.triangles.iter().all(differ) && mesh.segments.iter().all(|s| s[0] != s[1]), "{case}");
}

fn fuzz(rounds: usize) -> (usize, usize) {
    let seeds = seeds();
    let welds = [Weld::Off, Weld::Seams, Weld::Within(0.1)];
    let (mut accepted, mut refused) = (0, 0);
    for (s, (extension, seed)) in seeds.iter().enumerate() {
        let file = format!("seed.{extension}");
        for round in 0..rounds {
            let mut random = Random((s * 1_000_003 + round) as u64);
            let mut bytes = seed.clone();
            for _ in 0..1 + random.below(3) {
                let other = &seeds[random.below(seeds.len())].1;
                mutate(&mut bytes, other, &mut random);
            }
            let options = IntakeOptions { weld: welds[round % 3], ..IntakeOptions::default() };
            match read_mesh_bytes(Path::new(&file), &bytes, &options) {
                Ok((mesh, report)) => {
                    check(&mesh, &format!("{file}, seed {s}, round {round}"));
                    assert!(!report.lines().is_empty());
                    accepted += 1;
                }
                Err(error) => {
                    assert_eq!(error.to_string().lines().count(), 1, "seed {s}, round {round}: {error}");
                    refused += 1;
                }
            }
        }
    }
    (accepted, refused)
}

#[test]
fn mutated_files_are_read_or_refused_but_never_panic() {
    let (accepted, refused) = fuzz(3000);
    // Both ways must be exercised for the test to mean anything.
    assert!(accepted > 3000 && refused > 3000, "{accepted} accepted, {refused} refused");
}

#[test]
#[ignore = "minutes: a hundred times as many cases"]
fn mutated_files_are_read_or_refused_but_never_panic_at_length() {
    fuzz(300_000);
}

#[test]
fn every_cut_of_a_valid_file_is_read_or_refused() {
    for (extension, seed) in seeds() {
        let file = format!("cut.{extension}");
        for length in 0..seed.len() {
            if let Ok((mesh, _)) =
                read_mesh_bytes(Path::new(&file), &seed[..length], &IntakeOptions::default())
            {
                check(&mesh, &format!("{file} cut at {length}"));
            }
        }
    }
}

#[test]
fn random_bytes_of_every_name_are_refused() {
    let mut random = Random(99);
    for round in 0..2000 {
        let bytes: Vec<u8> = (0..random.below(300)).map(|_| random.below(256) as u8).collect();
        let file = format!("noise.{}", FORMATS[round % FORMATS.len()].extension);
        assert!(
            read_mesh_bytes(Path::new(&file), &bytes, &IntakeOptions::default()).is_err(),
            "round {round}"
        );
    }
}
