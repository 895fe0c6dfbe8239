//! The screen, compared with figures that are computed here from the complete recording.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::{analyst, keys};
use crate::capture::rotate::{Last, Window};
use crate::sample::{stream, stream_with_a_loss};
use profinfer_analysis::ladder::LadderSums;
use profinfer_trace::decode::Decoder;
use profinfer_trace::model::Model;
use profinfer_views::watch::{LEAST, Pane, Progress, Screen, Seen, draw};
use profinfer_views::words::{count, duration};

/// The last seconds of a recording. Frames arrive so slowly that each call has a separate segment.
fn last(stream: &[u8], seconds: u64) -> Last {
    let mut window = Window::new(Duration::from_secs(seconds), 8 << 20);
    let (begun, mut decoder) = (Instant::now(), Decoder::new());
    for (part, i) in stream.split_inclusive(|b| *b == 0).zip(0..) {
        decoder.feed(part, &mut |found| window.see(&found)).unwrap();
        window.take(part, begun + Duration::from_millis(200) * i);
    }
    window.last().unwrap()
}

fn seen(last: &Last) -> Option<Seen> {
    analyst::seen(last, None, None, &mut LadderSums::default())
}

fn screen(seen: Option<Seen>) -> Screen {
    let mut screen = Screen::new("tcp:127.0.0.1:7817", "profile", Duration::from_secs(10));
    screen.begin("capturing");
    if let Some(seen) = seen {
        screen.see(seen);
    }
    screen
}

/// The lines of a screen of this size.
fn drawn(screen: &mut Screen, (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(screen, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(line).collect()
}

/// The words of the line that begins with `begin`.
fn words<'a>(lines: &'a [String], begin: &str) -> Vec<&'a str> {
    let line = lines.iter().find(|l| l.trim_start().starts_with(begin));
    line.unwrap_or_else(|| panic!("no `{begin}` in {lines:#?}")).split("  ").map(str::trim).collect()
}

/// Rows of the `llama_decode` calls of the window in the complete recording.
fn calls(whole: &Model, last: &Last) -> std::ops::Range<usize> {
    let shown = profinfer_trace::read(&last.stream).unwrap().llama_calls;
    let first = whole.llama_calls.start_ns.iter().position(|at| *at == shown.start_ns[0]).unwrap();
    assert!(first > 0);
    first..first + shown.len()
}

/// Time of a token in the window: from the end of one call to the end of the next. The window's first call
/// has none before it, and the first token after that is the warm-up. ns.
fn token_ns(whole: &Model, last: &Last) -> u64 {
    let d = &whole.llama_calls;
    let end = |i: usize| d.start_ns[i] + d.duration_ns[i];
    let calls = calls(whole, last);
    let (first, n) = (calls.start, calls.end - 1);
    assert!(n - first >= 3 && d.n_tokens[first..=n].iter().all(|n| *n == 1));
    (end(n) - end(first)) / (n - first) as u64
}

#[test]
fn the_speed_is_that_of_the_recording_in_these_seconds() {
    let whole = profinfer_trace::read(&stream()).unwrap();
    let last = last(&stream(), 1);
    let token_ns = token_ns(&whole, &last);
    let lines = drawn(&mut screen(seen(&last)), LEAST);
    let said = lines.iter().find(|l| l.starts_with("Decode: ")).unwrap();
    let speed: f64 = said.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((speed - 1e9 / token_ns as f64).abs() < 0.006, "{said}: {}", 1e9 / token_ns as f64);
    assert!(said.contains(&format!("on 2 threads, {} per token", duration(token_ns))), "{said}");
}

/// Sum of the times that begin the steps of a ladder, ms. A label may continue on the next line.
fn sum_ms(lines: &[String]) -> f64 {
    let step = |line: &String| {
        let mut words = line.split_whitespace();
        let (ms, _, percent) = (words.next()?, words.next()?, words.next()?);
        ms.parse::<f64>().ok().filter(|_| percent == "%")
    };
    lines.iter().take_while(|l| !l.trim().is_empty()).filter_map(step).sum()
}

#[test]
fn the_ladder_is_that_of_the_recording_in_these_seconds() {
    let whole = profinfer_trace::read(&stream()).unwrap();
    let last = last(&stream(), 1);
    let token_ms = token_ns(&whole, &last) as f64 / 1e6;
    let lines = drawn(&mut screen(seen(&last)), (120, 60));
    let title = lines.iter().position(|l| l.starts_with("decode: ")).unwrap();
    assert!(lines[title].contains(&format!("{} tokens", calls(&whole, &last).len() - 1)), "{lines:#?}");
    let sum = sum_ms(&lines[title + 1..]);
    // Each of the steps is rounded.
    assert!((sum - token_ms).abs() < token_ms * 0.01 + 0.05, "{sum} {token_ms} {lines:#?}");
}

/// Windows overlap, and every token counts once.
#[test]
fn the_ladders_of_all_windows_add_up() {
    let stream = stream();
    let whole = profinfer_trace::read(&stream).unwrap();
    let (begun, mut decoder) = (Instant::now(), Decoder::new());
    let mut window = Window::new(Duration::from_secs(1), 8 << 20);
    let (mut total, mut windows) = (LadderSums::default(), 0);
    for (part, i) in stream.split_inclusive(|b| *b == 0).zip(0..) {
        decoder.feed(part, &mut |found| window.see(&found)).unwrap();
        window.take(part, begun + Duration::from_millis(200) * i);
        if let Some(last) = Some(&mut window).filter(|w| w.is_fresh()).and_then(Window::last) {
            analyst::seen(&last, None, None, &mut total).unwrap();
            windows += 1;
        }
    }
    let d = &whole.llama_calls;
    let end = |i: usize| d.start_ns[i] + d.duration_ns[i];
    let single: Vec<usize> = (0..d.len()).filter(|i| d.n_tokens[*i] == 1).collect();
    let (first, last) = (single[0], *single.last().unwrap());
    assert!(windows > 3 && single.len() > 5, "{windows} {}", single.len());
    let (_, total) = total.of(total.latest().unwrap()).swap_remove(0);
    // The first token follows the prompt.
    assert_eq!(total.units, single.len() as u64);
    assert_eq!(total.measured_ns, end(last) - end(first - 1));
    assert_eq!(total.steps().iter().map(|(_, ns)| ns).sum::<u64>(), total.measured_ns);
}

#[test]
fn threads_and_operators_are_those_of_the_recording_in_these_seconds() {
    let whole = profinfer_trace::read(&stream()).unwrap();
    let last = last(&stream(), 1);
    let (d, calls) = (&whole.llama_calls, calls(&whole, &last));
    let time = d.start_ns[calls.start]..d.start_ns[calls.end - 1] + d.duration_ns[calls.end - 1];
    let s = &whole.spans;
    let rows = || (0..s.len()).filter(|i| time.contains(&s.start_ns[*i]));
    let mut screen = screen(seen(&last));
    screen.show(Pane::Threads);
    let threads = drawn(&mut screen, LEAST);
    let mut ids: Vec<u32> = rows().map(|i| whole.threads.get(s.thread[i]).tid).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 2);
    for tid in ids {
        let own = || rows().filter(|i| whole.threads.get(s.thread[*i]).tid == tid);
        let (work, wait): (u64, u64) =
            (own().map(|i| s.work_ns[i]).sum(), own().map(|i| u64::from(s.wait_ns[i])).sum());
        let row: Vec<_> = words(&threads, &tid.to_string()).into_iter().filter(|c| !c.is_empty()).collect();
        assert_eq!(row[1..4], [count(own().count() as u64), duration(work), duration(wait)]);
        let working: f64 = row[4].trim_end_matches(" %").parse().unwrap();
        assert!((working - work as f64 * 100.0 / (work + wait) as f64).abs() < 0.051, "{row:?}");
    }

    screen.show(Pane::Operators);
    let operators = drawn(&mut screen, LEAST);
    // Executions of products: one per node, call and thread.
    let product = |i: &usize| {
        let topology = whole.graph_calls.topology[s.graph_call[*i].0 as usize].unwrap();
        let node = &whole.topologies.rows[topology.0 as usize].nodes[s.node[*i].0 as usize];
        whole.texts.get(node.op) == "MUL_MAT"
    };
    let mut runs: Vec<_> = rows().filter(product).map(|i| (s.graph_call[i], s.node[i])).collect();
    runs.sort_unstable();
    runs.dedup();
    let wall: u64 = runs
        .iter()
        .map(|run| {
            let own = || rows().filter(|i| (s.graph_call[*i], s.node[*i]) == *run);
            own().map(|i| s.start_ns[i] + s.work_ns[i]).max().unwrap()
                - own().map(|i| s.start_ns[i]).min().unwrap()
        })
        .sum();
    let row: Vec<_> = words(&operators, "MUL_MAT").into_iter().filter(|c| !c.is_empty()).collect();
    assert_eq!(row[1..3], [duration(wall), count(runs.len() as u64)]);
}

#[test]
fn what_was_lost_stands_first_and_stays() {
    // A frame is lost, and the window no longer contains its place.
    let lines = drawn(&mut screen(seen(&last(&stream_with_a_loss(), 1))), LEAST);
    assert!(lines[0].contains("frames missing"), "{lines:#?}");
    let lines = drawn(&mut screen(seen(&last(&stream(), 1))), LEAST);
    assert!(!lines.concat().contains("missing") && !lines.concat().contains("lost"), "{lines:#?}");
}

#[test]
fn it_says_what_it_waits_for() {
    let mut screen = screen(None);
    screen.begin("connecting");
    screen.say("tcp:127.0.0.1:7817: Connection refused; trying again");
    let lines = drawn(&mut screen, LEAST);
    assert!(
        lines[0].contains("connecting: tcp:127.0.0.1:7817: Connection refused; trying again"),
        "{lines:#?}"
    );
    screen.see(Seen::default());
    assert!(drawn(&mut screen, LEAST).concat().contains("The engine has made no call yet."));
    screen.live(Progress { bytes: 1 << 20, spans: 5, llama_calls: 0, graph_calls: 0 });
    let lines = drawn(&mut screen, LEAST);
    assert!(lines[0].contains("1.00 MiB · 5 operators") && lines[23].contains("q stop"), "{lines:#?}");
}

#[test]
fn names_do_not_steer_the_terminal() {
    let mut seen = seen(&last(&stream(), 1)).unwrap();
    let evil = "\u{1b}[2J\u{9b}31m\u{202e}\u{7}\n\r\u{200b}x";
    seen.analysis.thread[0].name = evil.to_owned();
    for kind in &mut seen.analysis.op.types {
        (kind.desc, kind.op, kind.backend) = (evil.to_owned(), evil.to_owned(), evil.to_owned());
    }
    for gauge in &mut seen.analysis.gauge {
        gauge.name = evil.to_owned();
    }
    let mut screen = Screen::new(evil, evil, Duration::from_secs(10));
    screen.begin(evil);
    screen.say(evil);
    screen.see(seen);
    for pane in Pane::ALL {
        screen.show(pane);
        let text = drawn(&mut screen, LEAST).concat();
        assert!(!text.chars().any(|c| c.is_control() || "\u{202e}\u{200b}".contains(c)), "{text:?}");
    }
    screen.show(Pane::Threads);
    assert!(drawn(&mut screen, LEAST).concat().contains("\u{fffd}[2J\u{fffd}31m"));
}

#[test]
fn no_size_and_no_key_makes_it_panic() {
    let seen = seen(&last(&stream(), 1)).unwrap();
    for (width, height) in
        [(0, 0), (1, 1), (5, 50), (79, 24), (80, 23), (80, 24), (81, 25), (132, 60), (400, 200)]
    {
        for seen in [None, Some(Seen::default()), Some(seen.clone())] {
            let mut screen = screen(seen);
            for pane in Pane::ALL {
                screen.show(pane);
                for lines in [0, isize::MAX, -1, isize::MIN] {
                    screen.scroll(lines);
                    drawn(&mut screen, (width, height));
                }
                screen.help = true;
                drawn(&mut screen, (width, height));
                screen.help = false;
            }
        }
    }
    let lines = drawn(&mut screen(Some(seen)), (60, 24));
    assert!(lines.concat().contains("needs 80 columns and 24 lines; this terminal"), "{lines:#?}");
}

#[test]
fn keys_choose_what_is_shown_and_stop_the_display() {
    let mut screen = screen(seen(&last(&stream(), 1)));
    let press = |screen: &mut Screen, code| keys::press(KeyEvent::from(code), screen);
    for (key, pane) in ('1'..='6').zip(Pane::ALL) {
        press(&mut screen, KeyCode::Char(key));
        assert_eq!(screen.pane, pane);
    }
    press(&mut screen, KeyCode::Tab);
    assert_eq!(screen.pane, Pane::Ladder);
    press(&mut screen, KeyCode::Left);
    assert_eq!(screen.pane, Pane::Findings);
    press(&mut screen, KeyCode::Char('?'));
    assert!(drawn(&mut screen, LEAST).concat().contains("any key closes this"));
    press(&mut screen, KeyCode::Char('2'));
    assert!(!screen.help && screen.pane == Pane::Findings, "the key that closes the help does nothing else");
    // Results that arrive during a pause are shown after it.
    press(&mut screen, KeyCode::Char('p'));
    screen.see(Seen { window_ns: 77_000_000_000, ..Seen::default() });
    assert!(!drawn(&mut screen, LEAST).concat().contains("77.0 s") && screen.is_paused());
    press(&mut screen, KeyCode::Char('p'));
    assert!(drawn(&mut screen, LEAST).concat().contains("77.0 s"));
}
