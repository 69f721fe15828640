//! Listens on this machine, and answers each connection in a thread of its own.

use super::http::{self, Response};
use super::routes::Site;
use crate::failure::Failure;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Connections that are answered at once: a browser opens six, so this is a handful of tabs. Each may hold a frame in
/// memory.
const MOST: usize = 32;
/// How long a connection may say or take nothing [s]: browsers open some in advance and leave them.
const SILENCE: Duration = Duration::from_secs(10);
/// Rest after the system could not accept a connection: it has run out of something and needs time.
const REST: Duration = Duration::from_millis(100);

/// Takes a port of this machine, 0 for a free one. Nobody outside of this machine can connect.
pub fn listen(port: u16) -> Result<TcpListener, Failure> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| {
        let advice = if port == 0 { "" } else { "; choose another --port, or leave it out for a free one" };
        Failure::Io(format!("cannot listen at 127.0.0.1:{port}: {e}{advice}"))
    })
}

/// Answers connections in the background until the program ends.
pub fn serve(listener: TcpListener, site: Site) {
    let (site, answered) = (Arc::new(site), Arc::new(AtomicUsize::new(0)));
    std::thread::spawn(move || {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                std::thread::sleep(REST);
                continue;
            };
            let (site, place) = (Arc::clone(&site), Place::take(&answered));
            std::thread::spawn(move || {
                // Who hangs up in between has seen enough.
                let _ = answer(stream, place.is_free.then_some(&site));
            });
        }
    });
}

/// A place among the connections that are answered, given back at its end.
struct Place {
    taken: Arc<AtomicUsize>,
    is_free: bool,
}

impl Place {
    fn take(taken: &Arc<AtomicUsize>) -> Place {
        let before = taken.fetch_add(1, Ordering::SeqCst);
        Place { taken: Arc::clone(taken), is_free: before < MOST }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::SeqCst);
    }
}

fn answer(mut stream: TcpStream, site: Option<&Arc<Site>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    stream.set_nodelay(true)?;
    let Some(site) = site else {
        return Response::refusal(503, "too many connections at once").write(&mut stream);
    };
    let Some(head) = http::read_head(&mut stream)? else { return Ok(()) };
    let response = match http::path(&head) {
        Ok(path) => site.respond(path),
        Err(refusal) => refusal,
    };
    response.write(&mut stream)
}
