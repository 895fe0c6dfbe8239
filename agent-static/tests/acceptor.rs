//! The acceptor with a key: it admits hosts with the key despite all other connections, and polling
//! it never blocks.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use profinfer_agent::link::output::{Kind, Weight};
use profinfer_agent::link::{Acceptor, Client, Listener, Output};
use profinfer_secure::initiator::Connected;
use profinfer_secure::{Initiator, Key, Refusal};
use profinfer_wire::WIRE_VERSION;
use profinfer_wire::hello::HELLO_LEN;

fn key() -> Key {
    Key::new("board", [1; 32]).unwrap()
}

fn acceptor() -> (Acceptor, SocketAddr) {
    let listener = Listener::tcp(TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
    let address = listener.port().unwrap();
    (Acceptor::new(listener, Some(key())), address)
}

/// Polls the acceptor until a client is admitted, or `patience` is over.
fn look(acceptor: &mut Acceptor, patience: Duration) -> Option<Client> {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        acceptor.look();
        if let Some(client) = acceptor.client().take() {
            return Some(client);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// A host: returns its socket and its channel.
fn host(
    at: SocketAddr,
    key: Key,
) -> std::thread::JoinHandle<Result<(TcpStream, Connected), profinfer_secure::Error>> {
    std::thread::spawn(move || {
        let mut socket = TcpStream::connect(at).unwrap();
        let (mut waiting, request) = Initiator::new(&key, WIRE_VERSION).unwrap();
        socket.write_all(&request).unwrap();
        loop {
            let n = socket.read(waiting.room()).unwrap();
            assert!(n > 0, "closed without a reason");
            waiting = match waiting.filled(n)? {
                Ok(known) => {
                    socket.write_all(&known.first).unwrap();
                    return Ok((socket, known));
                }
                Err(waiting) => waiting,
            };
        }
    })
}

#[test]
fn both_directions_of_the_channel() {
    let (mut acceptor, at) = acceptor();
    let host = host(at, key());
    let mut client = look(&mut acceptor, Duration::from_secs(60)).unwrap();
    let (mut socket, mut channel) = host.join().unwrap().unwrap();
    let mut bytes = [0; 100];
    let empty = client.reader.peek(&mut bytes).unwrap_err();
    assert_eq!(empty.kind(), std::io::ErrorKind::WouldBlock);

    let mut frame = [0; 64];
    let len = channel.sealer.seal(b"a plan", &mut frame).unwrap();
    socket.write_all(&frame[..len]).unwrap();
    while client.reader.peek(&mut bytes).is_err() {}
    assert_eq!(client.reader.read(&mut bytes[..2]).unwrap(), 2, "in two pieces");
    assert_eq!(client.reader.read(&mut bytes[2..]).unwrap(), 4);
    assert_eq!(&bytes[..6], b"a plan");

    let mut output = Output::new(client.reader.writer().unwrap(), Kind::Connection, "the test").unwrap();
    output = output.sealed(client.sealer);
    output.greet([7; HELLO_LEN]);
    let sent: Vec<u8> = (0..100u32).flat_map(|i| vec![i as u8; 5000]).collect();
    for (seq, frame) in (0..).zip(sent.chunks(5000)) {
        assert!(output.push(seq, frame, Weight::Droppable));
    }
    let reader = std::thread::spawn(move || {
        let mut plain = Vec::<u8>::new();
        while plain.len() < HELLO_LEN + 500_000 {
            let n = socket.read(channel.opener.room()).unwrap();
            assert!(n > 0);
            channel.opener.filled(n).unwrap();
            plain.extend(channel.opener.plain());
            channel.opener.consume(usize::MAX >> 1);
        }
        plain
    });
    while !output.empty() {
        output.flush();
        assert!(!output.suspended());
    }
    // Empty means that the link has everything. Sealed bytes that still wait must not be lost.
    drop(output);
    drop(client.reader);
    let plain = reader.join().unwrap();
    assert!(plain[..HELLO_LEN] == [7; HELLO_LEN] && plain[HELLO_LEN..] == sent);
}

#[test]
fn unknown_clients_get_a_reason_and_block_nobody() {
    let (mut acceptor, at) = acceptor();
    let other = host(at, Key::new("board", [2; 32]).unwrap());
    assert!(look(&mut acceptor, Duration::from_secs(1)).is_none());
    let e = other.join().unwrap().unwrap_err();
    assert_eq!(e, profinfer_secure::Error::Refused(Refusal::WrongKey));

    let refused = |bytes: &[u8], acceptor: &mut Acceptor| {
        let mut socket = TcpStream::connect(at).unwrap();
        socket.write_all(bytes).unwrap();
        assert!(look(acceptor, Duration::from_millis(200)).is_none());
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).unwrap();
        Refusal::parse(answer[..].try_into().unwrap())
    };
    assert_eq!(refused(&[0; 3000], &mut acceptor), Some(Refusal::KeyWanted));
    assert_eq!(refused(b"PFIS\x01\x02", &mut acceptor), Some(Refusal::Unknown));

    // A silent client, one that stops in the middle, and a host after them, which does not wait for
    // their two seconds.
    let mut silent = TcpStream::connect(at).unwrap();
    let mut slow = TcpStream::connect(at).unwrap();
    slow.write_all(&b"PFIS\x01\x01and no more"[..]).unwrap();
    let came = host(at, key());
    assert!(look(&mut acceptor, Duration::from_secs(60)).is_some());
    assert!(came.join().unwrap().is_ok());
    for socket in [&mut silent, &mut slow] {
        socket.set_nonblocking(true).unwrap();
        assert_eq!(
            socket.read(&mut [0; 6]).unwrap_err().kind(),
            std::io::ErrorKind::WouldBlock,
            "its time is not over"
        );
        socket.set_nonblocking(false).unwrap();
    }
    assert!(look(&mut acceptor, Duration::from_secs(3)).is_none());
    for socket in [&mut silent, &mut slow] {
        let mut answer = [0; 6];
        socket.read_exact(&mut answer).unwrap();
        assert_eq!(Refusal::parse(&answer), Some(Refusal::TooSlow));
    }
}

#[test]
fn a_thousand_silent_clients_block_nobody() {
    let (mut acceptor, at) = acceptor();
    let held: Vec<_> = (0..500).map(|_| TcpStream::connect(at).unwrap()).collect();
    let came = host(at, key());
    let more: Vec<_> = (0..500).map(|_| TcpStream::connect(at).unwrap()).collect();
    assert!(look(&mut acceptor, Duration::from_secs(60)).is_some());
    assert!(came.join().unwrap().is_ok());
    drop((held, more));
}

#[test]
fn polling_the_acceptor_does_not_block() {
    let (mut acceptor, at) = acceptor();
    let _held: Vec<_> = (0..100).map(|_| TcpStream::connect(at).unwrap()).collect();
    let begun = Instant::now();
    let mut looks = 0u64;
    while begun.elapsed() < Duration::from_millis(500) {
        acceptor.look();
        looks += 1;
    }
    assert!(looks > 100, "{looks} polls in half a second");
    assert!(acceptor.client().is_none());
}
