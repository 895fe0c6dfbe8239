use super::*;

const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

/// A simulated engine: the duration of a token depends on time and tracing.
struct Script {
    controller: Controller,
    now: u64,
    calls: u64,
    steps: Vec<ControllerStep>,
}

impl Script {
    fn new(limits: Limits, duty: u16) -> Self {
        Self { controller: Controller::new(limits, duty, None), now: 100 * S, calls: 0, steps: Vec::new() }
    }

    /// Decodes for this many seconds. Bursts of ten calls keep the duty.
    fn decode(&mut self, seconds: u64, token: impl Fn(bool) -> u64) {
        let until = self.now + seconds * S;
        while self.now < until {
            // Like the duty cycle: neither bursts nor pauses are short.
            let (duty, rest) = (u64::from(self.controller.duty()), 1000 - u64::from(self.controller.duty()));
            let (burst, pause) = match duty {
                0 => (0, 10),
                1..500 => (10, 10 * rest / duty),
                _ => (10 * duty / rest.max(1), 10 * u64::from(rest > 0)),
            };
            let traced = self.calls % (burst + pause) < burst;
            self.calls += 1;
            let (start_ns, end_ns) = (self.now, self.now + token(traced));
            self.now = end_ns;
            let call =
                Ended { pid: 1, start_ns, end_ns, decode: true, good: true, operators: 515, kept: true };
            self.controller.call(&call, if traced { Captured::All } else { Captured::None }, 0);
            self.steps.extend(self.controller.step(1, self.now));
        }
    }

    /// The engine is idle.
    fn wait(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.now += S;
            self.steps.extend(self.controller.step(1, self.now));
        }
    }

    fn duties(&self) -> Vec<u16> {
        self.steps.iter().map(|s| s.after_permille).collect()
    }

    /// Times between a step and the next one if that goes in the other direction.
    fn turns(&self) -> Vec<u64> {
        let up = |s: &ControllerStep| s.after_permille > s.before_permille;
        let pairs = self.steps.iter().zip(self.steps.iter().skip(1));
        pairs.filter(|(a, b)| up(a) != up(b)).map(|(a, b)| b.at_ns - a.at_ns).collect()
    }
}

fn keep(milli: u32) -> Limits {
    Limits { keep_above_milli: milli, ..Limits::default() }
}

#[test]
fn a_fast_engine_is_left_alone() {
    let mut s = Script::new(keep(5_000), 1000);
    s.decode(120, |_| 100 * MS);
    assert!(s.steps.is_empty());
    let mut none = Script::new(Limits::default(), 1000);
    none.decode(60, |_| 1000 * MS);
    assert!(none.steps.is_empty());
}

#[test]
fn a_slow_engine_loses_its_operators_and_gets_them_back() {
    let mut s = Script::new(keep(5_000), 1000);
    s.decode(30, |_| 100 * MS);
    s.decode(60, |_| 400 * MS);
    assert_eq!(s.duties(), [500, 200, 100, 50, 0]);
    let first = s.steps[0];
    assert_eq!((first.reason, first.limit), (StepReason::TooSlow, ControllerLimit::KeepAbove(5_000)));
    assert_eq!((first.speed_milli, first.before_permille), (Some(2_500), 1000));
    s.decode(90, |_| 100 * MS);
    assert_eq!(s.duties()[5..], [50, 100, 200, 500, 1000]);
    assert!(s.steps[5..].iter().all(|step| step.reason == StepReason::FastEnough));
    assert!(s.turns().iter().all(|t| *t >= TURN_NS), "{:?}", s.turns());
    // Steps up are slow.
    let ups: Vec<u64> = s.steps[5..].windows(2).map(|w| w[1].at_ns - w[0].at_ns).collect();
    assert!(ups.iter().all(|t| *t >= TURN_NS));
}

#[test]
fn between_limit_and_margin_nothing_changes() {
    let mut s = Script::new(keep(5_000), 1000);
    s.decode(20, |_| 400 * MS);
    let down = s.steps.len();
    // 5.2 tokens per second: above the limit, but by less than a tenth.
    s.decode(200, |_| 192 * MS);
    assert!(down > 0 && s.steps.len() == down);
}

#[test]
fn expensive_operators_do_not_cause_oscillation() {
    // Fast without operators, too slow with most of them: steps up are reverted and become rare.
    let mut s = Script::new(keep(5_000), 1000);
    s.decode(1_000, |traced| if traced { 400 * MS } else { 100 * MS });
    assert!(s.turns().iter().all(|t| *t >= TURN_NS), "{:?}", s.turns());
    let late = s.steps.iter().filter(|step| step.at_ns > 600 * S).count();
    assert!((1..=10).contains(&late), "{late} steps in the last 500 s: {:?}", s.duties());
}

#[test]
fn an_idle_engine_is_not_slow() {
    let mut s = Script::new(keep(5_000), 1000);
    for _ in 0..20 {
        s.decode(1, |_| 100 * MS);
        s.wait(10);
    }
    assert!(s.steps.is_empty());
}

#[test]
fn the_first_duty_is_the_limit_over_the_slowdown() {
    // A token that takes a quarter more, and one that takes 1.5 % more, which leaves a tenth untraced.
    assert_eq!([250_000, 15_000].map(|ppm| first_duty(30_000, ppm, 900)), [120, 900]);
    // No slowdown was seen, and a very large one.
    assert_eq!([-10_000, 0, 50_000_000].map(|ppm| first_duty(30_000, ppm, 900)), [900, 900, 1]);
    // At most the configured duty.
    assert_eq!(first_duty(30_000, 250_000, 100), 100);
}

#[test]
fn only_a_significant_slowdown_changes_the_duty() {
    // Half of the limit is for the other levels.
    let most = Limits { max_slowdown_ppm: 20_000, ..Limits::default() };
    // 5 % per traced token are 1 % at 20 %.
    let mut s = Script::new(most, 1000);
    assert_eq!(s.controller.duty(), 900);
    s.decode(300, |traced| if traced { 105 * MS } else { 100 * MS });
    assert_eq!((s.controller.duty(), s.duties()), (200, vec![]));
    // It costs more now: 4 % at 20 %, 1 % at 5 %.
    s.decode(1_000, |traced| if traced { 120 * MS } else { 100 * MS });
    assert_eq!(s.duties(), [100, 50]);
    let first = s.steps[0];
    assert_eq!((first.reason, first.limit), (StepReason::TooDear, ControllerLimit::MaxSlowdown(20_000)));
    // It costs next to nothing now.
    s.decode(2_000, |traced| if traced { 100 * MS + MS / 2 } else { 100 * MS });
    assert_eq!(s.duties()[2..], [100, 200, 500, 900]);
    assert!(s.turns().iter().all(|t| *t >= TURN_NS));
    // Noise larger than the limit changes nothing.
    let mut noisy = Script::new(most, 1000);
    let noise = std::cell::Cell::new(7_u64);
    noisy.decode(300, |traced| {
        noise
            .set(noise.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
        (if traced { 101 } else { 100 }) * MS + (noise.get() >> 40) % (40 * MS)
    });
    assert!(noisy.steps.is_empty(), "{:?}", noisy.steps);
}

#[test]
fn the_ladder_begins_at_the_requested_duty() {
    let mut s = Script::new(keep(5_000), 150);
    s.decode(60, |_| 400 * MS);
    assert_eq!(s.duties(), [100, 50, 0]);
    s.decode(60, |_| 100 * MS);
    assert_eq!(s.duties()[3..], [50, 100, 150]);
}
