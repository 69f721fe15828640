//! As much of HTTP/1.1 as the viewer needs: the head of a `GET` request in, one whole response out, then the
//! connection ends.
//!
//! Requests of other sites are refused by their `Host`: a page from elsewhere whose name was made to point at
//! this machine still names itself there.

use std::borrow::Cow;
use std::io::{self, Read, Write};

/// Longest head of a request that is read [bytes]: browsers send about one kilobyte, cookies of other servers of this
/// machine included a few.
const LONGEST_HEAD: usize = 16 * 1024;

/// What a response forbids the page: to load or send anything beyond this server, or to be shown inside of another page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A response.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Media type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Cow<'static, [u8]>,
}

impl Response {
    /// What was asked for.
    pub fn ok(kind: &'static str, body: impl Into<Cow<'static, [u8]>>) -> Response {
        Response { status: 200, kind, body: body.into() }
    }

    /// Why it is not given, in a line.
    pub fn refusal(status: u16, why: &str) -> Response {
        let body = Cow::Owned(format!("{why}\n").into_bytes());
        Response { status, kind: "text/plain; charset=utf-8", body }
    }

    /// Writes the whole response.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: {POLICY}\r\n{}\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len(),
            if self.status == 405 { "Allow: GET\r\n" } else { "" },
        );
        out.write_all(head.as_bytes())?;
        out.write_all(&self.body)?;
        out.flush()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

/// Reads the head of a request. `Ok(None)`: nothing came, as on connections that a browser opens in advance.
pub fn read_head(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    while !ends(&head) && head.len() <= LONGEST_HEAD {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => head.extend(&chunk[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok((!head.is_empty()).then_some(head))
}

fn ends(head: &[u8]) -> bool {
    head.windows(4).any(|w| w == b"\r\n\r\n")
}

/// The path that a request asks for, without its query; or the response that refuses it.
pub fn path(head: &[u8]) -> Result<&str, Response> {
    let bad = |why: &str| Response::refusal(400, why);
    if head.len() > LONGEST_HEAD {
        return Err(Response::refusal(431, "this request is too long"));
    }
    let text = std::str::from_utf8(head).map_err(|_| bad("this request is not text"))?;
    let (head, _) = text.split_once("\r\n\r\n").ok_or_else(|| bad("this request is cut short"))?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(bad("this is no request of HTTP/1.1"));
    };
    if !version.starts_with("HTTP/1.") {
        return Err(bad("this is no request of HTTP/1.1"));
    }
    let hosts: Vec<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim())
        .collect();
    match hosts.as_slice() {
        [host] if is_this_machine(host) => {}
        _ => return Err(Response::refusal(403, "only pages of this machine are answered here")),
    }
    if method != "GET" {
        return Err(Response::refusal(405, "here one can only look"));
    }
    let path = target.split('?').next().unwrap_or_default();
    if path.starts_with('/') { Ok(path) } else { Err(bad("this is no path")) }
}

/// True for the names that this machine has for itself, with any port: a tunnel may begin at another one.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(head: &str) -> Result<String, u16> {
        path(head.replace('\n', "\r\n").as_bytes()).map(str::to_owned).map_err(|r| r.status)
    }

    #[test]
    fn a_request_is_answered_by_its_path_without_its_query() {
        assert_eq!(ask("GET /run.json?x=1 HTTP/1.1\nHost: localhost:80\n\n"), Ok("/run.json".into()));
        assert_eq!(ask("GET / HTTP/1.0\nhOST:127.0.0.1\nAccept: */*\n\n"), Ok("/".into()));
        assert_eq!(ask("GET / HTTP/1.1\nHost: [::1]:4000\n\n"), Ok("/".into()));
    }

    #[test]
    fn requests_for_another_host_are_refused() {
        for host in
            ["example.com", "localhost.example.com", "127.0.0.1.example.com:80", "[::2]", "", "10.0.0.1"]
        {
            assert_eq!(ask(&format!("GET / HTTP/1.1\nHost: {host}\n\n")), Err(403), "{host}");
        }
        assert_eq!(ask("GET / HTTP/1.1\nAccept: */*\n\n"), Err(403), "no host");
        assert_eq!(ask("GET / HTTP/1.1\nHost: localhost\nHost: example.com\n\n"), Err(403), "two hosts");
    }

    #[test]
    fn what_is_no_get_request_is_refused() {
        assert_eq!(ask("POST / HTTP/1.1\nHost: localhost\n\n"), Err(405));
        assert_eq!(ask("GET http://localhost/ HTTP/1.1\nHost: localhost\n\n"), Err(400));
        assert_eq!(ask("GET /\n\n"), Err(400));
        assert_eq!(ask("GET / a b HTTP/1.1\n\n"), Err(400));
        assert_eq!(ask("GET / HTTP/1.1\nHost: localhost\n"), Err(400), "cut short");
        assert_eq!(path(b"\xff\xff\r\n\r\n").unwrap_err().status, 400);
        let long = format!("GET / HTTP/1.1\nHost: localhost\nX: {}\n\n", "x".repeat(LONGEST_HEAD));
        assert_eq!(ask(&long), Err(431));
    }

    #[test]
    fn a_head_that_never_ends_is_not_read_for_ever() {
        let head = read_head(&mut io::repeat(b'x')).unwrap().unwrap();
        assert!(head.len() < 2 * LONGEST_HEAD && path(&head).unwrap_err().status == 431);
        assert_eq!(read_head(&mut io::empty()).unwrap(), None);
    }
}
