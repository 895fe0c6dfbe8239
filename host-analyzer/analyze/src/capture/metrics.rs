//! `--metrics ADDRESS`: totals of the running session for Prometheus, over HTTP, for programs on
//! this machine only.

use std::io::Write;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tiny_http::{Header, Method, Request, Response, Server};

use crate::{Diagnostic, Result};
use profinfer_trace::ingest::meter::Metering;
use profinfer_views::open_metrics;

/// Totals that one thread updates and another one reads.
pub(crate) type Shared = Arc<Mutex<Metering>>;

/// Serves totals until it is dropped.
pub(crate) struct Metrics {
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
    totals: Shared,
}

impl Metrics {
    /// Listens, and prints the address.
    pub(crate) fn serve(address: &str) -> Result<Self> {
        let tried = format!("serving metrics at {address}");
        let listener = listen(address).map_err(|(answer, help)| Diagnostic::new(&tried, answer, help))?;
        let place = listener.local_addr().map_or_else(|_| address.to_owned(), |a| a.to_string());
        let server = Server::from_listener(listener, None)
            .map_err(|e| Diagnostic::new(&tried, e, "choose another local port"))?;
        let (server, totals) = (Arc::new(server), Shared::default());
        let (answering, read) = (Arc::clone(&server), Arc::clone(&totals));
        let thread = thread::spawn(move || {
            for request in answering.incoming_requests() {
                answer(request, &read);
            }
        });
        let _ = writeln!(std::io::stderr(), "metrics: http://{place}/metrics");
        Ok(Self { server, thread: Some(thread), totals })
    }

    pub(crate) fn totals(&self) -> Shared {
        Arc::clone(&self.totals)
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A listening socket on a local address.
fn listen(address: &str) -> std::result::Result<TcpListener, (String, &'static str)> {
    let help = "write it as 127.0.0.1:9464";
    let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(|e| (e.to_string(), help))?.collect();
    if let Some(open) = addresses.iter().find(|a| !a.ip().is_loopback()) {
        let help = "use 127.0.0.1:PORT; a Prometheus on another machine can use `ssh -L`";
        return Err((format!("the network can reach {}", open.ip()), help));
    }
    TcpListener::bind(addresses.as_slice())
        .map_err(|e| (e.to_string(), "end the program that uses this port, or choose another port"))
}

fn answer(request: Request, totals: &Mutex<Metering>) {
    let text = |status: u16, text: &str| Response::from_string(text).with_status_code(status);
    let response = if !asked_here(&request) {
        // Otherwise a web page whose host name resolves to this machine could read the totals in a
        // browser.
        text(403, "use a local address of this machine\n")
    } else if *request.method() != Method::Get {
        text(405, "only GET\n")
    } else if request.url() == "/metrics" {
        let meter = totals.lock().unwrap_or_else(PoisonError::into_inner).meter().clone();
        match open_metrics::text(meter) {
            Ok(metrics) => {
                let kind = Header::from_bytes("Content-Type", open_metrics::MEDIA_TYPE);
                kind.into_iter().fold(text(200, &metrics), Response::with_header)
            }
            Err(e) => text(500, &format!("cannot make the text: {e}\n")),
        }
    } else {
        text(404, "metrics are at /metrics\n")
    };
    // The client may be gone.
    let _ = request.respond(response);
}

/// True if the request names this host, by a name that no other machine can have.
fn asked_here(request: &Request) -> bool {
    let host = request.headers().iter().find(|h| h.field.equiv("Host"));
    let Some(host) = host.map(|h| h.value.as_str()) else { return true };
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
